/* chat_body.h - for the tests of what is read of a chat client's request: a body, and the conversation that it is. */
#ifndef ACOG_TESTS_UNIT_DIALECT_CHAT_BODY_H
#define ACOG_TESTS_UNIT_DIALECT_CHAT_BODY_H

#include "core/dialect/conversation.h"
#include "tests/support/check.h"
#include "tests/support/conversation_shown.h"

#include <string.h>

#define SHOWN_BYTES_MAX 65536

struct read {
    struct acog_arena arena;
    const struct acog_conversation *conversation;
    struct acog_request_problem problem;
    enum acog_code code;
};

static inline struct read read_body(const char *body)
{
    struct read read = {.conversation = NULL};
    acog_arena_init(&read.arena, 1U << 22U);
    read.code = acog_conversation_read(ACOG_SURFACE_CHAT, acog_view_of(body), &read.arena,
                                       &read.conversation, &read.problem);
    return read;
}

static inline struct read taken(const char *body)
{
    struct read read = read_body(body);
    if (read.code != ACOG_OK) {
        fail_msg("%s\n  gave: %s", body, read.problem.text);
    }
    return read;
}

static inline void forget(struct read *read)
{
    acog_arena_fini(&read->arena);
}

typedef void show(struct acog_buffer *out, const struct acog_conversation *conversation);

static inline void shown_as(show *shown, const char *body, const char *wanted)
{
    char memory[SHOWN_BYTES_MAX];
    struct acog_buffer out;
    struct read read = taken(body);
    acog_buffer_init_over(&out, memory, sizeof(memory));
    shown(&out, read.conversation);
    if (!acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted))) {
        fail_msg("%s\n  gave: %.*s\n  want: %s", body, (int)out.len, out.ptr, wanted);
    }
    forget(&read);
}

static inline void refused(const char *body, const char *problem)
{
    struct read read = read_body(body);
    if (read.code != ACOG_INVALID || strstr(read.problem.text, problem) == NULL) {
        fail_msg("%s\n  gave: %s\n  want: %s", body,
                 read.code == ACOG_OK ? "(taken)" : read.problem.text, problem);
    }
    forget(&read);
}

#define MESSAGES(list) "{\"model\":\"m\",\"messages\":[" list "]}"
#define HI             "{\"role\":\"user\",\"content\":\"hi\"}"
#define WITH(members)  "{\"model\":\"m\",\"messages\":[" HI "]," members "}"
#define CALL(id, name, arguments)                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\"," \
    "\"arguments\":\"" arguments "\"}}"
#define ASSISTANT_CALLS(calls) \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" calls "]}"
#define TOOL(id, content) \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" content "\"}"
#define FUNCTION(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"

#endif
