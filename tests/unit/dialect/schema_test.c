/* schema_test.c - what becomes of a client's schema where an API takes less than JSON Schema. */
#include "core/dialect/schema.h"

#include "tests/support/check.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 22U)

static struct acog_json_value parsed(const char *text)
{
    struct acog_json_value value = {.raw = {0}};
    struct acog_json_error error;
    if (acog_json_check(acog_view_of(text), ACOG_JSON_DEPTH_MAX, &value, &error) != ACOG_OK) {
        fail_msg("%s\n%s at %zu", text, error.what, error.offset);
    }
    return value;
}

/* -- OpenAI's strict subset ------------------------------------------------------------------------ */

static void are(const char *const *schemas, size_t count, bool strict)
{
    for (size_t i = 0; i < count; i++) {
        char *text = with_quotes(schemas[i]);
        if (acog_schema_is_openai_strict(parsed(text)) != strict) {
            fail_msg("%s is%s in the subset", text, strict ? " not" : "");
        }
        free(text);
    }
}

#define CLOSED(properties, required)                                       \
    "{'type':'object','properties':{" properties "},'required':[" required \
    "],'additionalProperties':false}"

static void closed_objects_that_require_all_are_strict(void **state)
{
    static const char *const schemas[] = {
        CLOSED("", ""),
        "{'type':'object','properties':{},'additionalProperties':false}",
        CLOSED("'a':{'type':'string'},'b':{'type':['integer','null']}", "'a','b'"),
        CLOSED("'a':{'type':'string'},'b':{'type':'boolean'}", "'b','a'"),
        CLOSED("'a':{'type':'array','items':" CLOSED("'x':{'type':'null'}", "'x'") "}", "'a'"),
        CLOSED("'a':{'anyOf':[{'type':'string'}," CLOSED("", "") "]}", "'a'"),
        CLOSED("'a':{'type':'string','enum':['x','y'],'title':'t','description':'d'}", "'a'"),
        CLOSED("'a':{'type':'string','const':'x'}", "'a'"),
        CLOSED("'a':{'type':'number','minimum':0,'exclusiveMaximum':1,'multipleOf':2}", "'a'"),
        CLOSED("'a':{'type':'string','pattern':'^x','format':'date-time'}", "'a'"),
        CLOSED("'a':{'type':'array','items':{'type':'string'},'minItems':2,'maxItems':3}", "'a'"),
        "{'$schema':'http://json-schema.org/draft-07/schema#','type':'object','$defs':{'n':" CLOSED(
            "'next':{'$ref':'#/$defs/n'}", "'next'") "},'properties':{'n':{'$ref':'#/$defs/n'}},"
                                                     "'required':['n'],'additionalProperties':"
                                                     "false}",
        CLOSED("'self':{'anyOf':[{'$ref':'#'},{'type':'null'}]}", "'self'"),
    };
    (void)state;
    are(schemas, sizeof(schemas) / sizeof(schemas[0]), true);
}

static void what_openai_does_not_hold_to_is_not_strict(void **state)
{
    static const char *const schemas[] = {
        "{}",
        "true",
        "{'type':'string'}",
        "{'type':['object','null'],'properties':{},'required':[],'additionalProperties':false}",
        "{'anyOf':[" CLOSED("", "") "]}",
        "{'type':'object','anyOf':[],'properties':{},'additionalProperties':false}",
        "{'$ref':'#/$defs/a','$defs':{'a':" CLOSED("", "") "}}",
        /* an optional property, an open object, a map */
        CLOSED("'a':{'type':'string'},'b':{'type':'string'}", "'a'"),
        "{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}",
        "{'type':'object','properties':{'a':{'type':'string'}},'required':['a']}",
        "{'type':'object','properties':{},'additionalProperties':true}",
        "{'type':'object','properties':{},'additionalProperties':{'type':'string'}}",
        "{'type':'object','additionalProperties':false}",
        CLOSED("'a':{'type':'object','properties':{}}", "'a'"),
        CLOSED("'a':{'type':['object','null']}", "'a'"),
        CLOSED("'a':{'type':'array'}", "'a'"),
        CLOSED("'a':{'type':'array','items':true}", "'a'"),
        CLOSED("'a':{}", "'a'"),
        CLOSED("'a':true", "'a'"),
        CLOSED("'a':{'enum':['x']}", "'a'"),
        CLOSED("'a':{'allOf':[{'type':'string'}]}", "'a'"),
        CLOSED("'a':{'oneOf':[{'type':'string'}]}", "'a'"),
        CLOSED("'a':{'type':'string','not':{'const':'x'}}", "'a'"),
        CLOSED("'a':{'type':'string','minLength':1}", "'a'"),
        CLOSED("'a':{'type':'string','format':'uri'}", "'a'"),
        CLOSED("'a':{'type':'string','default':'x'}", "'a'"),
        CLOSED("'a':{'type':'string','x-mine':1}", "'a'"),
        CLOSED("'a':{'type':'string','enum':[]}", "'a'"),
        CLOSED("'a':{'$ref':'#/$defs/a','description':'d'}", "'a'"),
        CLOSED("'a':{'$ref':'#/properties/b'}", "'a'"),
        CLOSED("'a':{'$ref':'http://x.example/a'}", "'a'"),
        CLOSED("'a':{'anyOf':{'type':'string'}}", "'a'"),
        "{'type':'object','properties':[],'required':[],'additionalProperties':false}",
        "{'type':'object','type':'object','properties':{},'additionalProperties':false}",
        "{'type':'object','properties':{},'required':[],'additionalProperties':false,"
        "'additionalProperties':false}",
    };
    (void)state;
    are(schemas, sizeof(schemas) / sizeof(schemas[0]), false);
}

