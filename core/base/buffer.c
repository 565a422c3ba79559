/* buffer.c - growth by doubling, never above the cap. */
#include "acog/buffer.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "acog/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_ROOM 256

void acog_buffer_init(struct acog_buffer *buffer, size_t bytes_max)
{
    ACOG_ASSERT(bytes_max > 0);
    *buffer = (struct acog_buffer){.bytes_max = bytes_max};
}

void acog_buffer_init_over(struct acog_buffer *buffer, void *memory, size_t bytes)
{
    ACOG_ASSERT(memory != NULL);
    ACOG_ASSERT(bytes > 0);
    /* Room and cap are equal: acog_buffer_reserve() says TOO_BIG before it would grow. */
    *buffer = (struct acog_buffer){.ptr = memory, .room = bytes, .bytes_max = bytes};
}

void acog_buffer_fini(struct acog_buffer *buffer)
{
    acog_free(buffer->ptr);
    *buffer = (struct acog_buffer){.bytes_max = buffer->bytes_max};
}

enum acog_code acog_buffer_reserve(struct acog_buffer *buffer, size_t bytes)
{
    if (bytes <= buffer->room - buffer->len) {
        return ACOG_OK;
    }
    if (bytes > buffer->bytes_max - buffer->len) {
        return ACOG_TOO_BIG;
    }
    size_t room = buffer->room == 0 ? FIRST_ROOM : buffer->room;
    while (room < buffer->len + bytes) {
        room = room > buffer->bytes_max / 2 ? buffer->bytes_max : room * 2;
    }
    room = room > buffer->bytes_max ? buffer->bytes_max : room;
    char *grown = acog_grow(buffer->ptr, room);
    if (grown == NULL) {
        return ACOG_NO_MEMORY;
    }
    buffer->ptr = grown;
    buffer->room = room;
    return ACOG_OK;
}

enum acog_code acog_buffer_append(struct acog_buffer *buffer, struct acog_view bytes)
{
    if (bytes.len == 0) {
        return ACOG_OK;
    }
    enum acog_code code = acog_buffer_reserve(buffer, bytes.len);
    if (code == ACOG_OK) {
        memcpy(buffer->ptr + buffer->len, bytes.ptr, bytes.len);
        buffer->len += bytes.len;
    }
    return code;
}

enum acog_code acog_buffer_format_list(struct acog_buffer *buffer, const char *fmt, va_list args)
{
    char text[1024];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    enum acog_code code = length < 0 ? ACOG_INVALID : ACOG_OK;
    if (code == ACOG_OK && (size_t)length < sizeof(text)) {
        code = acog_buffer_append(buffer, (struct acog_view){.ptr = text, .len = (size_t)length});
    } else if (code == ACOG_OK) {
        code = acog_buffer_reserve(buffer, (size_t)length + 1);
        if (code == ACOG_OK) {
            (void)vsnprintf(buffer->ptr + buffer->len, (size_t)length + 1, fmt, again);
            buffer->len += (size_t)length;
        }
    }
    va_end(again);
    return code;
}

enum acog_code acog_buffer_format(struct acog_buffer *buffer, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    enum acog_code code = acog_buffer_format_list(buffer, fmt, args);
    va_end(args);
    return code;
}

/* How many bytes at the start of `text` need no escape and are whole UTF-8. */
static size_t plain_run(struct acog_view text)
{
    size_t at = 0;
    while (at < text.len) {
        unsigned char byte = (unsigned char)text.ptr[at];
        if (byte < 0x20 || byte == '"' || byte == '\\') {
            break;
        }
        size_t bytes = byte < 0x80 ? 1 : acog_utf8_length(acog_view_slice(text, at, text.len));
        if (bytes == 0) {
            break;
        }
        at += bytes;
    }
    return at;
}

static enum acog_code append_escaped(struct acog_buffer *buffer, unsigned char byte)
{
    switch (byte) {
    case '"':
        return acog_buffer_append(buffer, ACOG_VIEW("\\\""));
    case '\\':
        return acog_buffer_append(buffer, ACOG_VIEW("\\\\"));
    case '\n':
        return acog_buffer_append(buffer, ACOG_VIEW("\\n"));
    case '\r':
        return acog_buffer_append(buffer, ACOG_VIEW("\\r"));
    case '\t':
        return acog_buffer_append(buffer, ACOG_VIEW("\\t"));
    default:
        break;
    }
    if (byte < 0x20) {
        return acog_buffer_format(buffer, "\\u%04x", (unsigned)byte);
    }
    return acog_buffer_append(buffer, ACOG_VIEW("\xef\xbf\xbd"));
}

enum acog_code acog_buffer_append_json(struct acog_buffer *buffer, struct acog_view text)
{
    while (text.len > 0) {
        size_t plain = plain_run(text);
        enum acog_code code = acog_buffer_append(buffer, acog_view_slice(text, 0, plain));
        if (code == ACOG_OK && plain < text.len) {
            code = append_escaped(buffer, (unsigned char)text.ptr[plain]);
            plain++;
        }
        if (code != ACOG_OK) {
            return code;
        }
        text = acog_view_slice(text, plain, text.len);
    }
    return ACOG_OK;
}

void acog_buffer_consume(struct acog_buffer *buffer, size_t bytes)
{
    if (bytes >= buffer->len) {
        buffer->len = 0;
        return;
    }
    memmove(buffer->ptr, buffer->ptr + bytes, buffer->len - bytes);
    buffer->len -= bytes;
}

void acog_buffer_clear(struct acog_buffer *buffer, size_t keep_bytes)
{
    if (buffer->room > keep_bytes) {
        acog_buffer_fini(buffer);
    }
    buffer->len = 0;
}
