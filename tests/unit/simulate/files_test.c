/* files_test.c - which files are tests, and in which order. */
#include "files.h"

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
};

static void make_file(const struct folder *folder, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const struct folder *folder, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void open_folder(struct folder *folder)
{
    (void)snprintf(folder->path, sizeof(folder->path), "/tmp/acog-files-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    make_folder(folder, "sub");
    make_folder(folder, ".hidden");
    make_file(folder, "z_test.lua", "z");
    make_file(folder, "a_test.lua", "a");
    make_file(folder, "a.lua", "not a test");
    make_file(folder, "_test.lua", "no name");
    make_file(folder, "sub/b_test.lua", "b");
    make_file(folder, ".hidden/c_test.lua", "c");
}

static void close_folder(const struct folder *folder)
{
    static const char *const names[] = {
        "z_test.lua",         "a_test.lua", "a.lua",   "_test.lua", "sub/b_test.lua",
        ".hidden/c_test.lua", "sub",        ".hidden", "",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%s", folder->path, names[i]);
        assert_int_equal(remove(path), 0);
    }
}

static void expect_path(const struct acog_files *files, size_t n, const struct folder *folder,
                        const char *name)
{
    assert_true(n < files->count);
    size_t length = strlen(folder->path);
    assert_true(strncmp(files->paths[n], folder->path, length) == 0);
    assert_string_equal(files->paths[n] + length + 1, name);
}

static void a_folder_gives_its_tests_in_order(void **state)
{
    (void)state;
    struct folder folder;
    struct acog_files files = {0};
    struct acog_error error;
    open_folder(&folder);
    assert_int_equal(acog_files_find(&files, folder.path, &error), ACOG_OK);
    assert_int_equal(files.count, 3);
    expect_path(&files, 0, &folder, "a_test.lua");
    expect_path(&files, 1, &folder, "sub/b_test.lua");
    expect_path(&files, 2, &folder, "z_test.lua");
    acog_files_fini(&files);
    close_folder(&folder);
}

static void a_file_is_taken_whatever_its_name(void **state)
{
    (void)state;
    struct folder folder;
    struct acog_files files = {0};
    struct acog_error error;
    char path[256];
    open_folder(&folder);
    (void)snprintf(path, sizeof(path), "%s/a.lua", folder.path);
    assert_int_equal(acog_files_find(&files, path, &error), ACOG_OK);
    expect_path(&files, 0, &folder, "a.lua");
    acog_files_fini(&files);
    close_folder(&folder);
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    struct acog_files files = {0};
    struct acog_error error;
    struct acog_buffer text;
    acog_buffer_init(&text, 64);
    assert_int_equal(acog_files_find(&files, "/nowhere/at_all", &error), ACOG_NOT_FOUND);
    assert_non_null(strstr(error.text, "/nowhere/at_all"));
    assert_int_equal(acog_files_read("/nowhere/at_all", &text, &error), ACOG_NOT_FOUND);
    acog_files_fini(&files);
    acog_buffer_fini(&text);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    struct folder folder;
    struct acog_error error;
    struct acog_buffer text;
    char path[256];
    open_folder(&folder);
    make_file(&folder, "a.lua", "0123456789");
    (void)snprintf(path, sizeof(path), "%s/a.lua", folder.path);
    acog_buffer_init(&text, 10);
    assert_int_equal(acog_files_read(path, &text, &error), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&text), ACOG_VIEW("0123456789")));
    acog_buffer_fini(&text);
    acog_buffer_init(&text, 9);
    assert_int_equal(acog_files_read(path, &text, &error), ACOG_TOO_BIG);
    acog_buffer_fini(&text);
    close_folder(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_gives_its_tests_in_order),
        cmocka_unit_test(a_file_is_taken_whatever_its_name),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(a_file_is_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
