/* chunk.c - the lines between the data of a chunked body, byte by byte.
 *
 *   size *(";" name ["=" (token | quoted)]) CRLF data CRLF … "0" *(extension) CRLF *(name ":" value CRLF) CRLF
 *
 * No space is allowed between a size and its CRLF outside quotes: RFC 9112 lets a recipient refuse it, and readers that
 * disagree about it are how requests are smuggled. Extensions and trailers are checked, then ignored.
 */
#include "acog/contract.h"
#include "charset.h"
#include "reader_parts.h"

static bool go(struct acog_http_reader *reader, enum acog_chunk_state next)
{
    reader->chunk_state = next;
    return true;
}

static bool expect(struct acog_http_reader *reader, bool seen, enum acog_chunk_state next,
                   const char *what)
{
    return seen ? go(reader, next) : acog_reader_refuse(reader, 400, what);
}

/* After the size or a whole extension: the line's end, or one more extension. */
static bool after_size(struct acog_http_reader *reader, char byte, const char *what)
{
    if (byte == '\r') {
        return go(reader, ACOG_CHUNK_SIZE_LF);
    }
    return expect(reader, byte == ';', ACOG_CHUNK_EXTENSION_NAME_FIRST, what);
}

static bool size_digit(struct acog_http_reader *reader, int digit)
{
    if (++reader->chunk_digits > ACOG_READER_CHUNK_DIGITS_MAX) {
        return acog_reader_refuse(reader, 400, "chunk size too long");
    }
    reader->body_left = reader->body_left * 16 + (uint64_t)digit;
    return go(reader, ACOG_CHUNK_SIZE);
}

/* The size's line is over. */
static bool begin_chunk(struct acog_http_reader *reader)
{
    uint64_t room = reader->limits.body_bytes_max - reader->body_taken;
    if (reader->role == ACOG_HTTP_REQUEST && reader->body_left > room) {
        return acog_reader_refuse(reader, 413, "the body is too large");
    }
    reader->chunk_digits = 0;
    reader->extension_bytes = 0;
    return go(reader, reader->body_left > 0 ? ACOG_CHUNK_DATA : ACOG_CHUNK_TRAILER_LINE);
}

static bool name_byte(struct acog_http_reader *reader, char byte, const char *what)
{
    if (byte == '=') {
        return go(reader, ACOG_CHUNK_EXTENSION_VALUE_FIRST);
    }
    return acog_http_token_byte(byte) != 0 || after_size(reader, byte, what);
}

static bool value_first_byte(struct acog_http_reader *reader, char byte, const char *what)
{
    if (byte == '"') {
        return go(reader, ACOG_CHUNK_EXTENSION_QUOTED);
    }
    return expect(reader, acog_http_token_byte(byte) != 0, ACOG_CHUNK_EXTENSION_VALUE, what);
}

static bool quoted_byte(struct acog_http_reader *reader, char byte, const char *what)
{
    if (byte == '"') {
        return go(reader, ACOG_CHUNK_EXTENSION_QUOTED_END);
    }
    if (byte == '\\') {
        return go(reader, ACOG_CHUNK_EXTENSION_QUOTED_PAIR);
    }
    return expect(reader, acog_http_value_end(&byte, &byte + 1) != &byte,
                  ACOG_CHUNK_EXTENSION_QUOTED, what);
}

/* The first byte of a trailer, or the CR of the last empty line. */
static bool trailer_line_byte(struct acog_http_reader *reader, char byte)
{
    if (byte == '\r') {
        return go(reader, ACOG_CHUNK_LAST_LF);
    }
    return expect(reader, acog_http_token_byte(byte) != 0, ACOG_CHUNK_TRAILER_NAME, "bad trailer");
}

static bool trailer_name_byte(struct acog_http_reader *reader, char byte)
{
    return acog_http_token_byte(byte) != 0 ||
           expect(reader, byte == ':', ACOG_CHUNK_TRAILER_VALUE, "bad trailer");
}

static bool trailer_value_byte(struct acog_http_reader *reader, char byte)
{
    if (byte == '\r') {
        return go(reader, ACOG_CHUNK_TRAILER_LF);
    }
    return expect(reader, acog_http_value_end(&byte, &byte + 1) != &byte, ACOG_CHUNK_TRAILER_VALUE,
                  "bad trailer");
}

