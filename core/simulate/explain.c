/* explain.c - `acog explain`: POST /v1/route, asked offline of a gateway with every circuit closed. The exchange reads the
 * request as it would a client's and makes the plan; its answer is the decision record.
 */
#include "acog/exchange.h"
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
    struct acog_policy_state *state;
    struct acog_exchange *exchange;
    struct acog_buffer body;   /* made for the model */
    struct acog_buffer answer; /* the decision record, or why the request is refused */
    unsigned status;           /* of the answer */
    bool choosing;             /* the plan is not the one that is told */
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
    explanation->exchange = acog_exchange_new();
    if (explanation->shared != NULL && explanation->exchange != NULL) {
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

/* -- planning --------------------------------------------------------------------------------------- */

static void ask(struct explanation *explanation, const struct acog_ask *question)
{
    struct acog_answer answer = {0};
    struct acog_error error = {0};
    acog_policy_answer(explanation->state, question, &answer, &error);
    if (answer.failed && !explanation->choosing) {
        (void)fprintf(explanation->options->errors, "acog explain: the policy failed: %s\n",
                      error.text);
    }
    acog_exchange_policy_answered(explanation->exchange, &answer, 0);
}

static void obey(struct explanation *explanation)
{
    struct acog_command command;
    while (acog_exchange_next(explanation->exchange, &command)) {
        if (command.type == ACOG_COMMAND_ASK) {
            ask(explanation, command.ask);
        } else if (command.type == ACOG_COMMAND_REPLY_HEAD) {
            explanation->status = command.head.status;
        } else if (command.type == ACOG_COMMAND_REPLY_DATA &&
                   acog_buffer_append(&explanation->answer, command.data) != ACOG_OK) {
            explanation->answer.len = 0; /* the status alone is told */
        }
    }
}

/* Asks for the plan on that surface. True: the request has a candidate. The exchange wants a reset afterwards. */
static bool plan_on(struct explanation *explanation, enum acog_surface surface)
{
    char target[64];
    const struct acog_explain_options *options = explanation->options;
    struct acog_view name = acog_name(ACOG_VOCABULARY_SURFACE, (int)surface);
    (void)snprintf(target, sizeof(target), "/v1/route?surface=%.*s", ACOG_VIEW_FMT(name));
    explanation->answer.len = 0;
    explanation->status = 0;
    if (write_body(options, surface, &explanation->body) != ACOG_OK) {
        explanation->body.len = 0;
    }
    struct acog_exchange_start start = {
        .snapshot = explanation->snapshot,
        .shared = explanation->shared,
        .method = ACOG_VIEW("POST"),
        .target = acog_view_of(target),
        .headers = options->headers,
        .header_count = options->header_count,
        .body = options->body.ptr != NULL ? options->body : acog_buffer_view(&explanation->body),
        .unix_ms = ACOG_WORLD_START_UNIX_MS,
        .seed = SEED,
        .local = true,
    };
    acog_exchange_start(explanation->exchange, &start);
    obey(explanation);
    const struct acog_exchange_record *record = acog_exchange_record(explanation->exchange);
    return explanation->status == 200 && record->planned_status == 0;
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

static void print_lines(const struct explanation *explanation)
{
    FILE *out = explanation->options->out;
    const struct acog_exchange_record *record = acog_exchange_record(explanation->exchange);
    struct acog_view surface = acog_name(ACOG_VOCABULARY_SURFACE, (int)record->surface);
    (void)fprintf(out, "model %.*s on %.*s, policy %.*s\n", ACOG_VIEW_FMT(record->model),
                  ACOG_VIEW_FMT(surface), ACOG_VIEW_FMT(explanation->snapshot->policy.name));
    struct acog_buffer lines;
    acog_buffer_init(&lines, RECORD_BYTES_MAX);
    acog_describe_plan(&lines, "  ", explanation->snapshot, record->request);
    (void)fprintf(out, "%.*s", ACOG_VIEW_FMT(acog_buffer_view(&lines)));
    acog_buffer_fini(&lines);
    if (record->planned_status != 0) {
        (void)fprintf(out, "no candidate is left: %u %.*s\n", record->planned_status,
                      ACOG_VIEW_FMT(record->error_code));
        if (record->request->plan_count == 0) {
            print_models(explanation->snapshot, out);
        }
    }
}

/* Whether the surface's own dialect is spoken by a connection in the first `rows` rows of the plan. */
static bool is_spoken(const struct explanation *explanation, size_t rows)
{
    const struct acog_exchange_record *record = acog_exchange_record(explanation->exchange);
    const struct acog_snapshot *snapshot = explanation->snapshot;
    unsigned own = ACOG_BIT(acog_surface_dialect(record->surface));
    for (size_t i = 0; i < rows && i < record->request->plan_count; i++) {
        const struct acog_candidate *candidate =
            &snapshot->candidates[record->request->plan[i].candidate];
        if ((snapshot->connections[candidate->connection].dialects & own) != 0) {
            return true;
        }
    }
    return false;
}

/* The surface to explain: as asked for; chat for a body, as for POST /v1/route; for a model the first whose first candidate needs no translation, else the first whose
 * dialect anybody speaks who declares the model. */
static enum acog_surface choose_surface(struct explanation *explanation)
{
    static const enum acog_surface surfaces[] = {ACOG_SURFACE_CHAT, ACOG_SURFACE_MESSAGES,
                                                 ACOG_SURFACE_RESPONSES};
    const struct acog_explain_options *options = explanation->options;
    enum acog_surface telling = ACOG_SURFACE_COUNT;
    bool any = options->any_surface && options->body.ptr == NULL;
    explanation->choosing = true;
    for (size_t i = 0; any && i < sizeof(surfaces) / sizeof(surfaces[0]); i++) {
        bool served = plan_on(explanation, surfaces[i]) && is_spoken(explanation, 1);
        if (served || (telling == ACOG_SURFACE_COUNT && is_spoken(explanation, SIZE_MAX))) {
            telling = surfaces[i];
        }
        acog_exchange_reset(explanation->exchange);
        if (served) {
            break;
        }
    }
    explanation->choosing = false;
    return telling == ACOG_SURFACE_COUNT ? options->surface : telling;
}

static enum acog_simulate_exit explain(struct explanation *explanation)
{
    FILE *out = explanation->options->out;
    bool served = plan_on(explanation, choose_surface(explanation));
    struct acog_view answer = acog_buffer_view(&explanation->answer);
    if (explanation->status != 200) {
        (void)fprintf(out, "the request is refused: %u %.*s\n", explanation->status,
                      ACOG_VIEW_FMT(answer));
    } else if (explanation->options->json) {
        (void)fprintf(out, "%.*s\n", ACOG_VIEW_FMT(answer));
    } else {
        print_lines(explanation);
    }
    return served ? ACOG_EXIT_FINE : ACOG_EXIT_FAILED;
}

enum acog_simulate_exit acog_simulate_explain(const struct acog_explain_options *options)
{
    struct explanation explanation = {.options = options};
    enum acog_simulate_exit result = ACOG_EXIT_ERROR;
    acog_report_init(&explanation.report);
    acog_buffer_init(&explanation.body, BODY_BYTES_MAX);
    acog_buffer_init(&explanation.answer, RECORD_BYTES_MAX);
    if (load(&explanation)) {
        result = explain(&explanation);
    }
    acog_buffer_fini(&explanation.answer);
    acog_buffer_fini(&explanation.body);
    acog_exchange_free(&explanation.exchange);
    acog_policy_state_free(&explanation.state);
    if (explanation.snapshot != NULL) {
        acog_snapshot_unref(&explanation.snapshot);
    }
    acog_shared_free(&explanation.shared);
    acog_report_fini(&explanation.report);
    return result;
}
