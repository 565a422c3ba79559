/* explain_test.c - plans as text and as JSON, and what cannot be explained. */
#include "acog/simulate.h"
#include "tests/unit/simulate/written.h"

#include <jansson.h>

static const char configuration[] =
    "local acog = require 'acog'\n"
    "local base = require 'policies.acog'\n"
    "return acog.gateway {\n"
    "  listen = '127.0.0.1:0',\n"
    "  policy = base:with {\n"
    "    name = 'acme',\n"
    "    filters = base.filters:before('circuit', function(request, candidate)\n"
    "      if request.header['x-team'] == 'legal' and candidate.region ~= 'eu' then\n"
    "        return false, 'legal stays in the EU'\n"
    "      end\n"
    "      return true\n"
    "    end),\n"
    "  },\n"
    "  client_headers = { 'x-team' },\n"
    "  connections = {\n"
    "    acog.connection 'one' { dialects = { 'messages' }, models = { 'm-1' } },\n"
    "    acog.connection 'two' { dialects = { 'messages' }, models = { 'm-1' }, region = 'eu' },\n"
    "    acog.connection 'three' { dialects = { 'chat' }, models = { 'm-1', 'm-2' } },\n"
    "  },\n"
    "}\n";

struct explained {
    struct written files;
    struct printed out;
    struct printed errors;
    enum acog_simulate_exit result;
};

static void explain(struct explained *explained, const char *text, const char *const *arguments)
{
    char *argv[16] = {0};
    int argc = 0;
    written_init(&explained->files);
    printed_begin(&explained->out);
    printed_begin(&explained->errors);
    char command[] = "explain";
    char path[128];
    (void)snprintf(path, sizeof(path), "%s", written_add(&explained->files, "gateway.lua", text));
    argv[argc++] = command;
    argv[argc++] = path;
    char copies[14][64];
    for (size_t i = 0; arguments[i] != NULL; i++) {
        (void)snprintf(copies[i], sizeof(copies[i]), "%s", arguments[i]);
        argv[argc++] = copies[i];
    }
    explained->result =
        acog_simulate_explain_command(argc, argv, explained->out.file, explained->errors.file);
    printed_end(&explained->out);
    printed_end(&explained->errors);
}

static void explained_fini(struct explained *explained)
{
    printed_fini(&explained->out);
    printed_fini(&explained->errors);
    written_fini(&explained->files);
}

static void a_plan_names_each_candidate_and_why_it_was_dropped(void **state)
{
    (void)state;
    struct explained explained;
    static const char *const arguments[] = {"--model",  "m-1",           "--surface", "messages",
                                            "--header", "X-Team: legal", NULL};
    explain(&explained, configuration, arguments);
    printed_has(&explained.out, "model m-1 on messages, policy acme\n");
    printed_has(&explained.out, "   1  two    direct   m-1  kept\n");
    printed_has(&explained.out, "   -  one    direct   m-1  dropped by ");
    printed_has(&explained.out,
                "gateway.lua:7: legal stays in the EU\n"); /* its place is its name */
    printed_has(&explained.out, "   -  three  direct   m-1  dropped by ");
    assert_int_equal(explained.result, ACOG_EXIT_FINE);
    explained_fini(&explained);
}

static void the_first_surface_with_a_candidate_is_explained(void **state)
{
    (void)state;
    struct explained explained;
    static const char *const on_chat[] = {"--model", "m-2", NULL};
    explain(&explained, configuration, on_chat);
    printed_has(&explained.out, "model m-2 on chat, policy acme\n   1  three");
    assert_int_equal(explained.result, ACOG_EXIT_FINE);
    explained_fini(&explained);
}

static void another_dialect_is_named_or_says_why_it_cannot_be(void **state)
{
    (void)state;
    struct explained explained;
    static const char *const chat[] = {"--model", "m-1", "--surface", "chat", NULL};
    explain(&explained, configuration, chat);
    printed_has(&explained.out, "m-1  kept, translated to messages\n");
    explained_fini(&explained);
    static const char *const counted[] = {"--model", "m-1", "--surface", "count_tokens", NULL};
    explain(&explained, configuration, counted);
    printed_has(&explained.out,
                "   -  three  direct   m-1  dropped by dialect: does not speak this API\n");
    explained_fini(&explained);
}

static void a_surface_that_nobody_speaks_is_not_the_reason(void **state)
{
    (void)state;
    struct explained explained;
    static const char messages_only[] =
        "local acog = require 'acog'\n"
        "local base = require 'policies.acog'\n"
        "return acog.gateway { policy = base:with { name = 'acme', filters = "
        "base.filters:before('circuit', function() return false, 'not today' end) },\n"
        "  connections = { acog.connection 'one' { dialects = { 'messages' }, models = { 'm' } } } }";
    static const char *const arguments[] = {"--model", "m", NULL};
    explain(&explained, messages_only, arguments);
    printed_has(&explained.out, "model m on messages, policy acme\n");
    printed_has(&explained.out, ": not today\n");
    assert_int_equal(explained.result, ACOG_EXIT_FAILED);
    explained_fini(&explained);
}

