/* certificates.c - a timer, and a log line for each change. */
#include "certificates.h"

#include "acog/contract.h"
#include "service.h"

#include <event2/event.h>

#define LOOK_S 1

void acog_certificates_init(struct acog_certificates *certificates, struct acog_log *log)
{
    *certificates = (struct acog_certificates){.log = log};
}

void acog_certificates_fini(struct acog_certificates *certificates)
{
    if (event_initialized(&certificates->look) != 0) {
        (void)event_del(&certificates->look);
    }
    for (size_t i = 0; i < certificates->count; i++) {
        acog_http_tls_free(&certificates->rows[i].tls);
    }
    certificates->count = 0;
}

enum acog_code acog_certificates_load(struct acog_certificates *certificates, const char *listener,
                                      const struct acog_tls_rules *rules, int64_t now_ms,
                                      struct acog_http_tls **tls, struct acog_error *error)
{
    *tls = NULL;
    if (rules->certificate_file.len == 0) {
        return ACOG_OK;
    }
    ACOG_ASSERT(certificates->count < ACOG_CERTIFICATES_MAX);
    *tls = acog_http_tls_new(rules, now_ms, error);
    if (*tls == NULL) {
        return error->code;
    }
    certificates->rows[certificates->count].listener = listener;
    certificates->rows[certificates->count].file = rules->certificate_file;
    certificates->rows[certificates->count].tls = *tls;
    certificates->count++;
    return ACOG_OK;
}

static void look_at(const struct acog_certificates *certificates, size_t row)
{
    struct acog_error error = {.code = ACOG_OK};
    enum acog_http_tls_news news =
        acog_http_tls_look(certificates->rows[row].tls, acog_now_ms(), &error);
    const struct acog_log_field fields[] = {
        acog_log_text("listener", acog_view_of(certificates->rows[row].listener)),
        acog_log_text("file", certificates->rows[row].file),
        acog_log_text("why", acog_view_of(error.text)), /* of a rejection */
    };
    size_t count = sizeof(fields) / sizeof(fields[0]);
    switch (news) {
    case ACOG_HTTP_TLS_SAME:
        return;
    case ACOG_HTTP_TLS_LOADED:
        acog_log_write(certificates->log, ACOG_LOG_INFO, "certificate_loaded", fields, count - 1);
        return;
    case ACOG_HTTP_TLS_REJECTED:
        acog_log_write(certificates->log, ACOG_LOG_ERROR, "certificate_rejected", fields, count);
        return;
    }
}

static void on_look(evutil_socket_t fd, short what, void *user)
{
    (void)fd;
    (void)what;
    const struct acog_certificates *certificates = user;
    for (size_t i = 0; i < certificates->count; i++) {
        look_at(certificates, i);
    }
}

enum acog_code acog_certificates_watch(struct acog_certificates *certificates,
                                       struct event_base *base, struct acog_error *error)
{
    const struct timeval every = {.tv_sec = LOOK_S};
    if (certificates->count == 0) {
        return ACOG_OK;
    }
    if (event_assign(&certificates->look, base, -1, EV_PERSIST, on_look, certificates) != 0 ||
        event_add(&certificates->look, &every) != 0) {
        return acog_error_set(error, ACOG_IO, "no timer for certificates");
    }
    return ACOG_OK;
}
