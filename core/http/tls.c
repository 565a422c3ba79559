/* tls.c - the certificate of a listener and the rules of its handshakes: an SSL_CTX that is replaced when its files
 * change. Handshakes that have begun keep the one they began with.
 *
 * The key of session tickets is a context's own and OpenSSL never renews it, so a context is also replaced when it is
 * old: who steals that key can read the TLS 1.2 sessions of half a day at most.
 */
#include "acog/contract.h"
#include "acog/memory.h"
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#define PATH_BYTES_MAX    1024
#define CONTEXT_MS_MAX    (INT64_C(12) * 60 * 60 * 1000)
#define SECURITY_LEVEL    2 /* 112 bits: RSA from 2048, no SHA-1 */
#define TICKETS_PER_SHAKE 1

static const char ciphers_1_2[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
static const char ciphers_1_3[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

enum file {
    ACOG_FILE_CERTIFICATE = 0,
    ACOG_FILE_KEY,
    ACOG_FILE_CLIENT_CA,
    ACOG_FILE_COUNT,
};

/* By what a changed file is known. All zero: there is none. */
struct sight {
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed;
};

struct acog_http_tls {
    char paths[ACOG_FILE_COUNT][PATH_BYTES_MAX]; /* "": none */
    enum acog_client_certificates client_certificates;
    enum acog_tls_version minimum;
    struct sight tried[ACOG_FILE_COUNT]; /* loaded or rejected */
    struct sight last[ACOG_FILE_COUNT];  /* of the last look */
    int64_t loaded_ms;
    pthread_mutex_t mutex; /* over `context`; held for a counter, never for a handshake */
    SSL_CTX *context;
};

/* -- rules ------------------------------------------------------------------------------------------------ */

/* A client that offers protocols without ours is told so, rather than served in one that it did not offer (RFC 7301). */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *offered, unsigned offered_length, void *user)
{
    static const unsigned char ours[] = "\x08http/1.1";
    (void)ssl;
    (void)user;
    for (unsigned at = 0; at < offered_length; at += 1U + offered[at]) {
        if (offered[at] == ours[0] && offered_length - at > ours[0] &&
            memcmp(offered + at + 1, ours + 1, ours[0]) == 0) {
            *out = offered + at + 1;
            *out_length = ours[0];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* A key with a password is refused: OpenSSL would ask for it at the terminal. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is OpenSSL's */
static int no_password(char *to, int room, int writing, void *user)
{
    (void)to;
    (void)room;
    (void)writing;
    (void)user;
    return -1;
}

static bool set_rules(const struct acog_http_tls *tls, SSL_CTX *context)
{
    static const unsigned char session_context[] = "acog";
    char groups[] = "X25519:P-256:P-384"; /* OpenSSL's macro knows no const */
    int oldest = TLS1_2_VERSION;
    switch (tls->minimum) {
    case ACOG_TLS_1_2:
        break;
    case ACOG_TLS_1_3:
        oldest = TLS1_3_VERSION;
        break;
    }
    (void)SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE |
                                           SSL_OP_PRIORITIZE_CHACHA);
    /* The chain is what the file says, not what could be made with the CAs of clients. Buffers are given back when they are empty: ten thousand idle clients would keep 340 MB of them. */
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(context, 1); /* one receive for a record, not one for its head too */
    SSL_CTX_set_security_level(context, SECURITY_LEVEL);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return SSL_CTX_set_min_proto_version(context, oldest) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, ciphers_1_2) == 1 &&
           SSL_CTX_set_ciphersuites(context, ciphers_1_3) == 1 &&
           SSL_CTX_set1_groups_list(context, groups) == 1 &&
           SSL_CTX_set_num_tickets(context, TICKETS_PER_SHAKE) == 1 &&
           SSL_CTX_set_session_id_context(context, session_context, sizeof(session_context) - 1) ==
               1;
}

/* -- files ------------------------------------------------------------------------------------------------ */

/* What OpenSSL says about a file; its reasons are constant texts and hold nothing of it. */
static bool reject(struct acog_error *error, const char *path)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    (void)acog_error_set(error, ACOG_INVALID, "\"%s\" cannot be used: %s", path,
                         reason != NULL ? reason : "it is no PEM file of this kind");
    return false;
}

static bool can_read(const char *path, struct acog_error *error)
{
    char text[128];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        (void)acog_error_set(error, ACOG_IO, "\"%s\" cannot be read: %s", path,
                             strerror_r(errno, text, sizeof(text)));
        return false;
    }
    (void)close(fd);
    return true;
}

static bool load_client_ca(const struct acog_http_tls *tls, SSL_CTX *context,
                           struct acog_error *error)
{
    const char *path = tls->paths[ACOG_FILE_CLIENT_CA];
    int mode = SSL_VERIFY_PEER;
    switch (tls->client_certificates) {
    case ACOG_CLIENT_CERTIFICATES_NONE:
        return true;
    case ACOG_CLIENT_CERTIFICATES_OPTIONAL:
        break;
    case ACOG_CLIENT_CERTIFICATES_REQUIRED:
        mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
        break;
    }
    if (!can_read(path, error)) {
        return false;
    }
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(path);
    if (names == NULL || SSL_CTX_load_verify_file(context, path) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return reject(error, path);
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, mode, NULL);
    /* A CA that is itself signed by another one is trusted when it stands in the file, as upstream. */
    return X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

static bool load_files(const struct acog_http_tls *tls, SSL_CTX *context, struct acog_error *error)
{
    const char *certificate = tls->paths[ACOG_FILE_CERTIFICATE];
    const char *key = tls->paths[ACOG_FILE_KEY];
    if (!can_read(certificate, error) || !can_read(key, error)) {
        return false;
    }
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) {
        return reject(error, certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return reject(error, key);
    }
    return load_client_ca(tls, context, error);
}

static SSL_CTX *load(const struct acog_http_tls *tls, struct acog_error *error)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL || !set_rules(tls, context)) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for TLS");
    } else if (load_files(tls, context, error)) {
        ERR_clear_error();
        return context;
    }
    SSL_CTX_free(context);
    ERR_clear_error();
    return NULL;
}

