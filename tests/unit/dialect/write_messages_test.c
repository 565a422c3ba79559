/* write_messages_test.c - what is sent to Anthropic beside the turns for requests of the other dialects. */
#include "messages_request.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

/* -- tools ----------------------------------------------------------------------------------------- */

/* B08, B09 */
static void every_choice_of_tools_has_its_form(void **state)
{
    static const struct {
        const char *more;
        const char *sent;
    } rows[] = {
        {",'tool_choice':'auto'", "{'type':'auto'}"},
        {",'tool_choice':'required'", "{'type':'any'}"},
        {",'tool_choice':'none'", "{'type':'none'}"},
        {",'tool_choice':{'type':'function','function':{'name':'f'}}",
         "{'type':'tool','name':'f'}"},
        {",'parallel_tool_calls':false", "{'type':'auto','disable_parallel_tool_use':true}"},
        {",'tool_choice':'required','parallel_tool_calls':false",
         "{'type':'any','disable_parallel_tool_use':true}"},
        {",'parallel_tool_calls':true", NULL},
        {",'tool_choice':'none','parallel_tool_calls':false", "{'type':'none'}"},
        {",'tool_choice':{'type':'function','function':{'name':'f'}},'parallel_tool_calls':false",
         "{'type':'tool','name':'f','disable_parallel_tool_use':true}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[512];
        (void)snprintf(more, sizeof(more), ",'tools':[" TOOL("f") "]%s", rows[i].more);
        struct run run = chat_with(haiku(), more);
        holds(&run, "tool_choice", rows[i].sent);
        end(&run);
    }
    struct run run = chat_with(haiku(), ",'tool_choice':'auto','parallel_tool_calls':false,"
                                        "'tools':[]");
    holds(&run, "tool_choice", NULL);
    holds(&run, "tools", NULL);
    end(&run);
    chat_is_refused(haiku(),
                    "{'messages':[{'role':'user','content':'x'}],'tools':[" TOOL(
                        "f") "],'tool_choice':{'type':'function','function':{'name':'missing'}}}",
                    "no tool is named \"missing\"");
}

static void a_tool_whose_input_is_a_text_is_a_function_of_one(void **state)
{
    struct run run =
        translate(ACOG_SURFACE_RESPONSES, haiku(),
                  "{'input':'x','tools':[{'type':'custom','name':'patch','description':'edits'}]}");
    (void)state;
    holds(&run, "tools",
          "[{'name':'patch','description':'edits','input_schema':{'type':'object','properties':{"
          "'input':{'type':'string'}},'required':['input'],'additionalProperties':false}}]");
    end(&run);
}

static void schemas_have_the_type_that_anthropic_demands(void **state)
{
    struct run run = chat_with(
        haiku(), ",'tools':[{'type':'function','function':{'name':'a'}},{'type':'function',"
                 "'function':{'name':'b','description':'does \\'b\\'','parameters':{}}},{'type':"
                 "'function','function':{'name':'c','strict':true,'parameters':{'properties':{'n':"
                 "{'type':'null'}}}}}]");
    (void)state;
    holds(
        &run, "tools",
        "[{'name':'a','input_schema':{'type':'object'}},{'name':'b','description':"
        "'does \\'b\\'','input_schema':{'type':'object'}},{'name':'c','input_schema':{'type':"
        "'object','properties':{'n':{'type':'null'}},'additionalProperties':false},'strict':true}]");
    end(&run);
    struct acog_model_rules older = haiku();
    older.schema = ACOG_SCHEMA_TOOL;
    run = chat_with(older, ",'tools':[{'type':'function','function':{'name':'c','strict':true,"
                           "'parameters':{'type':'object'}}}]");
    holds(&run, "tools", "[{'name':'c','input_schema':{'type':'object'}}]");
    drops(&run, "tools.strict");
    end(&run);
}

/* -- limits and sampling --------------------------------------------------------------------------- */

/* B10 */
static void there_is_always_a_limit(void **state)
{
    static const struct {
        const char *more;
        const char *sent;
        const char *dropped;
    } rows[] = {
        {",'max_completion_tokens':50", "50", ""},
        {",'max_tokens':60", "60", ""},
        {",'max_tokens':60,'max_completion_tokens':50", "50", ""},
        {"", "4096", ""},
        {",'max_tokens':100000", "64000", "max_tokens"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = chat_with(haiku(), rows[i].more);
        holds(&run, "max_tokens", rows[i].sent);
        drops(&run, rows[i].dropped);
        char told[24];
        (void)snprintf(told, sizeof(told), "%lld", (long long)run.translation.max_tokens);
        assert_string_equal(told, rows[i].sent);
        end(&run);
    }
}

/* B11 */
static void blank_stops_are_named_and_not_sent(void **state)
{
    static const struct {
        const char *stop;
        const char *sent;
        const char *dropped;
    } rows[] = {
        {"'END'", "['END']", ""}, {"['A','B']", "['A','B']", ""},
        {"null", NULL, ""},       {"['','\\n','END']", "['END']", "stop"},
        {"'\\n'", NULL, "stop"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char more[128];
        (void)snprintf(more, sizeof(more), ",'stop':%s", rows[i].stop);
        struct run run = chat_with(haiku(), more);
        holds(&run, "stop_sequences", rows[i].sent);
        drops(&run, rows[i].dropped);
        end(&run);
    }
}

/* B12 */
static void sampling_follows_the_models_rules(void **state)
{
    struct run run = chat_with(haiku(), ",'temperature':1.5");
    (void)state;
    holds(&run, "temperature", "1");
    drops(&run, "temperature");
    end(&run);
    run = chat_with(haiku(), ",'temperature':0.20,'seed':7");
    holds(&run, "temperature", "0.20");
    drops(&run, "seed");
    end(&run);
    run = chat_with(opus(), ",'temperature':0,'top_p':0.5");
    holds(&run, "temperature", NULL);
    holds(&run, "top_p", NULL);
    drops(&run, "temperature, top_p");
    end(&run);
    run = chat_with(opus(), ",'temperature':1");
    holds(&run, "temperature", NULL);
    drops(&run, "");
    end(&run);
}

static void temperature_and_top_p_are_not_sent_together(void **state)
{
    struct run run = chat_with(haiku(), ",'temperature':0.5,'top_p':0.9");
    (void)state;
    holds(&run, "temperature", "0.5");
    holds(&run, "top_p", NULL);
    drops(&run, "top_p");
    end(&run);
    run = chat_with(haiku(), ",'temperature':0.5,'top_p':1");
    holds(&run, "temperature", "0.5");
    holds(&run, "top_p", NULL);
    drops(&run, "");
    end(&run);
    run = chat_with(haiku(), ",'temperature':0.5,'top_p':5");
    holds(&run, "top_p", NULL);
    drops(&run, "top_p");
    end(&run);
    run = chat_with(haiku(), ",'temperature':1,'top_p':0.9");
    holds(&run, "temperature", NULL);
    holds(&run, "top_p", "0.9");
    drops(&run, "");
    end(&run);
}

/* B23 */
static void fields_without_a_counterpart_are_named_or_refused(void **state)
{
    struct run run = chat_with(
        haiku(), ",'logprobs':true,'seed':7,'user':'pat@mail.example','service_tier':'flex'");
    (void)state;
    holds(&run, "metadata", NULL);
    holds(&run, "service_tier", NULL);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("logprobs")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("seed")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("user")), 1);
    assert_int_equal(occurrences(run.translation.dropped, ACOG_VIEW("service_tier")), 1);
    end(&run);
    run = chat_with(haiku(), ",'user':'u-17','service_tier':'auto'");
    holds(&run, "metadata", "{'user_id':'u-17'}");
    holds(&run, "service_tier", "'auto'");
    drops(&run, "");
    end(&run);
    chat_is_refused(haiku(), "{'n':2,'messages':[{'role':'user','content':'x'}]}", "n: must be 1");
}

/* B40 */
static void kept_state_is_refused(void **state)
{
    struct run run = translate(ACOG_SURFACE_RESPONSES, haiku(),
                               "{'previous_response_id':'resp_abc','input':'go on'}");
    (void)state;
    assert_int_equal(run.code, ACOG_INVALID);
    assert_non_null(strstr(run.problem.text, "previous_response_id"));
    end(&run);
}

/* -- thinking -------------------------------------------------------------------------------------- */

#define FORCED ",'tool_choice':'required','tools':[" TOOL("f") "]"

/* B22 */
static void a_budget_fits_below_the_limit_and_what_it_excludes_gives_way(void **state)
{
    struct run run =
        chat_with(haiku(), ",'max_completion_tokens':2000,'temperature':0.3,'reasoning_effort':"
                           "'high'");
    (void)state;
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':1499}");
    holds(&run, "max_tokens", "2000");
    holds(&run, "temperature", NULL);
    drops(&run, "temperature");
    end(&run);
    run = chat_with(haiku(), ",'max_completion_tokens':800,'temperature':0.3,'reasoning_effort':"
                             "'high'");
    holds(&run, "thinking", NULL);
    holds(&run, "temperature", "0.3");
    drops(&run, "reasoning_effort");
    end(&run);
}

/* A program is built on the call; an effort is a wish. */
static void thinking_gives_way_to_a_forced_call(void **state)
{
    static const char *const choices[][2] = {
        {FORCED, "{'type':'any'}"},
        {",'tools':[" TOOL("f") "],'tool_choice':{'type':'function','function':{'name':'f'}}",
         "{'type':'tool','name':'f'}"},
        {",'response_format':{'type':'json_object'}",
         "{'type':'tool','name':'structured_answer','disable_parallel_tool_use':true}"},
    };
    const struct acog_model_rules models[] = {haiku(), opus()};
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]) * 2; i++) {
        char more[512];
        (void)snprintf(more, sizeof(more), ",'temperature':0.3,'reasoning_effort':'high'%s",
                       choices[i / 2][0]);
        struct run run = chat_with(models[i % 2], more);
        holds(&run, "thinking", NULL);
        holds(&run, "max_tokens", "4096");
        holds(&run, "tool_choice", choices[i / 2][1]);
        drops(&run, i % 2 == 0 ? "reasoning_effort" : "reasoning_effort, temperature");
        end(&run);
    }
    struct run run =
        translate(ACOG_SURFACE_RESPONSES, opus(),
                  "{'input':'x','reasoning':{'effort':'high'},'tool_choice':'required',"
                  "'tools':[{'type':'function','name':'f','parameters':{}}]}");
    holds(&run, "output_config", "{'effort':'high'}"); /* it holds without thinking */
    drops(&run, "reasoning.effort");
    end(&run);
}