static void a_policy_that_fails_is_told_once(void **state)
{
    (void)state;
    struct explained explained;
    static const char failing[] =
        "local acog = require 'acog'\n"
        "local base = require 'policies.acog'\n"
        "return acog.gateway { policy = base:with { name = 'acme', filters = "
        "base.filters:before('circuit', function(request) return request.metadata end) },\n"
        "  connections = { acog.connection 'one' { simulate = true, models = { 'm' } } } }";
    static const char *const arguments[] = {"--model", "m", NULL};
    explain(&explained, failing, arguments);
    printed_has(&explained.out, "500 policy_error\n");
    const char *first = strstr(explained.errors.text, "the policy failed");
    assert_non_null(first);
    assert_null(strstr(first + 1, "the policy failed"));
    explained_fini(&explained);
}

static void a_plan_that_leaves_nothing_says_what_the_client_would_get(void **state) /* S4.2 */
{
    (void)state;
    struct explained explained;
    static const char *const arguments[] = {"--model", "nobody-has-it", NULL};
    explain(&explained, configuration, arguments);
    printed_has(&explained.out, "no candidate is left: 409 model_not_configured\n");
    assert_int_equal(explained.result, ACOG_EXIT_FAILED);
    explained_fini(&explained);
}

static void json_is_the_decision_record(void **state)
{
    (void)state;
    struct explained explained;
    static const char *const arguments[] = {"--model", "m-1", "--json", "--stream", NULL};
    explain(&explained, configuration, arguments);
    json_t *record = json_loads(explained.out.text, 0, NULL);
    assert_non_null(record);
    assert_string_equal(json_string_value(json_object_get(record, "model")), "m-1");
    assert_true(json_is_true(json_object_get(record, "stream")));
    assert_int_equal(json_array_size(json_object_get(record, "candidates")), 3);
    assert_int_equal(json_array_size(json_object_get(record, "attempts")), 0);
    json_decref(record);
    explained_fini(&explained);
}

static void a_body_can_be_given_whole(void **state)
{
    (void)state;
    struct explained explained;
    struct written files;
    written_init(&files);
    const char *good = written_add(&files, "good.json",
                                   "{\"model\":\"m-2\",\"messages\":[{\"role\":\"user\","
                                   "\"content\":\"hi\"}]}");
    const char *bad = written_add(&files, "bad.json", "{\"model\":\"m-2\",\"messages\":7}");
    const char *const with_good[] = {"--body", good, "--surface", "chat", NULL};
    explain(&explained, configuration, with_good);
    printed_has(&explained.out, "model m-2 on chat");
    assert_int_equal(explained.result, ACOG_EXIT_FINE);
    explained_fini(&explained);
    const char *const with_bad[] = {"--body", bad, "--surface", "chat", NULL};
    explain(&explained, configuration, with_bad);
    printed_has(&explained.out, "the request is refused: 400 {");
    assert_int_equal(explained.result, ACOG_EXIT_FAILED);
    explained_fini(&explained);
    const char *two = written_add(&files, "two.json",
                                  "{\"model\":\"m-1\",\"n\":2,\"messages\":[{\"role\":\"user\","
                                  "\"content\":\"hi\"}]}");
    const char *const of_chat[] = {"--body", two, NULL}; /* not of the API that serves m-1 */
    explain(&explained, configuration, of_chat);
    printed_has(&explained.out, "model m-1 on chat");
    printed_has(&explained.out, "one    direct   m-1  dropped by dialect: n: must be 1");
    explained_fini(&explained);
    written_fini(&files);
}

static void a_configuration_that_cannot_be_loaded_is_an_error(void **state)
{
    (void)state;
    struct explained explained;
    static const char *const arguments[] = {"--model", "m-1", NULL};
    explain(&explained, "return 7", arguments);
    printed_has(&explained.errors, "gateway.lua");
    assert_int_equal(explained.result, ACOG_EXIT_ERROR);
    assert_int_equal(explained.out.bytes, 0);
    explained_fini(&explained);
}

static void wrong_arguments_are_an_error_with_the_usage(void **state)
{
    (void)state;
    static const char *const wrong[][4] = {
        {NULL},
        {"--model", NULL},
        {"--model", "m-1", "--sideways", NULL},
        {"--surface", "radio", NULL},
        {"--header", "no colon", NULL},
        {"--body", "/nowhere/at_all", NULL},
        {"another.lua", NULL},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct explained explained;
        explain(&explained, configuration, wrong[i]);
        printed_has(&explained.errors, "usage: acog explain FILE");
        assert_int_equal(explained.result, ACOG_EXIT_ERROR);
        explained_fini(&explained);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_names_each_candidate_and_why_it_was_dropped),
        cmocka_unit_test(the_first_surface_with_a_candidate_is_explained),
        cmocka_unit_test(another_dialect_is_named_or_says_why_it_cannot_be),
        cmocka_unit_test(a_surface_that_nobody_speaks_is_not_the_reason),
        cmocka_unit_test(a_policy_that_fails_is_told_once),
        cmocka_unit_test(a_plan_that_leaves_nothing_says_what_the_client_would_get),
        cmocka_unit_test(json_is_the_decision_record),
        cmocka_unit_test(a_body_can_be_given_whole),
        cmocka_unit_test(a_configuration_that_cannot_be_loaded_is_an_error),
        cmocka_unit_test(wrong_arguments_are_an_error_with_the_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
