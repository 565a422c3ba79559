/* client.c - a client's request into facts: what the rules may read of it, and where its body can be changed. */
#include "acog/contract.h"
#include "acog/random.h"
#include "state.h"

#include <string.h>

#define REQUEST_ID_MAX  ((size_t)128)
#define MADE_ID_PREFIX  "req_"
#define MADE_ID_LETTERS (ACOG_MADE_ID_BYTES - (sizeof(MADE_ID_PREFIX) - 1)) /* five bits each */

/* -- the request's id ------------------------------------------------------------------------------ */

bool acog_exchange_sane_token(struct acog_view text, size_t bytes_max)
{
    if (text.len == 0 || text.len > bytes_max) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool sane = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '.' || c == '_' || c == '-';
        if (!sane) {
            return false;
        }
    }
    return true;
}

void acog_exchange_make_id(uint64_t *random, char *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    memcpy(out, MADE_ID_PREFIX, sizeof(MADE_ID_PREFIX) - 1);
    uint64_t bits = 0;
    for (size_t i = 0; i < MADE_ID_LETTERS; i++) {
        if (i % 12 == 0) {
            bits = acog_random_next(random);
        }
        out[sizeof(MADE_ID_PREFIX) - 1 + i] = letters[bits & 31U];
        bits >>= 5U;
    }
}

struct acog_view acog_exchange_request_id(struct acog_exchange *exchange)
{
    struct acog_view given = acog_header_find(exchange->start.headers, exchange->start.header_count,
                                              ACOG_VIEW("x-request-id"));
    if (acog_exchange_sane_token(given, REQUEST_ID_MAX)) {
        return given;
    }
    char made[ACOG_MADE_ID_BYTES];
    acog_exchange_make_id(&exchange->random, made);
    struct acog_view copy =
        acog_exchange_copy_text(exchange, (struct acog_view){made, sizeof(made)});
    ACOG_ASSERT(copy.ptr == exchange->texts); /* the first text of a request: it always fits */
    return copy;
}

/* -- facts ----------------------------------------------------------------------------------------- */

/* Only what the configuration lists may be seen by a policy's function. */
static bool read_allowed_headers(struct acog_exchange *exchange)
{
    const struct acog_snapshot *snapshot = exchange->snapshot;
    struct acog_request_facts *facts = &exchange->client.facts;
    struct acog_header_row *rows = NULL;
    size_t count = 0;
    for (size_t i = 0; i < exchange->start.header_count && snapshot->client_header_count > 0; i++) {
        const struct acog_header_row *row = &exchange->start.headers[i];
        bool allowed = false;
        for (size_t k = 0; k < snapshot->client_header_count && !allowed; k++) {
            allowed = acog_view_equal(row->name, snapshot->client_headers[k]);
        }
        if (!allowed) {
            continue;
        }
        if (rows == NULL) {
            rows = acog_arena_take(&exchange->arena, exchange->start.header_count * sizeof(*rows));
            if (rows == NULL) {
                return false;
            }
        }
        rows[count] = *row;
        count++;
    }
    facts->headers = rows;
    facts->header_count = count;
    return true;
}

/* For what is asked until the request ends. False: no memory. */
static bool outlive_body(struct acog_exchange *exchange, struct acog_view *text)
{
    size_t bytes = text->len;
    *text = acog_exchange_copy_text(exchange, *text);
    return text->len == bytes;
}

