/* error_shape.c - the rows of error_phrase.def, tried on the words of an error.
 *
 * Rows that name a shape set it; then the rows of false friends take it away again, where they fit.
 */
#include "error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum where {
    ACOG_WHERE_CODE = 0,
    ACOG_WHERE_CODE_HAS,
    ACOG_WHERE_TEXT,
    ACOG_WHERE_TEXT_IS,
};

struct phrase {
    enum acog_shape shape;
    bool friend; /* a false one: it is not this shape */
    enum where where;
    struct acog_view text;
};

static const struct phrase phrases[] = {
#define ACOG_ROW(name, false_friend, place, words) \
    {.shape = ACOG_SHAPE_##name,                   \
     .friend = (false_friend),                     \
     .where = ACOG_WHERE_##place,                  \
     .text = {.ptr = (words), .len = sizeof(words) - 1}},
#define ACOG_PHRASE(name, place, words)       ACOG_ROW(name, false, place, words)
#define ACOG_FALSE_FRIEND(name, place, words) ACOG_ROW(name, true, place, words)
#include "error_phrase.def"
#undef ACOG_PHRASE
#undef ACOG_FALSE_FRIEND
#undef ACOG_ROW
};

/* -- fitting --------------------------------------------------------------------------------------- */

/* `code` begins with `part`, or is all of it, where '_' counts for nothing: InvalidApiKey is invalid_api_key. */
static bool code_begins(struct acog_view code, struct acog_view part, bool all)
{
    size_t at = 0;
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] == '_') {
            continue;
        }
        while (at < code.len && code.ptr[at] == '_') {
            at++;
        }
        if (at == code.len || code.ptr[at] != part.ptr[i]) {
            return false;
        }
        at++;
    }
    return !all || at == code.len;
}

static bool code_has(struct acog_view code, struct acog_view part)
{
    for (size_t from = 0; from < code.len; from++) {
        if (code_begins(acog_view_slice(code, from, code.len), part, false)) {
            return true;
        }
    }
    return false;
}

static bool has(struct acog_view text, struct acog_view part)
{
    return acog_view_find(text, part) < text.len;
}

/* The pattern's one '*' stands for anything within a sentence. */
static bool text_has(struct acog_view text, struct acog_view pattern)
{
    size_t star = acog_view_find(pattern, ACOG_VIEW("*"));
    struct acog_view head = acog_view_slice(pattern, 0, star);
    struct acog_view tail = acog_view_slice(pattern, star + 1, pattern.len);
    for (size_t at = acog_view_find(text, head); at < text.len; at = acog_view_find(text, head)) {
        struct acog_view rest = acog_view_slice(text, at + head.len, text.len);
        size_t sentence_end = acog_view_find(rest, ACOG_VIEW(". "));
        if (star == pattern.len ||
            (has(rest, tail) && acog_view_find(rest, tail) <= sentence_end)) {
            return true;
        }
        text = rest;
    }
    return false;
}

static bool code_fits(struct acog_view code, const struct phrase *phrase)
{
    switch (phrase->where) {
    case ACOG_WHERE_CODE:
        return code_begins(code, phrase->text, true);
    case ACOG_WHERE_CODE_HAS:
        return code_has(code, phrase->text);
    case ACOG_WHERE_TEXT:
    case ACOG_WHERE_TEXT_IS:
        break;
    }
    return false;
}

static bool text_fits(struct acog_view text, const struct phrase *phrase)
{
    switch (phrase->where) {
    case ACOG_WHERE_TEXT:
        return text_has(text, phrase->text);
    case ACOG_WHERE_TEXT_IS:
        return acog_view_equal(text, phrase->text);
    case ACOG_WHERE_CODE:
    case ACOG_WHERE_CODE_HAS:
        break;
    }
    return false;
}

/* -- shapes ---------------------------------------------------------------------------------------- */

void acog_error_add_category(struct acog_failure *failure, struct acog_view category)
{
    for (size_t i = 0; i < failure->category_count; i++) {
        if (acog_view_equal(failure->categories[i], category)) {
            return;
        }
    }
    if (category.len > 0 && failure->category_count < ACOG_CATEGORIES_MAX) {
        failure->categories[failure->category_count++] = category;
    }
}

static bool phrase_fits(const struct acog_error_words *words, const struct phrase *phrase,
                        struct acog_failure *failure)
{
    bool fits = false;
    for (size_t i = 0; i < words->code_count; i++) {
        if (code_fits(words->codes[i], phrase)) {
            fits = true;
            if (phrase->shape == ACOG_SHAPE_REFUSAL && !phrase->friend) {
                acog_error_add_category(failure, words->codes[i]);
            }
        }
    }
    for (size_t i = 0; i < words->text_count && !fits; i++) {
        fits = text_fits(words->texts[i], phrase);
    }
    return fits;
}

void acog_error_find_shapes(const struct acog_error_words *words, struct acog_failure *failure)
{
    unsigned not_these = 0;
    for (size_t i = 0; i < COUNT(phrases); i++) {
        if (phrase_fits(words, &phrases[i], failure)) {
            unsigned bit = ACOG_BIT(phrases[i].shape);
            failure->shapes |= phrases[i].friend ? 0 : bit;
            not_these |= phrases[i].friend ? bit : 0;
        }
    }
    failure->shapes &= ~not_these;
    if ((failure->shapes & ACOG_BIT(ACOG_SHAPE_REFUSAL)) == 0) {
        failure->category_count = 0; /* those of a false friend */
    }
}

/* -- waits ----------------------------------------------------------------------------------------- */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool may_be_in_a_wait(char byte)
{
    return is_digit(byte) || byte == '.' || byte == 'h' || byte == 'm' || byte == 's';
}

/* "1.2s", "6m0s", "20 seconds", at the start of the text and with whatever behind it. */
static int64_t read_wait(struct acog_view text)
{
    size_t bytes = 0;
    while (bytes < text.len && may_be_in_a_wait(text.ptr[bytes])) {
        bytes++;
    }
    while (bytes > 0 && text.ptr[bytes - 1] == '.') {
        bytes--; /* the stop of the sentence */
    }
    struct acog_view unit = acog_view_trim(acog_view_slice(text, bytes, text.len));
    bool bare = bytes > 0 && is_digit(text.ptr[bytes - 1]);
    if (bare && !acog_view_starts(unit, ACOG_VIEW("second"))) {
        return -1; /* minutes, attempts: not worth a guess */
    }
    return acog_dialect_reset_ms(acog_view_slice(text, 0, bytes), 0);
}

int64_t acog_error_find_wait(const struct acog_error_words *words)
{
    static const struct acog_view asks[] = {
        {"try again in ", 13}, {"retry in ", 9}, {"retry after ", 12}};
    for (size_t i = 0; i < words->text_count; i++) {
        for (size_t ask = 0; ask < COUNT(asks); ask++) {
            struct acog_view text = words->texts[i];
            size_t at = acog_view_find(text, asks[ask]);
            int64_t wait = read_wait(acog_view_slice(text, at + asks[ask].len, text.len));
            if (wait >= 0) {
                return wait;
            }
        }
    }
    return -1;
}
