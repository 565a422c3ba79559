/* tool_names_test.c - names of functions that the upstream does not take: on the way there, and in the answer. Bodies
 * have ' for ".
 */
#include "acog/translate.h"
#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20U)

#define TEN   "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define LONG  SIXTY "abcde"                        /* 65 */
#define CUT   TEN TEN TEN TEN TEN "abcde_3a54693f" /* as it is told */

struct trip {
    struct acog_arena arena;
    struct acog_buffer request;
    struct acog_buffer answer;
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_request_problem problem;
    char *body;
};

static enum acog_code begin(struct trip *trip, enum acog_surface surface,
                            enum acog_dialect upstream, const char *body)
{
    const struct acog_conversation *conversation = NULL;
    memset(trip, 0, sizeof(*trip));
    acog_arena_init(&trip->arena, BYTES_MAX);
    acog_buffer_init(&trip->request, BYTES_MAX);
    acog_buffer_init(&trip->answer, BYTES_MAX);
    trip->body = with_quotes(body);
    trip->rules = acog_model_rules_default(upstream);
    trip->translation = (struct acog_translation){.client = acog_surface_dialect(surface),
                                                  .upstream = upstream,
                                                  .rules = &trip->rules,
                                                  .model = ACOG_VIEW("m"),
                                                  .request_id = ACOG_VIEW("r1"),
                                                  .max_tokens = -1};
    enum acog_code code = acog_conversation_read(surface, acog_view_of(trip->body), &trip->arena,
                                                 &conversation, &trip->problem);
    if (code == ACOG_OK) {
        code = acog_conversation_fits(conversation, upstream, &trip->rules, &trip->problem);
    }
    if (code == ACOG_OK) {
        code =
            acog_conversation_write(conversation, &trip->translation, &trip->arena, &trip->request);
        assert_int_equal(code, ACOG_OK);
    }
    return code;
}

static void end(struct trip *trip)
{
    acog_buffer_fini(&trip->answer);
    acog_buffer_fini(&trip->request);
    acog_arena_fini(&trip->arena);
    free(trip->body);
}

static size_t times(struct acog_view text, const char *word)
{
    char *wanted = with_quotes(word);
    size_t count = 0;
    for (size_t at = acog_view_find(text, acog_view_of(wanted)); at < text.len;
         at = acog_view_find(text, acog_view_of(wanted))) {
        text = acog_view_slice(text, at + strlen(wanted), text.len);
        count++;
    }
    free(wanted);
    return count;
}

static void sends(const struct trip *trip, size_t count, const char *word)
{
    if (times(acog_buffer_view(&trip->request), word) != count) {
        fail_msg("not %zu times %s:\n%.*s", count, word,
                 ACOG_VIEW_FMT(acog_buffer_view(&trip->request)));
    }
}

/* What the client gets for a whole answer. */
static void answers(struct trip *trip, const char *answer, const char *told)
{
    struct acog_translator *translator = acog_translator_new(&trip->translation);
    char *body = with_quotes(answer);
    assert_non_null(translator);
    assert_int_equal(
        acog_translator_whole(translator, acog_view_of(body), &trip->arena, &trip->answer),
        ACOG_OK);
    if (times(acog_buffer_view(&trip->answer), told) != 1) {
        fail_msg("not %s:\n%.*s", told, ACOG_VIEW_FMT(acog_buffer_view(&trip->answer)));
    }
    acog_translator_free(&translator);
    free(body);
}

static void streams(struct trip *trip, const char *event, const char *told)
{
    trip->translation.stream = true;
    trip->answer.len = 0;
    struct acog_translator *translator = acog_translator_new(&trip->translation);
    char *data = with_quotes(event);
    assert_non_null(translator);
    assert_int_equal(acog_translator_event(translator, (struct acog_view){0}, acog_view_of(data),
                                           &trip->arena, &trip->answer),
                     ACOG_OK);
    assert_int_equal(acog_translator_end(translator, &trip->answer), ACOG_OK);
    if (times(acog_buffer_view(&trip->answer), told) == 0) {
        fail_msg("not %s:\n%.*s", told, ACOG_VIEW_FMT(acog_buffer_view(&trip->answer)));
    }
    acog_translator_free(&translator);
    free(data);
}

