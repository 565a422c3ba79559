/* certificates.h - the certificates of the gateway's listeners: loaded at the start, looked at once a second, replaced
 * when their files change. On the main thread. */
#ifndef ACOG_GATEWAY_CERTIFICATES_H
#define ACOG_GATEWAY_CERTIFICATES_H

#include "acog/error.h"
#include "acog/http.h"
#include "acog/log.h"
#include "acog/snapshot.h"

#include <stddef.h>
#include <stdint.h>

#include <event2/event_struct.h>

#define ACOG_CERTIFICATES_MAX 2 /* `listen` and `admin` */

struct acog_certificates {
    struct acog_log *log; /* lent */
    struct event look;
    size_t count;

    struct {
        const char *listener;  /* "listen", "admin" */
        struct acog_view file; /* lent: of the snapshot */
        struct acog_http_tls *tls;
    } rows[ACOG_CERTIFICATES_MAX];
};

void acog_certificates_init(struct acog_certificates *certificates, struct acog_log *log);
/* Not before the servers that listen with them are freed. */
void acog_certificates_fini(struct acog_certificates *certificates);

/* *tls is NULL for a listener without TLS, else lent until the end. `listener` is a constant text. */
enum acog_code acog_certificates_load(struct acog_certificates *certificates, const char *listener,
                                      const struct acog_tls_rules *rules, int64_t now_ms,
                                      struct acog_http_tls **tls,
                                      struct acog_error *error) ACOG_MUST_CHECK;

/* From now on the files are looked at once a second. */
enum acog_code acog_certificates_watch(struct acog_certificates *certificates,
                                       struct event_base *base,
                                       struct acog_error *error) ACOG_MUST_CHECK;

#endif
