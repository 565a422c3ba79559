/* writer.c - JSON text into a buffer that is known to be large enough. */
#include "writer.h"

#include "acog/contract.h"
#include "acog/random.h"

void acog_write_raw(struct acog_buffer *out, struct acog_view text)
{
    enum acog_code code = acog_buffer_append(out, text);
    ACOG_ASSERT(code == ACOG_OK);
}

void acog_write_string(struct acog_buffer *out, struct acog_view text)
{
    ACOG_WRITE(out, "\"");
    enum acog_code code = acog_buffer_append_json(out, text);
    ACOG_ASSERT(code == ACOG_OK);
    ACOG_WRITE(out, "\"");
}

void acog_write_string_or_null(struct acog_buffer *out, struct acog_view text)
{
    if (text.len == 0) {
        ACOG_WRITE(out, "null");
    } else {
        acog_write_string(out, text);
    }
}

void acog_write_number(struct acog_buffer *out, int64_t number)
{
    enum acog_code code = acog_buffer_format(out, "%lld", (long long)number);
    ACOG_ASSERT(code == ACOG_OK);
}

void acog_write_id(struct acog_buffer *out, struct acog_view prefix, uint64_t seed, uint64_t salt,
                   unsigned length)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t state = seed ^ (salt * UINT64_C(0x9e3779b97f4a7c15));
    acog_write_raw(out, prefix);
    for (unsigned i = 0; i < length; i++) {
        size_t letter = (size_t)(acog_random_next(&state) % (sizeof(letters) - 1));
        acog_write_raw(out, (struct acog_view){.ptr = &letters[letter], .len = 1});
    }
}

size_t acog_written_bytes_max(struct acog_view text)
{
    size_t bytes = 2; /* the quotes */
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte < 0x20) {
            bytes += 6; /* \u0001 */
        } else if (byte >= 0x80) {
            bytes += 3; /* U+FFFD in the place of a broken byte */
        } else {
            bytes += byte == '"' || byte == '\\' ? 2 : 1;
        }
    }
    return bytes;
}
