/* error_fuzz.c - any bytes as an error body, as a whole answer, and as a Retry-After.
 *
 * Caps hold, an answer that is an error says so in one way, and a wait is never negative, too long or overflowing.
 */
#include "acog/contract.h"
#include "acog/dialect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_failure(const struct acog_failure *failure)
{
    ACOG_ASSERT(failure->message.len <= ACOG_ERROR_MESSAGE_MAX);
    ACOG_ASSERT(failure->category_count <= ACOG_CATEGORIES_MAX);
    ACOG_ASSERT(failure->shapes < ACOG_BIT(ACOG_SHAPE_COUNT));
    ACOG_ASSERT(failure->retry_after_ms >= -1);
    ACOG_ASSERT(failure->retry_after_ms <= ACOG_RETRY_AFTER_MS_MAX);
    for (size_t i = 0; i < failure->category_count; i++) {
        ACOG_ASSERT(failure->categories[i].len > 0);
    }
}

static void check_answer(enum acog_dialect dialect, enum acog_surface surface,
                         struct acog_view body)
{
    struct acog_arena arena;
    struct acog_whole_answer answer;
    struct acog_failure failure = {.retry_after_ms = -1};
    acog_arena_init(&arena, (size_t)1 << 22U);
    enum acog_code code =
        acog_dialect_read_answer(dialect, surface, body, &arena, &answer, &failure);
    ACOG_ASSERT(code == ACOG_OK || code == ACOG_INVALID);
    ACOG_ASSERT(code == ACOG_OK || !answer.is_error);
    ACOG_ASSERT(!answer.refused || (answer.outputs & ACOG_BIT(ACOG_OUTPUT_TEXT)) == 0);
    check_failure(&failure);
    acog_arena_fini(&arena);
}

static void check_answers(struct acog_view body)
{
    for (int surface = 0; surface < ACOG_SURFACE_COUNT; surface++) {
        check_answer(acog_surface_dialect((enum acog_surface)surface), (enum acog_surface)surface,
                     body);
    }
    check_answer(ACOG_DIALECT_GEMINI, ACOG_SURFACE_CHAT, body);
}

static void check_waits(struct acog_view text)
{
    const int64_t now_s = 1784980800;
    int64_t waits[] = {
        acog_dialect_retry_after_ms(text, (struct acog_view){0}, now_s),
        acog_dialect_retry_after_ms((struct acog_view){0}, text, now_s),
        acog_dialect_reset_ms(text, now_s),
    };
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        ACOG_ASSERT(waits[i] >= -1);
        ACOG_ASSERT(waits[i] <= ACOG_RETRY_AFTER_MS_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_view body = {.ptr = (const char *)data, .len = size};
    struct acog_arena arena;
    struct acog_failure failure = {.retry_after_ms = -1};
    acog_arena_init(&arena, (size_t)1 << 22U);
    acog_dialect_read_error(body, 400, &arena, &failure);
    check_failure(&failure);
    acog_arena_fini(&arena);
    check_answers(body);
    check_waits(body);
    return 0;
}
