/* write_gemini_contents_test.c - what was said, as contents of generateContent. */
#include "gemini_bench.h"

/* -- contents -------------------------------------------------------------------------------------- */

static void texts_keep_their_escapes_and_roles_are_user_and_model(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"\\u00e9 \\\"quoted\\\"\"");
    say(&bench, ACOG_TURN_ASSISTANT, "\"yes\"");
    say(&bench, ACOG_TURN_USER, "\"go on\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"\\u00e9 "
                   "\\\"quoted\\\"\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"yes\"}]},{"
                   "\"role\":\"user\",\"parts\":[{\"text\":\"go on\"}]}]}",
                   "");
}

/* B14 */
static void leading_system_texts_stand_apart_and_a_later_one_stays_in_place(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    acog_builder_system(&bench.builder)->text = json("\"Answer in French\"");
    acog_builder_system(&bench.builder)->text = json("\"Be brief\"");
    say(&bench, ACOG_TURN_USER, "\"hello\"");
    say(&bench, ACOG_TURN_ASSISTANT, "\"bonjour\"");
    say(&bench, ACOG_TURN_SYSTEM, "\"Now German\"");
    say(&bench, ACOG_TURN_USER, "\"and now?\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hello\"}]},{\"role\":"
                   "\"model\",\"parts\":[{\"text\":\"bonjour\"}]},{\"role\":\"user\",\"parts\":[{"
                   "\"text\":\"<system>Now German</system>\"},{\"text\":\"and now?\"}]}],"
                   "\"systemInstruction\":{\"parts\":[{\"text\":\"Answer in French\"},{\"text\":"
                   "\"Be brief\"}]}}",
                   "messages.role");
}

/* B28, B39 */
static void another_providers_reasoning_is_left_out_and_leaves_no_empty_turn(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"a\"");
    reasoning(&bench, ACOG_DIALECT_MESSAGES, "\"secret thought\"", "EqQB");
    say(&bench, ACOG_TURN_USER, "\"b\"");
    assert_written(
        &bench,
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]}]}", "");
}

static void its_own_thoughts_and_signatures_go_back_as_they_came(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"a\"");
    reasoning(&bench, ACOG_DIALECT_GEMINI, "\"hm\"", "U0lHMQ==");
    say(&bench, ACOG_TURN_ASSISTANT, "\"b\"");
    reasoning(&bench, ACOG_DIALECT_GEMINI, NULL, "U0lHMg==")->opaque.redacted = true;
    say(&bench, ACOG_TURN_USER, "\"c\"");
    assert_written(&bench,
                   "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]},{\"role\":"
                   "\"model\",\"parts\":[{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":"
                   "\"U0lHMQ==\"},{\"text\":\"b\"},{\"text\":\"\",\"thoughtSignature\":\"U0lHMg=="
                   "\"}]},{\"role\":\"user\",\"parts\":[{\"text\":\"c\"}]}]}",
                   "");
}

static void reasoning_alone_is_no_request(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    reasoning(&bench, ACOG_DIALECT_MESSAGES, "\"thought\"", "EqQB");
    acog_builder_finish(&bench.builder);
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
}

/* -- calls and results ----------------------------------------------------------------------------- */

#define ASKED                                                                          \
    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"rain?\"}]},{\"role\":\"" \
    "model\",\"parts\":["

/* B01: one turn holds all results; names come from the calls, ids tell equal names apart. */
static void parallel_results_stand_in_one_turn_with_names_and_ids(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "call_a", "rain", "{\"city\": \"Oslo\"}");
    call(&bench, "call_b", "rain", "{\"n\":1e400}");
    result(&bench, "call_b", "\"9 mm\"");
    result(&bench, "call_a", "\"2 mm\"");
    assert_written(
        &bench,
        ASKED "{\"functionCall\":{\"id\":\"call_a\",\"name\":\"rain\",\"args\":{\"city\": "
              "\"Oslo\"}}},{\"functionCall\":{\"id\":\"call_b\",\"name\":\"rain\",\"args\":{\"n\":"
              "1e400}}}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"call_b\","
              "\"name\":\"rain\",\"response\":{\"output\":\"9 mm\"}}},{\"functionResponse\":{"
              "\"id\":\"call_a\",\"name\":\"rain\",\"response\":{\"output\":\"2 mm\"}}}]}]}",
        "");
}

