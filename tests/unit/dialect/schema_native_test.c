/* schema_native_test.c - what becomes of a client's schema where Anthropic takes one of its own. */
#include "tests/unit/dialect/schema_body.h"

/* It fits, becomes `expected` and loses a constraint or not; and stays as it is from then on. */
static void becomes(const char *schema, const char *expected, bool lost)
{
    char *text = with_quotes(schema);
    char *wanted = with_quotes(expected);
    struct written written;
    struct written again;
    struct acog_schema_fit fit = acog_schema_fit_messages(parsed(text));
    if (fit.objection != NULL) {
        fail_msg("%s\n%s", text, fit.objection);
    }
    begin(&written);
    acog_schema_put_messages(&written.writer, parsed(text));
    assert_int_equal(written.writer.code, ACOG_OK);
    if (!acog_view_equal(acog_buffer_view(&written.out), acog_view_of(wanted)) ||
        fit.lost != lost) {
        fail_msg("%s\nis %.*s%s\nnot %s", text, ACOG_VIEW_FMT(acog_buffer_view(&written.out)),
                 fit.lost ? ", lost" : "", wanted);
    }
    begin(&again);
    assert_int_equal(acog_buffer_append(&written.out, ACOG_VIEW("\0")), ACOG_OK);
    struct acog_json_value value = parsed(written.out.ptr);
    fit = acog_schema_fit_messages(value);
    assert_null(fit.objection);
    assert_false(fit.lost);
    acog_schema_put_messages(&again.writer, value);
    assert_quoted(acog_buffer_view(&again.out), wanted);
    acog_buffer_fini(&again.out);
    acog_buffer_fini(&written.out);
    free(wanted);
    free(text);
}

static void stays(const char *schema)
{
    becomes(schema, schema, false);
}

static void object_to(const char *schema, const char *words)
{
    char *text = with_quotes(schema);
    struct acog_schema_fit fit = acog_schema_fit_messages(parsed(text));
    if (fit.objection == NULL || strstr(fit.objection, words) == NULL ||
        strlen(fit.objection) >= ACOG_ERROR_TEXT_MAX) {
        fail_msg("%s\n%s, not %s", text, fit.objection == NULL ? "fits" : fit.objection, words);
    }
    free(text);
}

#define HOLDS(member)                                                                         \
    "{'type':'object','properties':{'a':" member "},'required':['a'],'additionalProperties':" \
    "false}"

static void what_is_native_is_copied(void **state)
{
    (void)state;
    stays(HOLDS("{'type':'string'}"));
    stays("{'description':'a person','type':'object','properties':{'n':{'type':'integer','default'"
          ":3}},'additionalProperties':false}");
    stays(HOLDS("{'type':['string','null'],'enum':['x',null],'title':'t','description':'d'}"));
    stays(HOLDS("{'const':1}"));
    stays(HOLDS("{'type':'array','items':{'anyOf':[{'type':'string'},{'type':'null'}]},"
                "'minItems':1}"));
    stays(HOLDS("{'type':'string','format':'uuid'}"));
    stays(HOLDS("{'allOf':[{'type':'string'},{'type':'string','format':'date'}]}"));
    stays("{'$defs':{'p':" HOLDS("{'type':'string'}") ",'q':" HOLDS(
        "{'$ref':'#/$defs/p'}") "},'type':'object','properties':{'x':{'$ref':'#/$defs/q'},'y':"
                                "{'$ref':'#/$defs/p'}},'additionalProperties':false}");
    stays("{'$ref':'#/definitions/p','definitions':{'p':" HOLDS("{'type':'string'}") "}}");
    /* Names are no keywords. */
    stays("{'type':'object','properties':{'minimum':{'type':'integer'},'$ref':{'type':'string'},"
          "'additionalProperties':{'type':'boolean'}},'additionalProperties':false}");
}

static void objects_are_closed_and_nothing_is_lost(void **state)
{
    (void)state;
    becomes("{'type':'object','properties':{'a':{'type':'object','properties':{}}}}",
            "{'type':'object','properties':{'a':{'type':'object','properties':{},"
            "'additionalProperties':false}},'additionalProperties':false}",
            false);
    becomes("{'properties':{'a':{'type':'string'}}}",
            "{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}",
            false);
    becomes(HOLDS("{'type':['object','null'],'properties':{}}"),
            HOLDS("{'type':['object','null'],'properties':{},'additionalProperties':false}"),
            false);
}