static void every_effort_has_its_budget(void **state)
{
    static const struct {
        const char *more;
        const char *thinking;
        const char *max_tokens;
    } rows[] = {
        {",'reasoning_effort':'minimal'", "{'type':'enabled','budget_tokens':1024}", "5120"},
        {",'reasoning_effort':'low'", "{'type':'enabled','budget_tokens':4096}", "8192"},
        {",'reasoning_effort':'medium'", "{'type':'enabled','budget_tokens':8192}", "12288"},
        {",'reasoning_effort':'high'", "{'type':'enabled','budget_tokens':16384}", "20480"},
        {",'reasoning_effort':'high','max_tokens':32000",
         "{'type':'enabled','budget_tokens':16384}", "32000"},
        {",'reasoning_effort':'low','max_tokens':1025", "{'type':'enabled','budget_tokens':1024}",
         "1025"},
        {",'reasoning_effort':'low','max_tokens':1024", NULL, "1024"},
        {",'reasoning_effort':'none'", NULL, "4096"},
        {"", NULL, "4096"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = chat_with(haiku(), rows[i].more);
        holds(&run, "thinking", rows[i].thinking);
        holds(&run, "max_tokens", rows[i].max_tokens);
        end(&run);
    }
}

/* Anthropic's limit holds the thinking too, however the model is told to think. */
static void a_limit_that_the_client_did_not_give_holds_the_thinking_of_its_effort(void **state)
{
    static const struct {
        const char *more;
        const char *max_tokens;
    } rows[] = {
        {"", "4096"},
        {",'reasoning_effort':'low'", "8192"},
        {",'reasoning_effort':'high'", "20480"},
        {",'reasoning_effort':'max'", "32000"}, /* the largest */
        {",'reasoning_effort':'high','max_tokens':2000", "2000"},
    };

    struct acog_model_rules rules = opus();
    (void)state;
    rules.largest_output_tokens = 32000;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run run = chat_with(rules, rows[i].more);
        holds(&run, "max_tokens", rows[i].max_tokens);
        end(&run);
    }
}

