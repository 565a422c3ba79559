/* model_rules.c - what is taken for granted of a model that nothing is said of. */
#include "acog/model_rules.h"

struct acog_model_rules acog_model_rules_default(enum acog_dialect dialect)
{
    bool anthropic = dialect == ACOG_DIALECT_MESSAGES;
    return (struct acog_model_rules){
        .temperature = true,
        .temperature_max = anthropic ? 1.0 : 2.0,
        .top_k = anthropic || dialect == ACOG_DIALECT_GEMINI,
        .penalties = true,
        .stop = true,
        .forced_tool = true,
        .prefill = anthropic || dialect == ACOG_DIALECT_GEMINI,
        .schema = anthropic ? ACOG_SCHEMA_TOOL : ACOG_SCHEMA_NATIVE,
        .thinking = ACOG_THINKING_NONE,
        .default_output_tokens = 4096,
        .largest_output_tokens = -1,
    };
}
