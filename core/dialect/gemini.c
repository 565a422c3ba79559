/* gemini.c - what stands where in an answer of generateContent.
 *
 * In a stream every event repeats the usage so far: its figures overwrite, and an early one may lack the output's.
 */
#include "gemini.h"

#include "content.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct acog_json_value absent(void)
{
    return (struct acog_json_value){.type = ACOG_JSON_NULL};
}

static struct acog_json_value of_type(struct acog_json_value value, enum acog_json_type type)
{
    return value.type == type ? value : absent();
}

static struct acog_json_value nonempty(struct acog_json_value value)
{
    return acog_dialect_nonempty(value) ? value : absent();
}

/* The first element; absent when the list is empty or no list. */
static struct acog_json_value first_of(struct acog_json_value list)
{
    struct acog_json_cursor cursor = acog_json_enter(list);
    return !cursor.object && acog_json_next(&cursor) ? cursor.value : absent();
}

/* Who asks for enums as numbers ($alt=json;enum-encoding=int) gets this one so. Those above mean one thing at Vertex and
 * another at the Gemini API. */
static struct acog_json_value finish_word(struct acog_json_value finish)
{
    static const struct acog_view words[] = {{0},
                                             {"\"STOP\"", 6},
                                             {"\"MAX_TOKENS\"", 12},
                                             {"\"SAFETY\"", 8},
                                             {"\"RECITATION\"", 12},
                                             {"\"OTHER\"", 7}};
    int64_t number = 0;
    if (finish.type != ACOG_JSON_NUMBER) {
        return nonempty(finish);
    }
    if (!acog_json_int(finish, &number) || number <= 0) {
        return absent();
    }
    return (struct acog_json_value){.type = ACOG_JSON_STRING,
                                    .raw = words[number < 5 ? number : 5]};
}

struct acog_gemini_answer acog_gemini_read(struct acog_json_value object)
{
    static const struct acog_view names[] = {
        {"candidates", 10}, {"promptFeedback", 14}, {"usageMetadata", 13},
        {"responseId", 10}, {"modelVersion", 12},   {"error", 5},
    };
    static const struct acog_view inner[] = {{"content", 7}, {"finishReason", 12}};
    struct acog_json_value found[COUNT(names)];
    struct acog_json_value of_candidate[COUNT(inner)];
    acog_json_members(object, names, found, COUNT(names));
    struct acog_gemini_answer answer = {
        .candidate = first_of(found[0]),
        .feedback = of_type(found[1], ACOG_JSON_OBJECT),
        .usage = found[2],
        .id = found[3],
        .model = found[4],
        .error = found[5],
    };
    acog_json_members(answer.candidate, inner, of_candidate, COUNT(inner));
    (void)acog_json_member(of_candidate[0], ACOG_VIEW("parts"), &answer.parts);
    (void)acog_json_member(answer.feedback, ACOG_VIEW("blockReason"), &answer.blocked);
    answer.parts = of_type(answer.parts, ACOG_JSON_ARRAY);
    answer.finish = finish_word(of_candidate[1]);
    answer.blocked = nonempty(answer.blocked);
    answer.is_answer =
        answer.candidate.type == ACOG_JSON_OBJECT || acog_json_present(answer.blocked);
    return answer;
}

struct acog_gemini_part acog_gemini_read_part(struct acog_json_value part)
{
    static const struct acog_view names[] = {
        {"text", 4}, {"thought", 7}, {"functionCall", 12}, {"thoughtSignature", 16}};
    struct acog_json_value found[COUNT(names)];
    acog_json_members(part, names, found, COUNT(names));
    return (struct acog_gemini_part){.text = of_type(found[0], ACOG_JSON_STRING),
                                     .thought = found[1].type == ACOG_JSON_TRUE,
                                     .call = of_type(found[2], ACOG_JSON_OBJECT),
                                     .signature = nonempty(found[3])};
}

unsigned acog_gemini_outputs(struct acog_json_value parts)
{
    unsigned outputs = 0;
    struct acog_json_cursor cursor = acog_json_enter(parts);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_gemini_part part = acog_gemini_read_part(cursor.value);
        if (acog_json_present(part.call)) {
            outputs |= ACOG_BIT(ACOG_OUTPUT_TOOL);
        } else if (acog_dialect_nonempty(part.text)) {
            outputs |= part.thought ? ACOG_BIT(ACOG_OUTPUT_REASONING) : ACOG_BIT(ACOG_OUTPUT_TEXT);
        }
    }
    return outputs;
}

bool acog_gemini_says_anything(struct acog_json_value parts)
{
    struct acog_json_cursor cursor = acog_json_enter(parts);
    while (!cursor.object && acog_json_next(&cursor)) {
        struct acog_gemini_part part = acog_gemini_read_part(cursor.value);
        if (acog_json_present(part.call) || acog_json_present(part.text)) {
            return true;
        }
    }
    return false;
}

bool acog_gemini_is_refusal(struct acog_json_value finish)
{
    static const struct acog_view words[] = {
        {"SAFETY", 6},      {"RECITATION", 10},       {"BLOCKLIST", 9},
        {"SPII", 4},        {"MODEL_ARMOR", 11},      {"PROHIBITED_CONTENT", 18},
        {"ESCALATION", 10}, {"IMAGE_SAFETY", 12},     {"IMAGE_PROHIBITED_CONTENT", 24},
        {"JAILBREAK", 9},   {"IMAGE_RECITATION", 16},
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        if (acog_json_text_is(finish, words[i])) {
            return true;
        }
    }
    return false;
}

static int64_t figure(struct acog_json_value value)
{
    int64_t number = 0;
    return acog_json_int(value, &number) && number >= 0 ? number : -1;
}

/* Figures are a provider's to send: they never overflow. */
static int64_t sum(int64_t a, int64_t b)
{
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Of a filtered answer only the prompt and the total are told: nothing came out. */
static int64_t output_of(int64_t said, int64_t input, int64_t total)
{
    return said < 0 && input >= 0 && total >= input ? total - input : said;
}

bool acog_gemini_usage(struct acog_json_value object, struct acog_usage *usage)
{
    static const struct acog_view names[] = {
        {"promptTokenCount", 16},        {"candidatesTokenCount", 20},
        {"thoughtsTokenCount", 18},      {"cachedContentTokenCount", 23},
        {"toolUsePromptTokenCount", 23}, {"totalTokenCount", 15},
    };
    struct acog_json_value found[COUNT(names)];
    int64_t figures[COUNT(names)];
    if (object.type != ACOG_JSON_OBJECT) {
        return false;
    }
    acog_json_members(object, names, found, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        figures[i] = figure(found[i]);
    }
    int64_t input = sum(figures[0], figures[4]);
    int64_t output = output_of(sum(figures[1], figures[2]), input, figures[5]);
    usage->input_tokens = input >= 0 ? input : usage->input_tokens;
    usage->output_tokens = output >= 0 ? output : usage->output_tokens;
    usage->reasoning_tokens = figures[2] >= 0 ? figures[2] : usage->reasoning_tokens;
    usage->cached_tokens = figures[3] >= 0 ? figures[3] : usage->cached_tokens;
    return input >= 0 || output >= 0;
}
