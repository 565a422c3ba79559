/* engine_rows.h - a snapshot built by hand, for tests of what reads one without loading a configuration.
 *
 *     struct engine_rows *rows = engine_rows_new(ENGINE_POLICY_ACOG);
 *     struct acog_connection *a = engine_rows_connection(rows, "a", ACOG_CHANNEL_DIRECT);
 *     engine_rows_candidate(rows, a, "claude-haiku-4-5");
 *     ... acog_engine_step(&rows->snapshot, &rows->shared, ...)
 *     engine_rows_free(&rows);
 *
 * The five policies are those of CONFORMANCE part D, in rows. Everything may be changed by the test afterwards.
 * A policy has no `match` function here: a model reaches the candidates that declare exactly it.
 */
#ifndef ACOG_TESTS_SUPPORT_ENGINE_ROWS_H
#define ACOG_TESTS_SUPPORT_ENGINE_ROWS_H

#include "acog/shared.h"
#include "acog/snapshot.h"

#include <stddef.h>

#define ENGINE_CONNECTIONS_MAX 16
#define ENGINE_CANDIDATES_MAX  80 /* more than a plan takes */
#define ENGINE_TAKES_OVER_MAX  4
#define ENGINE_CELLS_MAX       128

/* NOLINTBEGIN(readability-identifier-naming): names of the tests, not of the library */
enum engine_policy {
    ENGINE_POLICY_ACOG = 0,
    ENGINE_POLICY_ROUTERPLUS,
    ENGINE_POLICY_ROLTER,
    ENGINE_POLICY_KONTINENT,
    ENGINE_POLICY_ONEROUTER,
};

/* NOLINTEND(readability-identifier-naming) */

struct engine_rows {
    struct acog_snapshot snapshot;
    struct acog_shared shared;
    struct acog_connection connections[ENGINE_CONNECTIONS_MAX];
    struct acog_candidate candidates[ENGINE_CANDIDATES_MAX];
    struct acog_takes_over takes_over[ENGINE_CONNECTIONS_MAX][ENGINE_TAKES_OVER_MAX];
    struct acog_circuit_cell circuits[ENGINE_CELLS_MAX];
    struct acog_spread_cell spreads[ENGINE_CELLS_MAX];
};

/* Stops the test when there is no memory. */
struct engine_rows *engine_rows_new(enum engine_policy policy);
void engine_rows_free(struct engine_rows **rows);

/* Speaks chat, messages and responses, weight 1, maker "maker". `id` must outlive the rows. */
struct acog_connection *engine_rows_connection(struct engine_rows *rows, const char *id,
                                               enum acog_channel channel);

/* Declares `model` under itself as family and sent id, without a price. Its circuit is the one of the policy's
 * `health.key`: the policy must be final. */
struct acog_candidate *engine_rows_candidate(struct engine_rows *rows,
                                             const struct acog_connection *connection,
                                             const char *model);

/* A connection with one candidate. */
struct acog_candidate *engine_rows_add(struct engine_rows *rows, const char *id,
                                       enum acog_channel channel, const char *model);

/* "refusal:hate": makes the connection a restricted target (S1.2). */
void engine_rows_takes_over(struct engine_rows *rows, const char *id, const char *failure);

struct acog_connection *engine_rows_find(struct engine_rows *rows, const char *id);

/* The circuit and the counters of the connection's first candidate. */
struct acog_circuit_cell *engine_rows_circuit(struct engine_rows *rows, const char *id);
struct acog_spread_cell *engine_rows_spread(struct engine_rows *rows, const char *id);

/* engine_policies.c: the rows of one policy. */
void engine_policy_fill(struct acog_policy *policy, enum engine_policy which);

#endif
