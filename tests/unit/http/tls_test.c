/* tls_test.c - certificates of a listener: loaded, refused, and replaced while it serves. */
#include "acog/http.h"
#include "connection.h"
#include "tests/support/certificates.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define HALF_A_DAY_MS (INT64_C(12) * 60 * 60 * 1000)

static struct {
    char folder[64];
    char certificate[128];
    char key[128];
    char ca[128];
} files;

static struct acog_tls_rules rules;
static long stamp_s; /* of the next written file: two files of one moment have different times */

static int set_up(void **state)
{
    static const char template[] = "/tmp/acog-tls-XXXXXX";
    (void)state;
    memcpy(files.folder, template, sizeof(template));
    assert_non_null(mkdtemp(files.folder));
    (void)snprintf(files.certificate, sizeof(files.certificate), "%s/cert.pem", files.folder);
    (void)snprintf(files.key, sizeof(files.key), "%s/key.pem", files.folder);
    (void)snprintf(files.ca, sizeof(files.ca), "%s/ca.pem", files.folder);
    rules = (struct acog_tls_rules){.certificate_file = acog_view_of(files.certificate),
                                    .key_file = acog_view_of(files.key)};
    stamp_s = 1000;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(files.certificate);
    (void)unlink(files.key);
    (void)unlink(files.ca);
    assert_int_equal(rmdir(files.folder), 0);
    return 0;
}

static void touch(const char *path)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = stamp_s++}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    touch(path);
}

static void write_pair(const char *name)
{
    const struct wanted wanted = {.name = name, .from_s = -DAY_S, .to_s = DAY_S};
    struct identity identity = make_identity(&wanted);
    write_pem(files.certificate, &identity, false);
    write_key(files.key, &identity);
    touch(files.certificate);
    touch(files.key);
    forget_identity(&identity);
}

/* The name in the certificate of a new handshake. */
static void assert_serves(struct acog_http_tls *tls, const char *name)
{
    char text[64] = "";
    SSL *ssl = acog_http_tls_session(tls);
    assert_non_null(ssl);
    (void)X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get_certificate(ssl)), NID_commonName,
                                    text, sizeof(text));
    assert_string_equal(text, name);
    SSL_free(ssl);
}

static struct acog_http_tls *load_good(void)
{
    struct acog_error error = {0};
    struct acog_http_tls *tls = acog_http_tls_new(&rules, 0, &error);
    assert_string_equal(error.text, "");
    assert_non_null(tls);
    return tls;
}

static void assert_refused(const char *file, const char *why)
{
    struct acog_error error = {0};
    assert_null(acog_http_tls_new(&rules, 0, &error));
    if (strstr(error.text, file) == NULL || strstr(error.text, why) == NULL) {
        fail_msg("\"%s\" does not name %s with \"%s\"", error.text, file, why);
    }
}

/* -- loading ------------------------------------------------------------------------------------------ */

static void a_missing_file_is_named(void **state)
{
    (void)state;
    assert_refused(files.certificate, "No such file");
    write_pair("one");
    (void)unlink(files.key);
    assert_refused(files.key, "No such file");
}

static void what_is_no_certificate_is_named(void **state)
{
    (void)state;
    write_pair("one");
    write_text(files.certificate, "hello\n");
    assert_refused(files.certificate, "no start line");
}

