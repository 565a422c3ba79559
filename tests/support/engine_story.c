/* engine_story.c - see engine_story.h. */
#include "tests/support/engine_story.h"

#include "acog/contract.h"
#include "acog/engine.h"
#include "tests/support/engine_rows.h"

#include <string.h>

#define NAMES_MAX 64

struct story {
    struct engine_rows *rows;
    struct acog_request request;
    struct acog_plan_row plan[ACOG_PLAN_MAX]; /* lent to `request` */
    struct acog_request_facts facts;
    struct acog_buffer *out;
    int64_t base_ms;           /* the times of the lines count from here */
    char names[NAMES_MAX][64]; /* engine_rows takes C strings */
    size_t name_count;
    uint16_t candidates[ACOG_PLAN_MAX];
    struct acog_verdict verdicts[ACOG_PLAN_MAX];
    double numbers[ACOG_PLAN_MAX];
};

/* -- words ----------------------------------------------------------------------------------------- */

/* Takes the next word off the front; empty when there is none. */
static struct acog_view next_word(struct acog_view *line)
{
    ACOG_ASSERT(line->ptr != NULL);
    *line = acog_view_trim(*line);
    size_t end = acog_view_find(*line, ACOG_VIEW(" "));
    struct acog_view word = {.ptr = line->ptr, .len = end};
    *line = (struct acog_view){.ptr = line->ptr + end, .len = line->len - end};
    return word;
}

static bool is(struct acog_view word, const char *text)
{
    return acog_view_equal(word, acog_view_of(text));
}

/* "key=value": the value. */
static bool has_key(struct acog_view word, const char *key, struct acog_view *value)
{
    struct acog_view wanted = acog_view_of(key);
    if (!acog_view_starts(word, wanted) || word.len == wanted.len || word.ptr[wanted.len] != '=') {
        return false;
    }
    *value = acog_view_slice(word, wanted.len + 1, word.len);
    return true;
}

static int64_t number_of(struct acog_view word)
{
    unsigned long long value = 0;
    bool negative = acog_view_starts(word, ACOG_VIEW("-"));
    ACOG_ASSERT(acog_view_to_u64(acog_view_slice(word, negative ? 1 : 0, word.len), &value));
    return negative ? -(int64_t)value : (int64_t)value;
}

static unsigned set_of(enum acog_vocabulary vocabulary, struct acog_view words)
{
    unsigned set = 0;
    while (words.len > 0) {
        size_t end = acog_view_find(words, ACOG_VIEW(","));
        int value = acog_name_find(vocabulary, acog_view_slice(words, 0, end));
        ACOG_ASSERT(value >= 0);
        set |= ACOG_BIT(value);
        words = acog_view_slice(words, end + 1, words.len);
    }
    return set;
}

static const char *kept_name(struct story *story, struct acog_view word)
{
    ACOG_ASSERT(word.ptr != NULL && word.len < sizeof story->names[0]);
    ACOG_ASSERT(story->name_count < NAMES_MAX);
    char *name = story->names[story->name_count++];
    memcpy(name, word.ptr, word.len);
    return name;
}

/* -- who there is ---------------------------------------------------------------------------------- */

static bool read_policy(struct story *story, struct acog_view name)
{
    static const char *const names[] = {"acog", "routerplus", "rolter", "kontinent", "onerouter"};
    for (size_t i = 0; i < 5; i++) {
        if (is(name, names[i])) {
            story->rows = engine_rows_new((enum engine_policy)i);
            return true;
        }
    }
    return false;
}

static bool read_connection(struct story *story, struct acog_view line)
{
    const char *id = kept_name(story, next_word(&line));
    int channel = acog_name_find(ACOG_VOCABULARY_CHANNEL, next_word(&line));
    if (channel < 0) {
        return false;
    }
    struct acog_connection *connection =
        engine_rows_connection(story->rows, id, (enum acog_channel)channel);
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        struct acog_view value;
        if (is(word, "default")) {
            connection->is_default = true;
        } else if (is(word, "slow")) {
            connection->slow = true;
        } else if (is(word, "usable=ask")) {
            connection->usable = ACOG_USABLE_FUNCTION;
        } else if (has_key(word, "weight", &value)) {
            connection->weight = (uint32_t)number_of(value);
        } else if (has_key(word, "takes_over", &value)) {
            engine_rows_takes_over(story->rows, id, kept_name(story, value));
        } else {
            return false;
        }
    }
    return true;
}

static bool read_model(struct story *story, struct acog_view line)
{
    const char *id = kept_name(story, next_word(&line));
    struct acog_candidate *candidate = engine_rows_candidate(
        story->rows, engine_rows_find(story->rows, id), kept_name(story, next_word(&line)));
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        struct acog_view value;
        if (is(word, "reasoning")) {
            candidate->reasoning = true;
        } else if (has_key(word, "family", &value)) {
            candidate->family = value;
        } else if (has_key(word, "sends", &value)) {
            candidate->send_id = value;
        } else if (has_key(word, "price", &value)) {
            candidate->priced = true;
            candidate->input_price = (double)number_of(value);
        } else {
            return false;
        }
    }
    return true;
}

