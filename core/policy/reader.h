/* reader.h - Lua values into C values, with findings that say where and what is allowed.
 *
 * A reader stands at a place ("gateway.lua:12") and a path (`connection "x": models["m"].input`). A value of the wrong
 * kind adds a finding and leaves the target as it was; reading goes on, so that one load tells all that is wrong.
 * Every function runs in protected mode (acog_lua_call) and raises only when there is no memory.
 */
#ifndef ACOG_POLICY_READER_H
#define ACOG_POLICY_READER_H

#include "acog/arena.h"
#include "acog/error.h"
#include "acog/names.h"
#include "acog/policy.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#define READER_PATH_MAX 240

struct reader {
    lua_State *L;
    struct acog_arena *arena; /* what is read lives here */
    struct acog_report *report;
    char place[128];
    char path[READER_PATH_MAX];
    size_t path_len;
    size_t root_len; /* of the path's first part, behind which ": " stands */
    bool no_memory;  /* why it raised */
};

/* A closed set of words: a vocabulary of names.h, or a list. */
struct words {
    const char *what; /* "a channel" */
    bool is_vocabulary;
    enum acog_vocabulary vocabulary;
    const char *const *list;
    int count;
};

#define WORDS_OF(text, name)                                                        \
    {                                                                               \
        .what = (text), .is_vocabulary = true, .vocabulary = ACOG_VOCABULARY_##name \
    }
#define WORDS_IN(text, array)                                                               \
    {                                                                                       \
        .what = (text), .list = (array), .count = (int)(sizeof(array) / sizeof((array)[0])) \
    }

int words_count(const struct words *words);
struct acog_view words_text(const struct words *words, int value);
int words_find(const struct words *words, struct acog_view word); /* -1: none */

/* -- where it stands ---------------------------------------------------------------------------------- */

/* A new root, such as `connection "x"`, and the place it came from (NULL: keeps the place). */
void reader_root(struct reader *reader, const char *place, const char *fmt, ...) ACOG_PRINTF(3, 4);

/* One step deeper; the result goes to reader_leave(). A name beginning with '[' is put on without a dot. */
size_t reader_enter(struct reader *reader, const char *fmt, ...) ACOG_PRINTF(2, 3);
void reader_leave(struct reader *reader, size_t mark);

void reader_error(struct reader *reader, const char *fmt, ...) ACOG_PRINTF(2, 3);
void reader_warn(struct reader *reader, const char *fmt, ...) ACOG_PRINTF(2, 3);

/* `"bedrok" is not a channel; did you mean "bedrock"? Allowed: direct, …` */
void reader_unknown_word(struct reader *reader, struct acog_view word, const struct words *words);

/* -- memory: these raise instead of returning NULL --------------------------------------------------- */

void *reader_take(struct reader *reader, size_t bytes);
struct acog_view reader_copy(struct reader *reader, struct acog_view text);
struct acog_view reader_copy_lower(struct reader *reader, struct acog_view text);
struct acog_view reader_format(struct reader *reader, const char *fmt, ...) ACOG_PRINTF(2, 3);
_Noreturn void reader_raise_no_memory(struct reader *reader);

/* -- values: false when it is not what was asked for, with a finding added -------------------------- */

bool reader_flag(struct reader *reader, int index, bool *out);
/* Lent: lives as long as the Lua value. */
bool reader_peek(struct reader *reader, int index, struct acog_view *out);
bool reader_text(struct reader *reader, int index, struct acog_view *out);
/* A header's name, in lower case. */
bool reader_token(struct reader *reader, int index, struct acog_view *out);
bool reader_number(struct reader *reader, int index, double min, double max, double *out);
bool reader_integer(struct reader *reader, int index, double min, double max, int64_t *out);
bool reader_word(struct reader *reader, int index, const struct words *words, int *out);
/* One word or a list of words, as bits. */
bool reader_word_set(struct reader *reader, int index, const struct words *words, unsigned *out);

/* The finding about a value that is no table, where these fields are read from one. */
void reader_not_a_record(struct reader *reader, int index, const struct words *names);

bool reader_table(struct reader *reader, int index);
/* A table with nothing but items 1 to n, at most `max`; -1 with a finding when it is not. */
int reader_list(struct reader *reader, int index, int max);

/* One text or a list of texts, none of them empty; *count of them. NULL with a finding when it is neither. */
struct acog_view *reader_texts(struct reader *reader, int index, int max, size_t *count);

/* The text keys of the table at `index`, sorted, copied into the arena. A key of another type is a finding. */
size_t reader_keys(struct reader *reader, int index, const struct acog_view **keys);

/* -- records ---------------------------------------------------------------------------------------- */

enum field_kind {
    ACOG_FIELD_FLAG = 0,  /* bool */
    ACOG_FIELD_TEXT,      /* struct acog_view; `false` empties it */
    ACOG_FIELD_TOKEN,     /* likewise: a header's name in lower case */
    ACOG_FIELD_COUNT,     /* uint32_t */
    ACOG_FIELD_INTEGER,   /* int32_t */
    ACOG_FIELD_SIZE,      /* size_t */
    ACOG_FIELD_INTEGER64, /* int64_t */
    ACOG_FIELD_DOUBLE,    /* double */
    ACOG_FIELD_SECONDS, /* int64_t, in milliseconds: the configuration says seconds, fractions allowed */
    ACOG_FIELD_MILLISECONDS, /* int64_t */
    ACOG_FIELD_WORD,         /* an enum */
    ACOG_FIELD_WORDS,        /* unsigned, bits */
    ACOG_FIELD_GROUP,  /* a record in the record, whose fields are offsets into the same target */
    ACOG_FIELD_CUSTOM, /* `read` */
    ACOG_FIELD_ELSEWHERE, /* known, and read by somebody else */
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset; /* in the target */
    double min;
    double max;
    const struct words *words;
    const struct field *group;
    size_t group_count;
    void (*read)(struct reader *reader, int index, void *target); /* CUSTOM: target as a whole */
};

/* Reads each field that the table at `index` has into `target`. A key that is no field is a finding. */
void reader_fields(struct reader *reader, int index, const struct field *fields, size_t count,
                   void *target);

#define FIELD_COUNT_OF(fields) (sizeof(fields) / sizeof((fields)[0]))

#endif