static char *nested(const char *before, const char *inside, const char *after, size_t times)
{
    size_t bytes = times * (strlen(before) + strlen(after)) + strlen(inside) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    text[0] = '\0';
    char *end = text;
    for (size_t i = 0; i < times; i++) {
        end = stpcpy(end, before);
    }
    end = stpcpy(end, inside);
    for (size_t i = 0; i < times; i++) {
        end = stpcpy(end, after);
    }
    return text;
}

static void objects_nest_ten_levels(void **state)
{
    (void)state;
    for (size_t times = 9; times <= 40; times += 31) {
        char *spelled = nested("{'type':'object','properties':{'a':", CLOSED("", ""),
                               "},'required':['a'],'additionalProperties':false}", times);
        char *text = with_quotes(spelled);
        assert_int_equal(acog_schema_is_openai_strict(parsed(text)), times == 9);
        free(text);
        free(spelled);
    }
    char *spelled = nested("{'type':'object','properties':{'a':", CLOSED("", ""),
                           "},'required':['a'],'additionalProperties':false}", 10);
    char *text = with_quotes(spelled);
    assert_false(acog_schema_is_openai_strict(parsed(text)));
    free(text);
    free(spelled);
}

/* `count` elements made of `fmt` and their number. */
static char *many(const char *before, const char *element, const char *after, int count)
{
    size_t room = strlen(before) + (size_t)count * (strlen(element) + 8) + strlen(after) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    char *end = stpcpy(text, before);
    for (int i = 0; i < count; i++) {
        for (const char *byte = element; *byte != '\0'; byte++) {
            if (*byte == '%') {
                end += snprintf(end, 8, "%d", i);
            } else {
                *end++ = *byte;
            }
        }
        *end++ = i + 1 < count ? ',' : ' ';
    }
    (void)stpcpy(end, after);
    char *quoted = with_quotes(text);
    free(text);
    return quoted;
}

