/* model_rules.h - what a model takes, as data: the one place that a translation asks. lua/model.lua says it for the
 * models that are known, a configuration overrides it, core/policy compiles it into a row of each candidate.
 */
#ifndef ACOG_MODEL_RULES_H
#define ACOG_MODEL_RULES_H

#include "acog/names.h"

#include <stdbool.h>
#include <stdint.h>

/* How a model is told to think. */
enum acog_thinking {
    ACOG_THINKING_NONE = 0, /* it cannot: effort and budget are dropped */
    ACOG_THINKING_BUDGET,   /* tokens: Anthropic's budget_tokens, Gemini's thinkingBudget */
    ACOG_THINKING_ADAPTIVE, /* Anthropic: thinking adaptive, and output_config.effort */
    ACOG_THINKING_EFFORT,   /* a word: OpenAI's reasoning effort, Gemini's thinkingLevel */
};

/* How a model is held to a JSON schema. */
enum acog_schema_support {
    ACOG_SCHEMA_NATIVE = 0, /* the dialect's own field */
    ACOG_SCHEMA_TOOL,       /* by one forced tool, whose arguments are given back as text (B20) */
    ACOG_SCHEMA_NONE,       /* not at all: refused (decision 14) */
};

struct acog_model_rules {
    bool
        temperature; /* takes any in its range; false: none, and no top_p, top_k or penalties either */
    double temperature_max; /* more is sent as this (B12) */
    bool top_k;             /* takes it, where the dialect has the field */
    bool penalties; /* takes frequency and presence penalties, where the dialect has the fields */
    bool stop;      /* takes stop sequences */
    bool max_completion_tokens; /* chat: by this name, else max_tokens (B27) */
    bool system_anywhere;       /* messages: role "system" is legal between the turns (B14) */
    bool forced_tool;           /* messages: takes a choice that makes it call a tool */
    bool prefill;               /* continues a last turn of the assistant */
    bool
        drop_server_tools; /* tools of another provider are left out; false: refused (decision 14) */
    enum acog_schema_support schema;
    enum acog_thinking thinking;
    unsigned efforts; /* ACOG_BIT(acog_effort): which words it takes */
    int64_t
        default_output_tokens; /* where the dialect needs a limit and the client gave none; at least 1 */
    int64_t largest_output_tokens; /* a higher limit is sent as this; -1: not known */
};

/* For a model that nothing is said of, behind a connection that speaks `dialect`. */
struct acog_model_rules acog_model_rules_default(enum acog_dialect dialect);

#endif
