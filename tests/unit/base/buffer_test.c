/* buffer_test.c - bytes that grow up to a cap. */
#include "acog/buffer.h"

#include "acog/memory.h"
#include "tests/support/check.h"

#include <stdbool.h>
#include <string.h>

static bool always(void *user)
{
    (void)user;
    return true;
}

static void assert_holds(const struct acog_buffer *buffer, const char *text)
{
    assert_int_equal(buffer->len, strlen(text));
    assert_memory_equal(buffer->ptr, text, buffer->len);
}

static void it_takes_no_memory_until_the_first_byte(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 10);
    assert_null(buffer.ptr);
    assert_int_equal(acog_buffer_append(&buffer, (struct acog_view){0}), ACOG_OK);
    assert_null(buffer.ptr);
    acog_buffer_fini(&buffer);
}

static void it_grows_to_the_cap_and_not_a_byte_further(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 1000);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("0123456789")), ACOG_OK);
    }
    assert_int_equal(buffer.len, 1000);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("x")), ACOG_TOO_BIG);
    assert_int_equal(buffer.len, 1000);
    assert_memory_equal(buffer.ptr + 990, "0123456789", 10);
    acog_buffer_fini(&buffer);
}

static void without_memory_it_keeps_what_it_has(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 100000);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("kept")), ACOG_OK);
    acog_memory_fail_when(always, NULL);
    enum acog_code code = acog_buffer_reserve(&buffer, 50000);
    acog_memory_fail_when(NULL, NULL);
    assert_int_equal(code, ACOG_NO_MEMORY);
    assert_holds(&buffer, "kept");
    acog_buffer_fini(&buffer);
}

static void formatting_writes_short_and_long_texts_alike(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 5000);
    assert_int_equal(acog_buffer_format(&buffer, "%s-%d", "a", 7), ACOG_OK);
    assert_holds(&buffer, "a-7");
    assert_int_equal(acog_buffer_format(&buffer, "%2000s", "end"), ACOG_OK);
    assert_int_equal(buffer.len, 2003);
    assert_memory_equal(buffer.ptr + 2000, "end", 3);
    assert_int_equal(acog_buffer_format(&buffer, "%4000s", "x"), ACOG_TOO_BIG);
    assert_int_equal(buffer.len, 2003);
    acog_buffer_fini(&buffer);
}

static void json_text_is_escaped_and_broken_utf8_replaced(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 5000);
    assert_int_equal(acog_buffer_append_json(&buffer, ACOG_VIEW("a\"b\\c\n\r\t\x01\xc3\xa9\xff")),
                     ACOG_OK);
    assert_holds(&buffer, "a\\\"b\\\\c\\n\\r\\t\\u0001\xc3\xa9\xef\xbf\xbd");
    acog_buffer_fini(&buffer);
}

static void json_text_may_hold_a_nul(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 5000);
    assert_int_equal(acog_buffer_append_json(&buffer, ACOG_VIEW("a\0b")), ACOG_OK);
    assert_holds(&buffer, "a\\u0000b");
    acog_buffer_fini(&buffer);
}

static void consuming_moves_the_rest_to_the_front(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 100);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("first second")), ACOG_OK);
    acog_buffer_consume(&buffer, 6);
    assert_holds(&buffer, "second");
    acog_buffer_consume(&buffer, 99);
    assert_int_equal(buffer.len, 0);
    acog_buffer_fini(&buffer);
}

static void clearing_keeps_a_little_memory_and_gives_much_back(void **state)
{
    (void)state;
    struct acog_buffer buffer;
    acog_buffer_init(&buffer, 100000);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("small")), ACOG_OK);
    acog_buffer_clear(&buffer, 4096);
    assert_int_equal(buffer.len, 0);
    assert_non_null(buffer.ptr);
    assert_int_equal(acog_buffer_reserve(&buffer, 50000), ACOG_OK);
    acog_buffer_clear(&buffer, 4096);
    assert_null(buffer.ptr);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("again")), ACOG_OK);
    acog_buffer_fini(&buffer);
}

static void over_memory_of_another_it_is_full_when_that_is_full(void **state)
{
    (void)state;
    char memory[8];
    struct acog_buffer buffer;
    acog_buffer_init_over(&buffer, memory, sizeof(memory));
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("12345678")), ACOG_OK);
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("9")), ACOG_TOO_BIG);
    assert_true(acog_view_equal(acog_buffer_view(&buffer), ACOG_VIEW("12345678")));
    assert_ptr_equal(buffer.ptr, memory);
    buffer.len = 0;
    assert_int_equal(acog_buffer_append(&buffer, ACOG_VIEW("again")), ACOG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_no_memory_until_the_first_byte),
        cmocka_unit_test(it_grows_to_the_cap_and_not_a_byte_further),
        cmocka_unit_test(without_memory_it_keeps_what_it_has),
        cmocka_unit_test(formatting_writes_short_and_long_texts_alike),
        cmocka_unit_test(json_text_is_escaped_and_broken_utf8_replaced),
        cmocka_unit_test(json_text_may_hold_a_nul),
        cmocka_unit_test(consuming_moves_the_rest_to_the_front),
        cmocka_unit_test(clearing_keeps_a_little_memory_and_gives_much_back),
        cmocka_unit_test(over_memory_of_another_it_is_full_when_that_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
