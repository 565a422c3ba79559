/* writer.c - an attempt's request, made from the client's original: its bytes in pieces, with what must change spliced
 * between them; and the headers that may go up.
 *
 * Changed are: `model` (the id that is sent), `stream_options.include_usage` (chat streams: the gateway always asks,
 * B51) and a pin that the policy strips. Headers and query go up by allow-list (B101, B102): what is not named
 * here stays here.
 */
#include "acog/contract.h"
#include "state.h"

#include <string.h>

#define BETAS_MAX         64             /* values of anthropic-beta that are looked at */
#define BETA_BYTES_MAX    ((size_t)2048) /* of them, sent */
#define DROPPED_BYTES_MAX ((size_t)256)  /* of their names, when they are not */

/* -- the body -------------------------------------------------------------------------------------- */

static enum acog_code edit_model(struct acog_exchange *exchange,
                                 const struct acog_exchange_attempt *attempt,
                                 struct acog_splice *edits)
{
    const struct acog_client_request *read = &exchange->client.read;
    if (acog_view_equal(read->model, attempt->model)) {
        return ACOG_OK;
    }
    /* An escaped byte takes at most six. */
    size_t room = attempt->model.len * 6 + 2;
    char *memory = acog_exchange_take_text(exchange, room);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct acog_buffer quoted;
    acog_buffer_init_over(&quoted, memory, room);
    enum acog_code code = acog_buffer_append(&quoted, ACOG_VIEW("\""));
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(&quoted, attempt->model);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&quoted, ACOG_VIEW("\""));
    }
    acog_splice_edit(edits, read->spans.model, acog_buffer_view(&quoted));
    return code;
}

