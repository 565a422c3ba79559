/* flow_balance.c - where a call's arguments are complete: JSON text that comes in pieces, by its brackets. */
#include "flow.h"

static void balance_character(struct acog_flow_balance *balance, char byte)
{
    if (balance->in_string) {
        if (balance->after_backslash) {
            balance->after_backslash = false;
        } else if (byte == '\\') {
            balance->after_backslash = true;
        } else if (byte == '"') {
            balance->in_string = false;
        }
        return;
    }
    switch (byte) {
    case '"':
        balance->in_string = true;
        break;
    case '{':
    case '[':
        balance->seen = true;
        balance->depth++;
        break;
    case '}':
    case ']':
        balance->depth -= balance->depth > 0 ? 1 : 0;
        break;
    default:
        break;
    }
}

void acog_flow_balance_add(struct acog_flow_balance *balance, struct acog_text text)
{
    const struct acog_view bytes = text.bytes;
    for (size_t i = 0; i < bytes.len; i++) {
        char byte = bytes.ptr[i];
        if (!text.escaped || byte != '\\' || i + 1 == bytes.len) {
            balance_character(balance, byte);
            continue;
        }
        char decoded[6];
        size_t escape = bytes.ptr[i + 1] == 'u' ? 6 : 2;
        size_t length = acog_json_unescape(acog_view_slice(bytes, i, i + escape), decoded);
        for (size_t k = 0; k < length; k++) {
            balance_character(balance, decoded[k]);
        }
        i += escape - 1;
    }
}

bool acog_flow_balanced(const struct acog_flow_balance *balance)
{
    return balance->seen && balance->depth == 0 && !balance->in_string;
}
