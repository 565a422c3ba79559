/* schema_fuzz.c - any JSON as a schema, for those that take less than JSON Schema.
 *
 * What fits Anthropic's native formats is written as JSON that fits again, loses nothing more and stays as it is. What
 * Gemini gets is JSON, and stays as it is too. What is in OpenAI's strict subset has the forms that it demands.
 */
#include "acog/contract.h"
#include "core/dialect/schema.h"
#ifdef ACOG_FUZZING
#include "json_mutator.h"
#endif

#define DEPTH_MAX 64
#define BYTES_MAX ((size_t)1 << 22U)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef ACOG_FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    return mutator_run(data, size, size_max, seed, 0);
}
#endif

static struct acog_json_value parsed(struct acog_view text)
{
    struct acog_json_value value = {.raw = {0}};
    struct acog_json_error error;
    ACOG_ASSERT(acog_json_check(text, DEPTH_MAX, &value, &error) == ACOG_OK);
    return value;
}

static void put_native(struct acog_buffer *out, struct acog_json_value schema)
{
    struct acog_request_writer writer = {.out = out};
    acog_buffer_init(out, BYTES_MAX);
    acog_schema_put_messages(&writer, schema);
    ACOG_ASSERT(writer.code == ACOG_OK);
}

static void native_stays(struct acog_json_value schema)
{
    struct acog_buffer once;
    struct acog_buffer twice;
    struct acog_schema_fit fit = acog_schema_fit_messages(schema);
    if (fit.objection != NULL) {
        return;
    }
    put_native(&once, schema);
    struct acog_json_value written = parsed(acog_buffer_view(&once));
    struct acog_schema_fit again = acog_schema_fit_messages(written);
    ACOG_ASSERT(again.objection == NULL && !again.lost);
    ACOG_ASSERT(again.object == fit.object && again.unions == fit.unions &&
                again.optionals == fit.optionals);
    put_native(&twice, written);
    ACOG_ASSERT(acog_view_equal(acog_buffer_view(&once), acog_buffer_view(&twice)));
    acog_buffer_fini(&once);
    acog_buffer_fini(&twice);
}

static bool put_gemini(struct acog_buffer *out, struct acog_json_value schema)
{
    struct acog_request_writer writer = {.out = out};
    bool lost = false;
    acog_buffer_init(out, BYTES_MAX);
    acog_schema_put_gemini_object(&writer, schema, &lost);
    ACOG_ASSERT(writer.code == ACOG_OK);
    return lost;
}

static void gemini_stays(struct acog_json_value schema)
{
    struct acog_buffer once;
    struct acog_buffer twice;
    (void)put_gemini(&once, schema);
    ACOG_ASSERT(!put_gemini(&twice, parsed(acog_buffer_view(&once))));
    ACOG_ASSERT(acog_view_equal(acog_buffer_view(&once), acog_buffer_view(&twice)));
    acog_buffer_fini(&once);
    acog_buffer_fini(&twice);
}

static void strict_is_closed(struct acog_json_value schema)
{
    struct acog_json_value closed = {.raw = {0}};
    if (acog_schema_is_openai_strict(schema)) {
        ACOG_ASSERT(acog_json_member(schema, ACOG_VIEW("additionalProperties"), &closed));
        ACOG_ASSERT(closed.type == ACOG_JSON_FALSE);
        /* What is required of it is required there too. */
        ACOG_ASSERT(acog_schema_fit_messages(schema).optionals == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acog_view text = {.ptr = (const char *)data, .len = size};
    struct acog_json_value schema;
    struct acog_json_error error;
    if (acog_json_check(text, DEPTH_MAX, &schema, &error) == ACOG_OK) {
        native_stays(schema);
        gemini_stays(schema);
        strict_is_closed(schema);
    }
    return 0;
}
