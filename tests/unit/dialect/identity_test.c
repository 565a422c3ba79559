/* identity_test.c - the names under which tools are told, and the way back. */
#include "core/dialect/identity.h"

#include "acog/memory.h"
#include "tests/support/check.h"
#include "tests/support/memory_sweep.h"

#include <string.h>

static void is_told_as(const char *name_space, const char *name, bool cut, const char *expected)
{
    char memory[ACOG_IDENTITY_TOLD_MAX];
    struct acog_tool_identity identity =
        acog_identity_make(acog_view_of(name_space), acog_view_of(name));
    struct acog_view told = acog_identity_told_name(&identity, cut, memory);
    if (!acog_view_equal(told, acog_view_of(expected))) {
        fail_msg("%s %s is told as %.*s", name_space, name, ACOG_VIEW_FMT(told));
    }
}

#define TEN   "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN

static void a_name_is_the_namespaces_and_the_tools(void **state)
{
    (void)state;
    is_told_as("multi_agent_v1", "close_agent", false, "multi_agent_v1__close_agent");
    is_told_as("", "apply_patch", false, "apply_patch");
    is_told_as("", "A-1", false, "A-1");
}

static void what_is_not_legal_is_told_as_an_underscore(void **state)
{
    (void)state;
    is_told_as("crm.v2", "get it!", false, "crm_v2__get_it_");
    is_told_as("", "-x", false, "_x");
    is_told_as("9", "9", false, "___9");
    is_told_as("\xc3\xa4", "b", false, "____b");
}

static void a_long_name_is_cut_and_ends_in_a_hash_of_both(void **state)
{
    (void)state;
    is_told_as("", SIXTY "abcd", false, SIXTY "abcd");
    is_told_as("", SIXTY "abcde", false, TEN TEN TEN TEN TEN "abcde_3a54693f");
    is_told_as(SIXTY, SIXTY, false, TEN TEN TEN TEN TEN "abcde_1150fd20");
    is_told_as(SIXTY SIXTY, "", false, TEN TEN TEN TEN TEN "abcde_66411958");
    is_told_as("a", "b", true, "a__b_c03d9699");
}

static void an_identity_is_found_by_both_names_or_by_the_one_that_is_told(void **state)
{
    (void)state;
    struct acog_tool_identity second = acog_identity_make(ACOG_VIEW("n"), ACOG_VIEW("a"));
    struct acog_tool_identity first = acog_identity_make(ACOG_VIEW(""), ACOG_VIEW("a"));
    first.told = ACOG_VIEW("a");
    second.told = ACOG_VIEW("n__a");
    first.next = &second;
    struct acog_tool_identity asked = acog_identity_make(ACOG_VIEW("n"), ACOG_VIEW("a"));
    assert_ptr_equal(acog_identity_find(&first, &asked), &second);
    asked = acog_identity_make(ACOG_VIEW("a"), ACOG_VIEW("n"));
    assert_null(acog_identity_find(&first, &asked));
    assert_null(acog_identity_find(NULL, &asked));
    assert_ptr_equal(acog_identity_find_told(&first, ACOG_VIEW("n__a")), &second);
    assert_null(acog_identity_find_told(&first, ACOG_VIEW("n")));
}

static void copy_two(void *user)
{
    char names[] = "nab";
    struct acog_tool_identity *copy = NULL;
    struct acog_tool_identity second = {.name = {names + 2, 1}, .told = {names + 2, 1}};
    struct acog_tool_identity first = {
        .name_space = {names, 1}, .name = {names + 1, 1}, .custom = true, .next = &second};
    (void)user;
    enum acog_code code = acog_identities_copy(&first, &copy);
    assert_int_equal(code, memory_sweep_failed() ? ACOG_NO_MEMORY : ACOG_OK);
    memset(names, 'x', sizeof(names));
    first.next = NULL;
    if (code == ACOG_OK) {
        assert_true(acog_view_equal(copy->name_space, ACOG_VIEW("n")) && copy->custom);
        assert_true(acog_view_equal(copy->name, ACOG_VIEW("a")) && copy->told.len == 0);
        assert_true(acog_view_equal(copy->next->told, ACOG_VIEW("b")));
        assert_true(copy->next->name_space.len == 0 && copy->next->next == NULL);
    }
    acog_free(copy);
}

static void a_copy_points_to_nothing_else(void **state)
{
    (void)state;
    struct acog_tool_identity *copy = NULL;
    assert_true(memory_sweep(copy_two, NULL, 1) > 0);
    assert_int_equal(acog_identities_copy(NULL, &copy), ACOG_OK);
    assert_null(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_the_namespaces_and_the_tools),
        cmocka_unit_test(what_is_not_legal_is_told_as_an_underscore),
        cmocka_unit_test(a_long_name_is_cut_and_ends_in_a_hash_of_both),
        cmocka_unit_test(an_identity_is_found_by_both_names_or_by_the_one_that_is_told),
        cmocka_unit_test(a_copy_points_to_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
