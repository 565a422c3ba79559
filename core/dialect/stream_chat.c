/* stream_chat.c - chunks of chat/completions, as OpenAI and everyone who copies it send them.
 *
 * What they really send (FACTS, 8): chunks with empty `choices` (Azure's filter results come so, B52), finish reasons
 * more than once, usage in several chunks or beside a delta (B49), an `error` beside `choices`.
 */
#include "content.h"
#include "stream.h"

#define CHOICE_BITS 32 /* choices above share the last bit */

enum member {
    ACOG_MEMBER_CHOICES = 0,
    ACOG_MEMBER_USAGE,
    ACOG_MEMBER_ERROR,
    ACOG_MEMBER_ID,
    ACOG_MEMBER_MODEL,
    ACOG_MEMBER_GROQ,
    ACOG_MEMBER_COUNT
};

static const struct acog_view member_names[ACOG_MEMBER_COUNT] = {
    [ACOG_MEMBER_CHOICES] = {"choices", 7}, [ACOG_MEMBER_USAGE] = {"usage", 5},
    [ACOG_MEMBER_ERROR] = {"error", 5},     [ACOG_MEMBER_ID] = {"id", 2},
    [ACOG_MEMBER_MODEL] = {"model", 5},     [ACOG_MEMBER_GROQ] = {"x_groq", 6},
};

static uint32_t choice_bit(struct acog_json_value index)
{
    int64_t number = 0;
    if (!acog_json_int(index, &number) || number < 0) {
        number = 0;
    }
    return UINT32_C(1) << (number < CHOICE_BITS ? (unsigned)number : CHOICE_BITS - 1U);
}

static unsigned read_choice(struct acog_stream_tracker *tracker, struct acog_json_value choice)
{
    static const struct acog_view names[] = {{"index", 5}, {"delta", 5}, {"finish_reason", 13}};
    struct acog_json_value found[3];
    acog_json_members(choice, names, found, 3);
    uint32_t bit = choice_bit(found[0]);
    unsigned outputs = acog_dialect_chat_outputs(found[1]);
    if (outputs != 0) {
        tracker->choices_begun |= bit;
    }
    if ((outputs & ACOG_BIT(ACOG_OUTPUT_TOOL)) != 0 && (tracker->choices_finished & bit) == 0) {
        tracker->tool_open = true;
    }
    if (acog_dialect_nonempty(found[2])) {
        outputs |= ACOG_BIT(ACOG_OUTPUT_STOP);
        tracker->finish_seen = true;
        tracker->tool_open = false;
        tracker->choices_finished |= bit;
        tracker->refused =
            tracker->refused || acog_json_text_is(found[2], ACOG_VIEW("content_filter"));
    }
    return outputs;
}

enum acog_stream_event acog_stream_read_chat(struct acog_stream_input *input)
{
    struct acog_json_value found[ACOG_MEMBER_COUNT];
    acog_json_members(input->object, member_names, found, ACOG_MEMBER_COUNT);
    acog_stream_keep_names(input, found[ACOG_MEMBER_ID], found[ACOG_MEMBER_MODEL]);
    if (!acog_json_present(found[ACOG_MEMBER_USAGE])) {
        (void)acog_json_member(found[ACOG_MEMBER_GROQ], ACOG_VIEW("usage"),
                               &found[ACOG_MEMBER_USAGE]);
    }
    bool usage = acog_dialect_chat_usage(found[ACOG_MEMBER_USAGE], &input->tracker->usage);
    if (acog_dialect_is_error(found[ACOG_MEMBER_ERROR])) {
        return acog_stream_error(input);
    }
    bool choices = false;
    struct acog_json_cursor cursor = acog_json_enter(found[ACOG_MEMBER_CHOICES]);
    while (!cursor.object && acog_json_next(&cursor)) {
        choices = true;
        input->outputs |= read_choice(input->tracker, cursor.value);
    }
    if (usage) {
        input->outputs |= ACOG_BIT(ACOG_OUTPUT_USAGE);
        if (!choices && found[ACOG_MEMBER_CHOICES].type == ACOG_JSON_ARRAY) {
            return ACOG_STREAM_EVENT_USAGE_ONLY;
        }
    }
    return acog_stream_output_or_other(input);
}
