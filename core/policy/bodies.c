/* bodies.c - the policy's own forms of error bodies: JSON in which words stand for what an error says. */
#include "acog/json.h"
#include "compile.h"

#define BODY_BYTES_MAX 2048
#define BODY_DEPTH_MAX 16

static const struct words dialects = WORDS_OF("a dialect", DIALECT);

static const char *const word_list[] = {"message", "type", "code", "request_id"};
static const struct words body_words = WORDS_IN("a word of an error body", word_list);

/* Checks each "%{…}", and puts an ordinary letter in its place. False with a finding. */
static bool fill_in(struct reader *reader, struct acog_view body, char *filled, size_t *length)
{
    *length = 0;
    while (body.len > 0) {
        if (!acog_view_starts(body, ACOG_VIEW("%{"))) {
            filled[(*length)++] = body.ptr[0];
            body = acog_view_slice(body, 1, body.len);
            continue;
        }
        size_t end = acog_view_find(body, ACOG_VIEW("}"));
        struct acog_view word = acog_view_slice(body, 2, end);
        if (end == body.len || words_find(&body_words, word) < 0) {
            reader_unknown_word(reader, word, &body_words);
            return false;
        }
        filled[(*length)++] = 'x';
        body = acog_view_slice(body, end + 1, body.len);
    }
    return true;
}

/* An object, with words inside its texts only: then it is one whatever an error says. */
static bool is_fit(struct reader *reader, struct acog_view body)
{
    char filled[BODY_BYTES_MAX];
    size_t length = 0;
    struct acog_json_value value;
    struct acog_json_error error = {0};
    if (body.len > BODY_BYTES_MAX) {
        reader_error(reader, "has more than %d bytes", BODY_BYTES_MAX);
        return false;
    }
    if (!fill_in(reader, body, filled, &length)) {
        return false;
    }
    if (acog_json_check((struct acog_view){filled, length}, BODY_DEPTH_MAX, &value, &error) !=
        ACOG_OK) {
        reader_error(reader, "is no JSON with words in its texts: %s", error.what);
        return false;
    }
    if (value.type != ACOG_JSON_OBJECT) {
        reader_error(reader, "must be a JSON object");
        return false;
    }
    return true;
}

void compile_error_body(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    const struct acog_view *keys = NULL;
    if (!reader_table(reader, index)) {
        return;
    }
    size_t count = reader_keys(reader, index, &keys);
    for (size_t i = 0; i < count; i++) {
        int dialect = words_find(&dialects, keys[i]);
        if (dialect < 0) {
            reader_unknown_word(reader, keys[i], &dialects);
            continue;
        }
        struct acog_view body = {0};
        size_t mark = reader_enter(reader, "%.*s", ACOG_VIEW_FMT(keys[i]));
        lua_pushlstring(reader->L, keys[i].ptr, keys[i].len);
        lua_gettable(reader->L, index);
        bool off = lua_type(reader->L, -1) == LUA_TBOOLEAN && lua_toboolean(reader->L, -1) == 0;
        if (off || (reader_text(reader, -1, &body) && is_fit(reader, body))) {
            policy->error_bodies[dialect] = body;
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
}
