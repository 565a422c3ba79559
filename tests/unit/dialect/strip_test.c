/* strip_test.c - what another provider's opaque bytes left in a conversation does not reach one of the client's own
 * dialect; the rest is the client's, byte for byte.
 */
#include "acog/dialect.h"
#include "tests/support/check.h"

static bool thinking_lost; /* by the last one */

static void assert_stripped(enum acog_surface surface, const char *body, const char *wanted)
{
    struct acog_arena arena;
    struct acog_buffer out;
    struct acog_client_request request;
    struct acog_request_problem problem = {{0}};
    acog_arena_init(&arena, 4096);
    acog_buffer_init(&out, 4096);
    assert_int_equal(
        acog_dialect_read_request(surface, acog_view_of(body), 16, &arena, &request, &problem),
        ACOG_OK);
    assert_int_equal(request.foreign_opaque, wanted != NULL);
    assert_int_equal(acog_dialect_strip_foreign(request.spans.object, &out, &thinking_lost),
                     ACOG_OK);
    struct acog_view stripped = acog_buffer_view(&out);
    if (!acog_view_equal(stripped, acog_view_of(wanted == NULL ? body : wanted))) {
        fail_msg("%s\n  gave: %.*s", body, ACOG_VIEW_FMT(stripped));
    }
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void a_thinking_block_with_anothers_signature_goes(void **state)
{
    (void)state;
    assert_stripped(
        ACOG_SURFACE_MESSAGES,
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\","
        "\"signature\":\"acog.responses.rs.eA==\"},{\"type\":\"text\",\"text\":\"a\\u00e9\"},{"
        "\"type\":\"redacted_thinking\",\"data\":\"acog.redacted-gemini..eA==\"}]},{\"role\":"
        "\"user\",\"content\":\"go\"}]}",
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{"
        "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\"}]},{\"role\":"
        "\"user\",\"content\":\"go\"}]}");
}

static void a_message_of_which_nothing_is_left_goes_too(void **state)
{
    (void)state;
    assert_stripped(ACOG_SURFACE_MESSAGES,
                    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\","
                    "\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":"
                    "\"acog.chat..\"}]},{\"role\":\"user\",\"content\":\"go\"}]}",
                    "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\","
                    "\"content\":\"go\"}]}");
}

static void a_reasoning_item_with_anothers_bytes_goes(void **state)
{
    (void)state;
    assert_stripped(ACOG_SURFACE_RESPONSES,
                    "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"a\"},{\"type\":"
                    "\"reasoning\",\"id\":\"r\",\"summary\":[],\"encrypted_content\":"
                    "\"acog.messages..eA==\"},{\"type\":\"reasoning\",\"id\":\"r2\",\"summary\":[],"
                    "\"encrypted_content\":\"own\"}]}",
                    "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"a\"},{\"type\":"
                    "\"reasoning\",\"id\":\"r2\",\"summary\":[],\"encrypted_content\":\"own\"}]}");
}

static void reasoning_details_with_anothers_bytes_go_with_their_text(void **state)
{
    (void)state;
    assert_stripped(
        ACOG_SURFACE_CHAT,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"a\","
        "\"reasoning_content\":\"x\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":"
        "\"x\",\"signature\":\"acog.messages..eA==\"}]},{\"role\":\"user\",\"content\":\"b\"}]}",
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"a\"},{\"role\":"
        "\"user\",\"content\":\"b\"}]}");
}

static void a_providers_own_stays(void **state)
{
    (void)state;
    assert_stripped(
        ACOG_SURFACE_MESSAGES,
        "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"assistant\","
        "\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"EqQ\"}]}"
        "]}",
        NULL);
    assert_stripped(ACOG_SURFACE_CHAT,
                    "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":null,"
                    "\"reasoning_details\":[{\"signature\":\"own\"}]}]}",
                    NULL);
}

#define THINKING     "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"
#define ADAPTIVE     "\"thinking\":{\"type\":\"adaptive\"},"
#define START        "{\"model\":\"m\",\"max_tokens\":1,"
#define ASKED        "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},"
#define FOREIGN      "{\"type\":\"redacted_thinking\",\"data\":\"acog.chat..eA==\"},"
#define OWN          "{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":\"EqQ\"},"
#define CALL         "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}"
#define SO           ",{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"so?\"}]}"
#define RESULT       "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\"}]}"
#define TURN(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]},"

/* Anthropic refuses a turn that calls a tool and does not begin with thinking while it thinks by a budget. */
static void nobody_thinks_on_in_a_loop_that_lost_its_thoughts(void **state) /* B22, B28 */
{
    (void)state;
    assert_stripped(ACOG_SURFACE_MESSAGES, START THINKING ASKED TURN(FOREIGN CALL) RESULT "]}",
                    START ASKED TURN(CALL) RESULT "]}");
    assert_true(thinking_lost);
    assert_stripped(ACOG_SURFACE_MESSAGES,
                    START THINKING ASKED TURN(FOREIGN CALL) RESULT "," TURN(OWN CALL) RESULT "]}",
                    START ASKED TURN(CALL) RESULT "," TURN(OWN CALL) RESULT "]}");
    assert_true(thinking_lost);
}

/* A loop that is over, one whose turn begins with its own, and one that thinks as the model likes. */
static void whoever_may_thinks_on(void **state)
{
    (void)state;
    assert_stripped(ACOG_SURFACE_MESSAGES, START THINKING ASKED TURN(FOREIGN CALL) RESULT SO "]}",
                    START THINKING ASKED TURN(CALL) RESULT SO "]}");
    assert_false(thinking_lost);
    assert_stripped(ACOG_SURFACE_MESSAGES, START THINKING ASKED TURN(OWN FOREIGN CALL) RESULT "]}",
                    START THINKING ASKED TURN(OWN CALL) RESULT "]}");
    assert_false(thinking_lost);
    assert_stripped(ACOG_SURFACE_MESSAGES, START ADAPTIVE ASKED TURN(FOREIGN CALL) RESULT "]}",
                    START ADAPTIVE ASKED TURN(CALL) RESULT "]}");
    assert_false(thinking_lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thinking_block_with_anothers_signature_goes),
        cmocka_unit_test(a_message_of_which_nothing_is_left_goes_too),
        cmocka_unit_test(a_reasoning_item_with_anothers_bytes_goes),
        cmocka_unit_test(reasoning_details_with_anothers_bytes_go_with_their_text),
        cmocka_unit_test(a_providers_own_stays),
        cmocka_unit_test(nobody_thinks_on_in_a_loop_that_lost_its_thoughts),
        cmocka_unit_test(whoever_may_thinks_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
