/* inflate.c - zlib behind a cap.
 *
 * The one complication: "deflate" is sent in two forms, with zlib's header and without. The first two bytes tell them
 * apart, so the state waits for both of them before it begins.
 *
 *   WAITING ──(2 bytes)──> RUNNING ──(end of the data)──> BETWEEN ──(more bytes, gzip only)──> RUNNING
 */
#include "inflate.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <limits.h>
#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

#define WINDOW_RAW  (-MAX_WBITS)
#define WINDOW_ZLIB MAX_WBITS
#define WINDOW_GZIP (MAX_WBITS + 16)

enum inflate_state {
    ACOG_INFLATE_WAITING = 0, /* for the first two bytes */
    ACOG_INFLATE_RUNNING,
    ACOG_INFLATE_BETWEEN, /* a gzip member, or all of the data, ended well */
};

struct acog_inflate {
    enum inflate_state state;
    enum acog_coding coding;
    uint64_t left; /* bytes that may still come out */
    unsigned char first[2];
    size_t first_count;
    bool ready; /* zlib's state is made */
    z_stream zlib;
};

enum acog_coding acog_coding_of(struct acog_view value)
{
    value = acog_view_trim(value);
    if (value.len == 0 || acog_view_equal_nocase(value, ACOG_VIEW("identity"))) {
        return ACOG_CODING_IDENTITY;
    }
    if (acog_view_equal_nocase(value, ACOG_VIEW("gzip")) ||
        acog_view_equal_nocase(value, ACOG_VIEW("x-gzip"))) {
        return ACOG_CODING_GZIP;
    }
    return acog_view_equal_nocase(value, ACOG_VIEW("deflate")) ? ACOG_CODING_DEFLATE
                                                               : ACOG_CODING_OTHER;
}

static voidpf take_memory(voidpf user, uInt count, uInt bytes)
{
    (void)user;
    return acog_new((size_t)count * bytes);
}

static void give_memory(voidpf user, voidpf memory)
{
    (void)user;
    acog_free(memory);
}

struct acog_inflate *acog_inflate_new(enum acog_coding coding, uint64_t decoded_bytes_max)
{
    ACOG_ASSERT(coding == ACOG_CODING_GZIP || coding == ACOG_CODING_DEFLATE);
    struct acog_inflate *decoder = acog_new(sizeof(*decoder));
    if (decoder != NULL) {
        decoder->coding = coding;
        decoder->left = decoded_bytes_max;
        decoder->zlib.zalloc = take_memory;
        decoder->zlib.zfree = give_memory;
    }
    return decoder;
}

void acog_inflate_free(struct acog_inflate **decoder)
{
    if (*decoder != NULL) {
        if ((*decoder)->ready) {
            (void)inflateEnd(&(*decoder)->zlib);
        }
        acog_free(*decoder);
        *decoder = NULL;
    }
}

/* RFC 1950: method 8, a window of at most 32 KB, and a checksum over both bytes. */
static bool is_zlib_header(const unsigned char first[2])
{
    return (first[0] & 0x0fU) == 8 && (first[0] >> 4U) <= 7 &&
           (((unsigned)first[0] << 8U) + first[1]) % 31 == 0;
}

/* Runs zlib over `in`; *made grows by what came out. */
static enum acog_code run(struct acog_inflate *decoder, struct acog_view *in, char *out,
                          size_t room, size_t *made)
{
    z_stream *zlib = &decoder->zlib;
    size_t input = in->len > UINT_MAX ? UINT_MAX : in->len;
    size_t output = room - *made > UINT_MAX ? UINT_MAX : room - *made;
    zlib->next_in = (const Bytef *)in->ptr;
    zlib->avail_in = (uInt)input;
    zlib->next_out = (Bytef *)out + *made;
    zlib->avail_out = (uInt)output;
    int result = inflate(zlib, Z_SYNC_FLUSH);
    size_t came = output - zlib->avail_out;
    *in = acog_view_slice(*in, input - zlib->avail_in, in->len);
    *made += came;
    if (came > decoder->left) {
        return ACOG_TOO_BIG;
    }
    decoder->left -= came;
    switch (result) {
    case Z_STREAM_END:
        decoder->state = ACOG_INFLATE_BETWEEN;
        return ACOG_OK;
    case Z_OK:
    case Z_BUF_ERROR: /* nothing more to do with this input */
        return ACOG_OK;
    case Z_MEM_ERROR:
        return ACOG_NO_MEMORY;
    default: /* zlib's codes are no enum */
        return ACOG_INVALID;
    }
}

/* Begins with the first two bytes of the data in `first`. */
static enum acog_code begin(struct acog_inflate *decoder, char *out, size_t room, size_t *made)
{
    int window = WINDOW_GZIP;
    if (decoder->coding == ACOG_CODING_DEFLATE) {
        window = is_zlib_header(decoder->first) ? WINDOW_ZLIB : WINDOW_RAW;
    }
    if (inflateInit2(&decoder->zlib, window) != Z_OK) {
        return ACOG_NO_MEMORY;
    }
    decoder->ready = true;
    decoder->state = ACOG_INFLATE_RUNNING;
    struct acog_view first = {.ptr = (const char *)decoder->first, .len = sizeof(decoder->first)};
    return run(decoder, &first, out, room, made);
}

/* Between members: the next one begins, or what follows is nobody's. */
static enum acog_code begin_again(struct acog_inflate *decoder)
{
    if (decoder->coding != ACOG_CODING_GZIP) {
        return ACOG_INVALID;
    }
    if (inflateReset(&decoder->zlib) != Z_OK) {
        return ACOG_INVALID;
    }
    decoder->state = ACOG_INFLATE_RUNNING;
    return ACOG_OK;
}

enum acog_code acog_inflate_feed(struct acog_inflate *decoder, struct acog_view *in, char *out,
                                 size_t room, size_t *made)
{
    ACOG_ASSERT(room >= 64); /* so that two bytes of input never fill it */
    enum acog_code code = ACOG_OK;
    *made = 0;
    while (code == ACOG_OK && *made < room) {
        size_t before = *made;
        size_t left = in->len;
        switch (decoder->state) {
        case ACOG_INFLATE_WAITING:
            if (in->len > 0) {
                decoder->first[decoder->first_count++] = (unsigned char)in->ptr[0];
                *in = acog_view_slice(*in, 1, in->len);
            }
            if (decoder->first_count == sizeof(decoder->first)) {
                code = begin(decoder, out, room, made);
            }
            break;
        case ACOG_INFLATE_RUNNING:
            code = run(decoder, in, out, room, made);
            break;
        case ACOG_INFLATE_BETWEEN:
            if (in->len > 0) {
                code = begin_again(decoder);
            }
            break;
        }
        if (in->len == 0 && *made == before && in->len == left) {
            break;
        }
    }
    return code;
}

bool acog_inflate_complete(const struct acog_inflate *decoder)
{
    switch (decoder->state) {
    case ACOG_INFLATE_WAITING:
        return decoder->first_count == 0;
    case ACOG_INFLATE_RUNNING:
        return false;
    case ACOG_INFLATE_BETWEEN:
        return true;
    }
    ACOG_UNREACHABLE("an inflate of no state");
}
