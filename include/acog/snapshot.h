/* snapshot.h - one loaded configuration, compiled into rows: connections, candidates, what is served, and the policy
 * (policy_rows.h).
 *
 * core/policy makes it at load (acog_policy_load) and nobody changes it afterwards; requests hold it by
 * reference until they end, so a reload never touches a request in flight. The engine reads the rows, the
 * exchange reads names and texts, core/upstream reads endpoints and keys. Everything it points to lives in its
 * arena. Times are milliseconds, sizes bytes, unless the name says otherwise.
 */
#ifndef ACOG_SNAPSHOT_H
#define ACOG_SNAPSHOT_H

#include "acog/header.h"
#include "acog/model_rules.h"
#include "acog/names.h"
#include "acog/policy_rows.h"
#include "acog/tls.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_PLAN_MAX 64 /* candidates of one request; more is a load error */
#define ACOG_NO_CELL  0xffffU

struct acog_provider_script; /* provider.h */

/* -- D1: where a request can go -------------------------------------------------------------------- */

/* The address of an upstream. Only the configuration writes it (B108). */
struct acog_endpoint {
    bool tls;
    struct acog_view host; /* without brackets, lower case */
    uint16_t port;
    struct acog_view
        base_path; /* "" or "/v1": put before the surface's path, see core/upstream/direct.c */
    struct acog_view unix_socket; /* absolute path, or empty */
    struct acog_view proxy; /* "http://host:port", or empty: none; the environment is never asked */
    struct acog_view ca_file;                 /* PEM; empty: the system's trust store */
    struct acog_view client_certificate_file; /* PEM, or empty */
    struct acog_view client_key_file;
    enum acog_tls_version tls_minimum;
    struct acog_view pool_key; /* equal for endpoints that may share connections */
};

enum acog_usable {
    ACOG_USABLE_YES = 0,
    ACOG_USABLE_NO,       /* `usable = false`: refused before sending (S4.13) */
    ACOG_USABLE_FUNCTION, /* slot: asked for each request */
};

/* One failure that a restricted target takes over (S1.2). `category` is empty for any. */
struct acog_takes_over {
    struct acog_view
        name; /* "refusal", "throttled", "timeout", …: compared with the class row's `takeover` */
    struct acog_view category; /* of "refusal:hate": "hate", lower case with '_' */
};

struct acog_connection {
    struct acog_view id;
    enum acog_channel channel;
    unsigned dialects;      /* ACOG_BIT(dialect) */
    struct acog_view maker; /* "anthropic", "openai", … or empty */
    struct acog_view region;
    bool is_default;
    bool slow;       /* slow but usually answers (S2.12) */
    bool aggregator; /* (S0.63) */
    uint32_t weight; /* at least 1 */
    int32_t priority;
    enum acog_usable usable;
    uint16_t usable_slot;
    struct acog_view usable_reason;           /* for ACOG_USABLE_NO */
    const struct acog_takes_over *takes_over; /* a connection with one is restricted (S1.2) */
    size_t takes_over_count;
    struct acog_endpoint endpoint;
    struct acog_view key;                  /* secret: only core/upstream reads it; never rendered */
    const struct acog_header_row *headers; /* sent with every request */
    size_t header_count;
    const struct acog_view *betas; /* anthropic-beta values let through; NULL: all (B103) */
    size_t beta_count;
    const struct acog_provider_script *simulate; /* NULL: a real upstream */
    struct acog_view reserved_for; /* the endpoint whose capacity it is (S0.16); empty: public */
    uint16_t spread_cell;          /* acog_shared: in flight, first output */
};

/* A model that a connection declared: what a plan is made of. Rows stand in catalogue order. */
struct acog_candidate {
    uint16_t connection;       /* index into snapshot.connections */
    struct acog_view declared; /* the id as declared */
    struct acog_view send_id; /* the id sent upstream, unless the policy sends the client's (C-4) */
    struct acog_view
        family; /* what the policy's `match` reads as the model without stamp and wrapping */
    struct acog_view maker; /* the connection's, or what `match` reads from the id */
    bool reasoning;
    bool priced;
    double input_price;            /* USD a million tokens */
    double output_price;           /* USD a million tokens */
    int64_t max_output_tokens;     /* -1: unknown */
    uint16_t circuit_cell;         /* acog_shared: by the policy's `health.key` */
    struct acog_model_rules rules; /* what a translation asks */
};

/* -- what is served -------------------------------------------------------------------------------- */

struct acog_listener {
    struct acog_view host; /* "127.0.0.1", "::1", …; empty for a unix socket */
    uint16_t port;         /* 0: the system picks one, and the READY line tells it */
    struct acog_view unix_socket;
    struct acog_tls_rules tls;
};

/* DESIGN, "Defaults of caps"; the names are the configuration's (`limits = { … }`). */
struct acog_limits {
    size_t head_bytes;       /* 64 KB */
    size_t headers;          /* 100 */
    size_t body_bytes;       /* 32 MB */
    size_t json_depth;       /* 128 */
    size_t event_bytes;      /* 8 MB */
    size_t answer_bytes;     /* 64 MB: a whole answer, decoded */
    size_t connections;      /* 10,000 in all workers */
    size_t pool_idle;        /* 64 per upstream and worker */
    size_t records;          /* 1,000 decision records kept in memory; 0: none */
    int64_t keep_alive_ms;   /* 75 s */
    int64_t head_ms;         /* 10 s */
    int64_t body_ms;         /* 60 s between reads */
    int64_t drain_ms;        /* 30 s */
    size_t write_high_bytes; /* 256 KB queued for a client: the upstream is paused */
};

struct acog_listed_model { /* a row of GET /v1/models */
    struct acog_view id;
    struct acog_view owned_by; /* the maker, or "acog" */
};

struct acog_source { /* a Lua file that was read, so that each worker runs the very same bytes */
    struct acog_view name; /* as `require` knows it, "" for the configuration itself */
    struct acog_view path; /* for messages */
    struct acog_view text;
};

struct acog_snapshot {
    struct acog_view hash; /* 16 hex digits over all sources */
    struct acog_listener listen;
    struct acog_listener admin;
    bool has_admin;
    uint32_t workers; /* 0: one for each processor */
    struct acog_limits limits;
    const struct acog_connection *connections;
    size_t connection_count;
    const struct acog_candidate *candidates; /* catalogue order */
    size_t candidate_count;
    const struct acog_listed_model *models;
    size_t model_count;
    const struct acog_view
        *client_headers; /* lower case: what a policy function may read of a request */
    size_t client_header_count;
    struct acog_policy policy;
    const struct acog_source *sources;
    size_t source_count;
};

/* Shared by reference; the last unref frees it. Both are safe from any thread. Defined in core/policy. */
struct acog_snapshot *acog_snapshot_ref(struct acog_snapshot *snapshot);
void acog_snapshot_unref(struct acog_snapshot **snapshot);

#endif