static void what_thinking_excludes_gives_way(void **state)
{
    struct run run = chat_with(haiku(), ",'reasoning_effort':'low','top_p':0.5,'top_k':5");
    (void)state;
    holds(&run, "top_p", NULL);
    holds(&run, "top_k", NULL);
    drops(&run, "top_k, top_p");
    end(&run);
    run = chat_with(haiku(), ",'reasoning_effort':'low','top_p':0.97,'temperature':1");
    holds(&run, "top_p", "0.97");
    drops(&run, "");
    end(&run);
    run = chat_with(opus(), ",'reasoning_effort':'low','temperature':0.5");
    holds(&run, "temperature", NULL);
    end(&run);
}

static void a_budget_that_the_client_names_is_kept_or_becomes_a_word(void **state)
{
#define WITH_BUDGET(tokens)                                                                   \
    "{'max_tokens':9000,'thinking':{'type':'enabled','budget_tokens':" tokens "},'messages':" \
    "[{'role':'user','content':'x'}]}"
    struct run run = translate(ACOG_SURFACE_MESSAGES, haiku(), WITH_BUDGET("8999"));
    (void)state;
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':8999}");
    end(&run);
    run = translate(ACOG_SURFACE_MESSAGES, haiku(), WITH_BUDGET("7"));
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':1024}");
    end(&run);
    run = translate(ACOG_SURFACE_MESSAGES, opus(), WITH_BUDGET("8192"));
    holds(&run, "thinking", "{'type':'adaptive','display':'summarized'}");
    holds(&run, "output_config", "{'effort':'medium'}");
    end(&run);
}

