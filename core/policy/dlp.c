/* dlp.c - data protection rules: word lists and patterns become tables that take one look at each byte (S4.18c).
 *
 * A pattern is a Lua pattern without what needs backtracking: characters, %classes, [sets] and '.', each with '?', '*' or
 * '+' behind it. Each item is a state; a table of bytes says which states a byte can reach, another which states may
 * follow one. So a search costs a few steps a byte, whatever the text.
 */
#include "compile.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define RULES_MAX      64 /* a bit each in the facts of a request */
#define WORDS_MAX      4096
#define PATTERNS_MAX   64
#define REGIONS_MAX    32
#define WORD_BYTES_MAX 128

static const struct words channels = WORDS_OF("a channel", CHANNEL);

/* -- patterns --------------------------------------------------------------------------------------- */

struct parser {
    struct reader *reader;
    struct acog_view text;
    size_t at;
    struct acog_dlp_pattern *pattern;
    bool skips[ACOG_DLP_ITEMS_MAX];   /* '?' or '*' */
    bool repeats[ACOG_DLP_ITEMS_MAX]; /* '*' or '+' */
    size_t count;
};

static bool class_fits(unsigned char c, char class)
{
    bool fits = false;
    switch (tolower((unsigned char)class)) {
    case 'a':
        fits = isalpha(c) != 0;
        break;
    case 'd':
        fits = isdigit(c) != 0;
        break;
    case 'l':
        fits = islower(c) != 0;
        break;
    case 'p':
        fits = ispunct(c) != 0;
        break;
    case 's':
        fits = isspace(c) != 0;
        break;
    case 'u':
        fits = isupper(c) != 0;
        break;
    case 'w':
        fits = isalnum(c) != 0;
        break;
    case 'x':
        fits = isxdigit(c) != 0;
        break;
    default:
        return c == (unsigned char)class; /* %. and the like: the character itself */
    }
    return isupper((unsigned char)class) != 0 ? !fits : fits;
}

static bool is_class(char c)
{
    return strchr("adlpsuwxADLPSUWX", c) != NULL || ispunct((unsigned char)c) != 0;
}

static void allow(struct parser *parser, unsigned char c)
{
    parser->pattern->bytes[c] |= UINT64_C(1) << parser->count;
}

/* Behind '%': a class or a character that is meant as itself. */
static bool read_class(struct parser *parser)
{
    if (parser->at == parser->text.len || !is_class(parser->text.ptr[parser->at])) {
        reader_error(parser->reader, "%% needs one of a d l p s u w x, or a character to be taken "
                                     "as it is");
        return false;
    }
    char class = parser->text.ptr[parser->at++];
    for (unsigned c = 0; c < 256; c++) {
        if (class_fits((unsigned char)c, class)) {
            allow(parser, (unsigned char)c);
        }
    }
    return true;
}

static void invert(struct parser *parser)
{
    for (size_t c = 0; c < 256; c++) {
        parser->pattern->bytes[c] ^= UINT64_C(1) << parser->count;
    }
}

/* Behind '['. */
static bool read_set(struct parser *parser)
{
    struct acog_view text = parser->text;
    bool inverted = parser->at < text.len && text.ptr[parser->at] == '^';
    parser->at += inverted ? 1 : 0;
    size_t first = parser->at;
    while (parser->at < text.len && (text.ptr[parser->at] != ']' || parser->at == first)) {
        unsigned char from = (unsigned char)text.ptr[parser->at++];
        if (from == '%') {
            if (!read_class(parser)) {
                return false;
            }
            continue;
        }
        unsigned char to = from;
        if (parser->at + 1 < text.len && text.ptr[parser->at] == '-' &&
            text.ptr[parser->at + 1] != ']') {
            to = (unsigned char)text.ptr[parser->at + 1];
            parser->at += 2;
        }
        for (unsigned c = from; c <= to; c++) {
            allow(parser, (unsigned char)c);
        }
    }
    if (parser->at == text.len) {
        reader_error(parser->reader, "a [ without its ]");
        return false;
    }
    parser->at++;
    if (inverted) {
        invert(parser);
    }
    return true;
}

static bool read_item(struct parser *parser)
{
    char c = parser->text.ptr[parser->at++];
    if (c == '%') {
        return read_class(parser);
    }
    if (c == '[') {
        return read_set(parser);
    }
    if (strchr("^$()*+?-", c) != NULL) {
        reader_error(parser->reader,
                     "\"%c\" cannot stand here: there are no anchors, captures and lazy repeats; "
                     "the character itself is %%%c",
                     c, c);
        return false;
    }
    if (c == '\\') {
        reader_error(parser->reader,
                     "\"\\\" is no escape here: patterns are Lua's, %%d and not \\d; "
                     "the character itself is %%\\");
        return false;
    }
    if (c == '.') {
        invert(parser); /* nothing yet: now everything */
    } else {
        allow(parser, (unsigned char)c);
    }
    return true;
}

static void read_repeat(struct parser *parser)
{
    char c = '\0';
    if (parser->at < parser->text.len) {
        c = parser->text.ptr[parser->at];
    }
    parser->skips[parser->count] = c == '?' || c == '*';
    parser->repeats[parser->count] = c == '*' || c == '+';
    parser->at += c == '?' || c == '*' || c == '+' ? 1 : 0;
}

/* The states that can come at place `at`: its item, and those behind it while they may be left out. */
static uint64_t reachable(const struct parser *parser, size_t at)
{
    uint64_t states = 0;
    for (size_t i = at; i < parser->count; i++) {
        states |= UINT64_C(1) << i;
        if (!parser->skips[i]) {
            break;
        }
    }
    return states;
}