static void constraints_are_told_in_the_description(void **state)
{
    (void)state;
    becomes(HOLDS("{'type':'integer','minimum':0,'maximum':150}"),
            HOLDS("{'type':'integer','description':'{minimum: 0, maximum: 150}'}"), true);
    becomes(HOLDS("{'minLength':1,'description':'a \\'name\\'','type':'string','maxLength':9}"),
            HOLDS("{'description':'a \\'name\\'\\n\\n{minLength: 1, maxLength: 9}','type':"
                  "'string'}"),
            true);
    becomes(HOLDS("{'description':'','type':'array','items':{'type':'string'},'minItems':2,"
                  "'maxItems':4,'uniqueItems':true}"),
            HOLDS("{'description':'{minItems: 2, maxItems: 4, uniqueItems: true}','type':'array',"
                  "'items':{'type':'string'}}"),
            true);
    becomes(HOLDS("{'type':'string','format':'phone','x':{'y':'z'}}"),
            HOLDS("{'type':'string','description':'{format: \\'phone\\', x: {\\'y\\':\\'z\\'}}'}"),
            true);
    becomes(HOLDS("{'type':'number','exclusiveMinimum':0,'multipleOf':0.5}"),
            HOLDS("{'type':'number','description':'{exclusiveMinimum: 0, multipleOf: 0.5}'}"),
            true);
}

static void annotations_are_told_and_what_says_nothing_goes_unseen(void **state)
{
    (void)state;
    becomes("{'$schema':'https://json-schema.org/draft/2020-12/schema','$id':'x','$comment':'c',"
            "'type':'object','properties':{},'additionalProperties':false}",
            "{'type':'object','properties':{},'additionalProperties':false}", false);
    becomes(HOLDS("{'type':'string','examples':['x']}"),
            HOLDS("{'type':'string','description':'{examples: [\\'x\\']}'}"), false);
    /* As zod writes an integer, and a length that any text has. */
    becomes(HOLDS("{'type':'integer','minimum':-9007199254740991,'maximum':9007199254740991}"),
            HOLDS("{'type':'integer'}"), false);
    becomes(HOLDS("{'type':'string','minLength':0}"), HOLDS("{'type':'string'}"), false);
    becomes(HOLDS("{'type':'array','items':{'type':'null'},'uniqueItems':false,'minItems':0}"),
            HOLDS("{'type':'array','items':{'type':'null'},'minItems':0}"), false);
}

static void simple_patterns_stay_and_others_are_told(void **state)
{
    static const char *const simple[] = {
        "^@[a-zA-Z0-9_]+$", "^\\\\d{3}-\\\\d{2,4}$", "a{1,}(b|c)?", "^\\\\w+\\\\.x$", "",
        "^[^x]*$"};
    static const char *const others[] = {"^(?!x)",  "(?:a)",     "\\\\bx",   "(a)\\\\1",
                                         "a+?",     "a{1,1000}", "a{x}",     "a{",
                                         "\\u0061", "\\\\",      "\\\\p{L}", "x\\\\"};

    (void)state;
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
        char schema[256];
        (void)snprintf(schema, sizeof(schema), HOLDS("{'type':'string','pattern':'%s'}"),
                       simple[i]);
        stays(schema);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char schema[256];
        (void)snprintf(schema, sizeof(schema), HOLDS("{'type':'string','pattern':'%s'}"),
                       others[i]);
        char *text = with_quotes(schema);
        struct acog_schema_fit fit = acog_schema_fit_messages(parsed(text));
        if (fit.objection != NULL || !fit.lost) {
            fail_msg("%s is taken", others[i]);
        }
        free(text);
    }
}

static void one_of_becomes_any_of(void **state)
{
    (void)state;
    becomes(HOLDS("{'oneOf':[{'type':'string'},{'type':'integer'}],'discriminator':{'x':'y'}}"),
            HOLDS("{'anyOf':[{'type':'string'},{'type':'integer'}]}"), true);
}

