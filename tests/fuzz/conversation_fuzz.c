/* conversation_fuzz.c - any bytes as a client's body that is told in another dialect. The first byte chooses the surface
 * and the dialect, the second one the model's rules.
 *
 * What is written is strict JSON that the dialect's own reader takes, as a request and as a conversation. Told back in
 * the client's dialect it is taken there too, and says the same (tests/support/conversation_normal.h). What Gemini gets,
 * whose requests nothing here reads, has turns that alternate, and an answer for each call. What is refused says why.
 */
#include "acog/contract.h"
#include "acog/translate.h"
#include "tests/support/conversation_normal.h"
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

/* False: it does not fit, or there is no memory. `translation` is about the way, and filled in. */
static bool write(const struct acog_conversation *conversation,
                  struct acog_translation *translation, struct acog_arena *arena,
                  struct acog_buffer *out)
{
    struct acog_request_problem problem = {{0}};
    translation->model = ACOG_VIEW("m-\"1\"");
    translation->request_id = ACOG_VIEW("r");
    translation->max_tokens = -1;
    enum acog_code code =
        acog_conversation_fits(conversation, translation->upstream, translation->rules, &problem);
    ACOG_ASSERT(code == ACOG_OK || problem.text[0] != '\0');
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, translation, arena, out);
        ACOG_ASSERT(code != ACOG_INVALID);
    }
    for (size_t i = 0; i < translation->dropped.len; i++) { /* it goes into a header */
        ACOG_ASSERT(translation->dropped.ptr[i] >= 0x20 && translation->dropped.ptr[i] < 0x7f);
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

struct gemini_turn {
    struct acog_json_value role;
    size_t parts;
    size_t calls;
    size_t results;
};

static struct gemini_turn read_gemini_turn(struct acog_json_value content)
{
    static const struct acog_view names[] = {{"role", 4}, {"parts", 5}};
    struct acog_json_value found[2];
    struct gemini_turn turn = {.parts = 0};
    acog_json_members(content, names, found, 2);
    turn.role = found[0];
    struct acog_json_cursor cursor = acog_json_enter(found[1]);
    for (; acog_json_next(&cursor); turn.parts++) {
        struct acog_json_value part;
        turn.calls += acog_json_member(cursor.value, ACOG_VIEW("functionCall"), &part) ? 1 : 0;
        turn.results +=
            acog_json_member(cursor.value, ACOG_VIEW("functionResponse"), &part) ? 1 : 0;
    }
    return turn;
}

static void is_gemini_request(struct acog_view body)
{
    struct acog_json_value object;
    struct acog_json_value contents = {.escaped = false};
    struct acog_json_error error;
    ACOG_ASSERT(acog_json_check(body, ACOG_JSON_DEPTH_MAX, &object, &error) == ACOG_OK);
    ACOG_ASSERT(acog_json_member(object, ACOG_VIEW("contents"), &contents));
    struct acog_json_cursor cursor = acog_json_enter(contents);
    struct gemini_turn before = {.parts = 0};
    while (acog_json_next(&cursor)) {
        struct gemini_turn turn = read_gemini_turn(cursor.value);
        ACOG_ASSERT(turn.parts > 0);
        ACOG_ASSERT(!acog_view_equal(turn.role.raw, before.role.raw));
        ACOG_ASSERT(turn.results == before.calls);
        before = turn;
    }
    ACOG_ASSERT(before.parts > 0);
}

static void show(struct acog_buffer *out, const struct acog_conversation *conversation,
                 const struct normal_trip *trip)
{
    acog_buffer_init(out, BODY_MAX * 4);
    normal_turns(out, conversation, ACOG_BIT(trip->from) | ACOG_BIT(trip->via), trip->via);
}

static void is_equal(const struct acog_buffer *first, const struct acog_buffer *back)
{
    bool equal = acog_view_equal(acog_buffer_view(first), acog_buffer_view(back));
    if (!equal) {
        (void)fprintf(stderr, "there:\n%.*s\nback:\n%.*s\n", ACOG_VIEW_FMT(acog_buffer_view(first)),
                      ACOG_VIEW_FMT(acog_buffer_view(back)));
    }
    ACOG_ASSERT(equal);
}

static void tools_are_same(const struct normal_trip *trip)
{
    struct acog_buffer first;
    struct acog_buffer back;
    acog_buffer_init(&first, BODY_MAX * 4);
    acog_buffer_init(&back, BODY_MAX * 4);
    unsigned told = ACOG_BIT(trip->from) | ACOG_BIT(trip->via);
    normal_tools(&first, trip->first, told);
    normal_tools(&back, trip->back, told);
    is_equal(&first, &back);
    acog_buffer_fini(&first);
    acog_buffer_fini(&back);
}

static void is_same(const struct normal_trip *trip, bool by_tool)
{
    struct acog_buffer first;
    struct acog_buffer back;
    show(&first, trip->first, trip);
    show(&back, trip->back, trip);
    is_equal(&first, &back);
    acog_buffer_fini(&first);
    acog_buffer_fini(&back);
    /* A list of names that may be cut proves nothing. */
    for (int i = 0; i < 2; i++) {
        if (trip->dropped[i].len + ACOG_DROPPED_NAME_MAX > ACOG_DROPPED_BYTES_MAX) {
            return;
        }
    }
    normal_settings(trip, by_tool);
    if (!by_tool) {
        tools_are_same(trip);
    }
}

/* The way back, to a model that takes everything its dialect has. */
static void come_back(enum acog_surface surface, const struct acog_conversation *first,
                      const struct acog_translation *there, struct acog_view body,
                      struct acog_arena *arena)
{
    struct acog_model_rules rules = acog_model_rules_default(there->client);
    struct acog_request_problem problem;
    struct acog_buffer back;
    rules.system_anywhere = true;
    rules.prefill = true;
    struct acog_translation translation = {
        .client = there->upstream, .upstream = there->client, .rules = &rules};
    const struct acog_conversation *conversation =
        read(surfaces[there->upstream], body, arena, true);
    acog_buffer_init(&back, BODY_MAX);
    if (conversation != NULL && write(conversation, &translation, arena, &back)) {
        is_json(acog_buffer_view(&back));
        conversation = read(surface, acog_buffer_view(&back), arena, true);
        if (conversation != NULL) {
            const struct normal_trip trip = {
                .first = first,
                .back = conversation,
                .from = there->client,
                .via = there->upstream,
                .dropped = {there->dropped, translation.dropped},
            };
            is_same(&trip, there->schema_by_tool || translation.schema_by_tool);
        }
    } else if (conversation != NULL && back.len == 0) {
        /* What its own dialect takes it also takes when it comes back. */
        ACOG_ASSERT(acog_conversation_fits(first, there->client, &rules, &problem) != ACOG_OK);
    }
    acog_buffer_fini(&back);
}

/* Each tool that the client calls otherwise has a name that every upstream takes, for itself. */
static void names_are_legal(const struct acog_conversation *conversation)
{
    for (const struct acog_tool_identity *identity = conversation->identities; identity != NULL;
         identity = identity->next) {
        ACOG_ASSERT(identity->told.len > 0 && identity->told.len <= ACOG_IDENTITY_TOLD_MAX);
        for (size_t i = 0; i < identity->told.len; i++) {
            ACOG_ASSERT(memchr("-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                               identity->told.ptr[i], 64) != NULL);
        }
        ACOG_ASSERT(acog_identity_find_told(conversation->identities, identity->told) == identity);
    }
}

static void there_and_back(enum acog_surface surface, enum acog_dialect to, struct acog_view body,
                           uint8_t choice, struct acog_arena *arena)
{
    struct acog_model_rules rules = rules_for(to, choice);
    struct acog_buffer there;
    struct acog_translation translation = {
        .client = acog_surface_dialect(surface), .upstream = to, .rules = &rules};
    acog_buffer_init(&there, BODY_MAX);
    const struct acog_conversation *conversation = read(surface, body, arena, false);
    if (conversation != NULL) {
        names_are_legal(conversation);
    }
    if (conversation != NULL && write(conversation, &translation, arena, &there)) {
        is_json(acog_buffer_view(&there));
        if (to == ACOG_DIALECT_GEMINI) {
            is_gemini_request(acog_buffer_view(&there));
        } else {
            come_back(surface, conversation, &translation, acog_buffer_view(&there), arena);
        }
    }
    acog_buffer_fini(&there);
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
