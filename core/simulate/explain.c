/* explain.c - `acog explain`: the plan of one request, made by the engine and not dispatched.
 *
 * The exchange reads the request as it would a client's, and so the facts are the real ones; the plan is then made
 * from them by acog_engine_plan_only(). The exchange's own plan runs over shared cells of its own and is thrown
 * away, because it may take a spread's turn.
 */
#include "acog/exchange.h"
#include "acog/memory.h"
#include "acog/policy.h"
#include "acog/simulate.h"
#include "describe.h"
#include "world.h"

#include <string.h>

#define SEED             UINT64_C(1)
#define MODELS_SHOWN_MAX ((size_t)20)
#define RECORD_BYTES_MAX ((size_t)1024 * 1024)
#define BODY_BYTES_MAX   ((size_t)64 * 1024)

struct explanation {
    const struct acog_explain_options *options;
    struct acog_report report;
    struct acog_snapshot *snapshot;
    struct acog_shared *shared;
    struct acog_shared *aside; /* what the exchange's own plan may change */
    struct acog_policy_state *state;
    struct acog_exchange *exchange;
    struct acog_request *plan;
    struct acog_plan_row rows[ACOG_PLAN_MAX]; /* of `plan` */
    struct acog_buffer body; /* made for the model; then what the exchange answers */
    struct acog_error_answer error;
    unsigned
        refused; /* status with which the exchange refused to read the request; 0: it did not */
};

static void print_findings(FILE *out, const struct acog_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        (void)fprintf(out, "%s%.*s\n",
                      report->findings[i].level == ACOG_FINDING_ERROR ? "" : "warning: ",
                      ACOG_VIEW_FMT(report->findings[i].text));
    }
}

/* False: `errors` has been told why. */
static bool load(struct explanation *explanation)
{
    struct acog_error error = {.text = "out of memory"};
    struct acog_policy_options options = {
        .path = explanation->options->path, .missing_env_is_warning = true, .offline = true};
    FILE *errors = explanation->options->errors;
    explanation->shared = acog_shared_new();
    explanation->aside = acog_shared_new();
    explanation->exchange = acog_exchange_new();
    explanation->plan = acog_new(sizeof(*explanation->plan));
    if (explanation->shared != NULL && explanation->aside != NULL &&
        explanation->exchange != NULL && explanation->plan != NULL) {
        if (acog_policy_load(&options, explanation->shared, &explanation->snapshot,
                             &explanation->report) != ACOG_OK) {
            print_findings(errors, &explanation->report);
            return false;
        }
        explanation->state = acog_policy_state_new(explanation->snapshot, &error);
    }
    if (explanation->state == NULL) {
        (void)fprintf(errors, "acog explain: %s\n", error.text);
        return false;
    }
    return true;
}

/* The smallest body that asks for the model. */
static enum acog_code write_body(const struct acog_explain_options *options,
                                 enum acog_surface surface, struct acog_buffer *out)
{
    static const char *const rest[ACOG_SURFACE_COUNT] = {
        [ACOG_SURFACE_CHAT] = "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]",
        [ACOG_SURFACE_MESSAGES] =
            "\"max_tokens\":1024,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]",
        [ACOG_SURFACE_RESPONSES] = "\"input\":\"hello\"",
        [ACOG_SURFACE_COUNT_TOKENS] = "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]",
        [ACOG_SURFACE_EMBEDDINGS] = "\"input\":\"hello\"",
    };
    out->len = 0;
    enum acog_code code = acog_buffer_append(out, ACOG_VIEW("{\"model\":\""));
    if (code == ACOG_OK) {
        code = acog_buffer_append_json(out, options->model);
    }
    if (code == ACOG_OK) {
        code = acog_buffer_format(out, "\",%s%s}", options->stream ? "\"stream\":true," : "",
                                  rest[surface]);
    }
    return code;
}

/* -- reading ---------------------------------------------------------------------------------------- */

/* Lets the exchange say what it wants; nothing is done but to keep a refusal. */
static void listen_to(struct explanation *explanation)
{
    struct acog_command command;
    while (acog_exchange_next(explanation->exchange, &command)) {
        if (command.type == ACOG_COMMAND_REPLY_HEAD) {
            explanation->refused = command.head.status;
            explanation->body.len = 0;
        } else if (command.type == ACOG_COMMAND_REPLY_DATA &&
                   acog_buffer_append(&explanation->body, command.data) != ACOG_OK) {
            explanation->body.len = 0; /* the status alone is told */
        }
    }
}