static void a_reference_stands_alone(void **state)
{
    (void)state;
    becomes("{'$defs':{'p':{'type':'string'}},'type':'object','properties':{'x':{'$ref':"
            "'#/$defs/p','description':'d','title':'t','default':'x'}},'additionalProperties':"
            "false}",
            "{'$defs':{'p':{'type':'string'}},'type':'object','properties':{'x':{'$ref':"
            "'#/$defs/p'}},'additionalProperties':false}",
            false);
    becomes("{'$defs':{'p':{'type':'string'}},'type':'object','properties':{'x':{'minLength':3,"
            "'$ref':'#/$defs/p'}},'additionalProperties':false}",
            "{'$defs':{'p':{'type':'string'}},'type':'object','properties':{'x':{'$ref':"
            "'#/$defs/p'}},'additionalProperties':false}",
            true);
}

static void what_cannot_be_rewritten_is_objected_to(void **state)
{
    (void)state;
    object_to("{}", "any type");
    object_to("true", "not an object");
    object_to(HOLDS("{}"), "any type");
    object_to(HOLDS("true"), "any type");
    object_to(HOLDS("{'description':'d'}"), "any type");
    object_to(HOLDS("{'type':'object'}"), "names no properties");
    object_to(HOLDS("{'type':'object','additionalProperties':true}"), "names no properties");
    object_to(HOLDS("{'type':'object','properties':{},'additionalProperties':true}"),
              "additionalProperties");
    object_to(HOLDS("{'type':'object','properties':{},'additionalProperties':{'type':'string'}}"),
              "additionalProperties");
    object_to(HOLDS("{'type':'array'}"), "an array of any values");
    object_to(HOLDS("{'type':'array','items':[{'type':'string'}]}"), "any type");
    object_to(HOLDS("{'type':'array','items':{'type':'string'},'prefixItems':[]}"), "not taken");
    object_to(HOLDS("{'type':'string','not':{'const':'x'}}"), "not taken");
    object_to(HOLDS("{'anyOf':[{'type':'string'}],'oneOf':[]}"), "anyOf beside oneOf");
    object_to(HOLDS("{'anyOf':{}}"), "of another type");
    object_to(HOLDS("{'enum':[{'x':1}]}"), "enum or const");
    object_to(HOLDS("{'type':'object','properties':{},'const':{}}"), "enum or const");
    object_to(HOLDS("{'allOf':[{'type':'object','properties':{}}]}"), "several schemas");
    object_to("{'type':'object','properties':{},'allOf':[{'type':'string'}]}", "several schemas");
    object_to("{'type':'object','type':'object','properties':{}}", "twice");
    object_to(HOLDS("{'type':'string','m\\u0061xLength':1}"), "escapes");
    object_to("{'type':'object','properties':{'x':{'$ref':'#/$defs/p','$ref':'#/$defs/p'}},"
              "'$defs':{'p':{'type':'string'}}}",
              "twice");
}

static void references_lead_to_definitions_and_never_back(void **state)
{
    (void)state;
    object_to(HOLDS("{'$ref':'#'}"), "back to itself");
    object_to(HOLDS("{'$ref':'http://x.example/s'}"), "elsewhere");
    object_to(HOLDS("{'$ref':'#/properties/b'}"), "elsewhere");
    object_to(HOLDS("{'$ref':'#/$defs/p'}"), "nowhere");
    object_to(HOLDS("{'$ref':7}"), "elsewhere");
    object_to("{'$defs':{'p':{'type':'string'}},'type':'object','properties':{'x':{'allOf':"
              "[{'$ref':'#/$defs/p'}]}}}",
              "inside allOf");
    object_to("{'$ref':'#/$defs/n','$defs':{'n':{'type':'object','properties':{'next':{'anyOf':["
              "{'$ref':'#/$defs/n'},{'type':'null'}]}}}}}",
              "back to itself");
    object_to("{'type':'object','properties':{},'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'type':"
              "'array','items':{'$ref':'#/$defs/c'}},'c':{'$ref':'#/$defs/a'}}}",
              "back to itself");
    /* One name in both places is two definitions. */
    stays("{'$ref':'#/$defs/n','$defs':{'n':{'$ref':'#/definitions/n'}},'definitions':{'n':{'type':"
          "'string'}}}");
    char *text =
        many("{'type':'object','properties':{},'$defs':{", "'d%':{'type':'string'}", "}}", 129);
    assert_non_null(acog_schema_fit_messages(parsed(text)).objection);
    free(text);
}

