/* engine_world.h - a driver of the engine in virtual time: scripted upstreams, one request after the other.
 *
 * Each connection plays its replies in turn, and answers well when it has none left. A reply comes `after_ms`, or the
 * engine's deadline comes first. world_run() drives one request to its end and keeps what the engine said.
 */
#ifndef ACOG_TESTS_SUPPORT_ENGINE_WORLD_H
#define ACOG_TESTS_SUPPORT_ENGINE_WORLD_H

#include "acog/engine.h"
#include "tests/support/engine_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORLD_REPLIES_MAX 16 /* of one connection */

enum world_reply_kind {
    ACOG_WORLD_ANSWERS = 0,       /* head, first event, text, end, all at once */
    ACOG_WORLD_FAILS,             /* .failure */
    ACOG_WORLD_DIES_AFTER_OUTPUT, /* text, then .failure */
};

struct world_reply {
    enum world_reply_kind kind;
    int64_t after_ms;
    struct acog_failure failure;
};

struct world_script {
    struct world_reply replies[WORLD_REPLIES_MAX];
    size_t count;
    size_t played;
};

/* Answers the engine's questions; `user` is the test's. */
typedef void world_answers(void *user, const struct acog_ask *ask, struct acog_answer *answer);

struct world {
    struct engine_rows *rows; /* owned */
    struct world_script scripts[ENGINE_CONNECTIONS_MAX];
    struct acog_request request;
    struct acog_plan_row plan[ACOG_PLAN_MAX]; /* lent to `request` */
    struct acog_actions actions;              /* of the last step */
    int64_t now_ms;
    uint64_t seed;
    world_answers *answers; /* NULL: the policy asks nothing */
    void *user;
    int64_t client_leaves_ms; /* since the request's arrival; 0: it stays */
    /* of the last request */
    char tried[256]; /* "a,b,a" */
    size_t waits;
    bool answered; /* END_REPLY came */
    bool replayed;
    bool has_error;
    struct acog_error_answer error;
    bool failed_stream;
    bool lost;
    uint32_t committed_attempt;
    uint32_t cancels;
};

struct world *world_new(enum engine_policy policy);
void world_free(struct world **world);

/* Whole answers on the messages surface. */
struct acog_request_facts world_facts(const char *model);

void world_reply(struct world *world, const char *id, struct world_reply reply);
/* `times` answers of that status. */
void world_status(struct world *world, const char *id, uint16_t status, size_t times);
void world_cause(struct world *world, const char *id, enum acog_cause cause, size_t times);
void world_shape(struct world *world, const char *id, uint16_t status, enum acog_shape shape,
                 const char *code);
/* An answer that comes so late. */
void world_late(struct world *world, const char *id, int64_t after_ms);
void world_forget_scripts(struct world *world);

/* From ARRIVED to FINISH. */
void world_run(struct world *world, const struct acog_request_facts *facts);

/* One event into the current request, by hand. */
void world_step(struct world *world, const struct acog_event *event);
/* ARRIVED, by hand. `facts` must outlive the request. */
void world_arrive(struct world *world, const struct acog_request_facts *facts);
/* An event without more than its type and attempt, at world.now_ms. */
void world_event(struct world *world, enum acog_event_type type, uint32_t attempt);
/* True when the last step said so. */
bool world_said(const struct world *world, enum acog_action_type type);

/* The limit of a clock in the attempt (1-based) of the last request. */
int64_t world_limit(const struct world *world, uint32_t attempt, enum acog_clock clock);
/* The sum of all connections. */
uint32_t world_in_flight(const struct world *world);

#endif