static void a_model_whose_largest_answer_is_not_known_gets_what_was_asked(void **state)
{
    struct run run = chat_with(opus(), ",'max_tokens':9223372036854775807");
    (void)state;
    holds(&run, "max_tokens", "9223372036854775807");
    end(&run);
    struct acog_model_rules rules = haiku();
    rules.largest_output_tokens = -1;
    run = chat_with(rules, ",'max_tokens':9223372036854775807,'reasoning_effort':'low'");
    holds(&run, "thinking", "{'type':'enabled','budget_tokens':4096}");
    end(&run);
}

/* Anthropic demands the thinking of a running tool loop; a turn that ended asks for nothing. */
static void a_tool_loop_without_its_thinking_is_continued_without(void **state)
{
    static const char *const loops[] = {
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f", "{}") "]},{'role':'tool','tool_call_id':'c','content':'1'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f", "{}") "]},{'role':'tool','tool_call_id':'c','content':'1'},"
                            "{'role':'assistant','content':'done'},{'role':'user','content':'b'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':null,'tool_calls':[" CALL(
            "c", "f",
            "{}") "],'reasoning_details':[{'type':'reasoning.text','text':'hm',"
                  "'signature':'acog.messages..c2ln','index':0}]},{'role':'tool','tool_call_id':'c',"
                  "'content':'1'}",
        "{'role':'user','content':'a'},{'role':'assistant','content':'I begin'}",
    };
    static const bool thinks[] = {false, true, true, false};
    (void)state;
    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        char body[2048];
        (void)snprintf(body, sizeof(body), "{'reasoning_effort':'low','messages':[%s]}", loops[i]);
        struct run run = translate(ACOG_SURFACE_CHAT, haiku(), body);
        holds(&run, "thinking", thinks[i] ? "{'type':'enabled','budget_tokens':4096}" : NULL);
        drops(&run, thinks[i] ? "" : "reasoning_effort");
        end(&run);
    }
}

static void an_adaptive_model_gets_an_effort(void **state)
{
    struct run run = chat_with(opus(), ",'reasoning_effort':'xhigh'");
    (void)state;
    holds(&run, "thinking", "{'type':'adaptive'}");
    holds(&run, "output_config", "{'effort':'high'}");
    drops(&run, "reasoning_effort");
    end(&run);
    run = chat_with(opus(), ",'reasoning_effort':'minimal'");
    holds(&run, "output_config", "{'effort':'low'}");
    end(&run);
    struct acog_model_rules rules =
        opus(); /* of a model of another maker: no word of the dialect */
    rules.efforts |= ACOG_BIT(ACOG_EFFORT_MINIMAL) | ACOG_BIT(ACOG_EFFORT_NONE);
    run = chat_with(rules, ",'reasoning_effort':'minimal'");
    holds(&run, "output_config", "{'effort':'low'}");
    end(&run);
    run = translate(ACOG_SURFACE_RESPONSES, opus(),
                    "{'input':'x','reasoning':{'effort':'medium','summary':'auto'}}");
    holds(&run, "thinking", "{'type':'adaptive','display':'summarized'}");
    holds(&run, "output_config", "{'effort':'medium'}");
    end(&run);
}