static void enums_have_limits(void **state)
{
    static const struct {
        int values;
        const char *value;
        bool strict;
    } rows[] = {
        {1000, "'v%'", true},
        {1001, "'v%'", false},
        {250, "'12345678901234567890123456789012345678901234567890123456789012345'", true},
        {251, "'12345678901234567890123456789012345678901234567890123456789012345'", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text =
            many("{'type':'object','properties':{'a':{'type':'string','enum':[", rows[i].value,
                 "]}},'required':['a'],'additionalProperties':false}", rows[i].values);
        assert_int_equal(acog_schema_is_openai_strict(parsed(text)), rows[i].strict);
        free(text);
    }
}

/* -- Anthropic's native formats -------------------------------------------------------------------- */

struct written {
    struct acog_buffer out;
    struct acog_request_writer writer;
};

static void begin(struct written *written)
{
    *written = (struct written){.writer = {.code = ACOG_OK}};
    acog_buffer_init(&written->out, BYTES_MAX);
    written->writer.out = &written->out;
}

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

/* -- made to hurt ---------------------------------------------------------------------------------- */

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

/* -- Gemini ---------------------------------------------------------------------------------------- */

static void gemini_gets(const char *schema, const char *expected, bool lost)
{
    char *text = with_quotes(schema);
    char *wanted = with_quotes(expected);
    struct written written;
    bool seen = false;
    begin(&written);
    acog_schema_put_gemini(&written.writer, parsed(text), &seen);
    assert_quoted(acog_buffer_view(&written.out), wanted);
    assert_int_equal(seen, lost);
    acog_buffer_fini(&written.out);
    free(wanted);
    free(text);
}

static void beside_a_reference_gemini_gets_nothing(void **state)
{
    static const char *const same[] = {
        "{}",
        "true",
        "{ 'type' : 'object', 'properties':{'$ref':{'type':'string'},'b':{'$ref':'#/$defs/b'}},"
        "'$defs':{'b':{'type':'string','minLength':1}},'oneOf':[{'x':1}] }",
        "{'type':'object','enum':[{'$ref':'x','y':1}],'default':{'$ref':'x','y':1}}",
        "{'$ref':'#/$defs/a','$defs':{'a':{'type':'null'}}}",
        "{'properties':['a',{'$ref':'a','b':1}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        gemini_gets(same[i], same[i], false);
    }
    gemini_gets(
        "{'properties':{ 'a': {'$ref':'#/$defs/b','description':'d'} , 'c':{'type':'null'}}}",
        "{'properties':{ 'a': {'$ref':'#/$defs/b'} , 'c':{'type':'null'}}}", false);
    gemini_gets("{'items':{'anyOf':[{'title':'t','$ref':'#/$defs/b','default':1,'$comment':'c'}]}}",
                "{'items':{'anyOf':[{'$ref':'#/$defs/b','$comment':'c'}]}}", false);
    gemini_gets("{'additionalProperties':{'$ref':'#/$defs/b','minLength':3}}",
                "{'additionalProperties':{'$ref':'#/$defs/b'}}", true);
    gemini_gets("{'title':'t','$defs':{'b':{'$ref':'#/$defs/c','title':'t'},'c':{'type':'null'}},"
                "'$ref':'#/$defs/b'}",
                "{'$defs':{'b':{'$ref':'#/$defs/c'},'c':{'type':'null'}},'$ref':'#/$defs/b'}",
                false);
}

/* -- in requests ----------------------------------------------------------------------------------- */

struct told {
    struct acog_arena arena;
    struct acog_buffer out;
    struct acog_translation translation;
    struct acog_request_problem problem;
    enum acog_code code;
    char *body;
};

static struct told tell(enum acog_surface surface, const struct acog_model_rules *rules,
                        enum acog_dialect to, const char *more)
{
    struct told told = {.code = ACOG_OK};
    const struct acog_conversation *conversation = NULL;
    size_t room = strlen(more) + 128;
    char *spelled = malloc(room);
    assert_non_null(spelled);
    (void)snprintf(spelled, room, "{'model':'m','%s':[{'role':'user','content':'x'}]%s%s}",
                   surface == ACOG_SURFACE_RESPONSES ? "input" : "messages",
                   surface == ACOG_SURFACE_MESSAGES ? ",'max_tokens':99" : "", more);
    told.body = with_quotes(spelled);
    free(spelled);
    told.translation = (struct acog_translation){.client = acog_surface_dialect(surface),
                                                 .upstream = to,
                                                 .rules = rules,
                                                 .model = {"m", 1},
                                                 .max_tokens = -1};
    acog_arena_init(&told.arena, (size_t)1 << 20U);
    acog_buffer_init(&told.out, BYTES_MAX);
    told.code = acog_conversation_read(surface, acog_view_of(told.body), &told.arena, &conversation,
                                       &told.problem);
    if (told.code == ACOG_OK) {
        told.code = acog_conversation_fits(conversation, to, rules, &told.problem);
    }
    if (told.code == ACOG_OK) {
        told.code =
            acog_conversation_write(conversation, &told.translation, &told.arena, &told.out);
        assert_int_equal(told.code, ACOG_OK);
    }
    return told;
}

static void forget(struct told *told)
{
    acog_arena_fini(&told->arena);
    acog_buffer_fini(&told->out);
    free(told->body);
}

/* What is sent holds a piece, and names what was dropped. */
static void sends(enum acog_surface surface, const struct acog_model_rules *rules,
                  enum acog_dialect to, const char *more, const char *piece, const char *dropped)
{
    struct told told = tell(surface, rules, to, more);
    char *wanted = with_quotes(piece);
    struct acog_view sent = acog_buffer_view(&told.out);
    if (told.code != ACOG_OK || acog_view_find(sent, acog_view_of(wanted)) == sent.len ||
        !acog_view_equal(told.translation.dropped, acog_view_of(dropped))) {
        fail_msg("%s\n%s%.*s\nnot %s\ndropped: %.*s, not %s", told.body,
                 told.code == ACOG_OK ? "" : told.problem.text, ACOG_VIEW_FMT(sent), wanted,
                 ACOG_VIEW_FMT(told.translation.dropped), dropped);
    }
    free(wanted);
    forget(&told);
}

#define OPTIONAL                                                                         \
    "{'type':'object','properties':{'name':{'type':'string'},'nick':{'type':'string'}}," \
    "'required':['name'],'additionalProperties':false}"
#define AGED                                                                              \
    "{'type':'object','properties':{'age':{'type':'integer','minimum':0,'maximum':150}}," \
    "'required':['age'],'additionalProperties':false}"
#define MAP              "{'type':'object','properties':{},'additionalProperties':{'type':'string'}}"
#define A_FORMAT(schema) ",'output_config':{'format':{'type':'json_schema','schema':" schema "}}"
#define C_FORMAT(schema)                                                                                \
    ",'response_format':{'type':'json_schema','json_schema':{'name':'p','strict':true,'schema':" schema \
    "}}"
#define R_FORMAT(schema) \
    ",'text':{'format':{'type':'json_schema','name':'p','strict':true,'schema':" schema "}}"
#define A_TOOL(schema) ",'tools':[{'name':'f','strict':true,'input_schema':" schema "}]"
#define C_TOOL(schema) \
    ",'tools':[{'type':'function','function':{'name':'f','strict':true,'parameters':" schema "}}]"

static void an_optional_property_of_a_messages_client_is_not_strict_at_openai(void **state)
{
    const struct acog_model_rules chat = acog_model_rules_default(ACOG_DIALECT_CHAT);
    const struct acog_model_rules responses = acog_model_rules_default(ACOG_DIALECT_RESPONSES);
    (void)state;
    sends(ACOG_SURFACE_MESSAGES, &chat, ACOG_DIALECT_CHAT, A_FORMAT(OPTIONAL),
          "'schema':" OPTIONAL ",'strict':false", "output_config.format");
    sends(ACOG_SURFACE_MESSAGES, &responses, ACOG_DIALECT_RESPONSES, A_FORMAT(OPTIONAL),
          "'schema':" OPTIONAL ",'strict':false", "output_config.format");
    sends(ACOG_SURFACE_MESSAGES, &chat, ACOG_DIALECT_CHAT, A_FORMAT(AGED),
          "'schema':" AGED ",'strict':true", "");
    sends(ACOG_SURFACE_MESSAGES, &chat, ACOG_DIALECT_CHAT, A_TOOL(OPTIONAL),
          "'parameters':" OPTIONAL ",'strict':false", "tools.strict");
    sends(ACOG_SURFACE_MESSAGES, &responses, ACOG_DIALECT_RESPONSES, A_TOOL(OPTIONAL),
          "'parameters':" OPTIONAL ",'strict':false", "tools.strict");
    sends(ACOG_SURFACE_MESSAGES, &responses, ACOG_DIALECT_RESPONSES, A_TOOL(AGED),
          "'parameters':" AGED ",'strict':true", "");
    /* Between OpenAI's own surfaces the client's word counts. */
    sends(ACOG_SURFACE_CHAT, &responses, ACOG_DIALECT_RESPONSES, C_FORMAT(OPTIONAL),
          "'schema':" OPTIONAL ",'strict':true", "");
    sends(ACOG_SURFACE_RESPONSES, &chat, ACOG_DIALECT_CHAT, R_FORMAT(OPTIONAL),
          "'schema':" OPTIONAL ",'strict':true", "");
}

static struct acog_model_rules native(void)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.schema = ACOG_SCHEMA_NATIVE;
    return rules;
}

