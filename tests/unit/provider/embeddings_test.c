/* embeddings_test.c - a vector for each input, as numbers or as base64. */
#include "tests/unit/provider/played.h"

static json_t *embed(struct played *played, struct acog_view body)
{
    struct acog_provider_reply reply = good_reply();
    struct acog_provider_request request = request_for(ACOG_SURFACE_EMBEDDINGS, false);
    request.body = body;
    played_run(played, &reply, &request);
    return played_json(played);
}

static void each_input_gets_a_vector_of_its_own(void **state)
{
    (void)state;
    struct played played;
    json_t *answer = embed(&played, ACOG_VIEW("{\"input\":[\"a\",\"b\"],\"model\":\"m\"}"));
    assert_string_equal(text_at(answer, "object"), "list");
    assert_int_equal(json_array_size(at(answer, "data")), 2);
    assert_int_equal(json_integer_value(at(answer, "data.1.index")), 1);
    assert_int_equal(json_array_size(at(answer, "data.0.embedding")), 8);
    assert_false(json_equal(at(answer, "data.0.embedding"), at(answer, "data.1.embedding")));
    assert_int_equal(json_integer_value(at(answer, "usage.prompt_tokens")), 12);
    json_decref(answer);
    played_fini(&played);
}

static void token_numbers_are_one_input(void **state)
{
    (void)state;
    struct played played;
    json_t *answer = embed(&played, ACOG_VIEW("{\"input\":[1,2,3]}"));
    assert_int_equal(json_array_size(at(answer, "data")), 1);
    json_decref(answer);
    played_fini(&played);
    answer = embed(&played, ACOG_VIEW("{\"input\":\"one\"}"));
    assert_int_equal(json_array_size(at(answer, "data")), 1);
    json_decref(answer);
    played_fini(&played);
    answer = embed(&played, ACOG_VIEW("not JSON"));
    assert_int_equal(json_array_size(at(answer, "data")), 1);
    json_decref(answer);
    played_fini(&played);
}

static unsigned sextet(char letter)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(letters, letter);
    return letter == '=' || found == NULL ? 0 : (unsigned)(found - letters);
}

static void base64_says_the_same_numbers(void **state)
{
    (void)state;
    struct played numbers;
    struct played base64;
    json_t *plain = embed(&numbers, ACOG_VIEW("{\"input\":\"x\",\"encoding_format\":\"float\"}"));
    json_t *coded = embed(&base64, ACOG_VIEW("{\"encoding_format\":\"base64\",\"input\":\"x\"}"));
    const char *text = text_at(coded, "data.0.embedding");
    unsigned char bytes[36];
    assert_int_equal(strlen(text), 44);
    for (size_t group = 0; group < 11; group++) {
        unsigned bits = 0;
        for (size_t i = 0; i < 4; i++) {
            bits = bits << 6 | sextet(text[group * 4 + i]);
        }
        for (size_t i = 0; i < 3; i++) {
            bytes[group * 3 + i] = (unsigned char)(bits >> (16 - 8 * i));
        }
    }
    for (size_t i = 0; i < 8; i++) {
        uint32_t bits = (uint32_t)bytes[i * 4] | (uint32_t)bytes[i * 4 + 1] << 8 |
                        (uint32_t)bytes[i * 4 + 2] << 16 | (uint32_t)bytes[i * 4 + 3] << 24;
        float number;
        memcpy(&number, &bits, sizeof(number));
        double expected = json_real_value(json_array_get(at(plain, "data.0.embedding"), i));
        assert_true((double)number >= expected && (double)number <= expected);
    }
    json_decref(plain);
    json_decref(coded);
    played_fini(&numbers);
    played_fini(&base64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_input_gets_a_vector_of_its_own),
        cmocka_unit_test(token_numbers_are_one_input),
        cmocka_unit_test(base64_says_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
