/* chat_written.h - a conversation, told in a request of chat/completions: what the tests of its writers share. */
#ifndef ACOG_TESTS_UNIT_DIALECT_CHAT_WRITTEN_H
#define ACOG_TESTS_UNIT_DIALECT_CHAT_WRITTEN_H

#include "acog/json.h"
#include "core/dialect/conversation.h"
#include "tests/support/check.h"

#include <string.h>

#define OUT_BYTES_MAX 65536

struct written {
    char memory[OUT_BYTES_MAX];
    struct acog_buffer out;
    struct acog_arena arena;
    struct acog_translation translation;
    struct acog_model_rules rules;
    const struct acog_conversation *conversation;
    struct acog_request_problem problem;
    enum acog_code code;
};

static inline void start(struct written *written)
{
    written->rules = acog_model_rules_default(ACOG_DIALECT_CHAT);
    written->translation = (struct acog_translation){
        .upstream = ACOG_DIALECT_CHAT, .model = ACOG_VIEW("gpt"), .max_tokens = -1};
}

/* Reads, asks whether it fits, writes. What was written is JSON. */
static inline void carry(struct written *written, enum acog_surface surface, const char *body)
{
    struct acog_json_value value;
    struct acog_json_error error;
    acog_arena_init(&written->arena, 1U << 22U);
    acog_buffer_init_over(&written->out, written->memory, sizeof(written->memory) - 1);
    written->translation.client = acog_surface_dialect(surface);
    written->translation.rules = &written->rules;
    written->code = acog_conversation_read(surface, acog_view_of(body), &written->arena,
                                           &written->conversation, &written->problem);
    if (written->code == ACOG_OK) {
        written->code = acog_conversation_fits(written->conversation, ACOG_DIALECT_CHAT,
                                               &written->rules, &written->problem);
    }
    if (written->code == ACOG_OK) {
        written->code = acog_conversation_write(written->conversation, &written->translation,
                                                &written->arena, &written->out);
        assert_int_equal(acog_json_check(acog_buffer_view(&written->out), 128, &value, &error),
                         ACOG_OK);
    }
}

static inline void is_carried(struct written *written, enum acog_surface surface, const char *body)
{
    carry(written, surface, body);
    if (written->code != ACOG_OK) {
        fail_msg("%s\n  gave: %s", body, written->problem.text);
    }
}

static inline void has(const struct written *written, const char *piece)
{
    struct acog_view out = acog_buffer_view(&written->out);
    if (acog_view_find(out, acog_view_of(piece)) == out.len) {
        fail_msg("gave: %.*s\n  without: %s", (int)out.len, out.ptr, piece);
    }
}

static inline void has_not(const struct written *written, const char *piece)
{
    struct acog_view out = acog_buffer_view(&written->out);
    if (acog_view_find(out, acog_view_of(piece)) < out.len) {
        fail_msg("gave: %.*s\n  with: %s", (int)out.len, out.ptr, piece);
    }
}

static inline void dropped(const struct written *written, const char *names)
{
    struct acog_view given = written->translation.dropped;
    if (!acog_view_equal(given, acog_view_of(names))) {
        fail_msg("dropped: %.*s\n  want: %s", (int)given.len, given.ptr, names);
    }
}

static inline void forget(struct written *written)
{
    acog_arena_fini(&written->arena);
}

/* The whole body, for a client of messages and the default rules. */
static inline void messages_as(const char *body, const char *wanted)
{
    struct written written;
    start(&written);
    is_carried(&written, ACOG_SURFACE_MESSAGES, body);
    if (!acog_view_equal(acog_buffer_view(&written.out), acog_view_of(wanted))) {
        fail_msg("%s\n  gave: %.*s\n  want: %s", body, (int)written.out.len, written.out.ptr,
                 wanted);
    }
    forget(&written);
}

static inline void refused(enum acog_surface surface, const struct acog_model_rules *rules,
                           const char *body, const char *problem)
{
    struct written written;
    start(&written);
    written.rules = rules == NULL ? written.rules : *rules;
    carry(&written, surface, body);
    if (written.code != ACOG_INVALID || strstr(written.problem.text, problem) == NULL) {
        fail_msg("%s\n  gave: %s\n  want: %s", body,
                 written.code == ACOG_OK ? "(carried)" : written.problem.text, problem);
    }
    forget(&written);
}

#define AN(members)        "{\"model\":\"m\",\"max_tokens\":50," members "}"
#define TURNS(turns)       "\"messages\":[" turns "]"
#define USER(content)      "{\"role\":\"user\",\"content\":" content "}"
#define ASSISTANT(content) "{\"role\":\"assistant\",\"content\":" content "}"
#define TEXT(text)         "{\"type\":\"text\",\"text\":\"" text "\"}"
#define HI                 TURNS(USER("\"hi\""))
#define F                  "\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}]"
#define OUT(messages)      "{\"model\":\"gpt\",\"messages\":[" messages "],\"max_tokens\":50}"
#define IMAGE \
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBO\"}}"
#define IMAGE_OUT "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBO\"}}"
#define THOUGHT(signature) \
    "{\"type\":\"thinking\",\"thinking\":\"plan\",\"signature\":\"acog.chat.." signature "\"}"
#define THINKS_AND_CALLS(signature)                                           \
    ASSISTANT("[" THOUGHT(signature) ",{\"type\":\"tool_use\",\"id\":\"u1\"," \
                                     "\"name\":\"f\",\"input\":{}}]")         \
    "," USER("[{\"type\":\"tool_result\","                                    \
             "\"tool_use_id\":\"u1\",\"content\":\"r\"}]")

#endif
