/* translation.c - an attempt whose upstream speaks another dialect than the client.
 *
 * The client's body is read once into a conversation, when the engine asks for the first time whether it can be told in
 * another dialect; each attempt writes its own request from it. Answers go through the attempt's translator: what is
 * held, given and kept is in the client's dialect, as for every other attempt. The facts (output, usage, errors,
 * completeness) still come from the tracker, which reads the upstream's own events.
 *
 * A translated event's bytes lie in one of two buffers of the attempt: commands that are out still point into the one
 * while the other is filled.
 */
#include "acog/contract.h"
#include "state.h"

/* -- can it be told? ------------------------------------------------------------------------------- */

/* Once for the request. False: conversation_refusal says why not. */
static bool read_conversation(struct acog_exchange *exchange)
{
    struct acog_request_problem problem = {{0}};
    if (exchange->conversation != NULL || exchange->conversation_refusal.len > 0) {
        return exchange->conversation != NULL;
    }
    enum acog_code code =
        acog_conversation_read(exchange->client.surface, exchange->start.body,
                               &exchange->conversation_arena, &exchange->conversation, &problem);
    if (code == ACOG_INVALID) {
        exchange->conversation_refusal =
            acog_exchange_copy_text(exchange, acog_view_of(problem.text));
    }
    if (code != ACOG_OK && exchange->conversation_refusal.len == 0) {
        exchange->conversation_refusal = ACOG_VIEW("the body: has too many parts to be translated");
    }
    return code == ACOG_OK;
}

static enum acog_dialect dialect_of(const struct acog_exchange *exchange, uint16_t candidate)
{
    return acog_dialect_for(exchange->client.surface,
                            acog_exchange_connection(exchange, candidate)->dialects);
}

static struct acog_verdict judge(struct acog_exchange *exchange, uint16_t candidate)
{
    struct acog_request_problem problem = {{0}};
    enum acog_dialect dialect = dialect_of(exchange, candidate);
    if (dialect == acog_surface_dialect(exchange->client.surface)) {
        return (struct acog_verdict){.keep = true};
    }
    if (!read_conversation(exchange)) {
        return (struct acog_verdict){.reason = exchange->conversation_refusal};
    }
    if (acog_conversation_fits(exchange->conversation, dialect,
                               &acog_exchange_candidate(exchange, candidate)->rules,
                               &problem) == ACOG_OK) {
        return (struct acog_verdict){.keep = true};
    }
    return (struct acog_verdict){.reason =
                                     acog_exchange_copy_text(exchange, acog_view_of(problem.text))};
}

void acog_exchange_answer_translation(struct acog_exchange *exchange, const struct acog_ask *ask,
                                      struct acog_answer *answer)
{
    struct acog_verdict *verdicts =
        acog_arena_take(&exchange->conversation_arena, ask->count * sizeof(*verdicts));
    *answer =
        (struct acog_answer){.failed = verdicts == NULL, .count = ask->count, .verdicts = verdicts};
    for (size_t i = 0; verdicts != NULL && i < ask->count; i++) {
        verdicts[i] = judge(exchange, ask->candidates[i]);
    }
}

/* -- the request ----------------------------------------------------------------------------------- */

void acog_exchange_begin_translation(const struct acog_exchange *exchange,
                                     struct acog_exchange_attempt *attempt)
{
    enum acog_dialect dialect = dialect_of(exchange, attempt->candidate);
    ACOG_ASSERT(dialect != ACOG_DIALECT_COUNT);
    attempt->translation = (struct acog_translation){
        .client = acog_surface_dialect(exchange->client.surface),
        .upstream = dialect,
        .rules = &acog_exchange_candidate(exchange, attempt->candidate)->rules,
        .model = attempt->model,
        .request_id = exchange->record.request_id,
        .note =
            attempt->note.wanted ? exchange->snapshot->policy.refusal.note : (struct acog_view){0},
        .unix_s = exchange->start.unix_ms / 1000,
        .input_tokens_estimate = exchange->client.facts.input_tokens_estimate,
        .max_tokens = exchange->client.facts.max_tokens,
        .stream = exchange->client.facts.stream,
        .usage_asked = exchange->client.read.usage_asked,
    };
    if (acog_exchange_is_translated(attempt)) {
        attempt->note.wanted = false; /* the translator gives it */
    }
}