/* Each line of the pin's header is a pin, an empty one too: whoever pins by mistake is told so, not routed anywhere. */
static bool read_pins(struct acog_exchange *exchange)
{
    const struct acog_pin *pin = &exchange->snapshot->policy.pin;
    struct acog_request_facts *facts = &exchange->client.facts;
    if (pin->scope == ACOG_PIN_NONE) {
        return true;
    }
    for (size_t i = 0; i < exchange->start.header_count && pin->header.len > 0; i++) {
        const struct acog_header_row *row = &exchange->start.headers[i];
        if (facts->pin_count < ACOG_PINS_MAX && acog_view_equal(row->name, pin->header)) {
            facts->pins[facts->pin_count] = acog_view_trim(row->value);
            facts->pin_count++;
        }
    }
    size_t first = facts->pin_count;
    if (pin->body_path.len > 0) {
        facts->pin_count +=
            acog_dialect_read_pin(exchange->client.read.spans.object, pin->body_path,
                                  &exchange->arena, facts->pins + facts->pin_count,
                                  ACOG_PINS_MAX - facts->pin_count, &exchange->client.pin_span);
    }
    bool outlive = true;
    for (size_t i = first; i < facts->pin_count; i++) {
        outlive = outlive_body(exchange, &facts->pins[i]) && outlive;
    }
    return outlive;
}

/* Any of the header's lines counts: a client must not get out of a rule by sending another one before it. */
static bool is_about(const struct acog_access_rule *rule, const struct acog_exchange_start *start)
{
    for (size_t i = 0; i < start->header_count; i++) {
        const struct acog_header_row *row = &start->headers[i];
        if (acog_view_equal(row->name, rule->header) &&
            (rule->value.len == 0 || acog_view_equal(acog_view_trim(row->value), rule->value))) {
            return true;
        }
    }
    return rule->header.len == 0;
}

/* The rules of access that are about this request. */
static uint64_t access_rules(const struct acog_exchange *exchange)
{
    const struct acog_policy *policy = &exchange->snapshot->policy;
    uint64_t found = 0;
    for (size_t i = 0; i < policy->access_rule_count; i++) {
        found |= is_about(&policy->access_rules[i], &exchange->start) ? UINT64_C(1) << i : 0;
    }
    return found;
}

static bool opts_out(const struct acog_exchange *exchange)
{
    const struct acog_refusal *refusal = &exchange->snapshot->policy.refusal;
    if (refusal->opt_out_header.len == 0) {
        return false;
    }
    struct acog_view value = acog_header_find(exchange->start.headers, exchange->start.header_count,
                                              refusal->opt_out_header);
    return value.ptr != NULL &&
           acog_view_equal_nocase(acog_view_trim(value), refusal->opt_out_value);
}

static bool streams(enum acog_surface surface)
{
    switch (surface) {
    case ACOG_SURFACE_CHAT:
    case ACOG_SURFACE_MESSAGES:
    case ACOG_SURFACE_RESPONSES:
        return true;
    case ACOG_SURFACE_COUNT_TOKENS:
    case ACOG_SURFACE_EMBEDDINGS:
    case ACOG_SURFACE_COUNT:
        break;
    }
    return false;
}

static void fill_facts(struct acog_exchange *exchange)
{
    struct acog_exchange_client *client = &exchange->client;
    const struct acog_client_request *read = &client->read;
    const struct acog_policy *policy = &exchange->snapshot->policy;
    const struct acog_dedicated *dedicated = acog_policy_dedicated(policy, read->model);
    client->facts = (struct acog_request_facts){
        .surface = client->surface,
        .stream = read->stream && streams(client->surface),
        .model = dedicated != NULL ? dedicated->model : acog_policy_resolve(policy, read->model),
        .dedicated = dedicated,
        .max_tokens = read->max_tokens,
        .choices = read->choices,
        .tools = read->tools,
        .images = read->images,
        .body_bytes = exchange->start.body.len,
        .input_tokens_estimate = (int64_t)(exchange->start.body.len / 4),
        .fallback_opt_out = opts_out(exchange),
        .access_rules = access_rules(exchange),
    };
}

/* -- all of it ------------------------------------------------------------------------------------- */

bool acog_exchange_is_json(struct acog_view content_type)
{
    struct acog_view media =
        acog_view_slice(content_type, 0, acog_view_find(content_type, ACOG_VIEW(";")));
    media = acog_view_trim(media);
    struct acog_view suffix = acog_view_slice(media, media.len < 5 ? 0 : media.len - 5, media.len);
    return media.len == 0 || acog_view_equal_nocase(media, ACOG_VIEW("application/json")) ||
           acog_view_equal_nocase(suffix, ACOG_VIEW("+json"));
}

