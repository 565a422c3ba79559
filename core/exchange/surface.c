/* surface.c - where a method and a path lead, and the answers that need no upstream.
 *
 * Paths are compared byte by byte: no dot segments are resolved, no percent signs decoded, no slashes merged, so a
 * path can only lead where it says (B114).
 */
#include "acog/contract.h"
#include "state.h"

#define MODELS_PATH     ACOG_VIEW("/v1/models")
#define MODEL_PATH      ACOG_VIEW("/v1/models/")
#define ROUTE_PATH      ACOG_VIEW("/v1/route")
#define GENERATION_PATH ACOG_VIEW("/v1/generation")
#define RECEIPT_PATH    ACOG_VIEW("/v1/receipts/")

static bool is_read(struct acog_view method)
{
    return acog_view_equal(method, ACOG_VIEW("GET")) || acog_view_equal(method, ACOG_VIEW("HEAD"));
}

static enum acog_exchange_place place_of_path(struct acog_view path,
                                              struct acog_exchange_target *target)
{
    for (int surface = 0; surface < ACOG_SURFACE_COUNT; surface++) {
        if (acog_view_equal(path, acog_surface_path((enum acog_surface)surface))) {
            target->surface = (enum acog_surface)surface;
            return ACOG_PLACE_SURFACE;
        }
    }
    if (acog_view_equal(path, MODELS_PATH)) {
        return ACOG_PLACE_MODELS;
    }
    if (acog_view_starts(path, MODEL_PATH) && path.len > MODEL_PATH.len) {
        target->rest = acog_view_slice(path, MODEL_PATH.len, path.len);
        return ACOG_PLACE_MODEL;
    }
    if (acog_view_equal(path, ACOG_VIEW("/healthz"))) {
        return ACOG_PLACE_HEALTH;
    }
    if (acog_view_equal(path, ROUTE_PATH)) {
        return ACOG_PLACE_ROUTE;
    }
    if (acog_view_equal(path, GENERATION_PATH)) {
        return ACOG_PLACE_GENERATION;
    }
    if (acog_view_starts(path, RECEIPT_PATH) && path.len > RECEIPT_PATH.len) {
        target->rest = acog_view_slice(path, RECEIPT_PATH.len, path.len);
        return ACOG_PLACE_RECEIPT;
    }
    return acog_view_equal(path, ACOG_VIEW("/readyz")) ? ACOG_PLACE_READY : ACOG_PLACE_NOWHERE;
}

static bool is_about_records(enum acog_exchange_place place)
{
    return place == ACOG_PLACE_ROUTE || place == ACOG_PLACE_GENERATION ||
           place == ACOG_PLACE_RECEIPT;
}

void acog_exchange_place(struct acog_view method, struct acog_view path, bool local,
                         struct acog_exchange_target *target)
{
    *target = (struct acog_exchange_target){0};
    target->place = place_of_path(path, target);
    if (is_about_records(target->place) && !local) {
        target->place = ACOG_PLACE_NOWHERE;
    }
    if (target->place == ACOG_PLACE_NOWHERE) {
        return;
    }
    bool post = target->place == ACOG_PLACE_SURFACE || target->place == ACOG_PLACE_ROUTE;
    if (post ? !acog_view_equal(method, ACOG_VIEW("POST")) : !is_read(method)) {
        target->place = ACOG_PLACE_WRONG_METHOD;
        target->allowed = post ? ACOG_VIEW("POST") : ACOG_VIEW("GET, HEAD");
    }
}

enum acog_dialect acog_exchange_path_dialect(struct acog_view path)
{
    for (int surface = 0; surface < ACOG_SURFACE_COUNT; surface++) {
        if (acog_view_equal(path, acog_surface_path((enum acog_surface)surface))) {
            return acog_surface_dialect((enum acog_surface)surface);
        }
    }
    struct acog_view messages = acog_surface_path(ACOG_SURFACE_MESSAGES);
    return acog_view_starts(path, messages) && path.len > messages.len &&
                   path.ptr[messages.len] == '/'
               ? ACOG_DIALECT_MESSAGES
               : ACOG_DIALECT_CHAT;
}

