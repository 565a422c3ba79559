/* trust_test.c - stores are loaded once, and again when their file has changed. */
#include "trust.h"

#include "tests/support/certificates.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/x509_vfy.h>

static const struct wanted authority = {
    .name = "Test CA", .authority = true, .from_s = -DAY_S, .to_s = DAY_S};

static struct {
    char folder[64];
    char path[128];
} files;

static int set_up(void **state)
{
    static const char template[] = "/tmp/acog-trust-XXXXXX";
    (void)state;
    memcpy(files.folder, template, sizeof(template));
    acog_trust_init();
    assert_non_null(mkdtemp(files.folder));
    (void)snprintf(files.path, sizeof(files.path), "%s/ca.pem", files.folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(files.path);
    assert_int_equal(rmdir(files.folder), 0);
    acog_trust_fini();
    return 0;
}

static void write_authority(const char *path)
{
    struct identity identity = make_identity(&authority);
    write_pem(path, &identity, false);
    forget_identity(&identity);
}

static void a_store_is_loaded_once(void **state)
{
    struct acog_error error = {0};
    (void)state;
    write_authority(files.path);
    X509_STORE *first = acog_trust_store(acog_view_of(files.path), &error);
    X509_STORE *second = acog_trust_store(acog_view_of(files.path), &error);
    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_int_equal(sk_X509_OBJECT_num(X509_STORE_get0_objects(first)), 1);
    X509_STORE_free(first);
    X509_STORE_free(second);
}

static void a_changed_file_is_loaded_again(void **state)
{
    struct acog_error error = {0};
    (void)state;
    write_authority(files.path);
    X509_STORE *first = acog_trust_store(acog_view_of(files.path), &error);
    write_authority(files.path);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, files.path, times, 0), 0);
    X509_STORE *second = acog_trust_store(acog_view_of(files.path), &error);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    X509_STORE_free(first);
    X509_STORE_free(second);
}

static void the_systems_store_is_one(void **state)
{
    struct acog_error error = {0};
    (void)state;
    X509_STORE *first = acog_trust_store((struct acog_view){0}, &error);
    X509_STORE *second = acog_trust_store((struct acog_view){0}, &error);
    assert_non_null(first);
    assert_ptr_equal(first, second);
    X509_STORE_free(first);
    X509_STORE_free(second);
}

static void more_files_than_there_are_rows_work(void **state)
{
    struct acog_error error = {0};
    (void)state;
    char path[256];
    write_authority(files.path);
    for (int i = 0; i < 40; i++) {
        int length = snprintf(path, sizeof(path), "%s", files.folder);
        for (int j = 0; j < i; j++) {
            length += snprintf(path + length, sizeof(path) - (size_t)length, "/.");
        }
        (void)snprintf(path + length, sizeof(path) - (size_t)length, "/ca.pem");
        X509_STORE *store = acog_trust_store(acog_view_of(path), &error);
        assert_non_null(store);
        X509_STORE_free(store);
    }
}

static void what_is_no_ca_file_is_told(void **state)
{
    struct acog_error error = {0};
    (void)state;
    char path[2000];
    assert_null(acog_trust_store(acog_view_of(files.path), &error));
    assert_non_null(strstr(error.text, files.path));
    FILE *file = fopen(files.path, "w");
    assert_non_null(file);
    assert_true(fputs("not a certificate\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_null(acog_trust_store(acog_view_of(files.path), &error));
    assert_int_equal(error.code, ACOG_IO);
    memset(path, 'x', sizeof(path));
    assert_null(acog_trust_store((struct acog_view){.ptr = path, .len = sizeof(path)}, &error));
    assert_int_equal(error.code, ACOG_TOO_BIG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_store_is_loaded_once),     TEST(a_changed_file_is_loaded_again),
        TEST(the_systems_store_is_one),   TEST(more_files_than_there_are_rows_work),
        TEST(what_is_no_ca_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