static bool is_plain_json(const struct acog_exchange *exchange)
{
    const struct acog_header_row *headers = exchange->start.headers;
    size_t count = exchange->start.header_count;
    struct acog_view coding = acog_header_find(headers, count, ACOG_VIEW("content-encoding"));
    struct acog_view type = acog_header_find(headers, count, ACOG_VIEW("content-type"));
    /* A browser sends what has no type for every page, without asking; JSON it asks for first, and is told no. */
    bool untyped_page =
        type.len == 0 && acog_header_find(headers, count, ACOG_VIEW("origin")).ptr != NULL;
    return !untyped_page && acog_exchange_is_json(type) &&
           (coding.len == 0 || acog_view_equal_nocase(coding, ACOG_VIEW("identity")));
}

static bool refuse(struct acog_exchange_refusal *refusal, enum acog_condition condition,
                   struct acog_view detail)
{
    *refusal = (struct acog_exchange_refusal){.condition = condition, .detail = detail};
    return false;
}

static enum acog_code read_body(struct acog_exchange *exchange, struct acog_view body,
                                struct acog_request_problem *problem)
{
    struct acog_client_request *read = &exchange->client.read;
    exchange->client.body = body;
    enum acog_code code = acog_dialect_read_request(exchange->client.surface, body,
                                                    exchange->snapshot->limits.json_depth,
                                                    &exchange->arena, read, problem);
    return code == ACOG_OK && !outlive_body(exchange, &read->model) ? ACOG_NO_MEMORY : code;
}

/* What an upstream of the client's own dialect gets, where the conversation went through a translation before. A body of
 * which nothing is left is sent as it came: the provider says what it thinks of it. */
static enum acog_code strip_foreign(struct acog_exchange *exchange)
{
    struct acog_request_problem problem = {{0}};
    struct acog_view body = exchange->client.body;
    acog_buffer_init(&exchange->stripped, body.len + 1);
    enum acog_code code = acog_dialect_strip_foreign(
        exchange->client.read.spans.object, &exchange->stripped, &exchange->client.thinking_lost);
    if (code == ACOG_OK) {
        code = read_body(exchange, acog_buffer_view(&exchange->stripped), &problem);
    }
    if (code == ACOG_INVALID) {
        exchange->client.thinking_lost = false;
        return read_body(exchange, body, &problem);
    }
    return code;
}

bool acog_exchange_read_client(struct acog_exchange *exchange,
                               struct acog_exchange_refusal *refusal)
{
    struct acog_exchange_client *client = &exchange->client;
    if (exchange->start.foreign_page) {
        return refuse(refusal, ACOG_CONDITION_ORIGIN, (struct acog_view){0});
    }
    if (!is_plain_json(exchange)) {
        return refuse(refusal, ACOG_CONDITION_MEDIA_TYPE, (struct acog_view){0});
    }
    struct acog_request_problem problem = {{0}};
    enum acog_code code = read_body(exchange, exchange->start.body, &problem);
    if (code == ACOG_OK && client->read.foreign_opaque) {
        code = strip_foreign(exchange);
    }
    if (code == ACOG_INVALID) {
        return refuse(refusal, ACOG_CONDITION_INVALID_REQUEST,
                      acog_exchange_copy_text(exchange, acog_view_of(problem.text)));
    }
    if (code != ACOG_OK) {
        return refuse(refusal, ACOG_CONDITION_OVERLOADED, (struct acog_view){0});
    }
    fill_facts(exchange);
    if (!read_pins(exchange) || !read_allowed_headers(exchange) ||
        acog_exchange_scan_dlp(exchange, &client->facts.dlp_rules) != ACOG_OK) {
        return refuse(refusal, ACOG_CONDITION_OVERLOADED, (struct acog_view){0});
    }
    return true;
}