static bool can_end_behind(const struct parser *parser, size_t item)
{
    for (size_t i = item + 1; i < parser->count; i++) {
        if (!parser->skips[i]) {
            return false;
        }
    }
    return true;
}

static void connect(struct parser *parser)
{
    struct acog_dlp_pattern *pattern = parser->pattern;
    pattern->first = reachable(parser, 0);
    for (size_t i = 0; i < parser->count; i++) {
        uint64_t self = UINT64_C(1) << i;
        pattern->follow[i] = reachable(parser, i + 1) | (parser->repeats[i] ? self : 0);
        pattern->last |= can_end_behind(parser, i) ? self : 0;
    }
}

static void read_pattern(struct reader *reader, struct acog_view text,
                         struct acog_dlp_pattern *pattern)
{
    struct parser parser = {.reader = reader, .text = text, .pattern = pattern};
    bool needed = false;
    while (parser.at < text.len) {
        if (parser.count == ACOG_DLP_ITEMS_MAX) {
            reader_error(reader, "has more than %d items", ACOG_DLP_ITEMS_MAX);
            return;
        }
        if (!read_item(&parser)) {
            return;
        }
        read_repeat(&parser);
        needed = needed || !parser.skips[parser.count];
        parser.count++;
    }
    if (!needed) {
        reader_error(reader, "fits the empty text, so it would fit everything");
        return;
    }
    connect(&parser);
}

/* -- lists ------------------------------------------------------------------------------------------ */

static void read_patterns(struct reader *reader, int index, void *target)
{
    struct acog_dlp_rule *rule = target;
    const struct acog_view *texts = reader_texts(reader, index, PATTERNS_MAX, &rule->pattern_count);
    struct acog_dlp_pattern *patterns =
        reader_take(reader, (rule->pattern_count + 1) * sizeof(*patterns));
    memset(patterns, 0, (rule->pattern_count + 1) * sizeof(*patterns));
    for (size_t i = 0; i < rule->pattern_count; i++) {
        size_t mark = reader_enter(reader, "[%zu]", i + 1);
        read_pattern(reader, texts[i], &patterns[i]);
        reader_leave(reader, mark);
    }
    rule->patterns = patterns;
}

/* In lower case, those with the same first byte side by side. */
static void read_words(struct reader *reader, int index, void *target)
{
    struct acog_dlp_rule *rule = target;
    size_t count = 0;
    const struct acog_view *texts = reader_texts(reader, index, WORDS_MAX, &count);
    struct acog_view *words = reader_take(reader, (count + 1) * sizeof(*words));
    size_t used = 0;
    for (size_t first = 0; first < 256; first++) {
        rule->word_from[first] = (uint16_t)used;
        for (size_t i = 0; i < count; i++) {
            struct acog_view word = reader_copy_lower(reader, texts[i]);
            if (word.len > WORD_BYTES_MAX && first == 0) {
                reader_error(reader, "[%zu]: has more than %d bytes", i + 1, WORD_BYTES_MAX);
            }
            if (word.len > 0 && (unsigned char)word.ptr[0] == first) {
                words[used++] = word;
            }
        }
    }
    rule->word_from[256] = (uint16_t)used;
    rule->words = words;
}

static void read_regions(struct reader *reader, int index, void *target)
{
    struct acog_dlp_rule *rule = target;
    rule->regions = reader_texts(reader, index, REGIONS_MAX, &rule->region_count);
}

/* -- rules ------------------------------------------------------------------------------------------ */

#define RULE(member) offsetof(struct acog_dlp_rule, member)

static const struct field rule_fields[] = {
    {.name = "name", .kind = ACOG_FIELD_TEXT, .offset = RULE(name)},
    {.name = "words", .kind = ACOG_FIELD_CUSTOM, .read = read_words},
    {.name = "patterns", .kind = ACOG_FIELD_CUSTOM, .read = read_patterns},
    {.name = "channels", .kind = ACOG_FIELD_WORDS, .offset = RULE(channels), .words = &channels},
    {.name = "regions", .kind = ACOG_FIELD_CUSTOM, .read = read_regions},
};

const struct record dlp_record = {"dlp", rule_fields, FIELD_COUNT_OF(rule_fields)};

static void read_rule(struct reader *reader, int index, struct acog_dlp_rule *rule)
{
    size_t errors = reader->report->errors;
    *rule = (struct acog_dlp_rule){0};
    reader_fields(reader, index, rule_fields, FIELD_COUNT_OF(rule_fields), rule);
    if (reader->report->errors > errors) {
        return; /* what seems to be missing may only have been unreadable */
    }
    if (rule->name.len == 0) {
        reader_error(reader, "needs a name");
    }
    if (rule->word_from[256] == 0 && rule->pattern_count == 0) {
        reader_error(reader, "needs words or patterns: what it looks for");
    }
    if (rule->channels == 0 && rule->region_count == 0) {
        reader_error(reader, "needs channels or regions: where such a request may go");
    }
    rule->reason =
        reader_format(reader, "the data rule \"%.*s\" keeps it away", ACOG_VIEW_FMT(rule->name));
}

void compile_dlp(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, RULES_MAX);
    if (count < 0) {
        return;
    }
    struct acog_dlp_rule *rules = reader_take(reader, ((size_t)count + 1) * sizeof(*rules));
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        rules[i - 1] = (struct acog_dlp_rule){0};
        if (reader_table(reader, lua_gettop(reader->L))) {
            read_rule(reader, lua_gettop(reader->L), &rules[i - 1]);
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->dlp_rules = rules;
    policy->dlp_rule_count = (size_t)count;
}
