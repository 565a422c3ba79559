/* embeddings.c - a vector for each input: numbers, or base64 as the OpenAI SDKs ask for by themselves.
 *
 * The numbers are multiples of 1/1024, so that their text and their 32-bit form say exactly the same.
 */
#include "acog/contract.h"
#include "acog/json.h"
#include "acog/random.h"
#include "play.h"
#include "writer.h"

#define DIMENSIONS        8
#define INPUTS_MAX        2048 /* OpenAI's own limit; more get no vector */
#define JSON_DEPTH        64
#define VECTOR_BYTES_MAX  ((size_t)256) /* one row of the answer's `data` */
#define BASE64_BYTES      44            /* of DIMENSIONS floats, padding included */
#define DECIMAL_OF_A_STEP 9765625LL     /* 1/1024 is 0.0009765625 */

struct asked {
    size_t inputs;
    bool base64;
};

/* A list of token numbers is one input; any other list holds one in each element. */
static size_t count_inputs(struct acog_json_value input)
{
    size_t count = 0;
    if (input.type != ACOG_JSON_ARRAY) {
        return 1;
    }
    struct acog_json_cursor cursor = acog_json_enter(input);
    while (count < INPUTS_MAX && acog_json_next(&cursor)) {
        if (cursor.value.type == ACOG_JSON_NUMBER) {
            return 1;
        }
        count++;
    }
    return count;
}

/* A body that is absent or no JSON asks for one vector of numbers. */
static struct asked read_asked(struct acog_view body)
{
    struct asked asked = {.inputs = 1};
    struct acog_json_value object;
    struct acog_json_value member;
    struct acog_json_error error;
    if (body.len == 0 || acog_json_check(body, JSON_DEPTH, &object, &error) != ACOG_OK ||
        object.type != ACOG_JSON_OBJECT) {
        return asked;
    }
    if (acog_json_member(object, ACOG_VIEW("input"), &member)) {
        asked.inputs = count_inputs(member);
    }
    if (acog_json_member(object, ACOG_VIEW("encoding_format"), &member)) {
        asked.base64 =
            member.type == ACOG_JSON_STRING && acog_json_text_is(member, ACOG_VIEW("base64"));
    }
    return asked;
}

/* -1023 to 1023: the numbers of one vector in steps of 1/1024. */
static void make_vector(uint64_t seed, size_t index, int64_t steps[DIMENSIONS])
{
    uint64_t state = seed + index;
    for (size_t i = 0; i < DIMENSIONS; i++) {
        steps[i] = acog_random_between(&state, -1023, 1023);
    }
}

static void write_numbers(const int64_t steps[DIMENSIONS], struct acog_buffer *out)
{
    ACOG_WRITE(out, "[");
    for (size_t i = 0; i < DIMENSIONS; i++) {
        long long size = steps[i] < 0 ? -steps[i] : steps[i];
        enum acog_code code = acog_buffer_format(out, "%s%s0.%010lld", i > 0 ? "," : "",
                                                 steps[i] < 0 ? "-" : "", size * DECIMAL_OF_A_STEP);
        ACOG_ASSERT(code == ACOG_OK);
    }
    ACOG_WRITE(out, "]");
}

static void write_base64(const int64_t steps[DIMENSIONS], struct acog_buffer *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[DIMENSIONS * 4 + 1] = {0}; /* and one of padding */
    char text[BASE64_BYTES];
    for (size_t i = 0; i < DIMENSIONS; i++) {
        float number = (float)steps[i] / 1024.0F;
        uint32_t bits;
        memcpy(&bits, &number, sizeof(bits));
        for (size_t byte = 0; byte < 4; byte++) { /* little end first */
            bytes[i * 4 + byte] = (unsigned char)(bits >> (8 * byte));
        }
    }
    for (size_t group = 0; group < BASE64_BYTES / 4; group++) {
        const unsigned char *three = &bytes[group * 3];
        unsigned bits = (unsigned)three[0] << 16 | (unsigned)three[1] << 8 | three[2];
        for (size_t i = 0; i < 4; i++) {
            text[group * 4 + i] = letters[bits >> (18 - 6 * i) & 63];
        }
    }
    text[BASE64_BYTES - 1] = '='; /* 32 bytes: one short of eleven groups */
    acog_write_string(out, (struct acog_view){.ptr = text, .len = sizeof(text)});
}

void acog_embeddings_write(const struct acog_provider_play *play, struct acog_buffer *out)
{
    struct asked asked = read_asked(play->request.body);
    int64_t steps[DIMENSIONS];
    ACOG_WRITE(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < asked.inputs; i++) {
        acog_write_raw(out, i > 0 ? ACOG_VIEW(",") : ACOG_VIEW(""));
        ACOG_WRITE(out, "{\"object\":\"embedding\",\"index\":");
        acog_write_number(out, (int64_t)i);
        ACOG_WRITE(out, ",\"embedding\":");
        make_vector(play->seed, i, steps);
        if (asked.base64) {
            write_base64(steps, out);
        } else {
            write_numbers(steps, out);
        }
        ACOG_WRITE(out, "}");
    }
    ACOG_WRITE(out, "],\"model\":");
    acog_write_string(out, play->reply.model);
    if (!play->reply.no_usage) {
        ACOG_WRITE(out, ",\"usage\":{\"prompt_tokens\":");
        acog_write_number(out, play->reply.input_tokens);
        ACOG_WRITE(out, ",\"total_tokens\":");
        acog_write_number(out, play->reply.input_tokens);
        ACOG_WRITE(out, "}");
    }
    ACOG_WRITE(out, "}");
}

size_t acog_embeddings_bytes_max(const struct acog_provider_play *play)
{
    return read_asked(play->request.body).inputs * VECTOR_BYTES_MAX;
}