/* The facts of the request on that surface, or NULL with `refused` told. */
static const struct acog_request_facts *read_facts(struct explanation *explanation,
                                                   enum acog_surface surface)
{
    const struct acog_explain_options *options = explanation->options;
    struct acog_exchange_start start = {
        .snapshot = explanation->snapshot,
        .shared = explanation->aside,
        .method = ACOG_VIEW("POST"),
        .target = acog_surface_path(surface),
        .headers = options->headers,
        .header_count = options->header_count,
        .body = options->body.ptr != NULL ? options->body : acog_buffer_view(&explanation->body),
        .unix_ms = ACOG_WORLD_START_UNIX_MS,
        .seed = SEED,
    };
    acog_exchange_start(explanation->exchange, &start);
    const struct acog_request *request = acog_exchange_record(explanation->exchange)->request;
    if (request == NULL) {
        listen_to(explanation);
        return NULL;
    }
    return request->facts;
}

/* -- planning --------------------------------------------------------------------------------------- */

/* The action of that type, or NULL. */
static const struct acog_action *find_action(const struct acog_actions *actions,
                                             enum acog_action_type type)
{
    for (size_t i = 0; i < actions->count; i++) {
        if (actions->list[i].type == type) {
            return &actions->list[i];
        }
    }
    return NULL;
}

static void make_plan(struct explanation *explanation, const struct acog_request_facts *facts)
{
    struct acog_actions actions;
    struct acog_answer answer;
    struct acog_error error = {0};
    struct acog_event event = {.type = ACOG_EVENT_ARRIVED,
                               .arrived = {.facts = facts, .seed = SEED}};
    acog_engine_plan_only(explanation->snapshot, explanation->shared, explanation->plan, &event,
                          &actions);
    const struct acog_action *asking = find_action(&actions, ACOG_ACTION_ASK_POLICY);
    while (asking != NULL) {
        struct acog_ask ask = asking->ask;
        answer = (struct acog_answer){0};
        acog_policy_answer(explanation->state, &ask, &answer, &error);
        if (answer.failed) {
            (void)fprintf(explanation->options->errors, "acog explain: the policy failed: %s\n",
                          error.text);
        }
        event = (struct acog_event){.type = ACOG_EVENT_POLICY_ANSWERED, .answer = answer};
        acog_engine_plan_only(explanation->snapshot, explanation->shared, explanation->plan, &event,
                              &actions);
        asking = find_action(&actions, ACOG_ACTION_ASK_POLICY);
    }
    const struct acog_action *failed = find_action(&actions, ACOG_ACTION_ANSWER_ERROR);
    if (failed != NULL) {
        explanation->error = failed->error;
    }
}

/* -- telling ---------------------------------------------------------------------------------------- */

/* For whoever misspelt one. */
static void print_models(const struct acog_snapshot *snapshot, FILE *out)
{
    size_t shown =
        snapshot->model_count < MODELS_SHOWN_MAX ? snapshot->model_count : MODELS_SHOWN_MAX;
    (void)fputs("declared are:", out);
    for (size_t i = 0; i < shown; i++) {
        (void)fprintf(out, " %.*s", ACOG_VIEW_FMT(snapshot->models[i].id));
    }
    (void)fputs(shown < snapshot->model_count ? " ...\n" : "\n", out);
}

static void print_lines(const struct explanation *explanation,
                        const struct acog_request_facts *facts)
{
    FILE *out = explanation->options->out;
    const struct acog_policy *policy = &explanation->snapshot->policy;
    struct acog_view surface = acog_name(ACOG_VOCABULARY_SURFACE, (int)facts->surface);
    (void)fprintf(out, "model %.*s on %.*s, policy %.*s\n", ACOG_VIEW_FMT(facts->model),
                  ACOG_VIEW_FMT(surface), ACOG_VIEW_FMT(policy->name));
    acog_describe_plan(out, "  ", explanation->snapshot, explanation->plan);
    if (explanation->plan->state == ACOG_REQUEST_ENDED) {
        const struct acog_error_row *row = &policy->errors[explanation->error.condition];
        (void)fprintf(out, "no candidate is left: %u %.*s\n", (unsigned)row->status,
                      ACOG_VIEW_FMT(row->code));
        if (explanation->error.condition == ACOG_CONDITION_UNKNOWN_MODEL) {
            print_models(explanation->snapshot, out);
        }
    }
}

