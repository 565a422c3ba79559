/* answer_to_responses_object.c - the response object of OpenAI Responses, with all that its schema asks for. */
#include "answer_to_responses.h"

static void put(struct acog_flow *flow, const char *text)
{
    acog_flow_put(flow, acog_view_of(text));
}

static void put_usage(struct acog_flow *flow)
{
    const struct acog_usage *usage = &flow->usage;
    int64_t input = acog_flow_figure(usage->input_tokens);
    int64_t output = acog_flow_figure(usage->output_tokens);
    int64_t total = output > INT64_MAX - input ? INT64_MAX : input + output;
    acog_flow_put_format(
        flow,
        "{\"input_tokens\":%lld,\"input_tokens_details\":{\"cached_tokens\":%lld,"
        "\"cache_write_tokens\":%lld},\"output_tokens\":%lld,\"output_tokens_details\":{"
        "\"reasoning_tokens\":%lld},\"total_tokens\":%lld%s}",
        (long long)input, (long long)acog_flow_figure(usage->cached_tokens),
        (long long)acog_flow_figure(usage->cache_write_tokens), (long long)output,
        (long long)acog_flow_figure(usage->reasoning_tokens), (long long)total,
        flow->usage_estimated ? ",\"estimated\":true" : "");
}

/* How an answer ended, in the words of the API: NULL when it is complete. A refusal in the model's own words is a whole
 * answer there. */
static const char *incomplete_reason(const struct acog_flow *flow)
{
    switch (flow->finish.reason) {
    case ACOG_FINISH_STOP:
    case ACOG_FINISH_STOP_SEQUENCE:
    case ACOG_FINISH_CALLS:
        return NULL;
    case ACOG_FINISH_REFUSAL:
        return flow->kind_counts[ACOG_FLOW_REFUSAL] > 0 ? NULL : "content_filter";
    case ACOG_FINISH_LENGTH:
    case ACOG_FINISH_CONTEXT:
    case ACOG_FINISH_PAUSE:
    case ACOG_FINISH_UNKNOWN: /* there is no word for it: at least it is told that something is missing (B60) */
        break;
    }
    return "max_output_tokens";
}

bool acog_responses_is_complete(const struct acog_flow *flow)
{
    return incomplete_reason(flow) == NULL;
}

/* The details have room for what else is known of a refusal. */
static void put_incomplete(struct acog_flow *flow, const char *reason)
{
    const struct acog_finish *finish = &flow->finish;
    acog_flow_put_format(flow, "{\"reason\":\"%s\"", reason);
    if (finish->reason == ACOG_FINISH_REFUSAL && finish->category.len > 0) {
        put(flow, ",\"category\":\"");
        acog_flow_put_name(flow, &finish->category);
        put(flow, "\"");
    }
    if (finish->reason == ACOG_FINISH_REFUSAL && finish->explanation.len > 0) {
        put(flow, ",\"explanation\":\"");
        acog_flow_put_name(flow, &finish->explanation);
        put(flow, "\"");
    }
    put(flow, "}");
}

/* What the client asked for is not at hand: the API's defaults stand for it. */
static void put_defaults(struct acog_flow *flow)
{
    put(flow, ",\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{"
              "\"effort\":null,\"summary\":null},\"store\":false,\"temperature\":null,\"text\":{"
              "\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],"
              "\"top_p\":null,\"truncation\":\"disabled\",\"metadata\":{}");
}

static void put_end(struct acog_flow *flow)
{
    put(flow, ",\"usage\":");
    put_usage(flow);
    if (acog_flow_native_is_lost(flow)) {
        put(flow, ",\"native_finish_reason\":\"");
        acog_flow_put_name(flow, &flow->finish.native);
        put(flow, "\"");
    }
}

void acog_responses_put_object(struct acog_flow *flow, const struct acog_buffer *output)
{
    const struct acog_translation *translation = flow->translation;
    const char *reason = output == NULL ? NULL : incomplete_reason(flow);
    const char *finished = reason == NULL ? "completed" : "incomplete";
    put(flow, "{\"id\":\"");
    acog_flow_put_id(flow, "resp_");
    acog_flow_put_format(flow, "\",\"object\":\"response\",\"created_at\":%lld,\"status\":\"%s\"",
                         (long long)translation->unix_s, output == NULL ? "in_progress" : finished);
    put(flow, ",\"background\":false,\"error\":null,\"incomplete_details\":");
    if (reason != NULL) {
        put_incomplete(flow, reason);
    } else {
        put(flow, "null");
    }
    put(flow, ",\"instructions\":null,\"max_output_tokens\":");
    if (translation->max_tokens >= 0) {
        acog_flow_put_format(flow, "%lld", (long long)translation->max_tokens);
    } else {
        put(flow, "null");
    }
    put(flow, ",\"model\":\"");
    acog_flow_put_name(flow, &flow->model);
    put(flow, "\",\"output\":[");
    if (output != NULL) {
        acog_flow_put(flow, acog_buffer_view(output));
    }
    put(flow, "]");
    put_defaults(flow);
    if (output != NULL) {
        put_end(flow);
    }
    put(flow, "}");
}
