/* errors.c - how a provider says no: error bodies and error events, with the type that belongs to the status.
 *
 * Types and codes are those of real answers (OpenAI's, Anthropic's and Google's); a script may say others.
 */
#include "acog/contract.h"
#include "play.h"
#include "writer.h"

struct error_form {
    unsigned status;
    const char *anthropic_type;
    const char *openai_type;
    const char *openai_code; /* NULL: null */
    const char *message;
};

static const struct error_form forms[] = {
    {400, "invalid_request_error", "invalid_request_error", NULL, "The request is not valid."},
    {401, "authentication_error", "invalid_request_error", "invalid_api_key",
     "Incorrect API key provided."},
    {402, "billing_error", "insufficient_quota", "insufficient_quota",
     "The credit balance is too low."},
    {403, "permission_error", "permission_error", NULL,
     "The API key may not use the specified resource."},
    {404, "not_found_error", "invalid_request_error", "model_not_found",
     "The model does not exist or you do not have access to it."},
    {408, "timeout_error", "timeout_error", NULL, "The request timed out."},
    {409, "invalid_request_error", "conflict_error", NULL, "The resource is in use."},
    {413, "request_too_large", "invalid_request_error", "request_too_large",
     "The request is larger than the maximum."},
    {422, "invalid_request_error", "invalid_request_error", NULL,
     "The request could not be processed."},
    {429, "rate_limit_error", "requests", "rate_limit_exceeded",
     "Rate limit reached. Please try again later."},
    {451, "permission_error", "invalid_request_error", "content_policy_violation",
     "Unavailable for legal reasons."},
    {500, "api_error", "server_error", NULL, "Internal server error."},
    {502, "api_error", "server_error", NULL, "Bad gateway."},
    {503, "api_error", "service_unavailable_error", NULL,
     "The service is temporarily unavailable."},
    {504, "timeout_error", "server_error", NULL, "The answer took too long."},
    {529, "overloaded_error", "server_error", "server_overloaded", "Overloaded"},
};

static struct error_form form_of(unsigned status)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].status == status) {
            return forms[i];
        }
    }
    if (status >= 500 || status < 400) {
        return (struct error_form){status, "api_error", "server_error", NULL,
                                   "Internal server error."};
    }
    return forms[0];
}

static struct acog_view or_else(struct acog_view said, const char *otherwise)
{
    return said.len > 0 ? said : acog_view_of(otherwise);
}

/* Azure's account of what its filter found. */
static void write_inner_error(const struct acog_provider_play *play, struct acog_buffer *out)
{
    ACOG_WRITE(out, ",\"innererror\":{\"code\":\"ResponsibleAIPolicyViolation\","
                    "\"content_filter_result\":{");
    acog_write_string(out, play->reply.refusal_category);
    ACOG_WRITE(out, ":{\"filtered\":true,\"severity\":\"high\"}}}");
}

static void write_openai(const struct acog_provider_play *play, struct error_form form,
                         struct acog_buffer *out)
{
    bool refusal = play->reply.refusal;
    ACOG_WRITE(out, "{\"error\":{\"message\":");
    acog_write_string(
        out, or_else(play->reply.error_message,
                     refusal ? "The response was filtered by the content management policy."
                             : form.message));
    ACOG_WRITE(out, ",\"type\":");
    acog_write_string(
        out, or_else(play->reply.error_type, refusal ? "invalid_request_error" : form.openai_type));
    ACOG_WRITE(out, ",\"param\":null,\"code\":");
    acog_write_string_or_null(
        out, or_else(play->reply.error_code, refusal ? "content_filter" : form.openai_code));
    if (refusal && play->reply.refusal_category.len > 0) {
        write_inner_error(play, out);
    }
    ACOG_WRITE(out, "}}");
}

