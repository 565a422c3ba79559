/* compile.h - from the table that acog.gateway returned to the rows of a snapshot.
 *
 *   gateway.c     the top level, limits              listener.c  where it listens
 *   connection.c  connections                         models.c    their models
 *   model_rules.c what a model takes
 *   endpoint.c    addresses                           reply.c     `simulate`
 *   policy.c      the policy's plain fields          classes.c   classify rows and class table
 *   clocks.c      clocks                             answers.c   errors, stream errors, response headers
 *   filters.c     filters and order                  candidates.c  match, circuits, the list of models
 *   bodies.c      the forms of error bodies          dedicated.c dedicated endpoints
 *   dlp.c         data protection rules              access.c    who may use which models
 *   checks.c      what only shows when all is there (CONFORMANCE D18), and what is derived from it
 *   lints.c       what can never happen or never work: warnings
 *
 * They read with reader.h (reader.c a value, fields.c a record; nearest.h what a wrong word may have meant) and find
 * things wrong with report.h. All of it runs inside one protected call; findings are collected, only a lack of memory
 * raises.
 *
 * Around it: load.h runs a configuration (sources.h reads its files) and compiles it into a snapshot (loaded.h,
 * snapshot.c). Afterwards each worker runs the same bytes once more for its functions (state.h), and answer.c answers
 * the engine's questions with them (objects.h what they see, match.h and memo.h for `match`, reasons.h).
 */
#ifndef ACOG_POLICY_COMPILE_H
#define ACOG_POLICY_COMPILE_H

#include "acog/policy.h"
#include "acog/provider.h"
#include "loaded.h"
#include "reader.h"

#include <lua.h>

#define SLOTS_MAX          1024
#define CONNECTIONS_MAX    512
#define CANDIDATES_MAX     8192
#define MODEL_ID_BYTES_MAX 256
#define MATCH_INSTRUCTIONS ((int64_t)200 * 1000 * 1000) /* of making the matcher, for all models */
#define CALL_INSTRUCTIONS  ((int64_t)2 * 1000 * 1000)   /* of one call of a policy's function */

struct compile_options {
    const char *(*env)(void *user, const char *name); /* NULL: secrets are left empty, unread */
    void *env_user;
    bool missing_env_is_warning;
    bool offline; /* upstreams are never dialled: an address is not needed */
};

struct compile {
    struct reader reader; /* the first member: what ACOG_FIELD_CUSTOM functions are given */
    struct acog_loaded *loaded;
    struct acog_snapshot *snapshot;
    struct acog_shared *shared; /* NULL: for a worker's functions only, no cells are taken */
    const struct compile_options *options;
    int functions; /* stack index: the list of slot functions */
    int objects;   /* stack index: the list of connection objects */
    int rules;     /* stack index: what `rules` says of each candidate's model */
    struct loaded_slot *slots;
    size_t slot_count;
    struct acog_connection *connections;
    const char **places; /* of each connection */
    size_t connection_count;
    struct acog_candidate *candidates;
    int64_t *contexts;
    size_t candidate_count;
    size_t candidate_room;
    uint16_t connection; /* the one being read */
    const char *policy_place;
    int match; /* stack index of the policy's `match`, 0: none */
    int match_options;
};

static inline struct compile *compile_of(struct reader *reader)
{
    return (struct compile *)reader;
}

/* Compiles the gateway object at `index`. Findings are in the report. */
void compile_gateway(struct compile *compile, int index);

void compile_connections(struct compile *compile, int index);
void compile_models(struct reader *reader, int index, void *connection);
/* A model's `rules`, kept for the next candidate; and the rules of all candidates from `first` on, once the connection's
 * dialects are known. */
void compile_keep_rules(struct reader *reader, int index, void *target);
void compile_model_rules(struct compile *compile, size_t first);
void compile_policy(struct compile *compile, int index);
void compile_candidates(struct compile *compile);
void compile_checks(struct compile *compile);
void compile_check_dedicated(struct compile *compile);
/* Warnings. The first leaves the root of the path at the policy, the second moves it. */
void compile_policy_lints(struct compile *compile);
void compile_model_lints(struct compile *compile);

/* Notes the function at `index` and returns its number. `name` is a text for errors. */
uint16_t compile_slot(struct compile *compile, int index, enum acog_slot_kind kind,
                      const char *name);

/* Whether a text can be an id: 1 to `bytes_max` bytes, no spaces or control characters. */
bool compile_id_is_sane(struct acog_view id, size_t bytes_max);

/* ACOG_FIELD_CUSTOM functions; the target of the first two is the connection, of the others the policy. */
void compile_base_url(struct reader *reader, int index, void *target);
void compile_simulate(struct reader *reader, int index, void *target);
void compile_filters(struct reader *reader, int index, void *target);
void compile_order(struct reader *reader, int index, void *target);
void compile_classify(struct reader *reader, int index, void *target);
void compile_classes(struct reader *reader, int index, void *target);
void compile_clocks(struct reader *reader, int index, void *target);
void compile_errors(struct reader *reader, int index, void *target);
void compile_stream_error(struct reader *reader, int index, void *target);
void compile_error_body(struct reader *reader, int index, void *target);
/* Whether a policy may know of a header; else a finding. */
bool compile_header_tells_no_secret(struct reader *reader, struct acog_view name);

void compile_access(struct reader *reader, int index, void *target);
void compile_dlp(struct reader *reader, int index, void *target);
void compile_dedicated(struct reader *reader, int index, void *target);
void compile_aliases(struct reader *reader, int index, void *target);
void compile_response_headers(struct reader *reader, int index, void *target);

/* Sets the condition texts and the end of streams that hold when a policy says nothing. */
void compile_default_answers(struct acog_policy *policy);

/* "127.0.0.1:4000", "[::1]:4000", "unix:/path". */
bool compile_address(struct reader *reader, int index, struct acog_listener *listener);
/* Such a text, or a table with TLS. */
bool compile_listener(struct reader *reader, int index, struct acog_listener *listener);
/* Strangers do not get in: it is local, or asks for client certificates. */
bool listener_is_private(const struct acog_listener *listener);

extern const struct words tls_minimums; /* enum acog_tls_version */

/* Fills in endpoint.pool_key from the rest. */
void compile_pool_key(struct compile *compile, struct acog_endpoint *endpoint);
/* Says which files of `endpoint` cannot be read here: as of a missing key, `acog check` only warns. */
void compile_check_files(struct compile *compile, const struct acog_endpoint *endpoint);

/* -- for the reference's test: every record that can be written, and its fields --------------------- */

struct record {
    const char *name;
    const struct field *fields;
    size_t count;
};

extern const struct record answer_records[]; /* error, stream_error, response header */
extern const struct record class_records[];  /* classify row, class */
extern const struct record clock_record;
extern const struct record connection_record;
extern const struct record dedicated_record;
extern const struct record access_record;
extern const struct record dlp_record;
extern const struct record listener_record;
extern const struct record model_record;
extern const struct record model_rules_record;
extern const struct record filter_record;
extern const struct record gateway_records[]; /* gateway, limits */
extern const struct record policy_record;
extern const struct record reply_record;

#endif
