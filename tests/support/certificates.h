/* certificates.h - certificates made for one test, in memory and as PEM files in a folder of its own. */
#ifndef ACOG_TESTS_SUPPORT_CERTIFICATES_H
#define ACOG_TESTS_SUPPORT_CERTIFICATES_H

#include "tests/support/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define DAY_S (24L * 60 * 60)

struct identity {
    EVP_PKEY *key;
    X509 *certificate;
};

struct wanted {
    const char *name;     /* subject */
    const char *alt_name; /* "DNS:…" or "IP:…"; NULL: none */
    bool authority;
    long from_s; /* from now */
    long to_s;
    const struct identity *issuer; /* NULL: signs itself */
};

static inline void add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

static inline struct identity make_identity(const struct wanted *wanted)
{
    static long serial = 1;
    struct identity made = {.key = EVP_EC_gen("P-256"), .certificate = X509_new()};
    X509_NAME *name = X509_get_subject_name(made.certificate);
    assert_int_equal(X509_set_version(made.certificate, X509_VERSION_3), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(made.certificate), wanted->from_s));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(made.certificate), wanted->to_s));
    assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                                (const unsigned char *)wanted->name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(made.certificate,
                                          wanted->issuer == NULL
                                              ? name
                                              : X509_get_subject_name(wanted->issuer->certificate)),
                     1);
    assert_int_equal(X509_set_pubkey(made.certificate, made.key), 1);
    add_extension(made.certificate, NID_basic_constraints,
                  wanted->authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (wanted->alt_name != NULL) {
        add_extension(made.certificate, NID_subject_alt_name, wanted->alt_name);
    }
    assert_true(X509_sign(made.certificate, wanted->issuer == NULL ? made.key : wanted->issuer->key,
                          EVP_sha256()) > 0);
    return made;
}

static inline void forget_identity(struct identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
    *identity = (struct identity){0};
}

/* The certificate, and with `key` its key too, as PEM. */
static inline void write_pem(const char *path, const struct identity *identity, bool key)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, identity->certificate), 1);
    if (key) {
        assert_int_equal(PEM_write_PrivateKey(file, identity->key, NULL, NULL, 0, NULL, NULL), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* The key alone. */
static inline void write_key(const char *path, const struct identity *identity)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, identity->key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
}

static inline SSL_CTX *make_server_tls(const struct identity *identity)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    assert_non_null(context);
    assert_int_equal(SSL_CTX_use_certificate(context, identity->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, identity->key), 1);
    return context;
}

#endif
