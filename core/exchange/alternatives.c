/* alternatives.c - other models that would be admitted at the moment, for an error that names them (S3.21).
 *
 * They are looked for only when an answer's text asks for them. A model counts when an ordinary connection of the
 * client's dialect declares it and its circuit admits: so the client that follows the hint is not sent in a circle.
 */
#include "state.h"

#include <string.h>

#define NAMED_MAX 3
#define TEXT_MAX  ((size_t)512)

/* The same model under any id: what has just failed is no alternative to itself. */
static bool is_asked_for(const struct acog_exchange *exchange,
                         const struct acog_candidate *candidate)
{
    const struct acog_request *request = &exchange->request;
    for (size_t i = 0; i < request->plan_count; i++) {
        const struct acog_candidate *planned =
            &exchange->snapshot->candidates[request->plan[i].candidate];
        if (acog_view_equal(planned->family, candidate->family)) {
            return true;
        }
    }
    return false;
}

static bool is_served(const struct acog_exchange *exchange, uint16_t index)
{
    const struct acog_connection *connection = acog_exchange_connection(exchange, index);
    enum acog_dialect dialect = acog_surface_dialect(exchange->client.surface);
    return (connection->dialects & ACOG_BIT(dialect)) != 0 && connection->takes_over_count == 0 &&
           connection->usable != ACOG_USABLE_NO &&
           acog_engine_admits(exchange->snapshot, exchange->start.shared, index, exchange->now_ms);
}

struct acog_view acog_exchange_alternatives(struct acog_exchange *exchange)
{
    const struct acog_snapshot *snapshot = exchange->snapshot;
    struct acog_view named[NAMED_MAX];
    size_t count = 0;
    size_t used = 0;
    char *text = acog_arena_take(&exchange->scratch, TEXT_MAX);
    for (size_t i = 0; i < snapshot->candidate_count && count < NAMED_MAX && text != NULL; i++) {
        const struct acog_candidate *candidate = &snapshot->candidates[i];
        struct acog_view id = candidate->declared;
        bool known = is_asked_for(exchange, candidate) || used + id.len + 2 > TEXT_MAX;
        for (size_t k = 0; k < count && !known; k++) {
            known = acog_view_equal(named[k], id);
        }
        if (known || !is_served(exchange, (uint16_t)i)) {
            continue;
        }
        if (count > 0) {
            text[used++] = ',';
            text[used++] = ' ';
        }
        memcpy(text + used, id.ptr, id.len);
        used += id.len;
        named[count++] = id;
    }
    return (struct acog_view){.ptr = text, .len = used};
}