static void each_api_takes_its_names(void **state)
{
    static const struct {
        const char *name;
        unsigned taken_by; /* ACOG_BIT(dialect) */
    } rows[] = {
        {"get_Weather-2", ACOG_BIT(ACOG_DIALECT_COUNT) - 1},
        {SIXTY "abcd", ACOG_BIT(ACOG_DIALECT_COUNT) - 1},
        {LONG, ACOG_BIT(ACOG_DIALECT_MESSAGES) | ACOG_BIT(ACOG_DIALECT_RESPONSES)},
        {SIXTY SIXTY "abcdefgh",
         ACOG_BIT(ACOG_DIALECT_MESSAGES) | ACOG_BIT(ACOG_DIALECT_RESPONSES)},
        {SIXTY SIXTY "abcdefghi", 0},
        {"1tool", (ACOG_BIT(ACOG_DIALECT_COUNT) - 1) & ~ACOG_BIT(ACOG_DIALECT_GEMINI)},
        {"-tool", (ACOG_BIT(ACOG_DIALECT_COUNT) - 1) & ~ACOG_BIT(ACOG_DIALECT_GEMINI)},
        {"crm.get:2", ACOG_BIT(ACOG_DIALECT_GEMINI)},
        {".get", 0},
        {"get it", 0},
        {"h\xc3\xa9", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int dialect = 0; dialect < ACOG_DIALECT_COUNT; dialect++) {
            bool fits = acog_tool_name_fits((enum acog_dialect)dialect, acog_view_of(rows[i].name));
            if (fits != ((rows[i].taken_by & ACOG_BIT(dialect)) != 0)) {
                fail_msg("%s, dialect %d", rows[i].name, dialect);
            }
        }
    }
}

#define AN_TOOL(name) "{'name':'" name "','input_schema':{'type':'object','properties':{}}}"
#define AN_USED(name)                                                                        \
    "{'role':'user','content':'hi'},{'role':'assistant','content':[{'type':'tool_use','id':" \
    "'c1','name':'" name "','input':{}}]},{'role':'user','content':[{'type':'tool_result',"  \
    "'tool_use_id':'c1','content':'R'}]}"

/* In the list of tools, the choice, the history, and back in the answer. */
static void a_name_that_is_not_taken_is_told_as_another_everywhere_and_comes_back(void **state)
{
    const char *body = "{'max_tokens':9,'messages':[" AN_USED(LONG) "],'tools':[" AN_TOOL(
        LONG) "," AN_TOOL("f") "],'tool_choice':{'type':'tool','name':'" LONG "'}}";
    struct trip trip;
    (void)state;
    assert_int_equal(begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT, body), ACOG_OK);
    sends(&trip, 3, "'name':'" CUT "'");
    sends(&trip, 0, LONG);
    sends(&trip, 1, "'name':'f'");
    assert_int_equal(trip.translation.dropped.len, 0);
    answers(&trip,
            "{'id':'x','choices':[{'index':0,'message':{'role':'assistant','tool_calls':[{'id':"
            "'c2','type':'function','function':{'name':'" CUT "','arguments':'{}'}}]},"
            "'finish_reason':'tool_calls'}]}",
            "'name':'" LONG "'");
    streams(&trip,
            "{'id':'x','choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'c2','type':"
            "'function','function':{'name':'" CUT "','arguments':'{}'}}]},'finish_reason':"
            "'tool_calls'}]}",
            "'name':'" LONG "'");
    end(&trip);
    assert_int_equal(begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_GEMINI, body), ACOG_OK);
    sends(&trip, 3, "'name':'" CUT "'"); /* the result has it too */
    sends(&trip, 1, "'allowedFunctionNames':['" CUT "']");
    sends(&trip, 0, LONG);
    end(&trip);
    assert_int_equal(begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_RESPONSES, body), ACOG_OK);
    sends(&trip, 3, "'name':'" LONG "'");
    end(&trip);
}