/* Which questions the policy asks: slots 0, 1 and 2. The filter stands before the last one, the order key first. */
static bool read_ask(struct story *story, struct acog_view line)
{
    struct acog_policy *policy = &story->rows->snapshot.policy;
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        if (is(word, "match")) {
            policy->match_slot = 0;
        } else if (is(word, "filter")) {
            policy->filters[policy->filter_count] = policy->filters[policy->filter_count - 1];
            policy->filters[policy->filter_count - 1] =
                (struct acog_filter){.kind = ACOG_FILTER_FUNCTION,
                                     .name = ACOG_VIEW("function"),
                                     .slot = 1,
                                     .when_empty = ACOG_CONDITION_FILTERED};
            policy->filter_count++;
        } else if (is(word, "order")) {
            policy->order[0] = (struct acog_order_key){.kind = ACOG_ORDER_FUNCTION, .slot = 2};
            policy->order_count = 1;
        } else {
            return false;
        }
    }
    return true;
}

/* -- what happened --------------------------------------------------------------------------------- */

static bool read_arrived(struct story *story, struct acog_view line, struct acog_event *event)
{
    struct acog_request_facts *facts = &story->facts;
    *facts = (struct acog_request_facts){.max_tokens = -1, .choices = 1};
    story->request = (struct acog_request){.plan = story->plan};
    int surface = acog_name_find(ACOG_VOCABULARY_SURFACE, next_word(&line));
    if (surface < 0) {
        return false;
    }
    facts->surface = (enum acog_surface)surface;
    facts->stream = is(next_word(&line), "stream");
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        struct acog_view value;
        if (has_key(word, "model", &value)) {
            facts->model = value;
        } else if (has_key(word, "max_tokens", &value)) {
            facts->max_tokens = number_of(value);
        } else if (has_key(word, "choices", &value)) {
            facts->choices = (uint32_t)number_of(value);
        } else if (has_key(word, "pin", &value)) {
            facts->pins[facts->pin_count++] = value;
        } else if (is(word, "opt_out")) {
            facts->fallback_opt_out = true;
        } else if (has_key(word, "seed", &value)) {
            event->arrived.seed = (uint64_t)number_of(value);
        } else {
            return false;
        }
    }
    event->arrived.facts = facts;
    return true;
}

/* "a/claude-haiku-4-5" -> its index. */
static uint16_t candidate_of(const struct story *story, struct acog_view word)
{
    size_t slash = acog_view_find(word, ACOG_VIEW("/"));
    for (size_t i = 0; i < story->rows->snapshot.candidate_count; i++) {
        const struct acog_candidate *candidate = &story->rows->candidates[i];
        const struct acog_connection *connection = &story->rows->connections[candidate->connection];
        if (acog_view_equal(connection->id, acog_view_slice(word, 0, slash)) &&
            acog_view_equal(candidate->declared, acog_view_slice(word, slash + 1, word.len))) {
            return (uint16_t)i;
        }
    }
    return UINT16_MAX;
}

static bool read_answered(struct story *story, struct acog_view line, struct acog_event *event)
{
    struct acog_view kind = next_word(&line);
    struct acog_answer *answer = &event->answer;
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        if (is(word, "failed")) {
            answer->failed = true;
            return true;
        }
        if (is(kind, "match")) {
            story->candidates[answer->count] = candidate_of(story, word);
        } else if (is(kind, "order")) {
            story->numbers[answer->count] = (double)number_of(word);
        } else {
            story->verdicts[answer->count] =
                (struct acog_verdict){.keep = is(word, "keep"), .reason = ACOG_VIEW("so it says")};
        }
        answer->count++;
    }
    if (is(kind, "match")) {
        answer->candidates = story->candidates;
    } else if (is(kind, "order")) {
        answer->numbers = story->numbers;
    } else {
        answer->verdicts = story->verdicts;
    }
    return true;
}

static bool read_failed(struct acog_view line, struct acog_failure *failure)
{
    int cause = acog_name_find(ACOG_VOCABULARY_CAUSE, next_word(&line));
    if (cause < 0) {
        return false;
    }
    *failure = (struct acog_failure){.cause = (enum acog_cause)cause, .retry_after_ms = -1};
    for (struct acog_view word = next_word(&line); word.len > 0; word = next_word(&line)) {
        struct acog_view value;
        if (has_key(word, "status", &value)) {
            failure->status = (uint16_t)number_of(value);
        } else if (has_key(word, "shapes", &value)) {
            failure->shapes = set_of(ACOG_VOCABULARY_SHAPE, value);
        } else if (has_key(word, "retry_after", &value)) {
            failure->retry_after_ms = number_of(value);
        } else if (has_key(word, "code", &value)) {
            failure->code = value;
        } else if (has_key(word, "category", &value)) {
            failure->categories[failure->category_count++] = value;
        } else if (is(word, "reused_no_byte")) {
            failure->reused_no_byte = true;
        } else {
            return false;
        }
    }
    return true;
}

