/* read_messages_content_test.c - what the messages of a client's Messages request and their blocks mean, shown as one line
 * a thing. Bodies have ' for ". */
#include "tests/unit/dialect/messages_body.h"

#include <stdio.h>

/* -- a conversation as text ------------------------------------------------------------------------ */

static void show(struct acog_buffer *out, const char *text)
{
    assert_int_equal(acog_buffer_append(out, acog_view_of(text)), ACOG_OK);
}

static void show_view(struct acog_buffer *out, struct acog_view view)
{
    assert_int_equal(acog_buffer_append(out, view), ACOG_OK);
}

static void show_inside(struct acog_buffer *out, const char *before, struct acog_text text)
{
    show(out, before);
    assert_int_equal(acog_text_append_inside(out, text), ACOG_OK);
}

static void show_media(struct acog_buffer *out, const struct acog_media *media)
{
    static const char *const kinds[] = {"image", "document", "audio", "video", "file"};
    static const char *const sources[] = {"base64", "url", "text", "file_id"};
    show(out, kinds[media->kind]);
    show(out, " ");
    show(out, sources[media->source]);
    show(out, " ");
    show_view(out, media->media_type);
    show_inside(out, " ", media->data);
    show_inside(out, acog_json_present(media->name) ? " named " : "", acog_text_of(media->name));
}

static void show_opaque(struct acog_buffer *out, const struct acog_opaque *opaque)
{
    if (opaque->maker != ACOG_DIALECT_COUNT) {
        show(out, opaque->redacted ? " redacted by " : " signed by ");
        show_view(out, acog_name(ACOG_VOCABULARY_DIALECT, (int)opaque->maker));
        show_inside(out, " ", opaque->bytes);
    }
}

/* A result's content is shown beside it. */
static void show_bare_part(struct acog_buffer *out, const struct acog_part *part)
{
    switch (part->kind) {
    case ACOG_PART_TEXT:
        show_view(out, part->text.raw);
        break;
    case ACOG_PART_MEDIA:
        show_media(out, &part->media);
        break;
    case ACOG_PART_REASONING:
        show(out, "reasoning ");
        show_view(out, part->text.raw);
        show_opaque(out, &part->opaque);
        break;
    case ACOG_PART_REFUSAL:
        show(out, "refusal");
        break;
    case ACOG_PART_TOOL_CALL:
        show_inside(out, "call ", part->id);
        show_inside(out, " ", part->name);
        show(out, " ");
        show_view(out, part->arguments.bytes);
        show_opaque(out, &part->opaque);
        break;
    case ACOG_PART_TOOL_RESULT:
        show_inside(out, part->is_error ? "error " : "result ", part->id);
        show_inside(out, " of ", part->name);
        break;
    case ACOG_PART_FOREIGN:
        show(out, "foreign ");
        show_view(out, part->type);
        break;
    }
}

static void show_part(struct acog_buffer *out, const struct acog_part *part)
{
    show_bare_part(out, part);
    for (const struct acog_part *inner = part->content.first; inner; inner = inner->next) {
        show(out, " (");
        show_bare_part(out, inner);
        show(out, ")");
    }
    show(out, acog_json_present(part->cache) ? " cached" : "");
}

static void show_conversation(struct bench *bench)
{
    static const char *const roles[] = {"user", "assistant", "system"};
    struct acog_buffer *out = &bench->shown;
    const struct acog_conversation *conversation = &bench->conversation;
    for (const struct acog_part *part = conversation->system.first; part; part = part->next) {
        show(out, "instructions: ");
        show_part(out, part);
        show(out, "\n");
    }
    for (const struct acog_turn *turn = conversation->turns; turn; turn = turn->next) {
        show(out, roles[turn->role]);
        for (const struct acog_part *part = turn->parts.first; part; part = part->next) {
            show(out, part == turn->parts.first ? ": " : " | ");
            show_part(out, part);
        }
        show(out, "\n");
    }
}

static void is_read_as(const char *body, const char *expected)
{
    struct bench bench;
    char *wanted = with_quotes(expected);
    assert_int_equal(read_body(&bench, body), ACOG_OK);
    show_conversation(&bench);
    struct acog_view shown = acog_buffer_view(&bench.shown);
    if (!acog_view_equal(shown, acog_view_of(wanted))) {
        fail_msg("%s\nis read as\n%.*s\nnot as\n%s", body, ACOG_VIEW_FMT(shown), wanted);
    }
    free(wanted);
    end(&bench);
}

/* -- tests ----------------------------------------------------------------------------------------- */

