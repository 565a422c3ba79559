/* flow.c - one legal sequence out of whatever a provider sends.
 *
 * A part is open, waits, or is over. Only a call makes others wait: its arguments must not be torn apart by a part that
 * comes in between, and no dialect has a place for two parts at a time. Where a reader tells the end of a part that is
 * that; where the provider's dialect has none (chat), a call is complete when the brackets of its arguments are closed
 * (flow_balance.c). What a writer appends is in flow_put.c.
 */
#include "flow.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "id_index.h"

#include <string.h>

struct acog_flow_waiting {
    uint32_t key;
    enum acog_flow_kind kind;
    bool ended;
    struct acog_flow_name call_id;
    struct acog_flow_name call_name;
    struct acog_flow_balance balance;
    struct acog_buffer text; /* as between the quotes of a JSON string */
    bool has_opaque;
    enum acog_dialect opaque_maker;
    bool opaque_redacted;
    struct acog_flow_name opaque_id;
    struct acog_buffer opaque; /* likewise */
};

/* -- small things ---------------------------------------------------------------------------------- */

void acog_flow_fail(struct acog_flow *flow, enum acog_code code)
{
    if (flow->code == ACOG_OK) {
        flow->code = code;
    }
}

static bool alive(const struct acog_flow *flow)
{
    return flow->code == ACOG_OK && !flow->finished;
}

/* Cut where a character ends. */
void acog_flow_keep_name(struct acog_flow_name *name, struct acog_text text)
{
    char decoded[ACOG_FLOW_NAME_MAX * 6]; /* a character takes at most six bytes as an escape */
    struct acog_view plain = acog_view_slice(text.bytes, 0, sizeof(decoded));
    if (text.escaped) {
        plain = (struct acog_view){.ptr = decoded, .len = acog_json_unescape(plain, decoded)};
    }
    size_t bytes = plain.len < sizeof(name->bytes) ? plain.len : sizeof(name->bytes);
    while (bytes < plain.len && bytes > 0 && ((unsigned char)plain.ptr[bytes] & 0xc0U) == 0x80U) {
        bytes--;
    }
    if (bytes > 0) {
        memcpy(name->bytes, plain.ptr, bytes);
    }
    name->len = bytes;
}

static void keep_first_name(struct acog_flow_name *name, struct acog_text text)
{
    if (name->len == 0) {
        acog_flow_keep_name(name, text);
    }
}

/* -- what goes out --------------------------------------------------------------------------------- */

static void begin(struct acog_flow *flow)
{
    if (!flow->begun) {
        flow->begun = true;
        keep_first_name(&flow->model, acog_text_plain(flow->translation->model));
        flow->form->begin(flow, flow->writer);
    }
}

static void open_part(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key)
{
    ACOG_ASSERT(!flow->open);
    begin(flow);
    flow->open = true;
    flow->open_key = key;
    flow->open_ended = false;
    flow->balance = (struct acog_flow_balance){0};
    flow->part.kind = kind;
    flow->part.begun = false;
    flow->open_sealed = false;
    flow->text_key = kind == ACOG_FLOW_TEXT ? key : flow->text_key;
    flow->part.index = flow->part_count++;
    flow->part.kind_index = flow->kind_counts[kind]++;
    flow->form->part_begin(flow, flow->writer, &flow->part);
}

static void write_text(struct acog_flow *flow, struct acog_text text)
{
    if (text.bytes.len == 0) {
        return;
    }
    if (flow->part.kind == ACOG_FLOW_CALL) {
        acog_flow_balance_add(&flow->balance, text);
    }
    flow->text_bytes += text.bytes.len;
    flow->form->part_text(flow, flow->writer, &flow->part, text);
    flow->part.begun = true;
}

static struct acog_text take_line(struct acog_view *lines)
{
    size_t end = acog_view_find(*lines, ACOG_VIEW("\n"));
    struct acog_text line = {.bytes = acog_view_slice(*lines, 0, end), .escaped = true};
    *lines = acog_view_slice(*lines, end + 1, lines->len);
    return line;
}

static void give_early_citations(struct acog_flow *flow)
{
    struct acog_view lines = acog_buffer_view(&flow->early);
    while (lines.len > 0) {
        struct acog_text url = take_line(&lines);
        struct acog_text title = take_line(&lines);
        flow->form->part_citation(flow, flow->writer, &flow->part, url, title);
    }
    flow->early.len = 0;
}

