/* answer_from_gemini.c - answers of generateContent, whole and as events, which have one form.
 *
 * A call comes whole, in one part. Parts have no index: what follows a part of its kind goes on with it.
 *
 * A thought signature is a member of any part. Of a call it is the call's; of a thought the thought's; with an answer's
 * text, or alone with an empty one, it becomes a redacted piece of reasoning behind that text, and behind the sources
 * that come in the same event, because a source belongs to a text that is open.
 *
 * What the gateway never asks for is not read: code that Google runs and what it brought, images, further candidates.
 */
#include "content.h"
#include "flow.h"
#include "gemini.h"

#define TEXT_KEY      0
#define REASONING_KEY 1
#define CALL_KEY      2 /* of one after the other: each has ended before the next begins */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- parts ----------------------------------------------------------------------------------------- */

static struct acog_opaque signature_of(struct acog_json_value signature, bool redacted)
{
    return (struct acog_opaque){
        .maker = ACOG_DIALECT_GEMINI, .bytes = acog_text_of(signature), .redacted = redacted};
}

static void read_call(struct acog_flow *flow, const struct acog_gemini_part *part)
{
    static const struct acog_view names[] = {{"id", 2}, {"name", 4}, {"args", 4}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(part->call, names, found, COUNT(names));
    acog_flow_call(flow, CALL_KEY, acog_text_of(found[0]), acog_text_of(found[1]));
    if (acog_json_present(part->signature)) {
        struct acog_opaque opaque = signature_of(part->signature, false);
        acog_flow_opaque(flow, ACOG_FLOW_CALL, CALL_KEY, &opaque);
    }
    if (found[2].type == ACOG_JSON_OBJECT) {
        acog_flow_arguments(flow, CALL_KEY, acog_text_plain(found[2].raw));
    }
    acog_flow_part_end(flow, CALL_KEY);
}

static void read_thought(struct acog_flow *flow, const struct acog_gemini_part *part)
{
    bool text = acog_dialect_nonempty(part->text);
    acog_flow_text(flow, ACOG_FLOW_REASONING, REASONING_KEY, acog_text_of(part->text));
    if (acog_json_present(part->signature)) {
        struct acog_opaque opaque = signature_of(part->signature, !text);
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, REASONING_KEY, &opaque);
        acog_flow_part_end(flow, REASONING_KEY);
    }
}

/* A signature of a text that was read; it waits for the sources of that text. Absent: none. */
static void let_go(struct acog_flow *flow, struct acog_json_value *signature)
{
    if (acog_json_present(*signature)) {
        struct acog_opaque opaque = signature_of(*signature, true);
        acog_flow_opaque(flow, ACOG_FLOW_REASONING, REASONING_KEY, &opaque);
        acog_flow_part_end(flow, REASONING_KEY);
        *signature = (struct acog_json_value){.type = ACOG_JSON_NULL};
    }
}

/* Returns the signature of the last text, if nothing came behind it. */
static struct acog_json_value read_parts(struct acog_flow *flow, struct acog_json_value parts)
{
    struct acog_json_value waiting = {.type = ACOG_JSON_NULL};
    struct acog_json_cursor cursor = acog_json_enter(parts);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_gemini_part part = acog_gemini_read_part(cursor.value);
        let_go(flow, &waiting);
        if (acog_json_present(part.call)) {
            read_call(flow, &part);
        } else if (part.thought) {
            read_thought(flow, &part);
        } else {
            acog_flow_text(flow, ACOG_FLOW_TEXT, TEXT_KEY, acog_text_of(part.text));
            waiting = part.signature;
        }
    }
    return waiting;
}

/* -- sources --------------------------------------------------------------------------------------- */

static void read_source(struct acog_flow *flow, struct acog_json_value source)
{
    static const struct acog_view names[] = {{"uri", 3}, {"title", 5}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(source, names, found, COUNT(names));
    if (acog_dialect_nonempty(found[0])) {
        acog_flow_citation(flow, TEXT_KEY, acog_text_of(found[0]), acog_text_of(found[1]));
    }
}

/* groundingChunks: [{ web | retrievedContext | maps: { uri, title } }] */
static void read_grounding(struct acog_flow *flow, struct acog_json_value metadata)
{
    struct acog_json_value chunks;
    if (!acog_json_member(metadata, ACOG_VIEW("groundingChunks"), &chunks)) {
        return;
    }
    struct acog_json_cursor cursor = acog_json_enter(chunks);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_cursor kind = acog_json_enter(cursor.value);
        while (kind.object && acog_json_next(&kind)) {
            read_source(flow, kind.value);
        }
    }
}