static void texts_are_texts_in_any_form(void **state)
{
    (void)state;
    is_read_as(
        "{'system':'be kind','messages':[{'role':'user','content':'a\\u00e9'},"
        "{'role':'assistant','content':[{'type':'text','text':'b'}]},"
        "{'role':'user','content':[{'type':'text','text':'c','cache_control':{'type':"
        "'ephemeral'}},{'type':'text','text':'d'}]}]}",
        "instructions: 'be kind'\nuser: 'a\\u00e9'\nassistant: 'b'\nuser: 'c' cached | 'd'\n");
}

static void system_turns_lead_or_stay_in_their_place(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'system','content':'second'},{'role':'user','content':'a'},"
               "{'role':'system','content':[{'type':'text','text':'now German'}]}],"
               "'system':[{'type':'text','text':'first','cache_control':{'type':'ephemeral','ttl':"
               "'1h'}}]}",
               "instructions: 'first' cached\ninstructions: 'second'\nuser: 'a'\n"
               "system: 'now German'\n");
}

/* B25 */
static void a_failed_result_and_the_text_behind_it_keep_their_order(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':[{'type':"
        "'text','text':'checking'},{'type':'tool_use','id':'u1','name':'f','input':{'k': 1}}]"
        "},{'role':'user','content':[{'type':'tool_result','tool_use_id':'u1','is_error':true"
        ",'content':[{'type':'text','text':'disk full'},{'type':'text','text':'try /tmp'}]},"
        "{'type':'text','text':'use another path'}]}]}",
        "user: 'go'\nassistant: 'checking' | call u1 f {'k': 1}\n"
        "user: error u1 of f ('disk full') ('try /tmp') | 'use another path'\n");
}

static void results_may_be_strings_images_or_nothing(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
        "{'type':'tool_use','id':'a','name':'f','input':{},'cache_control':{'type':'ephemeral'}},"
        "{'type':'tool_use','id':'b','name':'g'},{'type':'tool_use','id':'c','name':'h',"
        "'input':null}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'a',"
        "'content':'9 mm','cache_control':{'type':'ephemeral'}},{'type':'tool_result',"
        "'tool_use_id':'b'},{'type':'tool_result','tool_use_id':'c','content':[{'type':'image',"
        "'source':{'type':'base64','media_type':'image/png','data':'AAAA'}}]}]}]}",
        "user: 'go'\nassistant: call a f {} cached | call b g {} | call c h {}\n"
        "user: result a of f ('9 mm') cached | result b of g"
        " | result c of h (image base64 image/png AAAA)\n");
}

/* B28 */
static void reasoning_keeps_its_bytes_and_says_whose_it_is(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
        "{'type':'thinking','thinking':'secret\\nplan','signature':'c2ln'},"
        "{'type':'redacted_thinking','data':'ZGF0YQ=='},{'type':'thinking','thinking':'',"
        "'signature':'b21pdA=='},{'type':'thinking','thinking':'gpt','signature':'acog.chat..'},"
        "{'type':'redacted_thinking','data':'acog.redacted-responses.rs_1.ZW5j'},"
        "{'type':'thinking','thinking':'unsigned','signature':''},"
        "{'type':'thinking','thinking':'','signature':''},"
        "{'type':'text','text':'Answer'}]},{'role':'user','content':'next'}]}",
        "user: 'q'\nassistant: reasoning 'secret\\nplan' signed by messages c2ln"
        " | reasoning  redacted by messages ZGF0YQ== | reasoning  signed by messages b21pdA=="
        " | reasoning 'gpt' signed by chat  | reasoning  redacted by responses ZW5j"
        " | reasoning 'unsigned' | 'Answer'\nuser: 'next'\n");
}

static void the_signature_of_a_call_finds_its_call(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
        "{'type':'redacted_thinking','data':'acog.gemini.c2.two'},"
        "{'type':'redacted_thinking','data':'acog.gemini.c1.one'},"
        "{'type':'redacted_thinking','data':'acog.gemini.gone.three'},"
        "{'type':'tool_use','id':'c1','name':'f','input':{}},"
        "{'type':'redacted_thinking','data':'acog.gemini..four'},"
        "{'type':'tool_use','id':'c.3','name':'f','input':{}},"
        "{'type':'tool_use','id':'c2','name':'f','input':{}}]},"
        "{'role':'user','content':[{'type':'tool_result','tool_use_id':'c1'},"
        "{'type':'tool_result','tool_use_id':'c2'},{'type':'tool_result','tool_use_id':'c.3'}]}]}",
        "user: 'q'\nassistant: call c1 f {} signed by gemini one | call c.3 f {} signed by gemini"
        " four | call c2 f {} signed by gemini two\n"
        "user: result c1 of f | result c2 of f | result c.3 of f\n");
}

