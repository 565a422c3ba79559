/* many_test.c - requests that hold very many of a thing that is looked for among others. Where each were looked for
 * among all, a test of these would run into its time limit.
 */
#include "acog/translate.h"
#include "tests/support/check.h"

#define BODY_MAX  ((size_t)16 * 1024 * 1024)
#define ARENA_MAX ((size_t)64 * 1024 * 1024)

struct bench {
    struct acog_arena arena;
    struct acog_buffer body;
};

static void begin(struct bench *bench, const char *head)
{
    acog_arena_init(&bench->arena, ARENA_MAX);
    acog_buffer_init(&bench->body, BODY_MAX);
    assert_int_equal(acog_buffer_append(&bench->body, acog_view_of(head)), ACOG_OK);
}

/* `fmt` takes the number. */
#define ADD(bench, count, fmt)                                                    \
    for (unsigned i_ = 0; i_ < (count); i_++) {                                   \
        assert_int_equal(acog_buffer_format(&(bench)->body, (fmt), i_), ACOG_OK); \
    }

static void write_for(struct bench *bench, const struct acog_conversation *conversation,
                      enum acog_dialect client, enum acog_dialect upstream)
{
    const struct acog_model_rules rules = acog_model_rules_default(upstream);
    struct acog_translation translation = {.client = client, .upstream = upstream, .rules = &rules};
    struct acog_buffer out;
    acog_buffer_init(&out, 2 * BODY_MAX);
    assert_int_equal(acog_conversation_write(conversation, &translation, &bench->arena, &out),
                     ACOG_OK);
    acog_buffer_fini(&out);
}

/* Read, and written for every other dialect. */
static void end(struct bench *bench, enum acog_surface surface, const char *tail)
{
    const struct acog_conversation *conversation = NULL;
    struct acog_request_problem problem = {{0}};
    enum acog_dialect client = acog_surface_dialect(surface);
    assert_int_equal(acog_buffer_append(&bench->body, acog_view_of(tail)), ACOG_OK);
    assert_int_equal(acog_conversation_read(surface, acog_buffer_view(&bench->body), &bench->arena,
                                            &conversation, &problem),
                     ACOG_OK);
    for (int upstream = 0; upstream < ACOG_DIALECT_COUNT; upstream++) {
        if (upstream != (int)client) {
            write_for(bench, conversation, client, (enum acog_dialect)upstream);
        }
    }
    acog_buffer_fini(&bench->body);
    acog_arena_fini(&bench->arena);
}

#define ASSISTANT \
    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":["

static void signatures_among_texts(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, ASSISTANT);
    ADD(&bench, 50000,
        "{\"type\":\"redacted_thinking\",\"data\":\"acog.gemini.c%u.s\"},{\"type\":\"text\",\"text\":\"t\"},");
    ADD(&bench, 50000,
        "{\"type\":\"redacted_thinking\",\"data\":\"acog.gemini..%u\"},{\"type\":\"text\",\"text\":\"t\"},");
    end(&bench, ACOG_SURFACE_MESSAGES, "{\"type\":\"text\",\"text\":\"t\"}]}]}");
}

static void messages_of_one_turn_with_a_signature_each(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}");
    ADD(&bench, 50000,
        ",{\"role\":\"assistant\",\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"acog."
        "gemini.c%u.s\"},{\"type\":\"text\",\"text\":\"t\"}]}");
    end(&bench, ACOG_SURFACE_MESSAGES, "]}");
}

static void thoughts_that_nothing_came_of(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, ASSISTANT "{\"type\":\"text\",\"text\":\"t\"}");
    ADD(&bench, 50000,
        ",{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"acog.responses.r%u.s\"}");
    end(&bench, ACOG_SURFACE_MESSAGES, "]},{\"role\":\"user\",\"content\":\"q\"}]}");
}

static void details_of_calls(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","
                  "\"reasoning_details\":[");
    ADD(&bench, 50000, "{\"type\":\"reasoning.encrypted\",\"data\":\"d\",\"id\":\"c%u\"},");
    assert_int_equal(acog_buffer_append(&bench.body, ACOG_VIEW("{}],\"tool_calls\":[")), ACOG_OK);
    ADD(&bench, 1000,
        "{\"id\":\"c%u\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},");
    end(&bench, ACOG_SURFACE_CHAT,
        "{\"id\":\"z\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}]}");
}

static void results_of_turns_with_many_calls(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, "{\"input\":[{\"role\":\"user\",\"content\":\"q\"}");
    for (int turn = 0; turn < 20; turn++) {
        ADD(&bench, 1000,
            ",{\"type\":\"function_call\",\"call_id\":\"\\u0063%u\",\"name\":\"f\",\"arguments\":\"{}\"}");
        ADD(&bench, 1000,
            ",{\"type\":\"function_call_output\",\"call_id\":\"c%u\",\"output\":\"r\"}");
    }
    end(&bench, ACOG_SURFACE_RESPONSES, "]}");
}

static void allowed_tools_among_declared_ones(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, "{\"input\":\"q\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}");
    ADD(&bench, 100000, ",{\"type\":\"function\",\"name\":\"f%u\"}");
    assert_int_equal(
        acog_buffer_append(&bench.body, ACOG_VIEW("],\"tool_choice\":{\"type\":\"allowed_tools\","
                                                  "\"mode\":\"auto\",\"tools\":[{")),
        ACOG_OK);
    ADD(&bench, 100000, "\"n%u\":0,");
    end(&bench, ACOG_SURFACE_RESPONSES, "\"type\":\"function\",\"name\":\"f\"}]}}");
}

static void a_long_name_that_is_chosen_among_declared_ones(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, "{\"input\":\"q\",\"tools\":[");
    ADD(&bench, 100000, "{\"type\":\"function\",\"name\":\"f%u\"},");
    assert_int_equal(
        acog_buffer_append(&bench.body, ACOG_VIEW("{\"type\":\"function\",\"name\":\"\\u0066")),
        ACOG_OK);
    ADD(&bench, 1000, "f%u");
    assert_int_equal(
        acog_buffer_append(
            &bench.body,
            ACOG_VIEW("\"}],\"tool_choice\":{\"type\":\"function\",\"name\":\"\\u0066")),
        ACOG_OK);
    ADD(&bench, 1000, "f%u");
    end(&bench, ACOG_SURFACE_RESPONSES, "\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_among_texts),
        cmocka_unit_test(messages_of_one_turn_with_a_signature_each),
        cmocka_unit_test(thoughts_that_nothing_came_of),
        cmocka_unit_test(details_of_calls),
        cmocka_unit_test(results_of_turns_with_many_calls),
        cmocka_unit_test(allowed_tools_among_declared_ones),
        cmocka_unit_test(a_long_name_that_is_chosen_among_declared_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