static enum acog_simulate_exit print_record(const struct explanation *explanation)
{
    struct acog_buffer json;
    acog_buffer_init(&json, RECORD_BYTES_MAX);
    enum acog_code code =
        acog_exchange_render_record(explanation->snapshot, explanation->plan, &json);
    if (code == ACOG_OK) {
        (void)fprintf(explanation->options->out, "%.*s\n", ACOG_VIEW_FMT(acog_buffer_view(&json)));
    } else {
        (void)fprintf(explanation->options->errors, "acog explain: %s\n", acog_code_text(code));
    }
    acog_buffer_fini(&json);
    return code == ACOG_OK ? ACOG_EXIT_FINE : ACOG_EXIT_ERROR;
}

/* Reads and plans. NULL: the request is refused. */
static const struct acog_request_facts *plan_on(struct explanation *explanation,
                                                enum acog_surface surface)
{
    explanation->refused = 0;
    *explanation->plan = (struct acog_request){.plan = explanation->rows};
    if (write_body(explanation->options, surface, &explanation->body) != ACOG_OK) {
        return NULL;
    }
    const struct acog_request_facts *facts = read_facts(explanation, surface);
    if (facts != NULL) {
        make_plan(explanation, facts);
    }
    return facts;
}

/* The exchange is ready for another request afterwards; the facts are gone. */
static void leave(struct explanation *explanation)
{
    if (acog_exchange_record(explanation->exchange)->request != NULL) {
        listen_to(explanation);
        acog_exchange_client_gone(explanation->exchange, 0);
        listen_to(explanation);
    }
    acog_exchange_reset(explanation->exchange);
}

/* The surface to explain: as asked for, or the first on which there is a candidate. */
static enum acog_surface choose_surface(struct explanation *explanation)
{
    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                                 ACOG_SURFACE_RESPONSES};
    const struct acog_explain_options *options = explanation->options;
    for (size_t i = 0; options->any_surface && i < sizeof(surfaces) / sizeof(surfaces[0]); i++) {
        bool served = plan_on(explanation, surfaces[i]) != NULL &&
                      explanation->plan->state != ACOG_REQUEST_ENDED;
        leave(explanation);
        if (served) {
            return surfaces[i];
        }
    }
    return options->surface;
}

static enum acog_simulate_exit explain(struct explanation *explanation)
{
    const struct acog_request_facts *facts = plan_on(explanation, choose_surface(explanation));
    if (facts == NULL) {
        (void)fprintf(explanation->options->out, "the request is refused: %u %.*s\n",
                      explanation->refused, ACOG_VIEW_FMT(acog_buffer_view(&explanation->body)));
        return ACOG_EXIT_FAILED;
    }
    enum acog_simulate_exit result = ACOG_EXIT_FINE;
    if (explanation->options->json) {
        result = print_record(explanation);
    } else {
        print_lines(explanation, facts);
    }
    if (result == ACOG_EXIT_FINE && explanation->plan->state == ACOG_REQUEST_ENDED) {
        result = ACOG_EXIT_FAILED;
    }
    leave(explanation);
    return result;
}

enum acog_simulate_exit acog_simulate_explain(const struct acog_explain_options *options)
{
    struct explanation explanation = {.options = options};
    enum acog_simulate_exit result = ACOG_EXIT_ERROR;
    acog_report_init(&explanation.report);
    acog_buffer_init(&explanation.body, BODY_BYTES_MAX);
    if (load(&explanation)) {
        result = explain(&explanation);
    }
    acog_buffer_fini(&explanation.body);
    acog_free(explanation.plan);
    acog_exchange_free(&explanation.exchange);
    acog_policy_state_free(&explanation.state);
    if (explanation.snapshot != NULL) {
        acog_snapshot_unref(&explanation.snapshot);
    }
    acog_shared_free(&explanation.aside);
    acog_shared_free(&explanation.shared);
    acog_report_fini(&explanation.report);
    return result;
}