enum acog_code acog_exchange_write_translated(struct acog_exchange *exchange,
                                              struct acog_exchange_attempt *attempt)
{
    struct acog_upstream_order *order = &attempt->order;
    ACOG_ASSERT(exchange->conversation != NULL); /* the engine has asked whether it can be told */
    acog_buffer_init(&attempt->translated_request, ACOG_EXCHANGE_TRANSLATED_REQUEST_MAX);
    enum acog_code code =
        acog_conversation_write(exchange->conversation, &attempt->translation,
                                &exchange->conversation_arena, &attempt->translated_request);
    if (code != ACOG_OK) {
        return code;
    }
    attempt->translator = acog_translator_new(&attempt->translation);
    if (attempt->translator == NULL) {
        return ACOG_NO_MEMORY;
    }
    for (size_t i = 0; i < ACOG_EXCHANGE_TOLD; i++) {
        acog_buffer_init(&attempt->told[i], exchange->snapshot->limits.answer_bytes);
    }
    order->surface = acog_dialect_surface(attempt->translation.upstream);
    order->pieces[0] = acog_buffer_view(&attempt->translated_request);
    order->piece_count = 1;
    order->body_bytes = order->pieces[0].len;
    attempt->dropped = attempt->translation.dropped;
    /* A whole answer is read to its end before it can be told. */
    if (!order->stream) {
        attempt->held.bytes_max = exchange->snapshot->limits.answer_bytes;
    }
    return ACOG_OK;
}

void acog_exchange_forget_conversation(struct acog_exchange *exchange,
                                       struct acog_exchange_attempt *live)
{
    acog_arena_fini(&exchange->conversation_arena);
    exchange->conversation = NULL;
    live->dropped = (struct acog_view){0};
    live->translation.dropped = (struct acog_view){0};
    live->translation.identities = NULL; /* the translator has its own */
}

void acog_exchange_forget_request(struct acog_exchange_attempt *attempt)
{
    if (acog_exchange_is_translated(attempt)) {
        acog_buffer_fini(&attempt->translated_request);
    }
}

void acog_exchange_free_translation(struct acog_exchange_attempt *attempt)
{
    acog_translator_free(&attempt->translator);
    acog_buffer_fini(&attempt->translated_request);
    for (size_t i = 0; i < ACOG_EXCHANGE_TOLD; i++) {
        acog_buffer_fini(&attempt->told[i]);
    }
}

/* -- the answer ------------------------------------------------------------------------------------ */

enum acog_code acog_exchange_translate_whole(struct acog_exchange *exchange,
                                             struct acog_exchange_attempt *attempt)
{
    struct acog_buffer *told = &attempt->told[0];
    enum acog_code code = acog_translator_whole(
        attempt->translator, acog_buffer_view(&attempt->held), &exchange->scratch, told);
    if (code == ACOG_OK) {
        struct acog_buffer read = attempt->held;
        attempt->held = *told;
        *told = read;
    }
    return code;
}

void acog_exchange_told_reset(struct acog_exchange_attempt *attempt)
{
    for (size_t i = 0; i < ACOG_EXCHANGE_TOLD; i++) {
        acog_buffer_clear(&attempt->told[i], ACOG_EXCHANGE_KEPT_BYTES);
    }
}

enum acog_code acog_exchange_translate_event(struct acog_exchange *exchange,
                                             struct acog_exchange_attempt *attempt,
                                             const struct acog_sse_event *event)
{
    return acog_translator_event(attempt->translator, event->name, event->data, &exchange->scratch,
                                 &attempt->told[attempt->told_now]);
}

enum acog_code acog_exchange_translate_end(struct acog_exchange_attempt *attempt)
{
    return acog_translator_end(attempt->translator, &attempt->told[attempt->told_now]);
}

void acog_exchange_push_told(struct acog_exchange *exchange, struct acog_exchange_attempt *attempt)
{
    struct acog_buffer *told = &attempt->told[attempt->told_now];
    if (told->len > 0) {
        acog_exchange_push_data(exchange, acog_buffer_view(told));
        attempt->told_now = (attempt->told_now + 1) % ACOG_EXCHANGE_TOLD;
        attempt->told[attempt->told_now].len = 0;
    }
}
