/* golden_test.c - plays every story of tests/golden and compares it with what it says.
 *
 * ACOG_GOLDEN_UPDATE=1 writes what really happened into the files: then read the difference before committing it. */
#include "tests/support/check.h"
#include "tests/support/engine_story.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORY_BYTES_MAX 65536
#define STORIES_MIN     10 /* a folder that moved must not look like success */

static bool read_file(const char *path, struct acog_buffer *text)
{
    char piece[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    bool fine = true;
    for (size_t len = fread(piece, 1, sizeof piece, file); len > 0 && fine;
         len = fread(piece, 1, sizeof piece, file)) {
        fine = acog_buffer_append(text, (struct acog_view){piece, len}) == ACOG_OK;
    }
    (void)fclose(file);
    return fine;
}

static bool write_file(const char *path, struct acog_view text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    bool fine = fwrite(text.ptr, 1, text.len, file) == text.len;
    return fclose(file) == 0 && fine;
}

static void print_difference(const char *name, struct acog_view expected, struct acog_view actual)
{
    size_t same = 0;
    while (same < expected.len && same < actual.len && expected.ptr[same] == actual.ptr[same]) {
        same++;
    }
    while (same > 0 && expected.ptr[same - 1] != '\n') {
        same--;
    }
    struct acog_view wanted = acog_view_slice(expected, same, expected.len);
    struct acog_view got = acog_view_slice(actual, same, actual.len);
    printf("%s: where the two part\n  expected: %.*s\n  actual:   %.*s\n", name,
           ACOG_VIEW_FMT(acog_view_slice(wanted, 0, acog_view_find(wanted, ACOG_VIEW("\n")))),
           ACOG_VIEW_FMT(acog_view_slice(got, 0, acog_view_find(got, ACOG_VIEW("\n")))));
    printf("--- all that happened\n%.*s---\n", ACOG_VIEW_FMT(actual));
}

static bool story_holds(const char *name, bool updates)
{
    char path[1024];
    struct acog_buffer text;
    struct acog_buffer played;
    struct acog_view wrong = {0};
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s", ACOG_SOURCE_DIR, name);
    acog_buffer_init(&text, STORY_BYTES_MAX);
    acog_buffer_init(&played, STORY_BYTES_MAX);
    bool holds = read_file(path, &text);
    if (holds && !engine_story_play(acog_buffer_view(&text), &played, &wrong)) {
        printf("%s: not understood: %.*s\n", name, ACOG_VIEW_FMT(wrong));
        holds = false;
    } else if (holds && updates) {
        holds = write_file(path, acog_buffer_view(&played));
    } else if (holds && !acog_view_equal(acog_buffer_view(&text), acog_buffer_view(&played))) {
        print_difference(name, acog_buffer_view(&text), acog_buffer_view(&played));
        holds = false;
    }
    acog_buffer_fini(&text);
    acog_buffer_fini(&played);
    return holds;
}

static void every_story_happens_as_it_is_told(void **state)
{
    (void)state;
    DIR *folder = opendir(ACOG_SOURCE_DIR "/tests/golden");
    assert_non_null(folder);
    bool updates =
        getenv("ACOG_GOLDEN_UPDATE") != NULL; /* NOLINT(concurrency-mt-unsafe): one thread */
    int stories = 0;
    int broken = 0;
    for (;;) {
        const struct dirent *entry =
            readdir(folder); /* NOLINT(concurrency-mt-unsafe): one thread */
        if (entry == NULL) {
            break;
        }
        size_t len = strlen(entry->d_name);
        if (len > 4 && strcmp(entry->d_name + len - 4, ".txt") == 0) {
            stories++;
            broken += story_holds(entry->d_name, updates) ? 0 : 1;
        }
    }
    (void)closedir(folder);
    assert_int_equal(broken, 0);
    assert_true(stories >= STORIES_MIN);
}

/* The comparison itself must see a difference, and a story must not swallow what it does not understand. */
static void a_story_that_is_wrong_is_found_out(void **state)
{
    (void)state;
    static const char *const nonsense[] = {
        "connection a direct\n",
        "policy nobody\n",
        "policy acog\nconnection a moon\n",
        "policy acog\nhello\n",
        "policy acog\n+0 exploded 1\n",
        "policy acog\nconnection a direct\nmodel a m\n+0 arrived chat stream model=m colour=red\n"};
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        struct acog_buffer played;
        struct acog_view wrong;
        acog_buffer_init(&played, STORY_BYTES_MAX);
        assert_false(engine_story_play(acog_view_of(nonsense[i]), &played, &wrong));
        acog_buffer_fini(&played);
    }
    static const char *const told = "policy acog\nconnection a direct\nmodel a m\n"
                                    "+0 arrived chat stream model=nobody seed=1\n"
                                    "    finish completed\n";
    struct acog_buffer played;
    struct acog_view wrong;
    acog_buffer_init(&played, STORY_BYTES_MAX);
    assert_true(engine_story_play(acog_view_of(told), &played, &wrong));
    assert_true(acog_view_find(acog_buffer_view(&played), ACOG_VIEW("finish failed")) < played.len);
    assert_false(acog_view_equal(acog_buffer_view(&played), acog_view_of(told)));
    acog_buffer_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_story_happens_as_it_is_told),
        cmocka_unit_test(a_story_that_is_wrong_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
