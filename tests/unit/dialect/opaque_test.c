/* opaque_test.c - what only its maker can read goes through a client and comes back as it was (B28, B39). */
#include "core/dialect/opaque.h"

#include "tests/support/check.h"

static struct acog_text plain(const char *text)
{
    return acog_text_plain(acog_view_of(text));
}

static void assert_told(const struct acog_opaque *opaque, enum acog_dialect client,
                        const char *wanted)
{
    struct acog_buffer out;
    acog_buffer_init(&out, 1024);
    assert_int_equal(acog_opaque_append(&out, opaque, client), ACOG_OK);
    assert_true(acog_view_equal(acog_buffer_view(&out), acog_view_of(wanted)));
    struct acog_opaque back = acog_opaque_read(acog_text_plain(acog_buffer_view(&out)), client);
    assert_int_equal(back.maker, opaque->maker);
    assert_true(acog_view_equal(back.bytes.bytes, opaque->bytes.bytes));
    acog_buffer_fini(&out);
}

static void a_clients_own_goes_as_it_is(void **state)
{
    (void)state;
    struct acog_opaque own = {.maker = ACOG_DIALECT_MESSAGES, .bytes = plain("EqQB")};
    assert_told(&own, ACOG_DIALECT_MESSAGES, "EqQB");
}

static void a_foreign_one_has_a_tag_that_says_whose_it_is(void **state)
{
    (void)state;
    struct acog_opaque signature = {.maker = ACOG_DIALECT_MESSAGES, .bytes = plain("EqQB")};
    struct acog_opaque item = {.maker = ACOG_DIALECT_RESPONSES,
                               .bytes = plain("gAAA=="),
                               .id = plain("rs_1"),
                               .redacted = true};
    assert_told(&signature, ACOG_DIALECT_RESPONSES, "acog.messages..EqQB");
    assert_told(&item, ACOG_DIALECT_CHAT, "acog.redacted-responses.rs_1.gAAA==");
    struct acog_opaque back =
        acog_opaque_read(plain("acog.redacted-responses.rs_1.gAAA=="), ACOG_DIALECT_CHAT);
    assert_true(back.redacted);
    assert_true(acog_view_equal(back.id.bytes, ACOG_VIEW("rs_1")));
}

static void what_looks_like_a_tag_but_is_none_is_the_clients_own(void **state)
{
    (void)state;
    static const char *const texts[] = {"acog.nobody..x", "acog.", "acog.messages",
                                        "acog.messages.x", "a"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct acog_opaque read = acog_opaque_read(plain(texts[i]), ACOG_DIALECT_CHAT);
        assert_int_equal(read.maker, ACOG_DIALECT_CHAT);
        assert_true(acog_view_equal(read.bytes.bytes, acog_view_of(texts[i])));
    }
}

static void no_bytes_are_nobodys(void **state)
{
    (void)state;
    assert_int_equal(acog_opaque_read(plain(""), ACOG_DIALECT_CHAT).maker, ACOG_DIALECT_COUNT);
    assert_int_equal(acog_opaque_none().maker, ACOG_DIALECT_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clients_own_goes_as_it_is),
        cmocka_unit_test(a_foreign_one_has_a_tag_that_says_whose_it_is),
        cmocka_unit_test(what_looks_like_a_tag_but_is_none_is_the_clients_own),
        cmocka_unit_test(no_bytes_are_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
