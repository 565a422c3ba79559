/* route.c - what asks for a decision record: the plan of a request that is not sent, and records of requests that are
 * over.
 *
 * A plan is made by the code that serves: the client's body is read as on its surface, the policy's functions are asked
 * by the driver, and only the engine's call differs (acog_engine_plan_only()). So nothing is taken: no probe, no turn of
 * a spread, no attempt.
 */
#include "state.h"

struct acog_view acog_exchange_query_value(struct acog_view query, struct acog_view name)
{
    while (query.len > 0) {
        size_t end = acog_view_find(query, ACOG_VIEW("&"));
        struct acog_view field = acog_view_slice(query, 0, end);
        size_t mark = acog_view_find(field, ACOG_VIEW("="));
        if (mark < field.len && acog_view_equal(acog_view_slice(field, 0, mark), name)) {
            return acog_view_slice(field, mark + 1, field.len);
        }
        query = acog_view_slice(query, end + 1, query.len);
    }
    return (struct acog_view){0};
}

bool acog_exchange_route_surface(const struct acog_exchange *exchange, enum acog_surface *surface)
{
    const struct acog_exchange_start *start = &exchange->start;
    struct acog_view name =
        acog_header_find(start->headers, start->header_count, ACOG_VIEW("x-acog-surface"));
    if (name.ptr == NULL) {
        name = acog_exchange_query_value(exchange->client.query, ACOG_VIEW("surface"));
    }
    int found =
        name.ptr == NULL ? (int)ACOG_SURFACE_CHAT : acog_name_find(ACOG_VOCABULARY_SURFACE, name);
    *surface = found < 0 ? ACOG_SURFACE_CHAT : (enum acog_surface)found;
    return found >= 0;
}

static void answer_plan(struct acog_exchange *exchange)
{
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    if (acog_exchange_render_record(&exchange->record, &exchange->text) == ACOG_OK) {
        acog_exchange_reply_here(exchange, 200);
    } else {
        acog_exchange_answer_condition(exchange, ACOG_CONDITION_OVERLOADED, (struct acog_view){0},
                                       NULL);
    }
    acog_exchange_finish(exchange);
}

void acog_exchange_tell_plan(struct acog_exchange *exchange, const struct acog_event *event)
{
    struct acog_actions actions;
    struct acog_event answered = *event;
    do {
        acog_engine_plan_only(exchange->snapshot, exchange->start.shared, &exchange->request,
                              &answered, &actions);
        acog_exchange_write_transcript(exchange, &answered, &actions);
        if (actions.count > 0 && actions.list[0].type == ACOG_ACTION_ASK_POLICY) {
            acog_exchange_ask(exchange, &actions.list[0].ask);
        }
    } while (acog_exchange_next_answer(exchange, &answered));
    for (size_t i = 0; i < actions.count; i++) {
        const struct acog_action *action = &actions.list[i];
        if (action->type == ACOG_ACTION_ASK_POLICY) {
            return;
        }
        if (action->type == ACOG_ACTION_ANSWER_ERROR) {
            struct acog_exchange_error error;
            acog_exchange_error_of_answer(exchange, &action->error, &error);
            exchange->record.planned_status = error.status;
            exchange->record.error_code = error.code;
        }
    }
    answer_plan(exchange);
}

void acog_exchange_answer_record(struct acog_exchange *exchange, struct acog_view request_id)
{
    const struct acog_exchange_start *start = &exchange->start;
    enum acog_code code = ACOG_NOT_FOUND;
    acog_buffer_clear(&exchange->text, ACOG_EXCHANGE_KEPT_BYTES);
    if (start->find_record != NULL && request_id.len > 0) {
        code = start->find_record(start->find_record_user, request_id, &exchange->text);
    }
    if (code == ACOG_OK) {
        acog_exchange_reply_here(exchange, 200);
    } else if (code == ACOG_NOT_FOUND) { /* "There is nothing at …" */
        acog_exchange_answer_condition(
            exchange, ACOG_CONDITION_UNKNOWN_PATH,
            request_id.len == 0 ? ACOG_VIEW("this path without the id of a request (?id=ID)")
                                : ACOG_VIEW("that id: no record of such a request is kept"),
            NULL);
    } else {
        acog_exchange_answer_condition(exchange, ACOG_CONDITION_OVERLOADED, (struct acog_view){0},
                                       NULL);
    }
}
