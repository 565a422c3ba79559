/* trust.c - loading a bundle costs 20 to 55 ms of CPU, and libcurl would do it for each new connection.
 *
 * The system's store is OpenSSL's default one (SSL_CERT_FILE and SSL_CERT_DIR are honoured). It is loaded with the
 * first TLS connection, not at the start, which it would double.
 */
#include "trust.h"

#include "acog/contract.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#define STORES_MAX   16 /* more CA files than that, and some are loaded again */
#define PATH_MAX_LEN 1024

struct trust_row {
    char path[PATH_MAX_LEN]; /* "" for the system's */
    struct timespec changed;
    off_t bytes;
    ino_t inode;
    X509_STORE *store; /* NULL: the row is free */
};

/* Process-wide as the API is (acog_upstream_global_init); everything under the mutex. */
static struct {
    pthread_mutex_t mutex;
    struct trust_row rows[STORES_MAX];
    size_t next; /* the row that is given up when all are used */
} trust = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void acog_trust_init(void)
{
    acog_trust_fini();
}

void acog_trust_fini(void)
{
    (void)pthread_mutex_lock(&trust.mutex);
    for (size_t i = 0; i < STORES_MAX; i++) {
        X509_STORE_free(trust.rows[i].store);
    }
    memset(trust.rows, 0, sizeof(trust.rows));
    trust.next = 0;
    (void)pthread_mutex_unlock(&trust.mutex);
}

static X509_STORE *load(const char *path, struct acog_error *error)
{
    X509_STORE *store = X509_STORE_new();
    if (store == NULL) {
        (void)acog_error_set(error, ACOG_NO_MEMORY, "no memory for a trust store");
        return NULL;
    }
    int loaded =
        path[0] == '\0' ? X509_STORE_set_default_paths(store) : X509_STORE_load_file(store, path);
    /* A CA that is itself signed by another one is trusted when it stands in the store, as libcurl does it. */
    if (loaded != 1 || X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) != 1) {
        X509_STORE_free(store);
        store = NULL;
        if (path[0] == '\0') {
            (void)acog_error_set(error, ACOG_IO, "the system's CA certificates cannot be loaded");
        } else {
            (void)acog_error_set(error, ACOG_IO, "no CA certificate can be read from \"%s\"", path);
        }
    }
    ERR_clear_error();
    return store;
}

static bool is_same_file(const struct trust_row *row, const struct stat *file)
{
    return row->bytes == file->st_size && row->inode == file->st_ino &&
           row->changed.tv_sec == file->st_mtim.tv_sec &&
           row->changed.tv_nsec == file->st_mtim.tv_nsec;
}

/* The row of that path, or the one to use for it. */
static struct trust_row *find_row(const char *path)
{
    struct trust_row *unused = NULL;
    for (size_t i = 0; i < STORES_MAX; i++) {
        struct trust_row *row = &trust.rows[i];
        if (row->store != NULL && strcmp(row->path, path) == 0) {
            return row;
        }
        if (row->store == NULL && unused == NULL) {
            unused = row;
        }
    }
    if (unused == NULL) {
        unused = &trust.rows[trust.next];
        trust.next = (trust.next + 1) % STORES_MAX;
    }
    return unused;
}

static X509_STORE *store_of(const char *path, const struct stat *file, struct acog_error *error)
{
    struct trust_row *row = find_row(path);
    if (row->store == NULL || strcmp(row->path, path) != 0 || !is_same_file(row, file)) {
        X509_STORE *loaded = load(path, error);
        if (loaded == NULL) {
            return NULL;
        }
        X509_STORE_free(row->store);
        *row = (struct trust_row){.changed = file->st_mtim,
                                  .bytes = file->st_size,
                                  .inode = file->st_ino,
                                  .store = loaded};
        memcpy(row->path, path, strlen(path) + 1);
    }
    int counted = X509_STORE_up_ref(row->store);
    ACOG_ASSERT(counted == 1);
    return row->store;
}

X509_STORE *acog_trust_store(struct acog_view ca_file, struct acog_error *error)
{
    char path[PATH_MAX_LEN] = "";
    struct stat file = {0};
    if (ca_file.len >= sizeof(path)) {
        (void)acog_error_set(error, ACOG_TOO_BIG, "the path of the CA file is too long");
        return NULL;
    }
    if (ca_file.len > 0) {
        memcpy(path, ca_file.ptr, ca_file.len);
        path[ca_file.len] = '\0';
        if (stat(path, &file) != 0) {
            (void)acog_error_set(error, ACOG_IO, "no CA certificate can be read from \"%s\"", path);
            return NULL;
        }
    }
    (void)pthread_mutex_lock(&trust.mutex);
    X509_STORE *store = store_of(path, &file, error);
    (void)pthread_mutex_unlock(&trust.mutex);
    return store;
}