static void a_signature_without_an_id_is_the_next_calls(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
               "{'type':'redacted_thinking','data':'acog.gemini..one'},"
               "{'type':'tool_use','id':'c.1','name':'f','input':{}},"
               "{'type':'tool_use','id':'c.2','name':'f','input':{}}]}]}",
               "user: 'q'\nassistant: call c.1 f {} signed by gemini one | call c.2 f {}\n");
}

static void of_signatures_without_an_id_the_latest_is_the_calls(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':["
               "{'type':'text','text':'a'},"
               "{'type':'redacted_thinking','data':'acog.gemini..one'},"
               "{'type':'redacted_thinking','data':'acog.gemini..two'}]},"
               "{'role':'assistant','content':[{'type':'text','text':'b'},"
               "{'type':'redacted_thinking','data':'acog.gemini..three'},"
               "{'type':'text','text':'c'},{'type':'tool_use','id':'c.1','name':'f','input':{}},"
               "{'type':'tool_use','id':'c.2','name':'f','input':{}}]}]}",
               "user: 'q'\nassistant: 'a' | 'b' | 'c' | call c.1 f {} signed by gemini three"
               " | call c.2 f {}\n");
}

static void media_come_from_wherever_they_are(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':["
        "{'type':'image','source':{'type':'url','url':'https://img.example/x.webp?sig=a%2Bb'}},"
        "{'type':'image','source':{'type':'base64','media_type':'image\\/png','data':'iVBO'}},"
        "{'type':'image','source':{'type':'file','file_id':'file_1'}},"
        "{'type':'document','title':'T','source':{'type':'base64','media_type':'application/pdf',"
        "'data':'JVBE'},'cache_control':{'type':'ephemeral'}},"
        "{'type':'document','context':'found on a desk','source':{'type':'text','media_type':"
        "'text/plain','data':'a \\'b\\''}},"
        "{'type':'document','source':{'type':'url','url':'https://x.example/d.pdf'}},"
        "{'type':'image','source':{'type':'url','url':'data:image/png;base64,iVBO'}},"
        "{'type':'image','source':{'type':'base64','media_type':'application/pdf','data':'JVBE'}}"
        "]}]}",
        "user: image url  https://img.example/x.webp?sig=a%2Bb | image base64 image/png iVBO"
        " | image file_id  file_1 | document base64 application/pdf JVBE named T cached"
        " | 'found on a desk' | document text text/plain a \\'b\\'"
        " | document url  https://x.example/d.pdf | image base64 image/png iVBO"
        " | document base64 application/pdf JVBE\n");
}

static void documents_made_of_blocks_and_search_results_are_their_texts(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':["
        "{'type':'document','title':'T','source':{'type':'content','content':[{'type':'text',"
        "'text':'one'},{'type':'image','source':{'type':'url','url':'u'}}]}},"
        "{'type':'document','source':{'type':'content','content':'two'}},"
        "{'type':'search_result','source':'https://s.example','title':'S','citations':{'enabled':"
        "true},'content':[{'type':'text','text':'three'}]}]}]}",
        "user: 'T' | 'one' | image url  u | 'two' | 'S' | 'https://s.example' | 'three'\n");
    is_read_as(
        "{'messages':[{'role':'user','content':[{'type':'document','cache_control':{'type':"
        "'ephemeral'},'source':{'type':'content','content':'one'}},{'type':'search_result',"
        "'source':'s','title':'S','content':[{'type':'text','text':'two'}],'cache_control':{'type':"
        "'ephemeral'}}]}]}",
        "user: 'one' cached | 'S' | 's' | 'two' cached\n");
}

/* B30, B32: what only Anthropic's own tools make */
static void blocks_that_only_anthropic_has_are_foreign(void **state)
{
    (void)state;
    is_read_as(
        "{'messages':[{'role':'user','content':[{'type':'text','text':'q'},{'type':"
        "'container_upload','file_id':'f'}]},{'role':'assistant','content':[{'type':'text','text':"
        "'a'},{'type':'tool_use','id':'c1','name':'f','input':{}},{'type':'server_tool_use','id':"
        "'s1','name':'web_search','input':{'query':'q'}},{'type':'web_search_tool_result',"
        "'tool_use_id':'s1','content':[]},{'type':'fallback','from':{'model':'x'},'to':{'model':"
        "'y'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c1','content':["
        "{'type':'browser_state','tabs':[]}]}]}]}",
        "user: 'q' | foreign container_upload\nassistant: 'a' | foreign server_tool_use"
        " | foreign web_search_tool_result | call c1 f {}\n"
        "user: result c1 of f | foreign browser_state\n");
}