/* A text that looks like JSON, or like the answer's own members, stays what the tool said. */
static void a_results_text_is_never_parsed(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    result(&bench, "c", "\"{\\\"error\\\":1}\"");
    assert_written(&bench,
                   ASKED "{\"functionCall\":{\"id\":\"c\",\"name\":\"f\",\"args\":{}}}]},{\"role\":"
                         "\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c\",\"name\":\"f\","
                         "\"response\":{\"output\":\"{\\\"error\\\":1}\"}}}]}]}",
                   "");
}

/* B25, B04 */
static void errors_several_texts_and_none_are_told_apart(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "u1", "f", "{}");
    call(&bench, "u2", "f", "{}");
    struct acog_part *failed = result(&bench, "u1", "\"disk full\"");
    failed->is_error = true;
    acog_builder_result_part(&bench.builder, failed, ACOG_PART_TEXT)->text = json("\"try /tmp\"");
    result(&bench, "u2", NULL);
    say(&bench, ACOG_TURN_USER, "\"use another path\"");
    assert_written(
        &bench,
        ASKED "{\"functionCall\":{\"id\":\"u1\",\"name\":\"f\",\"args\":{}}},{\"functionCall\":{"
              "\"id\":\"u2\",\"name\":\"f\",\"args\":{}}}]},{\"role\":\"user\",\"parts\":[{"
              "\"functionResponse\":{\"id\":\"u1\",\"name\":\"f\",\"response\":{\"error\":["
              "\"disk full\",\"try /tmp\"]}}},{\"functionResponse\":{\"id\":\"u2\",\"name\":\"f\","
              "\"response\":{\"output\":\"\"}}},{\"text\":\"use another path\"}]}]}",
        "");
}

static void a_calls_own_signature_goes_back_with_it(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}")->opaque =
        (struct acog_opaque){.maker = ACOG_DIALECT_GEMINI, .bytes = text("U0lH")};
    call(&bench, "d", "f", "{}");
    result(&bench, "c", "\"1\"");
    result(&bench, "d", "\"2\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"args\":{}},\"thoughtSignature\":\"U0lH\"},{"
                                               "\"functionCall\":{\"id\":\"d\",\"name\":\"f\","
                                               "\"args\":{}}}]")) < body.len);
    end(&bench);
}

/* A conversation that began at another provider: the third generation refuses a call without a signature. */
static void a_call_made_elsewhere_says_so_where_the_model_asks(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}")->opaque =
        (struct acog_opaque){.maker = ACOG_DIALECT_MESSAGES, .bytes = text("EqQB")};
    call(&bench, "d", "f", "{}");
    result(&bench, "c", "\"1\"");
    result(&bench, "d", "\"2\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"thoughtSignature\":\"skip_thought_signature_"
                                               "validator\"},{\"functionCall\":{\"id\":\"d\","
                                               "\"name\":\"f\",\"args\":{}}}]")) < body.len);
    end(&bench);
}

static void add_picture(struct bench *bench, struct acog_part *of)
{
    struct acog_part *part = acog_builder_result_part(&bench->builder, of, ACOG_PART_MEDIA);
    assert_non_null(part);
    part->media = (struct acog_media){.media_type = ACOG_VIEW("image/png"), .data = text("iVBO")};
}

static void a_picture_in_a_result_lies_inside_it_where_the_model_takes_that(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    third_generation(&bench);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    add_picture(&bench, result(&bench, "c", "\"see\""));
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("\"response\":{\"output\":\"see\"},\"parts\":[{"
                                               "\"inlineData\":{\"mimeType\":\"image/png\","
                                               "\"data\":\"iVBO\"}}]}}]}]}")) < body.len);
    end(&bench);
}

static void elsewhere_it_stands_behind_all_results(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"rain?\"");
    call(&bench, "c", "f", "{}");
    call(&bench, "d", "f", "{}");
    add_picture(&bench, result(&bench, "c", "\"see\""));
    result(&bench, "d", "\"2\"");
    say(&bench, ACOG_TURN_USER, "\"well?\"");
    write(&bench);
    struct acog_view body = acog_buffer_view(&bench.out);
    assert_true(acog_view_find(body, ACOG_VIEW("{\"output\":\"2\"}}},{\"inlineData\":{\"mimeType\":"
                                               "\"image/png\",\"data\":\"iVBO\"}},{\"text\":"
                                               "\"well?\"}]}]}")) < body.len);
    end(&bench);
}

/* -- media ----------------------------------------------------------------------------------------- */