static void a_name_comes_back_to_each_client(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(
        begin(&trip, ACOG_SURFACE_CHAT, ACOG_DIALECT_GEMINI,
              "{'messages':[{'role':'user','content':'hi'}],'tools':[{'type':'function',"
              "'function':{'name':'1tool'}}]}"),
        ACOG_OK);
    sends(&trip, 1, "'name':'_tool_95304761'");
    answers(&trip,
            "{'candidates':[{'content':{'role':'model','parts':[{'functionCall':{'name':"
            "'_tool_95304761','args':{}}}]},'finishReason':'STOP'}]}",
            "'name':'1tool'");
    end(&trip);
    assert_int_equal(begin(&trip, ACOG_SURFACE_RESPONSES, ACOG_DIALECT_CHAT,
                           "{'input':'hi','tools':[{'type':'function','name':'" LONG
                           "','parameters':{}}]}"),
                     ACOG_OK);
    answers(&trip,
            "{'id':'x','choices':[{'index':0,'message':{'role':'assistant','tool_calls':[{'id':"
            "'c2','type':'function','function':{'name':'" CUT "','arguments':'{}'}}]},"
            "'finish_reason':'tool_calls'}]}",
            "'name':'" LONG "'");
    end(&trip);
}

/* A tool that is no longer offered. */
static void a_name_of_the_history_is_told_the_same(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT,
                           "{'max_tokens':9,'messages':[" AN_USED(LONG) "]}"),
                     ACOG_OK);
    sends(&trip, 1, "'name':'" CUT "'");
    end(&trip);
}

static void no_two_tools_are_told_as_one(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT,
                           "{'max_tokens':9,'messages':[" AN_USED(LONG) "],'tools':[" AN_TOOL(
                               LONG) "," AN_TOOL(CUT) "," AN_TOOL(LONG "f") "]}"),
                     ACOG_OK);
    sends(&trip, 1, "'name':'" CUT "'");                               /* its own */
    sends(&trip, 2, "'name':'" TEN TEN TEN TEN TEN "abcde_3a546940'"); /* the tool and its call */
    answers(&trip,
            "{'id':'x','choices':[{'index':0,'message':{'role':'assistant','tool_calls':[{'id':"
            "'c2','type':'function','function':{'name':'" CUT "','arguments':'{}'}}]},"
            "'finish_reason':'tool_calls'}]}",
            "'name':'" CUT "'");
    end(&trip);
}

/* Found by the fuzzer: the second one counted the hash up. */
static void two_tools_of_one_name_stay_two_of_one_name(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(
        begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT,
              "{'max_tokens':9,'messages':[{'role':'user','content':'hi'}],'tools':[" AN_TOOL(
                  LONG) "," AN_TOOL(LONG) "]}"),
        ACOG_OK);
    sends(&trip, 2, "'name':'" CUT "'");
    end(&trip);
}

/* Found by the fuzzer: both were told as one. */
static void a_function_and_a_custom_tool_of_one_unfit_name_are_told_apart(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(begin(&trip, ACOG_SURFACE_RESPONSES, ACOG_DIALECT_CHAT,
                           "{'input':'hi','tools':[{'type':'function','name':'a b'},{'type':"
                           "'custom','name':'a b'}]}"),
                     ACOG_OK);
    sends(&trip, 1, "'name':'a_b'");
    sends(&trip, 1, "'name':'a_b_");
    end(&trip);
}

static void a_name_that_could_not_come_back_is_refused(void **state)
{
    struct trip trip;
    (void)state;
    assert_int_equal(
        begin(&trip, ACOG_SURFACE_MESSAGES, ACOG_DIALECT_CHAT,
              "{'max_tokens':9,'messages':[{'role':'user','content':'hi'}],'tools':[" AN_TOOL(
                  SIXTY SIXTY SIXTY SIXTY SIXTY) "]}"),
        ACOG_INVALID);
    assert_string_equal(trip.problem.text, "tools: a name is longer than 256 bytes");
    end(&trip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_api_takes_its_names),
        cmocka_unit_test(a_name_that_is_not_taken_is_told_as_another_everywhere_and_comes_back),
        cmocka_unit_test(a_name_comes_back_to_each_client),
        cmocka_unit_test(a_name_of_the_history_is_told_the_same),
        cmocka_unit_test(no_two_tools_are_told_as_one),
        cmocka_unit_test(two_tools_of_one_name_stay_two_of_one_name),
        cmocka_unit_test(a_function_and_a_custom_tool_of_one_unfit_name_are_told_apart),
        cmocka_unit_test(a_name_that_could_not_come_back_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