/* The events of an attempt: their number is the first word. */
static bool read_attempt_event(struct acog_view word, struct acog_view line,
                               struct acog_event *event, struct acog_failure *failure)
{
    event->attempt = (uint32_t)number_of(next_word(&line));
    if (is(word, "connected")) {
        event->type = ACOG_EVENT_CONNECTED;
        event->reused = is(next_word(&line), "reused");
    } else if (is(word, "headers")) {
        struct acog_view status;
        event->type = ACOG_EVENT_HEADERS;
        if (!has_key(next_word(&line), "status", &status)) {
            return false;
        }
        event->headers.status = (uint16_t)number_of(status);
    } else if (is(word, "first_event")) {
        event->type = ACOG_EVENT_FIRST_EVENT;
    } else if (is(word, "output")) {
        event->type = ACOG_EVENT_OUTPUT;
        event->outputs = set_of(ACOG_VOCABULARY_OUTPUT, next_word(&line));
    } else if (is(word, "activity")) {
        event->type = ACOG_EVENT_ACTIVITY;
    } else if (is(word, "held_full")) {
        event->type = ACOG_EVENT_HELD_FULL;
    } else if (is(word, "done")) {
        event->type = ACOG_EVENT_DONE;
    } else if (is(word, "failed")) {
        event->type = ACOG_EVENT_FAILED;
        event->failure = failure;
        return read_failed(line, failure);
    } else {
        return false;
    }
    return true;
}

static bool play_event(struct story *story, struct acog_view line)
{
    struct acog_failure failure;
    struct acog_event event = {.type = ACOG_EVENT_TICK};
    struct acog_actions actions;
    struct acog_view time = next_word(&line);
    struct acog_view word = next_word(&line);
    bool read = true;
    event.now_ms = story->base_ms + number_of(acog_view_slice(time, 1, time.len));
    if (is(word, "arrived")) {
        event.type = ACOG_EVENT_ARRIVED;
        read = read_arrived(story, line, &event);
    } else if (is(word, "answered")) {
        event.type = ACOG_EVENT_POLICY_ANSWERED;
        read = read_answered(story, line, &event);
    } else if (is(word, "client_gone")) {
        event.type = ACOG_EVENT_CLIENT_GONE;
    } else if (!is(word, "tick")) {
        read = read_attempt_event(word, line, &event, &failure);
    }
    if (!read) {
        return false;
    }
    acog_engine_step(&story->rows->snapshot, &story->rows->shared, &story->request, &event,
                     &actions);
    return acog_transcript_step(story->out, &story->rows->snapshot, &story->request, &event,
                                &actions) == ACOG_OK;
}

/* -- the whole ------------------------------------------------------------------------------------- */

static bool read_line(struct story *story, struct acog_view line)
{
    struct acog_view rest = line;
    struct acog_view word = next_word(&rest);
    bool copied = acog_buffer_append(story->out, line) == ACOG_OK &&
                  acog_buffer_append(story->out, ACOG_VIEW("\n")) == ACOG_OK;
    if (!copied) {
        return false;
    }
    if (word.len == 0 || acog_view_starts(word, ACOG_VIEW("#"))) {
        return true;
    }
    if (is(word, "policy")) {
        return story->rows == NULL && read_policy(story, acog_view_trim(rest));
    }
    if (story->rows == NULL) {
        return false;
    }
    if (is(word, "connection")) {
        return read_connection(story, rest);
    }
    if (is(word, "model")) {
        return read_model(story, rest);
    }
    if (is(word, "later")) {
        story->base_ms += number_of(acog_view_trim(rest));
        return true;
    }
    return is(word, "ask") && read_ask(story, rest);
}

bool engine_story_play(struct acog_view text, struct acog_buffer *out, struct acog_view *wrong)
{
    static struct story story;
    bool fine = true;
    story = (struct story){.out = out};
    while (text.len > 0 && fine) {
        size_t end = acog_view_find(text, ACOG_VIEW("\n"));
        struct acog_view line = acog_view_slice(text, 0, end);
        text = acog_view_slice(text, end + 1, text.len);
        *wrong = line;
        if (acog_view_starts(line, ACOG_VIEW("+"))) {
            fine = story.rows != NULL && play_event(&story, line);
        } else if (!acog_view_starts(line, ACOG_VIEW("    "))) {
            fine = read_line(&story, line);
        }
    }
    if (story.rows != NULL) {
        engine_rows_free(&story.rows);
    }
    return fine;
}
