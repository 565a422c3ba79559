/* served_by.c - which provider ran the model behind an aggregator, in its own words (S0.63).
 *
 * OpenRouter says it beside the answer, {"provider":"Anthropic",…}, in every chunk of a stream; in messages and
 * responses it stands in the object that the first event brings. Other answers are not looked at.
 */
#include "state.h"

#define NAME_MAX_BYTES ((size_t)64)
#define DEPTH_MAX      512

void acog_exchange_note_provider(struct acog_exchange *exchange,
                                 struct acog_exchange_attempt *attempt, struct acog_view json)
{
    static const struct acog_view paths[] = {
        {"provider", 8}, {"message.provider", 16}, {"response.provider", 17}};
    struct acog_json_value value;
    struct acog_json_value name;
    struct acog_json_error error = {0};
    if (attempt->served_by.len > 0 ||
        !acog_exchange_connection(exchange, attempt->candidate)->aggregator ||
        acog_json_check(json, DEPTH_MAX, &value, &error) != ACOG_OK ||
        value.type != ACOG_JSON_OBJECT) {
        return;
    }
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct acog_view text;
        if (acog_json_path(value, paths[i], &name) && name.type == ACOG_JSON_STRING &&
            acog_json_text(name, &exchange->scratch, &text) == ACOG_OK && text.len > 0) {
            attempt->served_by =
                acog_exchange_copy_text(exchange, acog_exchange_cut(text, NAME_MAX_BYTES));
            return;
        }
    }
}