static void a_compaction_is_its_summary(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':[{'type':"
               "'compaction','content':'sum','encrypted_content':'e','signature':'s'},{'type':"
               "'text','text':'a'}]},{'role':'user','content':'r'},{'role':'assistant','content':["
               "{'type':'compaction','content':null},{'type':'text','text':'b'}]}]}",
               "user: 'q'\nassistant: 'sum' | 'a'\nuser: 'r'\nassistant: 'b'\n");
}

/* As Claude Code's search of tools answers; the tool itself is declared. */
static void a_tool_that_was_found_is_its_name(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':[{'type':"
               "'tool_use','id':'c1','name':'f','input':{}}]},{'role':'user','content':[{'type':"
               "'tool_result','tool_use_id':'c1','content':[{'type':'tool_reference','tool_name':"
               "'g'},{'type':'tool_reference','tool_name':'h'}]}]}]}",
               "user: 'q'\nassistant: call c1 f {}\nuser: result c1 of f ('g') ('h')\n");
}

/* B30: refused with its name where another provider serves, never made a function of the client's */
static void a_server_tool_fits_no_other_dialect(void **state)
{
    static const enum acog_dialect others[] = {ACOG_DIALECT_CHAT, ACOG_DIALECT_RESPONSES,
                                               ACOG_DIALECT_GEMINI};
    struct bench bench;
    (void)state;
    const struct acog_conversation *conversation =
        with(&bench, ",'tools':[{'type':'web_search_20250305','name':'web_search','max_uses':2},"
                     "{'name':'f','input_schema':{'type':'object'}}]");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct acog_model_rules rules = acog_model_rules_default(others[i]);
        assert_int_equal(acog_conversation_fits(conversation, others[i], &rules, &bench.problem),
                         ACOG_INVALID);
        assert_non_null(strstr(bench.problem.text, "web_search_20250305"));
    }
    end(&bench);
}

/* B05 */
static void empty_texts_go_and_their_marker_finds_a_place(void **state)
{
    (void)state;
    is_read_as("{'messages':[{'role':'user','content':[{'type':'text','text':'real question'},"
               "{'type':'text','text':'','cache_control':{'type':'ephemeral'}}]},"
               "{'role':'assistant','content':' \\n'},{'role':'user','content':'go on'}]}",
               "user: 'real question' cached | 'go on'\n");
}

static void broken_messages_are_refused_with_their_place(void **state)
{
    (void)state;
    is_refused("{'messages':[{'role':'tool','content':'x'}]}",
               "messages[0].role: must be user, assistant or system");
    is_refused("{'messages':[{'role':'user','content':7}]}", "messages[0].content");
    is_refused("{'messages':[{'role':'user','content':['x']}]}",
               "messages[0].content[0]: must be an object with a type");
    is_refused("{'messages':[{'role':'user','content':[{'type':'text','text':'x'},"
               "{'type':'text'}]}]}",
               "messages[0].content[1].text: must be a string");
    is_refused(
        "{'messages':[{'role':'user','content':[{'type':'image','source':{'type':'ftp'}}]}]}",
        "messages[0].content[0].source");
    is_refused("{'messages':[{'role':'user','content':[{'type':'image','source':{'type':'base64',"
               "'data':'AA'}}]}]}",
               "messages[0].content[0].source");
    is_refused("{'messages':[{'role':'user','content':[{'type':'image','source':{'type':'base64',"
               "'media_type':'image/png','data':''}}]}]}",
               "messages[0].content[0].source");
    is_refused("{'messages':[{'role':'user','content':[{'type':'image','source':{'type':'url',"
               "'url':'data:image/png;base32,iVBO'}}]}]}",
               "messages[0].content[0].source");
    is_refused("{'messages':[{'role':'user','content':[{'type':'tool_use','id':'a','name':'f',"
               "'input':{}}]}]}",
               "messages[0].content[0]: a block of this type must not stand here");
    is_refused("{'messages':[{'role':'user','content':'x'},{'role':'assistant','content':[{'type':"
               "'image','source':{'type':'url','url':'u'}}]}]}",
               "messages[1].content[0]: a block of this type must not stand here");
    is_refused("{'messages':[{'role':'user','content':'x'},{'role':'assistant','content':[{'type':"
               "'tool_use','id':'a','name':'f','input':'{}'}]}]}",
               "messages[1].content[0].input: must be an object");
    is_refused("{'messages':[{'role':'user','content':'x'},{'role':'assistant','content':[{'type':"
               "'tool_use','name':'f'}]}]}",
               "messages[1].content[0]: a tool_use needs an id");
    is_refused("{'messages':[{'role':'user','content':'x'},{'role':'assistant','content':[{'type':"
               "'tool_use','id':'a','name':'','input':{}}]}]}",
               "messages[1].content[0]: a tool_use needs an id");
    is_refused("{'messages':[{'role':'user','content':'x'}],'tools':[{'name':'',"
               "'input_schema':{'type':'object'}}]}",
               "tools[0].name");
    is_refused("{'messages':[{'role':'user','content':'x'}],'tools':[{'type':true,'name':'f'}]}",
               "tools[0].type");
    is_refused("{'messages':[{'role':'user','content':[{'type':'tool_result'}]}]}",
               "messages[0].content[0].tool_use_id");
    is_refused(
        "{'messages':[{'role':'user','content':[{'type':'tool_result','tool_use_id':'a'}]}]}",
        "answers no call");
    is_refused("{'system':[{'type':'image'}],'messages':[{'role':'user','content':'x'}]}",
               "system[0].text");
    is_refused("{'messages':[]}", "no message");
}

