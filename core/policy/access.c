/* access.c - who may use which models. A request is told apart by a header. */
#include "compile.h"

#include <stddef.h>

#define RULES_MAX  64 /* a bit each, in acog_request_facts.access_rules */
#define MODELS_MAX 256

#define RULE(member) offsetof(struct acog_access_rule, member)

static void read_models(struct reader *reader, int index, void *target)
{
    struct acog_access_rule *rule = target;
    rule->models = reader_texts(reader, index, MODELS_MAX, &rule->model_count);
}

static void read_header(struct reader *reader, int index, void *target)
{
    struct acog_access_rule *rule = target;
    if (reader_token(reader, index, &rule->header)) {
        (void)compile_header_tells_no_secret(reader, rule->header);
    }
}

static const struct field rule_fields[] = {
    {.name = "header", .kind = ACOG_FIELD_CUSTOM, .read = read_header},
    {.name = "value", .kind = ACOG_FIELD_TEXT, .offset = RULE(value)},
    {.name = "models", .kind = ACOG_FIELD_CUSTOM, .read = read_models},
};

const struct record access_record = {"access", rule_fields, FIELD_COUNT_OF(rule_fields)};

static void read_rule(struct reader *reader, int index, struct acog_access_rule *rule)
{
    size_t errors = reader->report->errors;
    reader_fields(reader, index, rule_fields, FIELD_COUNT_OF(rule_fields), rule);
    if (reader->report->errors > errors) {
        return;
    }
    if (rule->model_count == 0) {
        reader_error(reader, "needs models: what such a request may use");
    }
    if (rule->value.len > 0 && rule->header.len == 0) {
        reader_error(reader, "needs header: in which one the value stands");
    }
    rule->reason = rule->header.len == 0
                       ? reader_format(reader, "no access rule lists it")
                       : reader_format(reader, "no access rule lists it for %.*s%s%.*s",
                                       ACOG_VIEW_FMT(rule->header), rule->value.len > 0 ? ": " : "",
                                       ACOG_VIEW_FMT(rule->value));
}

void compile_access(struct reader *reader, int index, void *target)
{
    struct acog_policy *policy = target;
    int count = reader_list(reader, index, RULES_MAX);
    if (count < 0) {
        return;
    }
    struct acog_access_rule *rules = reader_take(reader, ((size_t)count + 1) * sizeof(*rules));
    for (int i = 1; i <= count; i++) {
        size_t mark = reader_enter(reader, "[%d]", i);
        lua_geti(reader->L, index, i);
        rules[i - 1] = (struct acog_access_rule){.value = {0}};
        if (reader_table(reader, lua_gettop(reader->L))) {
            read_rule(reader, lua_gettop(reader->L), &rules[i - 1]);
        }
        lua_pop(reader->L, 1);
        reader_leave(reader, mark);
    }
    policy->access_rules = rules;
    policy->access_rule_count = (size_t)count;
}
