/* user_test.c - which users are told to a provider (B23). */
#include "core/dialect/user.h"

#include "tests/support/check.h"

/* Kept, or named as dropped, never both. */
static bool is_kept(const char *user)
{
    struct acog_arena arena;
    struct acog_conversation conversation = {.stream = false};
    struct acog_conversation_builder builder = {.arena = &arena, .conversation = &conversation};
    struct acog_json_value value;
    struct acog_json_error error;
    const struct acog_json_value name = {.raw = ACOG_VIEW("\"user\""), .type = ACOG_JSON_STRING};
    acog_arena_init(&arena, 4096);
    assert_int_equal(acog_json_check(acog_view_of(user), 8, &value, &error), ACOG_OK);
    acog_builder_user(&builder, name, value);
    assert_int_equal(builder.code, ACOG_OK);
    bool kept = acog_json_present(conversation.user);
    bool named = conversation.unknown != NULL;
    assert_false(kept && named);
    acog_arena_fini(&arena);
    return kept;
}

static void ids_are_told(void **state)
{
    (void)state;
    static const char *const ids[] = {
        "\"u-81f3\"",
        "\"13803d75-b4b5-4c3e-b2a2-6f21399b021b\"",
        "\"2233445566\"",
        "\"user_0123_account__session_4567\"",
        "\"{\\\"device\\\":\\\"a1\\\"}\"",
        "\"12-34\"",
        "\"\"",
    };
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (!is_kept(ids[i])) {
            fail_msg("%s was dropped", ids[i]);
        }
    }
}

static void persons_are_not(void **state)
{
    (void)state;
    static const char *const persons[] = {
        "\"pat@mail.example\"",
        "\"pat\\u0040mail.example\"",
        "\"+4722334455\"",
        "\"(020) 7946-0958\"",
        "\"22 33 44 55\"",
        "\"Pat Example\"",
        "7",
        "{\"id\":1}",
    };
    for (size_t i = 0; i < sizeof(persons) / sizeof(persons[0]); i++) {
        if (is_kept(persons[i])) {
            fail_msg("%s was kept", persons[i]);
        }
    }
}

static void null_is_nobody(void **state)
{
    (void)state;
    assert_false(is_kept("null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_told),
        cmocka_unit_test(persons_are_not),
        cmocka_unit_test(null_is_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