static bool last_lf(struct acog_http_reader *reader, char byte)
{
    reader->state = ACOG_READER_OVER;
    return byte == '\n' || acog_reader_refuse(reader, 400, "CR without LF after the body");
}

/* Caps on what is read and thrown away. */
static bool within_caps(struct acog_http_reader *reader)
{
    enum acog_chunk_state state = (enum acog_chunk_state)reader->chunk_state;
    if (state >= ACOG_CHUNK_EXTENSION_NAME_FIRST && state <= ACOG_CHUNK_EXTENSION_QUOTED_END &&
        ++reader->extension_bytes > ACOG_READER_EXTENSION_BYTES_MAX) {
        return acog_reader_refuse(reader, 400, "chunk extensions too long");
    }
    if (state >= ACOG_CHUNK_TRAILER_LINE &&
        ++reader->trailer_bytes > ACOG_READER_TRAILER_BYTES_MAX) {
        return acog_reader_refuse(reader, 431, "the trailers are too large");
    }
    return true;
}

static bool take_byte(struct acog_http_reader *reader, char byte)
{
    static const char bad_size[] = "bad chunk size";
    static const char bad_extension[] = "bad chunk extension";
    static const char bad_end[] = "a chunk's data does not end with CRLF";
    switch ((enum acog_chunk_state)reader->chunk_state) {
    case ACOG_CHUNK_SIZE_FIRST:
    case ACOG_CHUNK_SIZE:
        if (acog_http_hex(byte) >= 0) {
            return size_digit(reader, acog_http_hex(byte));
        }
        return reader->chunk_digits > 0 ? after_size(reader, byte, bad_size)
                                        : acog_reader_refuse(reader, 400, bad_size);
    case ACOG_CHUNK_EXTENSION_NAME_FIRST:
        return expect(reader, acog_http_token_byte(byte) != 0, ACOG_CHUNK_EXTENSION_NAME,
                      bad_extension);
    case ACOG_CHUNK_EXTENSION_NAME:
        return name_byte(reader, byte, bad_extension);
    case ACOG_CHUNK_EXTENSION_VALUE_FIRST:
        return value_first_byte(reader, byte, bad_extension);
    case ACOG_CHUNK_EXTENSION_VALUE:
        return acog_http_token_byte(byte) != 0 || after_size(reader, byte, bad_extension);
    case ACOG_CHUNK_EXTENSION_QUOTED:
        return quoted_byte(reader, byte, bad_extension);
    case ACOG_CHUNK_EXTENSION_QUOTED_PAIR:
        return expect(reader, acog_http_value_end(&byte, &byte + 1) != &byte,
                      ACOG_CHUNK_EXTENSION_QUOTED, bad_extension);
    case ACOG_CHUNK_EXTENSION_QUOTED_END:
        return after_size(reader, byte, bad_extension);
    case ACOG_CHUNK_SIZE_LF:
        return byte == '\n' ? begin_chunk(reader) : acog_reader_refuse(reader, 400, bad_size);
    case ACOG_CHUNK_DATA:
        ACOG_UNREACHABLE("data is no line");
    case ACOG_CHUNK_DATA_CR:
        return expect(reader, byte == '\r', ACOG_CHUNK_DATA_LF, bad_end);
    case ACOG_CHUNK_DATA_LF:
        return expect(reader, byte == '\n', ACOG_CHUNK_SIZE_FIRST, bad_end);
    case ACOG_CHUNK_TRAILER_LINE:
        return trailer_line_byte(reader, byte);
    case ACOG_CHUNK_TRAILER_NAME:
        return trailer_name_byte(reader, byte);
    case ACOG_CHUNK_TRAILER_VALUE:
        return trailer_value_byte(reader, byte);
    case ACOG_CHUNK_TRAILER_LF:
        return expect(reader, byte == '\n', ACOG_CHUNK_TRAILER_LINE, "bad trailer");
    case ACOG_CHUNK_LAST_LF:
        return last_lf(reader, byte);
    }
    ACOG_UNREACHABLE("no such state of a chunk");
}

bool acog_reader_read_chunk_lines(struct acog_http_reader *reader, struct acog_view bytes,
                                  size_t *used)
{
    while (*used < bytes.len && reader->state == ACOG_READER_CHUNKS &&
           reader->chunk_state != ACOG_CHUNK_DATA) {
        char byte = bytes.ptr[*used];
        *used += 1;
        if (!within_caps(reader) || !take_byte(reader, byte)) {
            return false;
        }
    }
    return true;
}
