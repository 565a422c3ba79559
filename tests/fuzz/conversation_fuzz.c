/* conversation_fuzz.c - any bytes as a client's body that is told in another dialect. The first byte chooses the surface
 * and the dialect, the second one the model's rules.
 *
 * What is written is strict JSON that the dialect's own reader takes, as a request and as a conversation; told back in
 * the client's dialect it is taken there too. What is refused says why.
 */
#include "acog/contract.h"
#include "acog/translate.h"
#ifdef ACOG_FUZZING
#include "json_mutator.h"
#endif

#include <string.h>

#define ARENA_MAX ((size_t)1 << 24U)
#define BODY_MAX  ((size_t)1 << 20U)
#define DEPTH_MAX 64
#define CHOICES   2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef ACOG_FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    return mutator_run(data, size, size_max, seed, CHOICES);
}
#endif

static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                             ACOG_SURFACE_RESPONSES};

static struct acog_model_rules rules_for(enum acog_dialect dialect, uint8_t choice)
{
    struct acog_model_rules rules = acog_model_rules_default(dialect);
    rules.temperature = (choice & 1U) == 0;
    rules.stop = (choice & 2U) == 0;
    rules.max_completion_tokens = (choice & 4U) != 0;
    rules.system_anywhere = (choice & 8U) != 0;
    rules.thinking = (enum acog_thinking)((choice >> 4U) % 4);
    rules.schema = (enum acog_schema_support)((choice >> 6U) % 3);
    rules.efforts = rules.thinking == ACOG_THINKING_NONE
                        ? 0
                        : ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_HIGH);
    return rules;
}

static const struct acog_conversation *read(enum acog_surface surface, struct acog_view body,
                                            struct acog_arena *arena, bool must)
{
    struct acog_client_request request;
    struct acog_request_problem problem = {{0}};
    const struct acog_conversation *conversation = NULL;
    enum acog_code code =
        acog_dialect_read_request(surface, body, DEPTH_MAX, arena, &request, &problem);
    if (code == ACOG_OK) {
        code = acog_conversation_read(surface, body, arena, &conversation, &problem);
    }
    ACOG_ASSERT(code != ACOG_INVALID || problem.text[0] != '\0');
    ACOG_ASSERT(!must || code == ACOG_OK || code == ACOG_NO_MEMORY);
    return code == ACOG_OK ? conversation : NULL;
}

/* False: it does not fit, or there is no memory. */
static bool write(const struct acog_conversation *conversation, enum acog_dialect from,
                  enum acog_dialect to, const struct acog_model_rules *rules,
                  struct acog_arena *arena, struct acog_buffer *out)
{
    struct acog_request_problem problem = {{0}};
    struct acog_translation translation = {
        .client = from,
        .upstream = to,
        .rules = rules,
        .model = ACOG_VIEW("m-\"1\""),
        .request_id = ACOG_VIEW("r"),
        .max_tokens = -1,
    };
    enum acog_code code = acog_conversation_fits(conversation, to, rules, &problem);
    ACOG_ASSERT(code == ACOG_OK || problem.text[0] != '\0');
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, &translation, arena, out);
        ACOG_ASSERT(code != ACOG_INVALID);
    }
    for (size_t i = 0; i < translation.dropped.len; i++) { /* it goes into a header */
        ACOG_ASSERT(translation.dropped.ptr[i] >= 0x20 && translation.dropped.ptr[i] < 0x7f);
    }
    return code == ACOG_OK;
}

static void is_json(struct acog_view text)
{
    struct acog_json_value value;
    struct acog_json_error error;
    ACOG_ASSERT(acog_json_check(text, ACOG_JSON_DEPTH_MAX, &value, &error) == ACOG_OK);
    ACOG_ASSERT(value.type == ACOG_JSON_OBJECT);
}

static void there_and_back(enum acog_surface surface, enum acog_dialect to, struct acog_view body,
                           uint8_t choice, struct acog_arena *arena)
{
    enum acog_dialect from = acog_surface_dialect(surface);
    struct acog_model_rules rules = rules_for(to, choice);
    struct acog_buffer there;
    struct acog_buffer back;
    acog_buffer_init(&there, BODY_MAX);
    acog_buffer_init(&back, BODY_MAX);
    const struct acog_conversation *conversation = read(surface, body, arena, false);
    if (conversation != NULL && write(conversation, from, to, &rules, arena, &there)) {
        is_json(acog_buffer_view(&there));
        if (to != ACOG_DIALECT_GEMINI) { /* it has no surface: nothing reads its requests */
            struct acog_model_rules own = rules_for(from, choice);
            conversation = read(surfaces[to], acog_buffer_view(&there), arena, true);
            if (conversation != NULL && write(conversation, to, from, &own, arena, &back)) {
                is_json(acog_buffer_view(&back));
                (void)read(surface, acog_buffer_view(&back), arena, true);
            }
        }
    }
    acog_buffer_fini(&there);
    acog_buffer_fini(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_arena arena;
    if (size < CHOICES) {
        return 0;
    }
    enum acog_surface surface = surfaces[data[0] % 3];
    enum acog_dialect to = (enum acog_dialect)((data[0] >> 4U) % ACOG_DIALECT_COUNT);
    struct acog_view body = {.ptr = (const char *)data + CHOICES, .len = size - CHOICES};
    acog_arena_init(&arena, ARENA_MAX);
    there_and_back(surface, to, body, data[1], &arena);
    acog_arena_fini(&arena);
    return 0;
}
