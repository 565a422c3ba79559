/* schema_test.c - what becomes of a client's schema where an API takes less than JSON Schema; schema_native_test.c has what
 * Anthropic takes. */
#include "tests/unit/dialect/schema_body.h"

/* -- OpenAI's strict subset ------------------------------------------------------------------------------- */

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
        CLOSED("'a':{'type':'string','t\\u0069tle':'t'}", "'a'"),
        CLOSED("'a':{'type':'string','enum':[]}", "'a'"),
        CLOSED("'a':{'$ref':'#/$defs/a','description':'d'}", "'a'"),
        CLOSED("'a':{'$ref':'#/properties/b'}", "'a'"),
        CLOSED("'a':{'$ref':'http://x.example/a'}", "'a'"),
        CLOSED("'a':{'anyOf':{'type':'string'}}", "'a'"),
        "{'type':'object','properties':[],'required':[],'additionalProperties':false}",
        "{'type':'object','type':'object','properties':{},'additionalProperties':false}",
        ("{'type':'object','properties':{},'required':[],'additionalProperties':false,"
         "'additionalProperties':false}"),
    };
    (void)state;
    are(schemas, sizeof(schemas) / sizeof(schemas[0]), false);
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

/* -- Gemini ----------------------------------------------------------------------------------------------- */

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
        ("{ 'type' : 'object', 'properties':{'$ref':{'type':'string'},'b':{'$ref':'#/$defs/b'}},"
         "'$defs':{'b':{'type':'string','minLength':1}},'oneOf':[{'x':1}] }"),
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

/* -- tools of OpenAI -------------------------------------------------------------------------------------- */

static void openai_gets(const char *schema, const char *expected)
{
    char *text = with_quotes(schema);
    char *wanted = with_quotes(expected);
    struct written written;
    begin(&written);
    acog_schema_put_openai_object(&written.writer, parsed(text));
    assert_quoted(acog_buffer_view(&written.out), wanted);
    acog_buffer_fini(&written.out);
    free(wanted);
    free(text);
}

/* Anthropic and Gemini take what lacks them, and many servers of tools write so. */
static void properties_and_items_are_there_where_openai_wants_them(void **state)
{
    (void)state;
    openai_gets("{}", "{'type':'object','properties':{}}");
    openai_gets("{ 'type':'object' }", "{'properties':{}, 'type':'object' }");
    openai_gets("{'type':'object','properties':{'a':{'type':'array'},'b':{'type':['array','null'],"
                "'minItems':1},'c':{'type':'array','items':{'anyOf':[{'type':'array'}]}}}}",
                "{'type':'object','properties':{'a':{'items':{},'type':'array'},'b':{'items':{},"
                "'type':['array','null'],'minItems':1},'c':{'type':'array','items':{'anyOf':["
                "{'items':{},'type':'array'}]}}}}");
    openai_gets("{'type':'object','properties':{'type':{'const':'array'}},'default':{'type':"
                "'array'},'$defs':{'a':{'$ref':'#','description':'d'}}}",
                "{'type':'object','properties':{'type':{'const':'array'}},'default':{'type':"
                "'array'},'$defs':{'a':{'$ref':'#','description':'d'}}}");
}

/* -- in requests ------------------------------------------------------------------------------------------ */

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
        cmocka_unit_test(beside_a_reference_gemini_gets_nothing),
        cmocka_unit_test(properties_and_items_are_there_where_openai_wants_them),
        cmocka_unit_test(an_optional_property_of_a_messages_client_is_not_strict_at_openai),
        cmocka_unit_test(anthropic_is_told_bounds_in_words),
        cmocka_unit_test(what_is_not_native_is_a_forced_tool),
        cmocka_unit_test(where_no_tool_can_stand_in_the_place_is_named),
        cmocka_unit_test(strict_tools_share_the_limits),
        cmocka_unit_test(gemini_is_told_references_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