static void a_model_that_thinks_by_itself_is_told_not_to(void **state)
{
    struct acog_model_rules rules = opus();
    (void)state;
    rules.efforts |= ACOG_BIT(ACOG_EFFORT_NONE);
    rules.temperature = true;
    struct run run = chat_with(rules, ",'reasoning_effort':'none','temperature':0.5");
    holds(&run, "thinking", "{'type':'disabled'}");
    holds(&run, "output_config", NULL);
    holds(&run, "temperature", "0.5");
    drops(&run, "");
    end(&run);
    run = chat_with(opus(), ",'reasoning_effort':'none'"); /* it always thinks */
    holds(&run, "thinking", NULL);
    holds(&run, "output_config", "{'effort':'low'}");
    drops(&run, "reasoning_effort");
    end(&run);
    run = chat_with(haiku(), ",'reasoning_effort':'none'"); /* it does not by itself */
    holds(&run, "thinking", NULL);
    drops(&run, "");
    end(&run);
}

/* Decision 14: the answer might be a text, which is not what was asked for. */
static void a_model_that_cannot_be_made_to_call_a_tool_is_not_asked_to(void **state)
{
    struct acog_model_rules rules = opus();
    (void)state;
    rules.forced_tool = false;
    chat_is_refused(rules,
                    "{'messages':[{'role':'user','content':'x'}],'tools':[" TOOL(
                        "f") "],'tool_choice':'required'}",
                    "cannot be made to call a tool");
    chat_is_refused(
        rules,
        "{'messages':[{'role':'user','content':'x'}],'response_format':{'type':'json_object'}}",
        "cannot be held to a format");
    struct run run = chat_with(rules, ",'tools':[" TOOL("f") "],'tool_choice':'auto'");
    holds(&run, "tool_choice", "{'type':'auto'}");
    end(&run);
}

static void a_model_that_cannot_think_is_not_asked_to(void **state)
{
    struct acog_model_rules rules = haiku();
    (void)state;
    rules.thinking = ACOG_THINKING_NONE;
    struct run run = chat_with(rules, ",'reasoning_effort':'low'");
    holds(&run, "thinking", NULL);
    drops(&run, "reasoning_effort");
    end(&run);
}

/* -- a format -------------------------------------------------------------------------------------- */

#define SCHEMA \
    "{'type':'object','properties':{'age':{'type':'integer'}},'additionalProperties':false}"
#define FORMAT                                                                                          \
    ",'response_format':{'type':'json_schema','json_schema':{'name':'p','strict':true,'schema':" SCHEMA \
    "}}"

/* B20 */
static void a_schema_is_native_or_one_forced_tool(void **state)
{
    struct run run = chat_with(haiku(), FORMAT);
    (void)state;
    holds(&run, "output_config", "{'format':{'type':'json_schema','schema':" SCHEMA "}}");
    holds(&run, "tools", NULL);
    assert_false(run.translation.schema_by_tool);
    end(&run);
    struct acog_model_rules older = haiku();
    older.schema = ACOG_SCHEMA_TOOL;
    run = chat_with(older, FORMAT);
    holds(&run, "output_config", NULL);
    holds(&run, "tools", "[{'name':'structured_answer','input_schema':" SCHEMA "}]");
    holds(&run, "tool_choice",
          "{'type':'tool','name':'structured_answer','disable_parallel_tool_use':true}");
    assert_true(run.translation.schema_by_tool);
    end(&run);
    run = chat_with(haiku(), ",'response_format':{'type':'json_object'}");
    holds(&run, "tools", "[{'name':'structured_answer','input_schema':{'type':'object'}}]");
    assert_true(run.translation.schema_by_tool);
    end(&run);
    run = chat_with(older, FORMAT ",'reasoning_effort':'low'");
    holds(&run, "thinking", NULL);
    drops(&run, "reasoning_effort");
    end(&run);
}

/* Decision 14: a schema that cannot be enforced */
static void a_format_that_cannot_be_held_is_refused(void **state)
{
    struct acog_model_rules older = haiku();
    struct acog_model_rules none = haiku();
    (void)state;
    older.schema = ACOG_SCHEMA_TOOL;
    none.schema = ACOG_SCHEMA_NONE;
    chat_is_refused(
        older, "{'messages':[{'role':'user','content':'x'}],'tools':[" TOOL("f") "]" FORMAT "}",
        "while it has tools");
    chat_is_refused(none, "{'messages':[{'role':'user','content':'x'}]" FORMAT "}",
                    "cannot be held to a format");
    chat_is_refused(older,
                    "{'messages':[{'role':'user','content':'x'}],'response_format':{'type':"
                    "'json_schema','json_schema':{'name':'p','schema':{'anyOf':[]}}}}",
                    "must be of type object");
}