static void end_part(struct acog_flow *flow)
{
    if (flow->part.kind == ACOG_FLOW_TEXT && flow->open_key == flow->early_key) {
        give_early_citations(flow);
    }
    flow->form->part_end(flow, flow->writer, &flow->part);
    flow->open = false;
}

/* The note is a part of its own, before the first one that is no reasoning (decision 10). */
static void give_note(struct acog_flow *flow, enum acog_flow_kind next)
{
    struct acog_view note = flow->translation->note;
    if (note.len == 0 || flow->note_given || next == ACOG_FLOW_REASONING) {
        return;
    }
    flow->note_given = true;
    open_part(flow, ACOG_FLOW_TEXT, UINT32_MAX);
    flow->form->part_text(flow, flow->writer, &flow->part, acog_text_plain(note));
    flow->part.begun = true;
    flow->form->part_text(flow, flow->writer, &flow->part, acog_text_plain(ACOG_VIEW("\n\n")));
    end_part(flow);
}

/* Of the letters and the length that every provider takes: OpenAI's chat no more than 40. */
static void make_call_id(const struct acog_flow *flow, struct acog_flow_name *id)
{
    struct acog_buffer text;
    uint64_t hash =
        acog_id_hash(flow->translation->request_id) ^ acog_id_hash(acog_flow_name_view(&flow->id));
    acog_buffer_init_over(&text, id->bytes, sizeof(id->bytes));
    enum acog_code code =
        acog_buffer_format(&text, "call_%016llx_%u", (unsigned long long)hash, flow->part_count);
    ACOG_ASSERT(code == ACOG_OK);
    id->len = text.len;
}

/* False: another call of the answer has that id. A client could give back one result for both only. */
static bool take_call_id(struct acog_flow *flow, const struct acog_flow_name *id)
{
    uint64_t hash = acog_id_hash(acog_flow_name_view(id));
    uint64_t known = 0;
    for (size_t at = 0; at < flow->call_ids.len; at += sizeof(known)) {
        memcpy(&known, flow->call_ids.ptr + at, sizeof(known));
        if (known == hash) {
            return false;
        }
    }
    if (flow->call_ids.len < flow->call_ids.bytes_max && flow->code == ACOG_OK) {
        const struct acog_view bytes = {.ptr = (const char *)&hash, .len = sizeof(hash)};
        flow->code = acog_buffer_append(&flow->call_ids, bytes);
    }
    return true;
}

static void open_call(struct acog_flow *flow, uint32_t key, const struct acog_flow_name *id,
                      const struct acog_flow_name *name)
{
    give_note(flow, ACOG_FLOW_CALL);
    flow->part.call_id = *id;
    flow->part.call_name = *name;
    const struct acog_tool_identity *identity =
        acog_identity_find_told(flow->identities, acog_flow_name_view(name));
    if (identity != NULL) {
        acog_flow_keep_name(&flow->part.call_name, acog_text_plain(identity->name));
    }
    flow->part.identity = identity;
    if (id->len == 0 || !take_call_id(flow, id)) {
        make_call_id(flow, &flow->part.call_id);
    }
    open_part(flow, ACOG_FLOW_CALL, key);
}

/* -- parts that wait ------------------------------------------------------------------------------- */

static void free_waiting(struct acog_flow_waiting *waiting)
{
    acog_buffer_fini(&waiting->text);
    acog_buffer_fini(&waiting->opaque);
}

/* The latest of that key; NULL: none waits. */
static struct acog_flow_waiting *find_waiting(struct acog_flow *flow, enum acog_flow_kind kind,
                                              uint32_t key)
{
    for (size_t i = flow->waiting_count; i-- > 0;) {
        struct acog_flow_waiting *waiting = &flow->waiting[i];
        if (waiting->key == key && waiting->kind == kind) {
            return waiting->ended ? NULL : waiting;
        }
    }
    return NULL;
}