static void a_key_of_another_certificate_is_named(void **state)
{
    (void)state;
    const struct wanted wanted = {.name = "other", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity other = make_identity(&wanted);
    write_pair("one");
    write_key(files.key, &other);
    forget_identity(&other);
    assert_refused(files.key, "mismatch");
}

/* OpenSSL would ask at the terminal. */
static void a_key_with_a_password_is_refused_without_a_question(void **state)
{
    (void)state;
    const struct wanted wanted = {.name = "one", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity identity = make_identity(&wanted);
    write_pem(files.certificate, &identity, false);
    FILE *file = fopen(files.key, "w");
    assert_non_null(file);
    assert_int_equal(
        PEM_write_PKCS8PrivateKey(file, identity.key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL),
        1);
    assert_int_equal(fclose(file), 0);
    forget_identity(&identity);
    assert_refused(files.key, "");
}

/* A reason never repeats what stands in a file. */
static void a_broken_key_is_not_shown(void **state)
{
    (void)state;
    struct acog_error error = {0};
    write_pair("one");
    write_text(files.key, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXNlY3JldA==\n"
                          "-----END PRIVATE KEY-----\n");
    assert_null(acog_http_tls_new(&rules, 0, &error));
    assert_non_null(strstr(error.text, files.key));
    assert_null(strstr(error.text, "c2VjcmV0"));
    assert_null(strstr(error.text, "secret-secret"));
}

static void a_weak_key_is_refused(void **state)
{
    (void)state;
    const struct wanted wanted = {.name = "weak", .from_s = -DAY_S, .to_s = DAY_S};
    struct identity weak = make_identity(&wanted);
    EVP_PKEY_free(weak.key);
    weak.key = EVP_RSA_gen(1024);
    assert_non_null(weak.key);
    assert_int_equal(X509_set_pubkey(weak.certificate, weak.key), 1);
    assert_true(X509_sign(weak.certificate, weak.key, EVP_sha256()) > 0);
    write_pem(files.certificate, &weak, false);
    write_key(files.key, &weak);
    forget_identity(&weak);
    assert_refused(files.certificate, "ee key too small");
}

static void client_certificates_need_a_ca_file(void **state)
{
    (void)state;
    write_pair("one");
    rules.client_certificates = ACOG_CLIENT_CERTIFICATES_OPTIONAL;
    rules.client_ca_file = acog_view_of(files.ca);
    assert_refused(files.ca, "No such file");
    write_text(files.ca, "hello\n");
    assert_refused(files.ca, "");
}

static void a_path_over_its_limit_is_told(void **state)
{
    (void)state;
    char path[2000];
    struct acog_error error = {0};
    memset(path, 'x', sizeof(path));
    write_pair("one");
    rules.key_file = (struct acog_view){.ptr = path, .len = sizeof(path)};
    assert_null(acog_http_tls_new(&rules, 0, &error));
    assert_int_equal(error.code, ACOG_TOO_BIG);
    rules.key_file = (struct acog_view){0};
}

/* -- reload ------------------------------------------------------------------------------------------- */

static void changed_files_are_loaded_when_two_looks_saw_the_same(void **state)
{
    (void)state;
    struct acog_error error = {0};
    write_pair("one");
    struct acog_http_tls *tls = load_good();
    assert_int_equal(acog_http_tls_look(tls, 1000, &error), ACOG_HTTP_TLS_SAME);
    write_pair("two");
    assert_int_equal(acog_http_tls_look(tls, 2000, &error), ACOG_HTTP_TLS_SAME);
    assert_serves(tls, "one");
    touch(files.key); /* it is still being written */
    assert_int_equal(acog_http_tls_look(tls, 3000, &error), ACOG_HTTP_TLS_SAME);
    assert_int_equal(acog_http_tls_look(tls, 4000, &error), ACOG_HTTP_TLS_LOADED);
    assert_serves(tls, "two");
    assert_int_equal(acog_http_tls_look(tls, 5000, &error), ACOG_HTTP_TLS_SAME);
    acog_http_tls_free(&tls);
}

static void a_file_put_in_the_place_of_another_is_seen(void **state)
{
    (void)state;
    struct acog_error error = {0};
    char other[160];
    struct stat before;
    write_pair("one");
    struct acog_http_tls *tls = load_good();
    (void)snprintf(other, sizeof(other), "%s/other", files.folder);
    assert_int_equal(stat(files.certificate, &before), 0);
    assert_int_equal(rename(files.certificate, other), 0);
    write_pair("two");
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, before.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, files.certificate, times, 0), 0);
    (void)unlink(other);
    assert_int_equal(acog_http_tls_look(tls, 1000, &error), ACOG_HTTP_TLS_SAME);
    assert_int_equal(acog_http_tls_look(tls, 2000, &error), ACOG_HTTP_TLS_LOADED);
    assert_serves(tls, "two");
    acog_http_tls_free(&tls);
}

static void a_broken_new_file_is_told_once_and_the_old_one_stays(void **state)
{
    (void)state;
    struct acog_error error = {0};
    write_pair("one");
    struct acog_http_tls *tls = load_good();
    write_text(files.certificate, "hello\n");
    assert_int_equal(acog_http_tls_look(tls, 1000, &error), ACOG_HTTP_TLS_SAME);
    assert_int_equal(acog_http_tls_look(tls, 2000, &error), ACOG_HTTP_TLS_REJECTED);
    assert_non_null(strstr(error.text, files.certificate));
    assert_non_null(strstr(error.text, "no start line"));
    assert_int_equal(acog_http_tls_look(tls, 3000, &error), ACOG_HTTP_TLS_SAME);
    assert_serves(tls, "one");
    (void)unlink(files.certificate);
    assert_int_equal(acog_http_tls_look(tls, 4000, &error), ACOG_HTTP_TLS_SAME);
    assert_int_equal(acog_http_tls_look(tls, 5000, &error), ACOG_HTTP_TLS_REJECTED);
    assert_serves(tls, "one");
    write_pair("two");
    assert_int_equal(acog_http_tls_look(tls, 6000, &error), ACOG_HTTP_TLS_SAME);
    assert_int_equal(acog_http_tls_look(tls, 7000, &error), ACOG_HTTP_TLS_LOADED);
    assert_serves(tls, "two");
    acog_http_tls_free(&tls);
}

static void the_key_of_tickets_lives_half_a_day(void **state)
{
    (void)state;
    struct acog_error error = {0};
    write_pair("one");
    struct acog_http_tls *tls = load_good();
    SSL *first = acog_http_tls_session(tls);
    assert_int_equal(acog_http_tls_look(tls, HALF_A_DAY_MS - 1, &error), ACOG_HTTP_TLS_SAME);
    SSL *second = acog_http_tls_session(tls);
    assert_ptr_equal(SSL_get_SSL_CTX(first), SSL_get_SSL_CTX(second));
    assert_int_equal(acog_http_tls_look(tls, HALF_A_DAY_MS, &error), ACOG_HTTP_TLS_SAME);
    SSL *third = acog_http_tls_session(tls);
    assert_ptr_not_equal(SSL_get_SSL_CTX(first), SSL_get_SSL_CTX(third));
    SSL_free(first);
    SSL_free(second);
    SSL_free(third);
    acog_http_tls_free(&tls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_file_is_named),
        TEST(what_is_no_certificate_is_named),
        TEST(a_key_of_another_certificate_is_named),
        TEST(a_key_with_a_password_is_refused_without_a_question),
        TEST(a_broken_key_is_not_shown),
        TEST(a_weak_key_is_refused),
        TEST(client_certificates_need_a_ca_file),
        TEST(a_path_over_its_limit_is_told),
        TEST(changed_files_are_loaded_when_two_looks_saw_the_same),
        TEST(a_file_put_in_the_place_of_another_is_seen),
        TEST(a_broken_new_file_is_told_once_and_the_old_one_stays),
        TEST(the_key_of_tickets_lives_half_a_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