void acog_exchange_answer_condition(struct acog_exchange *exchange, enum acog_condition condition,
                                    struct acog_view detail, const struct acog_header_row *extra)
{
    struct acog_exchange_error error;
    acog_exchange_error_of_condition(exchange->snapshot, condition, &error);
    error.words.detail = detail;
    if (extra != NULL) {
        error.headers = extra;
        error.header_count = 1;
    }
    acog_exchange_reply_error(exchange, &error);
}

static void answer_text(struct acog_exchange *exchange, unsigned status, enum acog_code code)
{
    if (code == ACOG_OK) {
        acog_exchange_reply_here(exchange, status);
    } else {
        acog_exchange_answer_condition(exchange, ACOG_CONDITION_OVERLOADED, (struct acog_view){0},
                                       NULL);
    }
}

static void answer_model(struct acog_exchange *exchange, struct acog_view id)
{
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    enum acog_code code = acog_exchange_write_model(exchange, id, &exchange->text);
    if (code == ACOG_NOT_FOUND) {
        acog_exchange_answer_condition(
            exchange, ACOG_CONDITION_UNKNOWN_PATH,
            acog_exchange_cut(exchange->client.path, ACOG_EXCHANGE_MODEL_MAX), NULL);
    } else {
        answer_text(exchange, 200, code);
    }
}

static void answer_wrong_method(struct acog_exchange *exchange, struct acog_view allowed)
{
    struct acog_header_row allow = {.name = ACOG_VIEW("allow"), .value = allowed};
    struct acog_view detail = acog_view_equal(allowed, ACOG_VIEW("POST"))
                                  ? ACOG_VIEW("This path takes POST only.")
                                  : ACOG_VIEW("This path takes GET and HEAD only.");
    acog_exchange_answer_condition(exchange, ACOG_CONDITION_METHOD, detail, &allow);
}

void acog_exchange_answer_here(struct acog_exchange *exchange,
                               const struct acog_exchange_target *target)
{
    struct acog_buffer *text = &exchange->text;
    bool draining = exchange->start.draining;
    switch (target->place) {
    case ACOG_PLACE_MODELS:
        acog_buffer_clear(text, ACOG_EXCHANGE_KEPT_BYTES);
        answer_text(exchange, 200, acog_exchange_write_models(exchange, text));
        break;
    case ACOG_PLACE_MODEL:
        answer_model(exchange, target->rest);
        break;
    case ACOG_PLACE_HEALTH:
        acog_buffer_clear(text, ACOG_EXCHANGE_KEPT_BYTES);
        answer_text(exchange, 200, acog_buffer_append(text, ACOG_VIEW("{\"status\":\"ok\"}\n")));
        break;
    case ACOG_PLACE_READY:
        acog_buffer_clear(text, ACOG_EXCHANGE_KEPT_BYTES);
        answer_text(exchange, draining ? 503 : 200,
                    acog_buffer_append(text, draining ? ACOG_VIEW("{\"status\":\"draining\"}\n")
                                                      : ACOG_VIEW("{\"status\":\"ready\"}\n")));
        break;
    case ACOG_PLACE_NOWHERE:
        acog_exchange_answer_condition(
            exchange, ACOG_CONDITION_UNKNOWN_PATH,
            acog_exchange_cut(exchange->client.path, ACOG_EXCHANGE_MODEL_MAX), NULL);
        break;
    case ACOG_PLACE_WRONG_METHOD:
        answer_wrong_method(exchange, target->allowed);
        break;
    case ACOG_PLACE_GENERATION:
        acog_exchange_answer_record(
            exchange, acog_exchange_query_value(exchange->client.query, ACOG_VIEW("id")));
        break;
    case ACOG_PLACE_RECEIPT:
        acog_exchange_answer_record(exchange, target->rest);
        break;
    case ACOG_PLACE_ROUTE: /* of a surface that there is not */
        acog_exchange_answer_condition(
            exchange, ACOG_CONDITION_INVALID_REQUEST,
            ACOG_VIEW("There is no such surface: chat, messages, responses, "
                      "count_tokens or embeddings."),
            NULL);
        break;
    case ACOG_PLACE_SURFACE:
        ACOG_UNREACHABLE("a surface is the engine's");
    }
}