static struct acog_flow_waiting *add_waiting(struct acog_flow *flow, enum acog_flow_kind kind,
                                             uint32_t key)
{
    if (flow->waiting_count == ACOG_FLOW_WAITING_PARTS_MAX) {
        acog_flow_fail(flow, ACOG_TOO_BIG);
        return NULL;
    }
    struct acog_flow_waiting *grown =
        acog_grow(flow->waiting, (flow->waiting_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        acog_flow_fail(flow, ACOG_NO_MEMORY);
        return NULL;
    }
    flow->waiting = grown;
    struct acog_flow_waiting *waiting = &grown[flow->waiting_count++];
    *waiting = (struct acog_flow_waiting){.key = key, .kind = kind};
    acog_buffer_init(&waiting->text, ACOG_FLOW_WAITING_BYTES_MAX);
    acog_buffer_init(&waiting->opaque, ACOG_FLOW_WAITING_BYTES_MAX);
    return waiting;
}

static bool is_open(const struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key)
{
    return flow->open && flow->open_key == key && flow->part.kind == kind && !flow->open_ended;
}

/* A call stays open until its arguments are complete; any other part ends when another one begins. */
static bool must_wait(const struct acog_flow *flow)
{
    return flow->open && flow->part.kind == ACOG_FLOW_CALL && !flow->open_ended &&
           !acog_flow_balanced(&flow->balance);
}

static void write_waiting(struct acog_flow *flow, const struct acog_flow_waiting *waiting)
{
    struct acog_text text = {.bytes = acog_buffer_view(&waiting->text), .escaped = true};
    if (waiting->kind == ACOG_FLOW_CALL) {
        open_call(flow, waiting->key, &waiting->call_id, &waiting->call_name);
    } else {
        give_note(flow, waiting->kind);
        open_part(flow, waiting->kind, waiting->key);
    }
    if (waiting->kind != ACOG_FLOW_CALL) { /* a signature ends reasoning, and begins a call */
        write_text(flow, text);
    }
    if (waiting->has_opaque) {
        struct acog_opaque opaque = {
            .maker = waiting->opaque_maker,
            .bytes = {.bytes = acog_buffer_view(&waiting->opaque), .escaped = true},
            .id = acog_text_plain(acog_flow_name_view(&waiting->opaque_id)),
            .redacted = waiting->opaque_redacted};
        flow->form->part_opaque(flow, flow->writer, &flow->part, &opaque);
    }
    if (waiting->kind == ACOG_FLOW_CALL) {
        write_text(flow, text);
    }
    flow->open_ended = waiting->ended;
}

/* Closes the open part if it is complete, and lets go what waited for that. `all`: whatever waits, to the last. */
static void advance(struct acog_flow *flow, bool all)
{
    size_t gone = 0;
    while (gone < flow->waiting_count && (all || !must_wait(flow))) {
        if (flow->open) {
            end_part(flow);
        }
        struct acog_flow_waiting next = flow->waiting[gone++];
        write_waiting(flow, &next);
        free_waiting(&next);
    }
    if (gone > 0) {
        flow->waiting_count -= gone;
        memmove(flow->waiting, flow->waiting + gone,
                flow->waiting_count * sizeof(flow->waiting[0]));
    }
    if (flow->open && (flow->open_ended || all)) {
        end_part(flow);
    }
}

/* -- for readers ----------------------------------------------------------------------------------- */

void acog_flow_begin(struct acog_flow *flow, struct acog_text id, struct acog_text model)
{
    if (!alive(flow) || flow->begun) {
        return;
    }
    keep_first_name(&flow->id, id);
    keep_first_name(&flow->model, model);
    if (flow->id.len > 0 || flow->model.len > 0) {
        begin(flow);
    }
}

/* Makes room for a part: true when it is open afterwards, else `waiting` has it. False and NULL: failed. */
static bool enter(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                  struct acog_flow_waiting **waiting)
{
    *waiting = NULL;
    if (is_open(flow, kind, key)) {
        return true;
    }
    *waiting = find_waiting(flow, kind, key);
    if (*waiting != NULL) {
        return false;
    }
    if (must_wait(flow)) {
        *waiting = add_waiting(flow, kind, key);
        return false;
    }
    if (flow->open) {
        end_part(flow);
    }
    give_note(flow, kind);
    open_part(flow, kind, key);
    return true;
}

static void text_or_wait(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                         struct acog_text text)
{
    struct acog_flow_waiting *waiting = NULL;
    if (enter(flow, kind, key, &waiting)) {
        write_text(flow, text);
    } else if (waiting != NULL) {
        acog_flow_keep_inside(flow, &waiting->text, text);
    }
}

void acog_flow_text(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                    struct acog_text text)
{
    bool aside = flow->translation->schema_by_tool && kind == ACOG_FLOW_TEXT;
    if (!alive(flow) || text.bytes.len == 0 || aside) {
        return; /* with a schema the answer is the JSON text, and nothing before it */
    }
    if (is_open(flow, kind, key) && flow->open_sealed) {
        end_part(flow); /* the seal is of what came before it */
    }
    text_or_wait(flow, kind, key, text);
}

void acog_flow_opaque(struct acog_flow *flow, enum acog_flow_kind kind, uint32_t key,
                      const struct acog_opaque *opaque)
{
    struct acog_flow_waiting *waiting = NULL;
    bool known = is_open(flow, kind, key) || find_waiting(flow, kind, key) != NULL;
    if (!alive(flow) || opaque->maker == ACOG_DIALECT_COUNT ||
        (kind != ACOG_FLOW_REASONING && !known)) {
        return;
    }
    if (enter(flow, kind, key, &waiting)) {
        if (!flow->open_sealed) { /* a part has one seal: the first */
            flow->open_sealed = true;
            flow->form->part_opaque(flow, flow->writer, &flow->part, opaque);
        }
    } else if (waiting != NULL && !waiting->has_opaque) {
        waiting->has_opaque = true;
        waiting->opaque_maker = opaque->maker;
        waiting->opaque_redacted = opaque->redacted;
        acog_flow_keep_name(&waiting->opaque_id, opaque->id);
        acog_flow_keep_inside(flow, &waiting->opaque, opaque->bytes);
    }
}

static void keep_early_citation(struct acog_flow *flow, uint32_t key, struct acog_text url,
                                struct acog_text title)
{
    if (flow->early_key != key) {
        flow->early.len = 0; /* nothing was said that they would belong to */
        flow->early_key = key;
    }
    acog_flow_keep_inside(flow, &flow->early, url);
    acog_flow_keep(flow, &flow->early, ACOG_VIEW("\n"));
    acog_flow_keep_inside(flow, &flow->early, title);
    acog_flow_keep(flow, &flow->early, ACOG_VIEW("\n"));
}

void acog_flow_citation(struct acog_flow *flow, uint32_t key, struct acog_text url,
                        struct acog_text title)
{
    bool began = flow->kind_counts[ACOG_FLOW_TEXT] > 0 && flow->text_key == key;
    if (!alive(flow) || url.bytes.len == 0) {
        return;
    }
    if (is_open(flow, ACOG_FLOW_TEXT, key)) {
        flow->form->part_citation(flow, flow->writer, &flow->part, url, title);
    } else if (!began) {
        keep_early_citation(flow, key, url, title);
    }
}

static bool is_schema_call(const struct acog_flow *flow, const struct acog_flow_name *name)
{
    return flow->translation->schema_by_tool &&
           acog_view_equal(acog_flow_name_view(name), ACOG_VIEW(ACOG_SCHEMA_TOOL_NAME));
}

/* A second beginning of a call only fills in what is missing; another id under the same key is another call. */
static bool continues(struct acog_flow_name *known_id, const struct acog_flow_name *id,
                      struct acog_flow_name *known_name, const struct acog_flow_name *name)
{
    bool same = id->len == 0 || known_id->len == 0 ||
                acog_view_equal(acog_flow_name_view(known_id), acog_flow_name_view(id));
    if (same && known_id->len == 0) {
        *known_id = *id;
    }
    if (same && known_name->len == 0) {
        *known_name = *name;
    }
    return same;
}

void acog_flow_call(struct acog_flow *flow, uint32_t key, struct acog_text id,
                    struct acog_text name)
{
    struct acog_flow_name call_id = {.len = 0};
    struct acog_flow_name call_name = {.len = 0};
    if (!alive(flow)) {
        return;
    }
    acog_flow_keep_name(&call_id, id);
    acog_flow_keep_name(&call_name, name);
    if (is_schema_call(flow, &call_name)) {
        flow->schema_call_seen = true;
        flow->schema_key = key;
        return;
    }
    struct acog_flow_waiting *waiting = find_waiting(flow, ACOG_FLOW_CALL, key);
    if (waiting != NULL) {
        if (continues(&waiting->call_id, &call_id, &waiting->call_name, &call_name)) {
            return;
        }
        waiting->ended = true;
    } else if (is_open(flow, ACOG_FLOW_CALL, key)) {
        struct acog_flow_name told_name = flow->part.call_name;
        if (continues(&flow->part.call_id, &call_id, &told_name, &call_name)) {
            return; /* the name went out with the beginning */
        }
        flow->open_ended = true;
        advance(flow, false);
    }
    if (call_name.len == 0) { /* nobody could run it */
        acog_flow_fail(flow, ACOG_INVALID);
        return;
    }
    if (must_wait(flow) || flow->waiting_count > 0) {
        waiting = add_waiting(flow, ACOG_FLOW_CALL, key);
        if (waiting != NULL) {
            waiting->call_id = call_id;
            waiting->call_name = call_name;
        }
        return;
    }
    if (flow->open) {
        end_part(flow);
    }
    open_call(flow, key, &call_id, &call_name);
}

bool acog_flow_call_has_arguments(struct acog_flow *flow, uint32_t key)
{
    const struct acog_flow_waiting *waiting = find_waiting(flow, ACOG_FLOW_CALL, key);
    return waiting != NULL ? waiting->text.len > 0
                           : is_open(flow, ACOG_FLOW_CALL, key) && flow->part.begun;
}

void acog_flow_arguments(struct acog_flow *flow, uint32_t key, struct acog_text piece)
{
    bool schema = flow->schema_call_seen && flow->schema_key == key;
    bool any = schema ? flow->schema_told : acog_flow_call_has_arguments(flow, key);
    if (!alive(flow) || piece.bytes.len == 0 || (!any && acog_text_is_blank(piece))) {
        return; /* white space alone is no JSON: such a call has none */
    }
    if (schema) {
        flow->schema_told = true;
        text_or_wait(flow, ACOG_FLOW_TEXT, key, piece);
        return;
    }
    struct acog_flow_waiting *waiting = find_waiting(flow, ACOG_FLOW_CALL, key);
    if (waiting != NULL) {
        acog_flow_balance_add(&waiting->balance, piece);
        acog_flow_keep_inside(flow, &waiting->text, piece);
    } else if (is_open(flow, ACOG_FLOW_CALL, key)) {
        write_text(flow, piece);
        if (flow->waiting_count > 0) {
            advance(flow, false);
        }
    }
}

void acog_flow_arguments_done(struct acog_flow *flow, uint32_t key, struct acog_text all)
{
    const struct acog_flow_waiting *waiting = find_waiting(flow, ACOG_FLOW_CALL, key);
    bool schema = flow->schema_call_seen && flow->schema_key == key;
    bool untouched = waiting != NULL ? waiting->text.len == 0
                     : schema        ? !is_open(flow, ACOG_FLOW_TEXT, key)
                                     : is_open(flow, ACOG_FLOW_CALL, key) && !flow->part.begun;
    if (untouched) {
        acog_flow_arguments(flow, key, all);
    }
}

void acog_flow_part_end(struct acog_flow *flow, uint32_t key)
{
    if (!alive(flow)) {
        return;
    }
    for (size_t i = flow->waiting_count; i-- > 0;) {
        if (flow->waiting[i].key == key && !flow->waiting[i].ended) {
            flow->waiting[i].ended = true;
            return;
        }
    }
    if (flow->open && flow->open_key == key) {
        flow->open_ended = true;
        advance(flow, false);
    }
}

static void overwrite(int64_t *known, int64_t reported)
{
    if (reported >= 0) {
        *known = reported;
    }
}

void acog_flow_usage(struct acog_flow *flow, const struct acog_usage *usage)
{
    overwrite(&flow->usage.input_tokens, usage->input_tokens);
    overwrite(&flow->usage.cached_tokens, usage->cached_tokens);
    overwrite(&flow->usage.cache_write_tokens, usage->cache_write_tokens);
    overwrite(&flow->usage.output_tokens, usage->output_tokens);
    overwrite(&flow->usage.reasoning_tokens, usage->reasoning_tokens);
    flow->usage_known = flow->usage.output_tokens >= 0;
}

static bool says_little(enum acog_finish_reason reason)
{
    return reason == ACOG_FINISH_STOP || reason == ACOG_FINISH_UNKNOWN;
}

void acog_flow_finish(struct acog_flow *flow, enum acog_finish_reason reason,
                      struct acog_text native)
{
    if (!alive(flow) ||
        (flow->finish_known && says_little(reason) && !says_little(flow->finish.reason))) {
        return;
    }
    flow->finish_known = true;
    flow->finish.reason = reason;
    acog_flow_keep_name(&flow->finish.native, native);
}

void acog_flow_stop_sequence(struct acog_flow *flow, struct acog_text sequence)
{
    acog_flow_keep_name(&flow->finish.stop_sequence, sequence);
}

void acog_flow_refusal(struct acog_flow *flow, struct acog_text category,
                       struct acog_text explanation)
{
    keep_first_name(&flow->finish.category, category);
    keep_first_name(&flow->finish.explanation, explanation);
}

/* -- for the translator ---------------------------------------------------------------------------- */

enum acog_code acog_flow_init(struct acog_flow *flow, const struct acog_translation *translation,
                              const struct acog_answer_writer_form *form)
{
    *flow =
        (struct acog_flow){.translation = translation, .form = form, .usage = {-1, -1, -1, -1, -1}};
    acog_buffer_init(&flow->early, ACOG_FLOW_WAITING_BYTES_MAX);
    acog_buffer_init(&flow->call_ids, ACOG_FLOW_CALL_IDS_MAX * sizeof(uint64_t));
    flow->writer = acog_new(form->state_bytes);
    return flow->writer == NULL ? ACOG_NO_MEMORY
                                : acog_identities_copy(translation->identities, &flow->identities);
}

void acog_flow_fini(struct acog_flow *flow)
{
    for (size_t i = 0; i < flow->waiting_count; i++) {
        free_waiting(&flow->waiting[i]);
    }
    acog_free(flow->waiting);
    acog_buffer_fini(&flow->call_ids);
    acog_buffer_fini(&flow->early);
    if (flow->writer != NULL && flow->form->free != NULL) {
        flow->form->free(flow->writer);
    }
    acog_free(flow->writer);
    acog_free(flow->identities);
    *flow = (struct acog_flow){0};
}

/* Four bytes a token, as near as a gateway can say without the model's own tokenizer; never more than was allowed. */
static void estimate_usage(struct acog_flow *flow)
{
    const struct acog_translation *translation = flow->translation;
    int64_t output = (int64_t)((flow->text_bytes + 3) / 4);
    if (translation->max_tokens >= 0 && output > translation->max_tokens) {
        output = translation->max_tokens;
    }
    flow->usage_estimated = true;
    flow->usage.output_tokens = output;
    if (flow->usage.input_tokens < 0) {
        flow->usage.input_tokens = translation->input_tokens_estimate;
    }
}

/* What was read from and written to a cache is a part of the input: a provider that counts less did not count them. */
static void settle_usage(struct acog_flow *flow)
{
    struct acog_usage *usage = &flow->usage;
    int64_t cached = usage->cached_tokens > 0 ? usage->cached_tokens : 0;
    int64_t written = usage->cache_write_tokens > 0 ? usage->cache_write_tokens : 0;
    int64_t least = written > INT64_MAX - cached ? INT64_MAX : cached + written;
    if (!flow->usage_known) {
        estimate_usage(flow);
    }
    if (usage->input_tokens >= 0 && usage->input_tokens < least) {
        usage->input_tokens = least;
    }
}

/* What the reason must be whatever the provider called it: a client acts on calls only when it is told of them. */
static void settle_finish(struct acog_flow *flow)
{
    struct acog_finish *finish = &flow->finish;
    if (!flow->finish_known) { /* decision 15 */
        finish->reason = ACOG_FINISH_STOP;
    }
    bool calls = flow->kind_counts[ACOG_FLOW_CALL] > 0;
    if (calls && finish->reason == ACOG_FINISH_STOP) {
        finish->reason = ACOG_FINISH_CALLS;
    } else if (!calls && finish->reason == ACOG_FINISH_CALLS) {
        finish->reason = ACOG_FINISH_STOP;
    }
}

/* A call that is complete and never had arguments has {} (B48), also where they are the text. */
static void tell_empty_schema_call(struct acog_flow *flow)
{
    enum acog_finish_reason reason = flow->finish.reason;
    if (flow->schema_call_seen && !flow->schema_told &&
        (reason == ACOG_FINISH_STOP || reason == ACOG_FINISH_CALLS)) {
        acog_flow_arguments(flow, flow->schema_key, acog_text_plain(ACOG_VIEW("{}")));
    }
}

void acog_flow_end(struct acog_flow *flow)
{
    if (!alive(flow)) {
        return;
    }
    begin(flow);
    tell_empty_schema_call(flow);
    advance(flow, true);
    settle_usage(flow);
    settle_finish(flow);
    flow->form->finish(flow, flow->writer);
    flow->finished = true;
}
