/* http_request_fuzz.c - any bytes as requests: the reader says the same however they are cut, and never reads beyond them.
 *
 * Small limits, so that the fuzzer reaches them.
 */
#include "tests/support/http_story.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_story how = {
        .role = ACOG_HTTP_REQUEST,
        .limits = {.head_bytes_max = 512, .fields_max = 8, .body_bytes_max = 256},
    };
    struct acog_view bytes = {.ptr = (const char *)data, .len = size};
    unsigned seed = size > 1 ? (unsigned)data[size - 1] + 1U : 1U;
    ACOG_ASSERT(http_story_same_when_cut(&how, bytes, 1, 0));
    ACOG_ASSERT(http_story_same_when_cut(&how, bytes, 0, seed));
    return 0;
}