#define TOLD_AGED                                                                         \
    "{'type':'object','properties':{'age':{'type':'integer','description':'{minimum: 0, " \
    "maximum: 150}'}},'required':['age'],'additionalProperties':false}"

static void anthropic_is_told_bounds_in_words(void **state)
{
    const struct acog_model_rules rules = native();
    (void)state;
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, C_FORMAT(AGED),
          "'output_config':{'format':{'type':'json_schema','schema':" TOLD_AGED "}}",
          "response_format");
    sends(ACOG_SURFACE_RESPONSES, &rules, ACOG_DIALECT_MESSAGES, R_FORMAT(AGED),
          "'schema':" TOLD_AGED, "text.format");
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, C_TOOL(AGED),
          "'input_schema':" TOLD_AGED ",'strict':true", "tools.strict");
}

static void what_is_not_native_is_a_forced_tool(void **state)
{
    const struct acog_model_rules rules = native();
    (void)state;
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, C_FORMAT(MAP),
          "'input_schema':" MAP "}],'tool_choice':{'type':'tool','name':'structured_answer'", "");
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, C_TOOL(MAP), "'input_schema':" MAP "}",
          "tools.strict");
    /* A tool's schema is an object's. */
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, C_TOOL("{'anyOf':[" AGED "]}"),
          "'input_schema':{'type':'object','anyOf':[" AGED "]}}", "tools.strict");
}