static void effort_and_format_share_an_object(void **state)
{
    struct run run = chat_with(opus(), ",'reasoning_effort':'low'" FORMAT);
    (void)state;
    holds(&run, "output_config",
          "{'effort':'low','format':{'type':'json_schema','schema':" SCHEMA "}}");
    end(&run);
}

static void a_plain_request_is_a_plain_request(void **state)
{
    struct run run = chat_with(haiku(), "");
    char *wanted = with_quotes("{'model':'claude-x','max_tokens':4096,'messages':[{'role':'user',"
                               "'content':[{'type':'text','text':'x'}]}]}");
    (void)state;
    assert_true(acog_view_equal(acog_buffer_view(&run.out), acog_view_of(wanted)));
    free(wanted);
    end(&run);
}

/* -- memory ---------------------------------------------------------------------------------------- */

static void tell(void *user)
{
    const struct acog_conversation *conversation = NULL;
    struct acog_model_rules rules = haiku();
    struct acog_translation translation = {
        .upstream = ACOG_DIALECT_MESSAGES, .rules = &rules, .model = {"m", 1}, .max_tokens = -1};
    struct acog_request_problem problem;
    struct acog_arena arena;
    struct acog_buffer out;
    acog_arena_init(&arena, (size_t)1 << 20U);
    acog_buffer_init(&out, BODY_BYTES_MAX);
    enum acog_code code = acog_conversation_read(ACOG_SURFACE_MESSAGES, acog_view_of(user), &arena,
                                                 &conversation, &problem);
    if (code == ACOG_OK) {
        code = acog_conversation_write(conversation, &translation, &arena, &out);
    }
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    acog_buffer_fini(&out);
    acog_arena_fini(&arena);
}

static void each_allocation_may_fail(void **state)
{
    char turns[4096] = "";
    char body[8192];
    (void)state;
    for (int i = 0; i < 12; i++) { /* enough parts that the arena takes several blocks */
        (void)snprintf(turns + strlen(turns), sizeof(turns) - strlen(turns),
                       ",{'role':'assistant','content':[{'type':'redacted_thinking','data':"
                       "'acog.gemini.c.s'},{'type':'tool_use','id':'c.\\u0031','name':'f','input':"
                       "{}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c.1',"
                       "'content':'r'}]}");
    }
    (void)snprintf(body, sizeof(body),
                   "{'max_tokens':9,'stop_sequences':['a'],'tools':[{'name':'f','x':1}],"
                   "'messages':[{'role':'user','content':'q'}%s]}",
                   turns);
    char *quoted = with_quotes(body);
    assert_true(memory_sweep(tell, quoted, 1) > 2);
    free(quoted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_of_tools_has_its_form),
        cmocka_unit_test(a_tool_whose_input_is_a_text_is_a_function_of_one),
        cmocka_unit_test(schemas_have_the_type_that_anthropic_demands),
        cmocka_unit_test(there_is_always_a_limit),
        cmocka_unit_test(blank_stops_are_named_and_not_sent),
        cmocka_unit_test(sampling_follows_the_models_rules),
        cmocka_unit_test(temperature_and_top_p_are_not_sent_together),
        cmocka_unit_test(fields_without_a_counterpart_are_named_or_refused),
        cmocka_unit_test(kept_state_is_refused),
        cmocka_unit_test(a_budget_fits_below_the_limit_and_what_it_excludes_gives_way),
        cmocka_unit_test(every_effort_has_its_budget),
        cmocka_unit_test(a_tool_loop_without_its_thinking_is_continued_without),
        cmocka_unit_test(an_adaptive_model_gets_an_effort),
        cmocka_unit_test(a_model_that_thinks_by_itself_is_told_not_to),
        cmocka_unit_test(a_model_that_cannot_be_made_to_call_a_tool_is_not_asked_to),
        cmocka_unit_test(a_model_that_cannot_think_is_not_asked_to),
        cmocka_unit_test(a_schema_is_native_or_one_forced_tool),
        cmocka_unit_test(a_format_that_cannot_be_held_is_refused),
        cmocka_unit_test(effort_and_format_share_an_object),
        cmocka_unit_test(a_limit_that_the_client_did_not_give_holds_the_thinking_of_its_effort),
        cmocka_unit_test(what_thinking_excludes_gives_way),
        cmocka_unit_test(thinking_gives_way_to_a_forced_call),
        cmocka_unit_test(a_budget_that_the_client_names_is_kept_or_becomes_a_word),
        cmocka_unit_test(a_model_whose_largest_answer_is_not_known_gets_what_was_asked),
        cmocka_unit_test(a_plain_request_is_a_plain_request),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
