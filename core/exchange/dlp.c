/* dlp.c - which data protection rules a request's texts touch (S4.18c).
 *
 * Every string of the body is looked at, names of members too, as it reads once its escapes are decoded (B88). A string
 * that is JSON itself, as a tool's arguments are, is read once more (B86). Texts of blocks that stand side by side are
 * looked at joined as well as singly (B90); those of two messages are not joined. The work is bounded: when the budget
 * is spent, all rules count as touched, so that nothing slips through by being long.
 */
#include "acog/json.h"
#include "state.h"

#define STEPS_MAX    (UINT64_C(128) * 1024 * 1024) /* well below a second */
#define NESTED_DEPTH 128
#define DECODED_MAX  ((size_t)64 * 1024) /* beyond the body: for the texts of a text that is JSON */

struct scan {
    const struct acog_policy *policy;
    struct acog_arena arena; /* decoded texts, one at a time */
    uint64_t found;
    uint64_t steps;
    struct acog_buffer joined;
    size_t joined_count;
    size_t joined_depth;
    bool no_memory;
};

/* -- one text --------------------------------------------------------------------------------------- */

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* No word goes over the place before text[at]. */
static bool is_edge(struct acog_view text, size_t at)
{
    return at == 0 || at == text.len || !is_word_byte(text.ptr[at - 1]) ||
           !is_word_byte(text.ptr[at]);
}

static bool finds_pattern(struct scan *scan, const struct acog_dlp_pattern *pattern,
                          struct acog_view text)
{
    uint64_t states = 0;
    for (size_t i = 0; i < text.len && scan->steps <= STEPS_MAX; i++) {
        uint64_t next = is_edge(text, i) ? pattern->first : 0;
        scan->steps++;
        while (states != 0) {
            size_t item = (size_t)__builtin_ctzll(states);
            next |= pattern->follow[item];
            states &= states - 1;
            scan->steps++;
        }
        states = next & pattern->bytes[(unsigned char)text.ptr[i]];
        if ((states & pattern->last) != 0 && is_edge(text, i + 1)) {
            return true;
        }
    }
    return false;
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c + ('a' - 'A'));
    }
    return c;
}

static bool starts_with_word(struct acog_view text, size_t at, struct acog_view word)
{
    if (word.len > text.len - at || !is_edge(text, at + word.len)) {
        return false;
    }
    for (size_t i = 1; i < word.len; i++) {
        if (lower(text.ptr[at + i]) != word.ptr[i]) {
            return false;
        }
    }
    return true;
}

static bool finds_word(struct scan *scan, const struct acog_dlp_rule *rule, struct acog_view text)
{
    for (size_t at = 0; at < text.len && scan->steps <= STEPS_MAX; at++) {
        unsigned char first = (unsigned char)lower(text.ptr[at]);
        size_t end = rule->word_from[first + 1];
        scan->steps++;
        if (rule->word_from[first] == end || !is_edge(text, at)) {
            continue;
        }
        for (size_t i = rule->word_from[first]; i < end; i++) {
            scan->steps++;
            if (starts_with_word(text, at, rule->words[i])) {
                return true;
            }
        }
    }
    return false;
}

static bool touches(struct scan *scan, const struct acog_dlp_rule *rule, struct acog_view text)
{
    if (rule->word_from[256] > 0 && finds_word(scan, rule, text)) {
        return true;
    }
    for (size_t i = 0; i < rule->pattern_count; i++) {
        if (finds_pattern(scan, &rule->patterns[i], text)) {
            return true;
        }
    }
    return scan->steps > STEPS_MAX;
}

static void look_at(struct scan *scan, struct acog_view text)
{
    for (size_t i = 0; i < scan->policy->dlp_rule_count; i++) {
        uint64_t rule = UINT64_C(1) << i;
        if ((scan->found & rule) == 0 && touches(scan, &scan->policy->dlp_rules[i], text)) {
            scan->found |= rule;
        }
    }
}

/* -- blocks side by side ----------------------------------------------------------------------------- */

static void end_joined(struct scan *scan)
{
    if (scan->joined_count > 1) {
        look_at(scan, acog_buffer_view(&scan->joined));
    }
    acog_buffer_clear(&scan->joined, ACOG_EXCHANGE_KEPT_BYTES);
    scan->joined_count = 0;
}