/* B16 */
static void bytes_are_inline_and_addresses_go_as_they_are(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    medium(&bench, ACOG_MEDIA_BASE64, "image/png", "iVBORw0KGgo=");
    medium(&bench, ACOG_MEDIA_URL, "", "https://img.example/x.webp?sig=a%2Bb");
    medium(&bench, ACOG_MEDIA_URL, "", "https://www.youtube.com/watch?v=1");
    medium(&bench, ACOG_MEDIA_URL, "video/mp4", "gs://bucket/clip");
    medium(&bench, ACOG_MEDIA_TEXT, "text/plain", "a plain text");
    assert_written(
        &bench,
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\","
        "\"data\":\"iVBORw0KGgo=\"}},{\"fileData\":{\"mimeType\":\"image/webp\",\"fileUri\":"
        "\"https://img.example/x.webp?sig=a%2Bb\"}},{\"fileData\":{\"fileUri\":"
        "\"https://www.youtube.com/watch?v=1\"}},{\"fileData\":{\"mimeType\":\"video/mp4\","
        "\"fileUri\":\"gs://bucket/clip\"}},{\"text\":\"a plain text\"}]}]}",
        "");
}

static void a_name_and_a_detail_of_a_medium_are_named_as_lost(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_CHAT);
    struct acog_part *part = medium(&bench, ACOG_MEDIA_BASE64, "application/pdf", "JVBERi0=");
    part->media.name = json("\"report.pdf\"");
    part->media.detail = json("\"high\"");
    medium(&bench, ACOG_MEDIA_BASE64, "image/png", "iVBO")->media.detail = json("\"auto\"");
    write(&bench);
    assert_text(bench.dropped_names, "messages.filename, messages.detail");
    end(&bench);
}

static void a_file_at_another_provider_is_refused_wherever_it_stands(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    medium(&bench, ACOG_MEDIA_FILE_ID, "", "file_1");
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
    begin_hello(&bench, ACOG_SURFACE_MESSAGES);
    call(&bench, "c", "f", "{}");
    struct acog_part *answered = result(&bench, "c", NULL);
    acog_builder_result_part(&bench.builder, answered, ACOG_PART_MEDIA)->media.source =
        ACOG_MEDIA_FILE_ID;
    assert_non_null(acog_gemini_objection(&bench.conversation, &bench.rules));
    end(&bench);
}

/* B18: the markers cannot go along, and the client is told. */
static void cache_markers_are_named_as_lost(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, ACOG_SURFACE_MESSAGES);
    struct acog_json_value marker = json("{\"type\":\"ephemeral\"}");
    struct acog_part *system = acog_builder_system(&bench.builder);
    system->text = json("\"long rules\"");
    system->cache = marker;
    say(&bench, ACOG_TURN_USER, "\"q\"")->cache = marker;
    tool(&bench, "\"f\"", NULL)->cache = marker;
    write(&bench);
    assert_text(bench.dropped_names,
                "messages.cache_control, system.cache_control, tools.cache_control");
    end(&bench);
    begin(&bench, ACOG_SURFACE_MESSAGES);
    say(&bench, ACOG_TURN_USER, "\"q\"");
    call(&bench, "c", "f", "{}");
    result(&bench, "c", "\"r\"")->content.first->cache = marker;
    write(&bench);
    assert_text(bench.dropped_names, "messages.cache_control");
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_keep_their_escapes_and_roles_are_user_and_model),
        cmocka_unit_test(leading_system_texts_stand_apart_and_a_later_one_stays_in_place),
        cmocka_unit_test(another_providers_reasoning_is_left_out_and_leaves_no_empty_turn),
        cmocka_unit_test(its_own_thoughts_and_signatures_go_back_as_they_came),
        cmocka_unit_test(reasoning_alone_is_no_request),
        cmocka_unit_test(parallel_results_stand_in_one_turn_with_names_and_ids),
        cmocka_unit_test(a_results_text_is_never_parsed),
        cmocka_unit_test(errors_several_texts_and_none_are_told_apart),
        cmocka_unit_test(a_calls_own_signature_goes_back_with_it),
        cmocka_unit_test(a_call_made_elsewhere_says_so_where_the_model_asks),
        cmocka_unit_test(a_picture_in_a_result_lies_inside_it_where_the_model_takes_that),
        cmocka_unit_test(elsewhere_it_stands_behind_all_results),
        cmocka_unit_test(bytes_are_inline_and_addresses_go_as_they_are),
        cmocka_unit_test(a_name_and_a_detail_of_a_medium_are_named_as_lost),
        cmocka_unit_test(a_file_at_another_provider_is_refused_wherever_it_stands),
        cmocka_unit_test(cache_markers_are_named_as_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