static void where_no_tool_can_stand_in_the_place_is_named(void **state)
{
    struct acog_model_rules rules = native();
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct told told = tell(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES,
                                i == 0 ? C_FORMAT(MAP) C_TOOL("{'type':'object'}") : C_FORMAT(MAP));
        if (i == 0 || !rules.forced_tool) {
            assert_int_equal(told.code, ACOG_INVALID);
            assert_non_null(strstr(told.problem.text, "additionalProperties"));
        }
        forget(&told);
        rules.forced_tool = false;
    }
}

static void strict_tools_share_the_limits(void **state)
{
    const struct acog_model_rules rules = native();
    char *tools = many(",'tools':[",
                       "{'type':'function','function':{'name':'f%','strict':true,'parameters':"
                       "{'type':'object','properties':{},'additionalProperties':false}}}",
                       "]", 21);
    struct told told = tell(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_MESSAGES, tools);
    struct acog_view sent = acog_buffer_view(&told.out);
    size_t strict = 0;
    (void)state;
    for (size_t at = 0; at < sent.len; at++) {
        strict +=
            acog_view_starts(acog_view_slice(sent, at, sent.len), ACOG_VIEW("\"strict\":true")) ? 1
                                                                                                : 0;
    }
    assert_int_equal(strict, 20);
    assert_quoted(told.translation.dropped, "tools.strict");
    forget(&told);
    free(tools);
}

static void gemini_is_told_references_alone(void **state)
{
    const struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_GEMINI);
    (void)state;
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_GEMINI,
          C_FORMAT("{'properties':{'x':{'$ref':'#/$defs/p','description':'d'}}}"),
          "'responseJsonSchema':{'properties':{'x':{'$ref':'#/$defs/p'}}}", "");
    sends(ACOG_SURFACE_CHAT, &rules, ACOG_DIALECT_GEMINI,
          ",'tools':[{'type':'function','function':{'name':'f','parameters':{'properties':{'x':"
          "{'$ref':'#/$defs/p','minLength':1}}}}}]",
          "'parametersJsonSchema':{'type':'object','properties':{'x':{'$ref':'#/$defs/p'}}}",
          "tools.parameters");
    sends(ACOG_SURFACE_MESSAGES, &rules, ACOG_DIALECT_GEMINI,
          A_FORMAT("{'type':'object','properties':{'x':{'$ref':'#/$defs/p','minLength':1}}}"),
          "'responseJsonSchema':{'type':'object','properties':{'x':{'$ref':'#/$defs/p'}}}",
          "output_config.format");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_objects_that_require_all_are_strict),
        cmocka_unit_test(what_openai_does_not_hold_to_is_not_strict),
        cmocka_unit_test(objects_nest_ten_levels),
        cmocka_unit_test(enums_have_limits),
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
        cmocka_unit_test(beside_a_reference_gemini_gets_nothing),
        cmocka_unit_test(an_optional_property_of_a_messages_client_is_not_strict_at_openai),
        cmocka_unit_test(anthropic_is_told_bounds_in_words),
        cmocka_unit_test(what_is_not_native_is_a_forced_tool),
        cmocka_unit_test(where_no_tool_can_stand_in_the_place_is_named),
        cmocka_unit_test(strict_tools_share_the_limits),
        cmocka_unit_test(gemini_is_told_references_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
