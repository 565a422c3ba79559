/* classify.c - from the facts of a failure to the policy's class, and what the request keeps of a failure.
 *
 * This is the one place that classifies; everything it knows are the policy's rows.
 */
#include "acog/contract.h"
#include "step.h"

#include <string.h>

#define CODE_MAX     64 /* bytes kept of a code or a type */
#define CATEGORY_MAX 32

static bool in_set(unsigned set, int value)
{
    return set == 0 || (set & ACOG_BIT(value)) != 0;
}

static bool row_fits(const struct acog_classify_row *row, const struct acog_failure *failure,
                     bool output_seen)
{
    uint16_t status_to = row->status_to < row->status_from ? row->status_from : row->status_to;
    return in_set(row->causes, (int)failure->cause) &&
           (row->clocks == 0 || (failure->cause == ACOG_CAUSE_CLOCK &&
                                 (row->clocks & ACOG_BIT(failure->clock)) != 0)) &&
           (row->status_from == 0 ||
            (failure->status >= row->status_from && failure->status <= status_to)) &&
           (row->shapes == 0 || (row->shapes & failure->shapes) != 0) &&
           !(row->before_output_only && output_seen);
}

enum acog_failure_class acog_classify(const struct acog_policy *policy,
                                      const struct acog_failure *failure, bool output_seen)
{
    for (size_t i = 0; i < policy->classify_count; i++) {
        const struct acog_classify_row *row = &policy->classify[i];
        if (policy->classes[row->class].declared && row_fits(row, failure, output_seen)) {
            return row->class;
        }
    }
    return ACOG_CLASS_GATEWAY;
}

const struct acog_class_row *acog_class_row_of(const struct acog_policy *policy,
                                               enum acog_failure_class class)
{
    static const struct acog_class_row undeclared = {.charge = ACOG_CHARGE_IGNORE,
                                                     .retry_after_ms = -1};
    const struct acog_class_row *row = &policy->classes[class];
    return row->declared ? row : &undeclared;
}

/* -- what is kept ---------------------------------------------------------------------------------- */

static struct acog_view keep_text(struct acog_request *request, struct acog_view text,
                                  size_t bytes_max)
{
    size_t room = sizeof request->texts - request->texts_used;
    size_t len = text.len < bytes_max ? text.len : bytes_max;
    len = len < room ? len : room;
    while (len < text.len && len > 0 && ((unsigned char)text.ptr[len] & 0xc0U) == 0x80U) {
        len--; /* no half character */
    }
    if (len == 0) {
        return (struct acog_view){0};
    }
    char *copy = request->texts + request->texts_used;
    memcpy(copy, text.ptr, len);
    request->texts_used += len;
    return (struct acog_view){.ptr = copy, .len = len};
}

void acog_failure_keep(struct acog_request *request, const struct acog_failure *failure)
{
    struct acog_failure *kept = &request->last_failure;
    *kept = *failure;
    request->texts_used = 0;
    if (kept->category_count > ACOG_CATEGORIES_MAX) {
        kept->category_count = ACOG_CATEGORIES_MAX;
    }
    for (size_t i = 0; i < kept->category_count; i++) {
        kept->categories[i] = keep_text(request, failure->categories[i], CATEGORY_MAX);
    }
    kept->code = keep_text(request, failure->code, CODE_MAX);
    kept->type = keep_text(request, failure->type, CODE_MAX);
    kept->message = keep_text(request, failure->message, sizeof request->texts);
    request->has_failure = true;
}

/* -- restricted targets ---------------------------------------------------------------------------- */

static char category_byte(char byte)
{
    if (byte >= 'A' && byte <= 'Z') {
        return (char)(byte - 'A' + 'a');
    }
    if (byte == '-' || byte == ' ') {
        return '_';
    }
    return byte;
}

/* The spellings of one category are equal (G1.4). */
static bool same_category(struct acog_view a, struct acog_view b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (category_byte(a.ptr[i]) != category_byte(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

static bool names_category(const struct acog_failure *failure, struct acog_view category)
{
    if (same_category(failure->code, category)) { /* (S1.15) */
        return true;
    }
    for (size_t i = 0; i < failure->category_count; i++) {
        if (same_category(failure->categories[i], category)) {
            return true;
        }
    }
    return false;
}

bool acog_failure_covered(const struct acog_connection *target, const struct acog_class_row *row,
                          const struct acog_failure *failure)
{
    if (row->takeover.len == 0) {
        return false;
    }
    for (size_t i = 0; i < target->takes_over_count; i++) {
        const struct acog_takes_over *takes = &target->takes_over[i];
        if (acog_view_equal(takes->name, row->takeover) &&
            (takes->category.len == 0 || names_category(failure, takes->category))) {
            return true;
        }
    }
    return false;
}

/* -- the reason of a move -------------------------------------------------------------------------- */

static void append(struct acog_request *request, struct acog_view text)
{
    struct acog_view *reason = &request->fallback_reason;
    for (size_t i = 0; i < text.len && reason->len < sizeof request->fallback_reason_text; i++) {
        char byte = text.ptr[i];
        /* A provider wrote it and it goes into logs: nothing but what a code is made of. */
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.' ||
                     byte == ':';
        if (!plain) {
            byte = '_';
        }
        request->fallback_reason_text[reason->len++] = byte;
    }
}

void acog_failure_name_reason(struct acog_step *step)
{
    struct acog_request *request = step->request;
    const struct acog_failure *failure = &request->last_failure;
    const struct acog_class_row *row = acog_class_row_of(step->policy, request->last_class);
    request->fallback_reason = (struct acog_view){.ptr = request->fallback_reason_text};
    append(request, row->takeover.len > 0
                        ? row->takeover
                        : acog_name(ACOG_VOCABULARY_CLASS, (int)request->last_class));
    if (request->last_class != ACOG_CLASS_REFUSAL) {
        return;
    }
    struct acog_view detail = failure->code; /* (G1.5) */
    if (detail.len == 0 && failure->category_count > 0) {
        detail = failure->categories[0];
    }
    if (detail.len > 0) {
        append(request, ACOG_VIEW(":"));
        append(request, detail);
    }
}