static bool is_empty_object(struct acog_view object)
{
    for (size_t i = 1; i + 1 < object.len; i++) {
        if (strchr(" \t\r\n", object.ptr[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Asks for the usage chunk; other options of the client's stay as they are. */
static void edit_usage(const struct acog_exchange *exchange, struct acog_splice *edits)
{
    const struct acog_request_spans *spans = &exchange->client.read.spans;
    struct acog_view options = spans->stream_options;
    if (options.len == 0) {
        acog_splice_edit(edits, acog_view_slice(spans->object, 1, 1),
                         ACOG_VIEW("\"stream_options\":{\"include_usage\":true},"));
    } else if (options.ptr[0] != '{') { /* null */
        acog_splice_edit(edits, options, ACOG_VIEW("{\"include_usage\":true}"));
    } else if (spans->include_usage.len > 0) {
        acog_splice_edit(edits, spans->include_usage, ACOG_VIEW("true"));
    } else {
        acog_splice_edit(edits, acog_view_slice(options, 1, 1),
                         is_empty_object(options) ? ACOG_VIEW("\"include_usage\":true")
                                                  : ACOG_VIEW("\"include_usage\":true,"));
    }
}

static void cut_body(struct acog_view body, const struct acog_splice *edits,
                     struct acog_upstream_order *order)
{
    order->piece_count = acog_splice_pieces(edits, body, order->pieces, ACOG_BODY_PIECES_MAX);
    order->body_bytes = 0;
    for (size_t i = 0; i < order->piece_count; i++) {
        order->body_bytes += order->pieces[i].len;
    }
}

/* Names the field, behind what else was dropped. */
static enum acog_code name_thinking_lost(struct acog_exchange *exchange,
                                         struct acog_exchange_attempt *attempt)
{
    const struct acog_view name = ACOG_VIEW("thinking");
    size_t room = attempt->dropped.len + 2 + name.len;
    char *memory = acog_exchange_take_text(exchange, room);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct acog_buffer names;
    acog_buffer_init_over(&names, memory, room);
    enum acog_code code = acog_buffer_append(&names, attempt->dropped);
    if (code == ACOG_OK && names.len > 0) {
        code = acog_buffer_append(&names, ACOG_VIEW(", "));
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(&names, name);
    }
    attempt->dropped = acog_buffer_view(&names);
    return code;
}

static enum acog_code write_body(struct acog_exchange *exchange,
                                 struct acog_exchange_attempt *attempt)
{
    struct acog_exchange_client *client = &exchange->client;
    struct acog_splice edits = {.count = 0};
    enum acog_code code = edit_model(exchange, attempt, &edits);
    if (code != ACOG_OK) {
        return code;
    }
    attempt->hide_usage =
        client->surface == ACOG_SURFACE_CHAT && client->facts.stream && !client->read.usage_asked;
    if (attempt->hide_usage) {
        edit_usage(exchange, &edits);
    }
    if (client->pin_span.len > 0 && exchange->snapshot->policy.pin.strip) {
        acog_splice_edit(&edits, client->pin_span, (struct acog_view){0});
    }
    cut_body(client->body, &edits, &attempt->order);
    return client->thinking_lost ? name_thinking_lost(exchange, attempt) : ACOG_OK;
}

/* -- headers --------------------------------------------------------------------------------------- */

/* What may stand in a header line: visible ASCII and spaces. */
static bool is_sane_value(struct acog_view value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < 0x20 || value.ptr[i] > 0x7e) {
            return false;
        }
    }
    return value.len > 0;
}

static void add_header(struct acog_exchange_attempt *attempt, struct acog_view name,
                       struct acog_view value)
{
    struct acog_upstream_order *order = &attempt->order;
    ACOG_ASSERT(order->header_count < ACOG_EXCHANGE_UPWARD_MAX);
    if (is_sane_value(value)) {
        attempt->upward[order->header_count] =
            (struct acog_header_row){.name = name, .value = value};
        order->headers = attempt->upward;
        order->header_count++;
    }
}

static struct acog_view client_header(const struct acog_exchange *exchange, struct acog_view name)
{
    return acog_view_trim(
        acog_header_find(exchange->start.headers, exchange->start.header_count, name));
}

static bool lets_through(const struct acog_connection *connection, struct acog_view beta)
{
    for (size_t i = 0; i < connection->beta_count; i++) {
        if (acog_view_equal(connection->betas[i], beta)) {
            return true;
        }
    }
    return connection->betas == NULL;
}

/* `list` has the item, between commas and behind the prefix that each of its items has. */
static bool lists(struct acog_view list, struct acog_view prefix, struct acog_view item)
{
    size_t from = 0;
    while (from < list.len) {
        struct acog_view rest = {.ptr = list.ptr + from, .len = list.len - from};
        size_t comma = acog_view_find(rest, ACOG_VIEW(","));
        if (comma == prefix.len + item.len &&
            memcmp(rest.ptr + prefix.len, item.ptr, item.len) == 0) {
            return true;
        }
        from += comma + 1;
    }
    return false;
}

/* Adds an item once; one that finds no room is left out. */
static void add_item(struct acog_buffer *list, struct acog_view prefix, struct acog_view item)
{
    size_t before = list->len;
    if (lists(acog_buffer_view(list), prefix, item)) {
        return;
    }
    enum acog_code code = before == 0 ? ACOG_OK : acog_buffer_append(list, ACOG_VIEW(","));
    if (code == ACOG_OK) {
        code = acog_buffer_append(list, prefix);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_append(list, item);
    }
    if (code != ACOG_OK) {
        list->len = before;
    }
}

struct betas {
    const struct acog_connection *connection;
    struct acog_buffer kept;
    struct acog_buffer dropped;
    size_t seen;
};

static void add_beta_line(struct betas *betas, struct acog_view line)
{
    while (line.len > 0 && betas->seen < BETAS_MAX) {
        size_t comma = acog_view_find(line, ACOG_VIEW(","));
        struct acog_view beta = acog_view_trim(acog_view_slice(line, 0, comma));
        line = acog_view_slice(line, comma + 1, line.len);
        betas->seen++;
        if (beta.len == 0) {
            continue;
        }
        if (lets_through(betas->connection, beta)) {
            add_item(&betas->kept, ACOG_VIEW(""), beta);
        } else {
            add_item(&betas->dropped, ACOG_VIEW("anthropic-beta="), beta);
        }
    }
}

/* All anthropic-beta lines become one; what the connection does not take is dropped and named (B103). */
static enum acog_code add_betas(struct acog_exchange *exchange,
                                struct acog_exchange_attempt *attempt)
{
    static const struct acog_view name = {.ptr = "anthropic-beta", .len = 14};
    if (client_header(exchange, name).len == 0) {
        return ACOG_OK;
    }
    char *memory = acog_exchange_take_text(exchange, BETA_BYTES_MAX + DROPPED_BYTES_MAX);
    if (memory == NULL) {
        return ACOG_NO_MEMORY;
    }
    struct betas betas = {.connection = acog_exchange_connection(exchange, attempt->candidate)};
    acog_buffer_init_over(&betas.kept, memory, BETA_BYTES_MAX);
    acog_buffer_init_over(&betas.dropped, memory + BETA_BYTES_MAX, DROPPED_BYTES_MAX);
    for (size_t i = 0; i < exchange->start.header_count; i++) {
        const struct acog_header_row *row = &exchange->start.headers[i];
        if (acog_view_equal(row->name, name)) {
            add_beta_line(&betas, row->value);
        }
    }
    add_header(attempt, name, acog_buffer_view(&betas.kept));
    attempt->dropped = acog_buffer_view(&betas.dropped);
    return ACOG_OK;
}

static enum acog_code write_headers(struct acog_exchange *exchange,
                                    struct acog_exchange_attempt *attempt)
{
    add_header(attempt, ACOG_VIEW("content-type"), ACOG_VIEW("application/json"));
    add_header(attempt, ACOG_VIEW("accept"),
               attempt->order.stream ? ACOG_VIEW("text/event-stream, application/json")
                                     : ACOG_VIEW("application/json"));
    if (acog_exchange_is_translated(attempt)) {
        return ACOG_OK; /* a header of the client's API means nothing in another one */
    }
    switch (exchange->client.dialect) {
    case ACOG_DIALECT_MESSAGES:
        add_header(attempt, ACOG_VIEW("anthropic-version"),
                   client_header(exchange, ACOG_VIEW("anthropic-version")));
        return add_betas(exchange, attempt);
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_RESPONSES:
        add_header(attempt, ACOG_VIEW("openai-beta"),
                   client_header(exchange, ACOG_VIEW("openai-beta")));
        break;
    case ACOG_DIALECT_GEMINI:
    case ACOG_DIALECT_COUNT:
        break;
    }
    return ACOG_OK;
}

/* -- all of it ------------------------------------------------------------------------------------- */

/* "beta=true" is one of the parameters. */
static bool asks_beta(struct acog_view query)
{
    static const struct acog_view wanted = {.ptr = "beta=true", .len = 9};
    for (size_t at = 0; at + wanted.len <= query.len; at++) {
        bool begins = at == 0 || query.ptr[at - 1] == '&';
        bool ends = at + wanted.len == query.len || query.ptr[at + wanted.len] == '&';
        if (begins && ends && memcmp(query.ptr + at, wanted.ptr, wanted.len) == 0) {
            return true;
        }
    }
    return false;
}

enum acog_code acog_exchange_write_order(struct acog_exchange *exchange,
                                         struct acog_exchange_attempt *attempt)
{
    const struct acog_exchange_client *client = &exchange->client;
    bool beta = client->dialect == ACOG_DIALECT_MESSAGES && asks_beta(client->query) &&
                !acog_exchange_is_translated(attempt);
    attempt->order = (struct acog_upstream_order){
        .connection = acog_exchange_connection(exchange, attempt->candidate),
        .surface = client->surface,
        .dialect = attempt->translation.upstream,
        .query = beta ? ACOG_VIEW("beta=true") : (struct acog_view){0},
        .model = attempt->model,
        .stream = client->facts.stream,
        .fresh = exchange->request.attempts[attempt->number - 1].resend,
    };
    enum acog_code code = write_headers(exchange, attempt);
    if (code != ACOG_OK) {
        return code;
    }
    return acog_exchange_is_translated(attempt) ? acog_exchange_write_translated(exchange, attempt)
                                                : write_body(exchange, attempt);
}