/* One member a block, of each kind. */
static void members_of_messages_and_blocks_are_named(void **state)
{
    static const struct {
        const char *message;
        const char *name; /* NULL: none */
    } rows[] = {
        {"{'role':'user','content':'x','name':'pat'}", "messages.name"},
        {"{'role':'user','content':[{'type':'text','text':'x','id':'b1'}]}", "messages.id"},
        {"{'role':'user','content':[{'type':'image','source':{'type':'url','url':'u'},"
         "'transformations':{'oversized_image':'error'}}]}",
         "messages.transformations"},
        {"{'role':'system','content':'x','clear_at':'next_user_message'}", "messages.clear_at"},
        {"{'type':'message','role':'assistant','content':[{'type':'tool_use','id':'c','name':'f',"
         "'input':{},'caller':{'type':'direct'}}]}",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;
        char body[512];
        (void)snprintf(body, sizeof(body),
                       "{'messages':[{'role':'user','content':'x'},{'role':'assistant','content':"
                       "'y'},%s]}",
                       rows[i].message);
        assert_int_equal(read_body(&bench, body), ACOG_OK);
        assert_true(rows[i].name == NULL ? bench.conversation.unknown == NULL
                                         : names(&bench.conversation, rows[i].name));
        end(&bench);
    }
}

static void citations_are_named_as_lost(void **state)
{
    static const char *const blocks[] = {
        "{'type':'text','text':'x','citations':[{'type':'char_location'}]}",
        "{'type':'document','citations':{'enabled':true},'source':{'type':'url','url':'u'}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        struct bench bench;
        char body[256];
        struct acog_buffer text;
        acog_buffer_init_over(&text, body, sizeof(body) - 1);
        assert_int_equal(
            acog_buffer_format(&text, "{'messages':[{'role':'user','content':[%s]}]}", blocks[i]),
            ACOG_OK);
        body[text.len] = '\0';
        assert_int_equal(read_body(&bench, body), ACOG_OK);
        assert_true(names(&bench.conversation, "messages.citations"));
        end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_texts_in_any_form),
        cmocka_unit_test(system_turns_lead_or_stay_in_their_place),
        cmocka_unit_test(a_failed_result_and_the_text_behind_it_keep_their_order),
        cmocka_unit_test(results_may_be_strings_images_or_nothing),
        cmocka_unit_test(reasoning_keeps_its_bytes_and_says_whose_it_is),
        cmocka_unit_test(the_signature_of_a_call_finds_its_call),
        cmocka_unit_test(a_signature_without_an_id_is_the_next_calls),
        cmocka_unit_test(of_signatures_without_an_id_the_latest_is_the_calls),
        cmocka_unit_test(media_come_from_wherever_they_are),
        cmocka_unit_test(documents_made_of_blocks_and_search_results_are_their_texts),
        cmocka_unit_test(blocks_that_only_anthropic_has_are_foreign),
        cmocka_unit_test(a_compaction_is_its_summary),
        cmocka_unit_test(a_tool_that_was_found_is_its_name),
        cmocka_unit_test(a_server_tool_fits_no_other_dialect),
        cmocka_unit_test(empty_texts_go_and_their_marker_finds_a_place),
        cmocka_unit_test(broken_messages_are_refused_with_their_place),
        cmocka_unit_test(members_of_messages_and_blocks_are_named),
        cmocka_unit_test(citations_are_named_as_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