static void see(const struct acog_http_tls *tls, struct sight *seen)
{
    for (int i = 0; i < ACOG_FILE_COUNT; i++) {
        struct stat info;
        seen[i] = (struct sight){0};
        if (tls->paths[i][0] != '\0' && stat(tls->paths[i], &info) == 0) {
            seen[i] = (struct sight){.device = info.st_dev,
                                     .inode = info.st_ino,
                                     .bytes = info.st_size,
                                     .changed = info.st_mtim};
        }
    }
}

static bool are_same(const struct sight *a, const struct sight *b)
{
    for (int i = 0; i < ACOG_FILE_COUNT; i++) {
        if (a[i].device != b[i].device || a[i].inode != b[i].inode || a[i].bytes != b[i].bytes ||
            a[i].changed.tv_sec != b[i].changed.tv_sec ||
            a[i].changed.tv_nsec != b[i].changed.tv_nsec) {
            return false;
        }
    }
    return true;
}

/* -- for the threads that serve ---------------------------------------------------------------------------- */

static void replace(struct acog_http_tls *tls, SSL_CTX *context, int64_t now_ms)
{
    (void)pthread_mutex_lock(&tls->mutex);
    SSL_CTX *old = tls->context;
    tls->context = context;
    (void)pthread_mutex_unlock(&tls->mutex);
    tls->loaded_ms = now_ms;
    SSL_CTX_free(old);
}

struct ssl_st *acog_http_tls_session(struct acog_http_tls *tls)
{
    (void)pthread_mutex_lock(&tls->mutex);
    SSL_CTX *context = tls->context;
    int counted = SSL_CTX_up_ref(context);
    (void)pthread_mutex_unlock(&tls->mutex);
    ACOG_ASSERT(counted == 1);
    SSL *ssl = SSL_new(context);
    SSL_CTX_free(context);
    if (ssl != NULL) {
        SSL_set_accept_state(ssl);
    }
    return ssl;
}

/* -- birth and death --------------------------------------------------------------------------------------- */

static bool keep_path(struct acog_http_tls *tls, enum file file, struct acog_view path,
                      struct acog_error *error)
{
    if (path.len >= PATH_BYTES_MAX) {
        (void)acog_error_set(error, ACOG_TOO_BIG, "the path of a TLS file has more than %d bytes",
                             PATH_BYTES_MAX - 1);
        return false;
    }
    if (path.len > 0) {
        memcpy(tls->paths[file], path.ptr, path.len);
    }
    return true;
}

struct acog_http_tls *acog_http_tls_new(const struct acog_tls_rules *rules, int64_t now_ms,
                                        struct acog_error *error)
{
    struct acog_http_tls *tls = acog_new(sizeof(*tls));
    if (tls == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for TLS");
        return NULL;
    }
    (void)pthread_mutex_init(&tls->mutex, NULL);
    tls->client_certificates = rules->client_certificates;
    tls->minimum = rules->minimum;
    tls->loaded_ms = now_ms;
    if (keep_path(tls, ACOG_FILE_CERTIFICATE, rules->certificate_file, error) &&
        keep_path(tls, ACOG_FILE_KEY, rules->key_file, error) &&
        keep_path(tls, ACOG_FILE_CLIENT_CA, rules->client_ca_file, error)) {
        see(tls, tls->tried); /* before they are read: a change from now on is seen */
        memcpy(tls->last, tls->tried, sizeof(tls->last));
        tls->context = load(tls, error);
    }
    if (tls->context == NULL) {
        acog_http_tls_free(&tls);
    }
    return tls;
}

void acog_http_tls_free(struct acog_http_tls **tls)
{
    struct acog_http_tls *gone = *tls;
    *tls = NULL;
    if (gone == NULL) {
        return;
    }
    SSL_CTX_free(gone->context);
    (void)pthread_mutex_destroy(&gone->mutex);
    acog_free(gone);
}

enum acog_http_tls_news acog_http_tls_look(struct acog_http_tls *tls, int64_t now_ms,
                                           struct acog_error *error)
{
    struct sight seen[ACOG_FILE_COUNT];
    see(tls, seen);
    bool steady = are_same(seen, tls->last);
    bool changed = !are_same(seen, tls->tried);
    memcpy(tls->last, seen, sizeof(seen));
    bool old = now_ms - tls->loaded_ms >= CONTEXT_MS_MAX;
    if (changed ? !steady : !old) {
        return ACOG_HTTP_TLS_SAME;
    }
    memcpy(tls->tried, seen, sizeof(seen));
    SSL_CTX *context = load(tls, error);
    if (context != NULL) {
        replace(tls, context, now_ms);
        return changed ? ACOG_HTTP_TLS_LOADED : ACOG_HTTP_TLS_SAME;
    }
    tls->loaded_ms = now_ms; /* files that were rejected are not tried again each second */
    return changed ? ACOG_HTTP_TLS_REJECTED : ACOG_HTTP_TLS_SAME;
}
