/* conversation_shown.h - a conversation as a text, one line a part, so that a test can say all of it at once.
 *
 *   system text "Be brief" cache {"type":"ephemeral"}
 *   user text "hello"
 *   user image base64 image/png "iVBORw0KGgo="
 *   assistant reasoning "why" opaque messages "c2ln"
 *   assistant call "c1" "f" {"a":1}
 *   user result "c1" error
 *   . text "2 mm"
 */
#ifndef ACOG_TESTS_SUPPORT_CONVERSATION_SHOWN_H
#define ACOG_TESTS_SUPPORT_CONVERSATION_SHOWN_H

#include "core/dialect/conversation.h"
#include "tests/support/check.h"

static inline void show_view(struct acog_buffer *out, struct acog_view bytes)
{
    assert_int_equal(acog_buffer_append(out, bytes), ACOG_OK);
}

static inline void show_text(struct acog_buffer *out, struct acog_text text)
{
    show_view(out, ACOG_VIEW(" \""));
    assert_int_equal(acog_text_append_inside(out, text), ACOG_OK);
    show_view(out, ACOG_VIEW("\""));
}

static inline void show_value(struct acog_buffer *out, const char *name,
                              struct acog_json_value value)
{
    if (acog_json_present(value)) {
        show_view(out, ACOG_VIEW(" "));
        show_view(out, acog_view_of(name));
        show_view(out, ACOG_VIEW(" "));
        show_view(out, value.raw);
    }
}

static inline void show_media(struct acog_buffer *out, const struct acog_media *media)
{
    static const char *const kinds[] = {"image", "document", "audio", "video", "file"};
    static const char *const sources[] = {" base64 ", " url ", " text ", " id "};
    show_view(out, acog_view_of(kinds[media->kind]));
    show_view(out, acog_view_of(sources[media->source]));
    show_view(out, media->media_type);
    show_text(out, media->data);
    show_value(out, "name", media->name);
    show_value(out, "detail", media->detail);
}

static inline void show_part(struct acog_buffer *out, const char *who, const struct acog_part *part)
{
    show_view(out, acog_view_of(who));
    show_view(out, ACOG_VIEW(" "));
    switch (part->kind) {
    case ACOG_PART_TEXT:
        show_view(out, ACOG_VIEW("text"));
        show_text(out, acog_text_of(part->text));
        break;
    case ACOG_PART_MEDIA:
        show_media(out, &part->media);
        break;
    case ACOG_PART_REASONING:
        show_view(out, ACOG_VIEW("reasoning"));
        show_text(out, acog_text_of(part->text));
        break;
    case ACOG_PART_REFUSAL:
        show_view(out, ACOG_VIEW("refusal"));
        show_text(out, acog_text_of(part->text));
        break;
    case ACOG_PART_TOOL_CALL:
        show_view(out, ACOG_VIEW("call"));
        show_text(out, part->id);
        show_text(out, part->name);
        show_view(out, ACOG_VIEW(" "));
        assert_int_equal(acog_text_append_plain(out, part->arguments), ACOG_OK);
        break;
    case ACOG_PART_TOOL_RESULT:
        show_view(out, ACOG_VIEW("result"));
        show_text(out, part->id);
        show_view(out, part->is_error ? ACOG_VIEW(" error") : ACOG_VIEW(""));
        break;
    case ACOG_PART_FOREIGN:
        show_view(out, ACOG_VIEW("foreign "));
        show_view(out, part->type);
        break;
    }
    if (part->opaque.maker != ACOG_DIALECT_COUNT) {
        show_view(out, part->opaque.redacted ? ACOG_VIEW(" redacted ") : ACOG_VIEW(" opaque "));
        show_view(out, acog_name(ACOG_VOCABULARY_DIALECT, (int)part->opaque.maker));
        show_text(out, part->opaque.bytes);
    }
    show_value(out, "cache", part->cache);
    show_view(out, ACOG_VIEW("\n"));
    for (const struct acog_part *inner = part->content.first; inner != NULL; inner = inner->next) {
        show_part(out, ".", inner);
    }
}

static inline void show_conversation(struct acog_buffer *out,
                                     const struct acog_conversation *conversation)
{
    static const char *const roles[] = {"user", "assistant", "later system"};
    for (const struct acog_part *part = conversation->system.first; part != NULL;
         part = part->next) {
        show_part(out, "system", part);
    }
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            show_part(out, roles[turn->role], part);
        }
    }
}

static inline void show_tool_list(struct acog_buffer *out, const struct acog_tool *tool)
{
    for (; tool != NULL; tool = tool->next) {
        show_view(out, tool->foreign.len > 0 ? ACOG_VIEW("foreign ") : ACOG_VIEW("tool"));
        show_view(out, tool->foreign);
        show_value(out, "name", tool->name);
        show_value(out, "description", tool->description);
        show_value(out, "schema", tool->schema);
        show_value(out, "strict", tool->strict);
        show_value(out, "cache", tool->cache);
        show_view(out, ACOG_VIEW("\n"));
    }
}

static inline void show_tools(struct acog_buffer *out, const struct acog_conversation *conversation)
{
    show_tool_list(out, conversation->tools);
    show_tool_list(out, conversation->foreign_tools);
}

/* The names of what has no place, the latest first, a space behind each. */
static inline void show_unknown(struct acog_buffer *out,
                                const struct acog_conversation *conversation)
{
    for (const struct acog_unknown_field *unknown = conversation->unknown; unknown != NULL;
         unknown = unknown->next) {
        show_view(out, acog_text_of(unknown->name).bytes);
        show_view(out, ACOG_VIEW(" "));
    }
}

#endif
