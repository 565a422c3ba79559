/* models.c - GET /v1/models and /v1/models/{id}: what the configuration declares, one row an id, in Anthropic's shape
 * when `anthropic-version` is sent and in OpenAI's otherwise. When a model was made is not known; both shapes want
 * a date, and the epoch is what Anthropic's own reference gives for an unknown one.
 */
#include "state.h"

#define MODEL_ID_MAX 512 /* of a path, decoded; a longer one is no model's */

static bool speaks_anthropic(const struct acog_exchange *exchange)
{
    return exchange->client.dialect == ACOG_DIALECT_MESSAGES;
}

static enum acog_code write_row(bool anthropic, const struct acog_listed_model *model,
                                struct acog_buffer *out)
{
    if (anthropic) {
        struct acog_view parts[] = {ACOG_VIEW("{\"type\":\"model\",\"id\":\""), model->id,
                                    ACOG_VIEW("\",\"display_name\":\""), model->id,
                                    ACOG_VIEW("\",\"created_at\":\"1970-01-01T00:00:00Z\"}")};
        return acog_exchange_write_parts(out, parts, sizeof(parts) / sizeof(parts[0]));
    }
    struct acog_view parts[] = {ACOG_VIEW("{\"id\":\""), model->id,
                                ACOG_VIEW("\",\"object\":\"model\",\"created\":0,\"owned_by\":\""),
                                model->owned_by, ACOG_VIEW("\"}")};
    return acog_exchange_write_parts(out, parts, sizeof(parts) / sizeof(parts[0]));
}

static enum acog_code write_end(bool anthropic, const struct acog_snapshot *snapshot,
                                struct acog_buffer *out)
{
    if (!anthropic) {
        return acog_buffer_append(out, ACOG_VIEW("]}"));
    }
    if (snapshot->model_count == 0) {
        return acog_buffer_append(
            out, ACOG_VIEW("],\"has_more\":false,\"first_id\":null,\"last_id\":null}"));
    }
    struct acog_view parts[] = {ACOG_VIEW("],\"has_more\":false,\"first_id\":\""),
                                snapshot->models[0].id, ACOG_VIEW("\",\"last_id\":\""),
                                snapshot->models[snapshot->model_count - 1].id, ACOG_VIEW("\"}")};
    return acog_exchange_write_parts(out, parts, sizeof(parts) / sizeof(parts[0]));
}

enum acog_code acog_exchange_write_models(struct acog_exchange *exchange, struct acog_buffer *out)
{
    const struct acog_snapshot *snapshot = exchange->snapshot;
    bool anthropic = speaks_anthropic(exchange);
    enum acog_code code = acog_buffer_append(
        out, anthropic ? ACOG_VIEW("{\"data\":[") : ACOG_VIEW("{\"object\":\"list\",\"data\":["));
    for (size_t i = 0; i < snapshot->model_count && code == ACOG_OK; i++) {
        if (i > 0) {
            code = acog_buffer_append(out, ACOG_VIEW(","));
        }
        if (code == ACOG_OK) {
            code = write_row(anthropic, &snapshot->models[i], out);
        }
    }
    return code == ACOG_OK ? write_end(anthropic, snapshot, out) : code;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX to bytes; how many were written, 0 for what is broken or too long. Only compared, never used as a path. */
static size_t decode_percent(struct acog_view text, char out[MODEL_ID_MAX])
{
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            bool whole = text.len - i > 2;
            int high = whole ? hex_digit(text.ptr[i + 1]) : -1;
            int low = whole ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return 0;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (length == MODEL_ID_MAX) {
            return 0;
        }
        out[length] = c;
        length++;
    }
    return length;
}

enum acog_code acog_exchange_write_model(struct acog_exchange *exchange, struct acog_view id,
                                         struct acog_buffer *out)
{
    char text[MODEL_ID_MAX];
    struct acog_view wanted = {.ptr = text, .len = decode_percent(id, text)};
    for (size_t i = 0; i < exchange->snapshot->model_count; i++) {
        if (acog_view_equal(exchange->snapshot->models[i].id, wanted)) {
            return write_row(speaks_anthropic(exchange), &exchange->snapshot->models[i], out);
        }
    }
    return ACOG_NOT_FOUND;
}