static void join(struct scan *scan, struct acog_view text, size_t depth)
{
    if (scan->joined_count > 0 && scan->joined_depth != depth) {
        end_joined(scan);
    }
    scan->joined_depth = depth;
    scan->joined_count++;
    scan->no_memory = scan->no_memory || acog_buffer_append(&scan->joined, text) != ACOG_OK;
}

/* -- all texts --------------------------------------------------------------------------------------- */

/* The string whose opening quote is at `at`, quotes included. The JSON was checked: it has an end. */
static struct acog_json_value string_at(struct acog_view json, size_t at)
{
    size_t end = at + 1;
    bool escaped = false;
    while (json.ptr[end] != '"') {
        escaped = escaped || json.ptr[end] == '\\';
        end += json.ptr[end] == '\\' ? 2 : 1;
    }
    return (struct acog_json_value){
        .type = ACOG_JSON_STRING, .escaped = escaped, .raw = acog_view_slice(json, at, end + 1)};
}

static bool is_member_name(struct acog_view json, size_t at)
{
    while (at < json.len && (json.ptr[at] == ' ' || json.ptr[at] == '\t' || json.ptr[at] == '\n' ||
                             json.ptr[at] == '\r')) {
        at++;
    }
    return at < json.len && json.ptr[at] == ':';
}

static bool looks_like_json(struct acog_view text)
{
    struct acog_view trimmed = acog_view_trim(text);
    struct acog_json_value value;
    struct acog_json_error error = {0};
    return trimmed.len > 1 && (trimmed.ptr[0] == '{' || trimmed.ptr[0] == '[') &&
           acog_json_check(text, NESTED_DEPTH, &value, &error) == ACOG_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion): two deep */
static void walk(struct scan *scan, struct acog_view json, bool nested);

/* NOLINTNEXTLINE(misc-no-recursion): two deep */
static void read_string(struct scan *scan, struct acog_json_value value, bool nested,
                        struct acog_view *text)
{
    if (acog_json_text(value, &scan->arena, text) != ACOG_OK) {
        scan->no_memory = true;
        return;
    }
    look_at(scan, *text);
    if (!nested && looks_like_json(*text)) {
        walk(scan, *text, true);
    }
}

/* Valid JSON needs no grammar here: strings are where quotes are. */
/* NOLINTNEXTLINE(misc-no-recursion): two deep */
static void walk(struct scan *scan, struct acog_view json, bool nested)
{
    size_t depth = 0;
    bool is_text = false; /* the member's name was "text" */
    for (size_t at = 0; at < json.len && !scan->no_memory; at++) {
        char c = json.ptr[at];
        if (c == '{' || c == '[') {
            depth++;
            is_text = false;
        } else if (c == '}' || c == ']') {
            depth--;
            if (c == ']' && !nested && scan->joined_count > 0 && depth + 2 <= scan->joined_depth) {
                end_joined(scan);
            }
        } else if (c == '"') {
            struct acog_json_value value = string_at(json, at);
            struct acog_view text = {0};
            at += value.raw.len - 1;
            read_string(scan, value, nested, &text);
            if (is_member_name(json, at + 1)) {
                is_text = acog_view_equal(text, ACOG_VIEW("text"));
            } else if (is_text && !nested) {
                join(scan, text, depth);
                is_text = false;
            }
            if (!nested) {
                acog_arena_reset(&scan->arena);
            }
        }
    }
}

enum acog_code acog_exchange_scan_dlp(struct acog_exchange *exchange, uint64_t *found)
{
    const struct acog_policy *policy = &exchange->snapshot->policy;
    struct scan scan = {.policy = policy};
    *found = 0;
    if (policy->dlp_rule_count == 0) {
        return ACOG_OK;
    }
    acog_buffer_init(&scan.joined, exchange->start.body.len + 1);
    acog_arena_init(&scan.arena, 2 * exchange->start.body.len + DECODED_MAX);
    walk(&scan, exchange->start.body, false);
    end_joined(&scan);
    acog_arena_fini(&scan.arena);
    acog_buffer_fini(&scan.joined);
    *found = scan.found;
    return scan.no_memory ? ACOG_NO_MEMORY : ACOG_OK;
}