static void write_anthropic(const struct acog_provider_play *play, struct error_form form,
                            struct acog_buffer *out)
{
    bool refusal = play->reply.refusal;
    ACOG_WRITE(out, "{\"type\":\"error\",\"error\":{\"type\":");
    acog_write_string(out, or_else(play->reply.error_type,
                                   refusal ? "invalid_request_error" : form.anthropic_type));
    ACOG_WRITE(out, ",\"message\":");
    acog_write_string(
        out, or_else(play->reply.error_message,
                     refusal ? "Output blocked by content filtering policy" : form.message));
    if (play->reply.error_code.len > 0) {
        ACOG_WRITE(out, ",\"code\":");
        acog_write_string(out, play->reply.error_code);
    }
    ACOG_WRITE(out, "},\"request_id\":\"");
    acog_write_id(out, ACOG_VIEW("req_011C"), play->seed, 9, 20);
    ACOG_WRITE(out, "\"}");
}

static const char *google_status(unsigned status)
{
    static const struct {
        unsigned status;
        const char *word;
    } words[] = {
        {401, "UNAUTHENTICATED"},   {403, "PERMISSION_DENIED"}, {404, "NOT_FOUND"},
        {408, "DEADLINE_EXCEEDED"}, {409, "ABORTED"},           {429, "RESOURCE_EXHAUSTED"},
        {500, "INTERNAL"},          {504, "DEADLINE_EXCEEDED"},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].status == status) {
            return words[i].word;
        }
    }
    return status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT";
}

static void write_google(const struct acog_provider_play *play, struct error_form form,
                         unsigned status, struct acog_buffer *out)
{
    ACOG_WRITE(out, "{\"error\":{\"code\":");
    acog_write_number(out, (int64_t)status);
    ACOG_WRITE(out, ",\"message\":");
    acog_write_string(out, or_else(play->reply.error_message,
                                   play->reply.refusal
                                       ? "The prompt was blocked by the model's safety filters."
                                       : form.message));
    ACOG_WRITE(out, ",\"status\":");
    acog_write_string(out, or_else(play->reply.error_type, google_status(status)));
    if (play->reply.error_code.len > 0) {
        ACOG_WRITE(out, ",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\","
                        "\"reason\":");
        acog_write_string(out, play->reply.error_code);
        ACOG_WRITE(out, "}]");
    }
    ACOG_WRITE(out, "}}");
}

void acog_error_write_body(const struct acog_provider_play *play, unsigned status,
                           struct acog_buffer *out)
{
    switch (play->request.dialect) {
    case ACOG_DIALECT_MESSAGES:
        write_anthropic(play, form_of(status), out);
        return;
    case ACOG_DIALECT_GEMINI:
        write_google(play, form_of(status), status, out);
        return;
    case ACOG_DIALECT_CHAT:
    case ACOG_DIALECT_RESPONSES:
        write_openai(play, form_of(status), out);
        return;
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown dialect");
}

/* What fails after a good head is the provider's own trouble: overload at Anthropic and Google, a server error at
 * OpenAI. */
void acog_error_write_events(struct acog_provider_play *play, struct acog_buffer *out)
{
    switch (play->request.dialect) {
    case ACOG_DIALECT_MESSAGES:
        ACOG_WRITE(out, "event: error\ndata: ");
        write_anthropic(play, form_of(529), out);
        ACOG_WRITE(out, "\n\n");
        return;
    case ACOG_DIALECT_RESPONSES:
        if (play->reply.error_message.len == 0) {
            play->reply.error_message = acog_view_of(form_of(500).message);
        }
        acog_responses_write_failed(play, out);
        return;
    case ACOG_DIALECT_GEMINI:
        ACOG_WRITE(out, "data: ");
        write_google(play, form_of(503), 503, out);
        ACOG_WRITE(out, "\r\n\r\n");
        return;
    case ACOG_DIALECT_CHAT:
        ACOG_WRITE(out, "data: ");
        write_openai(play, form_of(500), out);
        ACOG_WRITE(out, "\n\n");
        return;
    case ACOG_DIALECT_COUNT:
        break;
    }
    ACOG_UNREACHABLE("unknown dialect");
}