/* citationMetadata: { citationSources | citations: [{ uri, title }] }, of text that stands somewhere else too */
static void read_citations(struct acog_flow *flow, struct acog_json_value metadata)
{
    static const struct acog_view names[] = {{"citationSources", 15}, {"citations", 9}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(metadata, names, found, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        struct acog_json_cursor cursor = acog_json_enter(found[i]);
        while (!cursor.object && acog_json_next(&cursor)) {
            read_source(flow, cursor.value);
        }
    }
}

/* -- why it ended ---------------------------------------------------------------------------------- */

/* What is no plain stop and none of the others stays UNKNOWN: a call that could not be parsed, a language, OTHER (B60). */
static enum acog_finish_reason finish_of(struct acog_json_value word)
{
    if (acog_json_text_is(word, ACOG_VIEW("STOP"))) {
        return ACOG_FINISH_STOP;
    }
    if (acog_json_text_is(word, ACOG_VIEW("MAX_TOKENS")) ||
        acog_json_text_is(word, ACOG_VIEW("CONTINUATION"))) {
        return ACOG_FINISH_LENGTH;
    }
    return acog_gemini_is_refusal(word) ? ACOG_FINISH_REFUSAL : ACOG_FINISH_UNKNOWN;
}

/* "HARM_CATEGORY_HATE_SPEECH" is "hate_speech", as categories are spelt in this house. */
static struct acog_text category_text(struct acog_json_value word, struct acog_arena *scratch)
{
    const struct acog_view prefix = ACOG_VIEW("HARM_CATEGORY_");
    struct acog_view text = acog_text_of(word).bytes;
    text = acog_view_slice(text, acog_view_starts(text, prefix) ? prefix.len : 0, text.len);
    char *lower = acog_arena_take(scratch, text.len + 1);
    for (size_t i = 0; lower != NULL && i < text.len; i++) {
        lower[i] = text.ptr[i];
        if (lower[i] >= 'A' && lower[i] <= 'Z') {
            lower[i] |= ' ';
        }
    }
    return (struct acog_text){.bytes = {.ptr = lower, .len = lower == NULL ? 0 : text.len},
                              .escaped = word.escaped};
}

/* The category of the rating that blocked; else the reason itself is all that is known. */
static struct acog_json_value category_of(struct acog_json_value ratings,
                                          struct acog_json_value reason)
{
    static const struct acog_view names[] = {{"blocked", 7}, {"category", 8}};
    struct acog_json_cursor cursor = acog_json_enter(ratings);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_json_value found[COUNT(names)];
        acog_json_members(cursor.value, names, found, COUNT(names));
        if (found[0].type == ACOG_JSON_TRUE && acog_dialect_nonempty(found[1])) {
            return found[1];
        }
    }
    return reason;
}

static void read_refusal(struct acog_flow *flow, struct acog_json_value of,
                         struct acog_view message_name, struct acog_json_value reason,
                         struct acog_arena *scratch)
{
    const struct acog_view names[] = {ACOG_VIEW("safetyRatings"), message_name};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(of, names, found, COUNT(names));
    acog_flow_refusal(flow, category_text(category_of(found[0], reason), scratch),
                      acog_text_of(found[1]));
}

/* A prompt that was blocked has no candidates, whatever the reason is called. */
static void read_end(struct acog_flow *flow, const struct acog_gemini_answer *answer,
                     struct acog_arena *scratch)
{
    if (acog_json_present(answer->blocked)) {
        acog_flow_finish(flow, ACOG_FINISH_REFUSAL, acog_text_of(answer->blocked));
        read_refusal(flow, answer->feedback, ACOG_VIEW("blockReasonMessage"), answer->blocked,
                     scratch);
    } else if (acog_json_present(answer->finish)) {
        enum acog_finish_reason reason = finish_of(answer->finish);
        acog_flow_finish(flow, reason, acog_text_of(answer->finish));
        if (reason == ACOG_FINISH_REFUSAL) {
            read_refusal(flow, answer->candidate, ACOG_VIEW("finishMessage"), answer->finish,
                         scratch);
        }
    }
}

/* -- an answer, or a piece of one ------------------------------------------------------------------ */

void acog_gemini_read_whole(struct acog_flow *flow, struct acog_json_value body,
                            struct acog_arena *scratch)
{
    static const struct acog_view names[] = {{"groundingMetadata", 17}, {"citationMetadata", 16}};
    struct acog_json_value found[COUNT(names)];
    struct acog_usage usage = acog_dialect_no_usage();
    struct acog_gemini_answer answer = acog_gemini_read(body);
    if (acog_gemini_usage(answer.usage, &usage)) {
        acog_flow_usage(flow,
                        &usage); /* first: a client may be told of the input at the beginning */
    }
    acog_flow_begin(flow, acog_text_of(answer.id), acog_text_of(answer.model));
    struct acog_json_value signature = read_parts(flow, answer.parts);
    acog_json_members(answer.candidate, names, found, COUNT(names));
    read_grounding(flow, found[0]);
    read_citations(flow, found[1]);
    let_go(flow, &signature);
    read_end(flow, &answer, scratch);
}

void acog_gemini_read_event(struct acog_flow *flow, struct acog_view name, struct acog_view data,
                            struct acog_arena *scratch)
{
    struct acog_json_value object;
    struct acog_json_error error;
    (void)name;
    if (acog_json_check(data, ACOG_JSON_DEPTH_MAX, &object, &error) == ACOG_OK) {
        acog_gemini_read_whole(flow, object, scratch);
    }
}