static void optional_properties_and_unions_are_counted(void **state)
{
    (void)state;
    char *most = many("{'type':'object','properties':{", "'p%':{'type':'string'}", "}}", 24);
    char *more = many("{'type':'object','properties':{", "'p%':{'type':'string'}", "}}", 25);
    struct acog_schema_fit fit = acog_schema_fit_messages(parsed(most));
    assert_null(fit.objection);
    assert_int_equal(fit.optionals, 24);
    assert_non_null(strstr(acog_schema_fit_messages(parsed(more)).objection, "choices"));
    free(most);
    free(more);
    most = many("{'anyOf':[", "{'type':['string','null']}", "]}", 15);
    more = many("{'anyOf':[", "{'type':['string','null']}", "]}", 16);
    assert_int_equal(acog_schema_fit_messages(parsed(most)).unions, 16);
    assert_null(acog_schema_fit_messages(parsed(most)).objection);
    assert_non_null(strstr(acog_schema_fit_messages(parsed(more)).objection, "choices"));
    free(most);
    free(more);
}

static void the_limits_hold_for_all_schemas_of_a_request(void **state)
{
    struct acog_schema_totals totals = {0};
    struct acog_schema_fit fit = {.optionals = 12, .unions = 8};
    const struct acog_schema_fit plain = {.objection = NULL};
    const struct acog_schema_fit other = {.objection = "x"};
    (void)state;
    assert_true(acog_schema_admit(&totals, &fit));
    assert_false(acog_schema_admit(&totals, &other));
    assert_true(acog_schema_admit(&totals, &fit));
    fit = (struct acog_schema_fit){.optionals = 1};
    assert_false(acog_schema_admit(&totals, &fit));
    fit = (struct acog_schema_fit){.unions = 1};
    assert_false(acog_schema_admit(&totals, &fit));
    for (int i = 2; i < 20; i++) {
        assert_true(acog_schema_admit(&totals, &plain));
    }
    assert_false(acog_schema_admit(&totals, &plain));
}

static void what_is_large_or_deep_is_given_up(void **state)
{
    static const char *const befores[] = {"{\"items\":", "{\"anyOf\":[", "{\"properties\":{\"a\":"};
    static const char *const afters[] = {"}", "]}", "}}"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *text = nested(befores[i], "{\"type\":\"string\"}", afters[i], 150);
        assert_false(acog_schema_is_openai_strict(parsed(text)));
        assert_non_null(acog_schema_fit_messages(parsed(text)).objection);
        struct written written;
        bool lost = false;
        begin(&written);
        acog_schema_put_gemini(&written.writer, parsed(text), &lost);
        assert_quoted(acog_buffer_view(&written.out), text);
        acog_buffer_fini(&written.out);
        free(text);
    }
    char *large = many("{'type':'object','properties':{", "'a%':{'type':'string'}", "}}", 20000);
    assert_true(strlen(large) > ACOG_SCHEMA_BYTES_MAX);
    assert_non_null(strstr(acog_schema_fit_messages(parsed(large)).objection, "size"));
    free(large);
    /* A small head over a long and deep tail: the tail is looked at no more often than its length allows. */
    char *tail = many("[", "'some text that is long enough %'", "]", 5000);
    char *before =
        nested("{\"type\":\"array\",\"items\":", "{\"type\":\"string\",\"examples\":", "", 30);
    char *after = nested("", "}", "}", 30);
    char *deep = malloc(strlen(before) + strlen(tail) + strlen(after) + 1);
    assert_non_null(deep);
    (void)stpcpy(stpcpy(stpcpy(deep, before), tail), after);
    assert_non_null(strstr(acog_schema_fit_messages(parsed(deep)).objection, "size"));
    free(deep);
    free(after);
    free(before);
    free(tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_native_is_copied),
        cmocka_unit_test(objects_are_closed_and_nothing_is_lost),
        cmocka_unit_test(constraints_are_told_in_the_description),
        cmocka_unit_test(annotations_are_told_and_what_says_nothing_goes_unseen),
        cmocka_unit_test(simple_patterns_stay_and_others_are_told),
        cmocka_unit_test(one_of_becomes_any_of),
        cmocka_unit_test(a_reference_stands_alone),
        cmocka_unit_test(what_cannot_be_rewritten_is_objected_to),
        cmocka_unit_test(references_lead_to_definitions_and_never_back),
        cmocka_unit_test(optional_properties_and_unions_are_counted),
        cmocka_unit_test(the_limits_hold_for_all_schemas_of_a_request),
        cmocka_unit_test(what_is_large_or_deep_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
