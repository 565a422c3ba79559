/* messages_request.h - for the tests of what is sent to Anthropic: a request of another dialect, and what becomes of it.
 * Bodies have ' for ". */
#ifndef ACOG_TESTS_UNIT_DIALECT_MESSAGES_REQUEST_H
#define ACOG_TESTS_UNIT_DIALECT_MESSAGES_REQUEST_H

#include "acog/translate.h"
#include "tests/support/check.h"
#include "tests/support/quotes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_MAX ((size_t)1 << 16U)

struct run {
    struct acog_arena arena;
    struct acog_buffer out;
    struct acog_model_rules rules;
    struct acog_translation translation;
    struct acog_request_problem problem;
    struct acog_json_value sent;
    enum acog_code code;
    char *body;
};

/* Haiku, as the cases have it: classic sampling, thinking by a budget. */
static inline struct acog_model_rules haiku(void)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.thinking = ACOG_THINKING_BUDGET;
    rules.schema = ACOG_SCHEMA_NATIVE;
    rules.largest_output_tokens = 64000;
    return rules;
}

/* The newest: its own temperature only, adaptive thinking, system turns anywhere. */
static inline struct acog_model_rules opus(void)
{
    struct acog_model_rules rules = acog_model_rules_default(ACOG_DIALECT_MESSAGES);
    rules.temperature = false;
    rules.top_k = false;
    rules.thinking = ACOG_THINKING_ADAPTIVE;
    rules.efforts = ACOG_BIT(ACOG_EFFORT_LOW) | ACOG_BIT(ACOG_EFFORT_MEDIUM) |
                    ACOG_BIT(ACOG_EFFORT_HIGH) | ACOG_BIT(ACOG_EFFORT_MAX);
    rules.schema = ACOG_SCHEMA_NATIVE;
    rules.system_anywhere = true;
    return rules;
}

static inline struct run translate(enum acog_surface surface, struct acog_model_rules rules,
                                   const char *body)
{
    struct run run = {.rules = rules, .body = with_quotes(body)};
    const struct acog_conversation *conversation = NULL;
    struct acog_json_error error;
    run.translation = (struct acog_translation){.client = acog_surface_dialect(surface),
                                                .upstream = ACOG_DIALECT_MESSAGES,
                                                .rules = &run.rules,
                                                .model = {"claude-x", 8},
                                                .request_id = {"r1", 2},
                                                .max_tokens = -1};
    acog_arena_init(&run.arena, (size_t)1 << 20U);
    acog_buffer_init(&run.out, BODY_BYTES_MAX);
    run.code = acog_conversation_read(surface, acog_view_of(run.body), &run.arena, &conversation,
                                      &run.problem);
    if (run.code == ACOG_OK) {
        run.code =
            acog_conversation_fits(conversation, ACOG_DIALECT_MESSAGES, &run.rules, &run.problem);
    }
    if (run.code == ACOG_OK) {
        run.code = acog_conversation_write(conversation, &run.translation, &run.arena, &run.out);
        assert_int_equal(run.code, ACOG_OK);
        if (acog_json_check(acog_buffer_view(&run.out), 128, &run.sent, &error) != ACOG_OK) {
            fail_msg("%.*s\n%s at %zu", ACOG_VIEW_FMT(acog_buffer_view(&run.out)), error.what,
                     error.offset);
        }
    }
    return run;
}

static inline void end(struct run *run)
{
    acog_arena_fini(&run->arena);
    acog_buffer_fini(&run->out);
    free(run->body);
}

/* The member at a path is that text; NULL: it is not there. */
static inline void holds(const struct run *run, const char *path, const char *expected)
{
    struct acog_json_value value = {.type = ACOG_JSON_NULL};
    if (run->code != ACOG_OK) {
        fail_msg("%s\nis refused: %s", run->body, run->problem.text);
    }
    bool there = acog_json_path(run->sent, acog_view_of(path), &value);
    char *wanted = expected == NULL ? NULL : with_quotes(expected);
    if (there != (wanted != NULL) || (there && !acog_view_equal(value.raw, acog_view_of(wanted)))) {
        struct acog_view seen = there ? value.raw : ACOG_VIEW("absent");
        fail_msg("%s\n%s is %.*s\nnot %s", run->body, path, ACOG_VIEW_FMT(seen),
                 wanted == NULL ? "absent" : wanted);
    }
    free(wanted);
}

static inline void drops(const struct run *run, const char *names)
{
    if (!acog_view_equal(run->translation.dropped, acog_view_of(names))) {
        fail_msg("%s\ndrops %.*s\nnot %s", run->body, ACOG_VIEW_FMT(run->translation.dropped),
                 names);
    }
}

static inline void chat_is_refused(struct acog_model_rules rules, const char *body,
                                   const char *problem)
{
    struct run run = translate(ACOG_SURFACE_CHAT, rules, body);
    if (run.code != ACOG_INVALID || strstr(run.problem.text, problem) == NULL) {
        fail_msg("%s\ncode %d, problem %s", body, (int)run.code, run.problem.text);
    }
    end(&run);
}

/* The messages that are sent for those of a chat request. */
static inline void chat_says(struct acog_model_rules rules, const char *messages,
                             const char *expected)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{'model':'m','messages':[%s]}", messages);
    struct run run = translate(ACOG_SURFACE_CHAT, rules, body);
    holds(&run, "messages", expected);
    end(&run);
}

/* What is sent for a chat request of one message and `more`. */
static inline struct run chat_with(struct acog_model_rules rules, const char *more)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{'model':'m','messages':[{'role':'user','content':'x'}]%s}",
                   more);
    return translate(ACOG_SURFACE_CHAT, rules, body);
}

static inline size_t occurrences(struct acog_view text, struct acog_view word)
{
    size_t count = 0;
    size_t at = acog_view_find(text, word);
    while (at < text.len) {
        count++;
        text = acog_view_slice(text, at + word.len, text.len);
        at = acog_view_find(text, word);
    }
    return count;
}

#define CALL(id, name, arguments) \
    "{'id':'" id "','type':'function','function':{'name':'" name "','arguments':'" arguments "'}}"
#define TOOL(name) \
    "{'type':'function','function':{'name':'" name "','parameters':{'type':'object'}}}"

#endif
