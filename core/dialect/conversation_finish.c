/* conversation_finish.c - what holds for every conversation, once all of it was read. */
#include "acog/contract.h"
#include "conversation.h"
#include "id_index.h"

/* -- order within a turn --------------------------------------------------------------------------- */

/* Results first (B02), calls last (B32); everything else keeps its place. */
static int place_of(const struct acog_part *part)
{
    switch (part->kind) {
    case ACOG_PART_TOOL_RESULT:
        return 0;
    case ACOG_PART_TOOL_CALL:
        return 2;
    case ACOG_PART_TEXT:
    case ACOG_PART_MEDIA:
    case ACOG_PART_REASONING:
    case ACOG_PART_REFUSAL:
    case ACOG_PART_FOREIGN:
        break;
    }
    return 1;
}

static void order_parts(struct acog_turn *turn)
{
    struct acog_part_list lists[3] = {{0}};
    struct acog_part *part = turn->parts.first;
    while (part != NULL) {
        struct acog_part *next = part->next;
        part->next = NULL;
        acog_part_append(&lists[place_of(part)], part);
        part = next;
    }
    turn->parts = (struct acog_part_list){0};
    for (int i = 0; i < 3; i++) {
        if (lists[i].first != NULL) {
            acog_part_append(&turn->parts, lists[i].first);
            turn->parts.last = lists[i].last;
        }
    }
}

/* -- empty texts ----------------------------------------------------------------------------------- */

/* A text that every provider refuses: nothing, or white space only (B04, B05). Also what some dialects can tell only
 * as a text: a refusal, a document of plain text. */
static bool is_blank(const struct acog_part *part)
{
    if (part->kind == ACOG_PART_MEDIA) {
        return part->media.source == ACOG_MEDIA_TEXT && acog_text_is_blank(part->media.data);
    }
    return (part->kind == ACOG_PART_TEXT || part->kind == ACOG_PART_REFUSAL) &&
           acog_text_is_blank(acog_text_of(part->text));
}

/* Takes blank texts out; their cache marker goes to the nearest part before them that has none, or is dropped. */
static void drop_blank(struct acog_part_list *list)
{
    struct acog_part *kept = NULL;
    struct acog_part *part = list->first;
    list->first = NULL;
    list->last = NULL;
    while (part != NULL) {
        struct acog_part *next = part->next;
        part->next = NULL;
        if (!is_blank(part)) {
            acog_part_append(list, part);
            kept = part;
        } else if (acog_json_present(part->cache) && kept != NULL &&
                   !acog_json_present(kept->cache)) {
            kept->cache = part->cache;
        }
        part = next;
    }
}

/* -- tool history (decision 13) -------------------------------------------------------------------- */

static bool same_text(struct acog_conversation_builder *builder, struct acog_text a,
                      struct acog_text b)
{
    struct acog_view left;
    struct acog_view right;
    if (!a.escaped && !b.escaped) {
        return acog_view_equal(a.bytes, b.bytes);
    }
    if (acog_text_characters(a, builder->arena, &left) != ACOG_OK ||
        acog_text_characters(b, builder->arena, &right) != ACOG_OK) {
        builder->code = ACOG_NO_MEMORY;
        return false;
    }
    return acog_view_equal(left, right);
}

/* An id as characters, once and for all: it is compared with others. */
static void settle_id(struct acog_conversation_builder *builder, struct acog_part *part)
{
    if (part->id.escaped) {
        part->id = acog_text_plain(acog_builder_characters(builder, part->id));
    }
}

static struct acog_view shown(struct acog_text id)
{
    return acog_view_slice(id.bytes, 0, 64);
}

static void check_results(struct acog_conversation_builder *builder,
                          const struct acog_id_index *calls, struct acog_turn *turn)
{
    for (struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind != ACOG_PART_TOOL_RESULT) {
            continue;
        }
        settle_id(builder, part);
        struct acog_part *call = acog_id_index_find(calls, part->id.bytes);
        if (call == NULL) {
            struct acog_view id = shown(part->id);
            acog_builder_refuse(
                builder,
                "the tool result for \"%.*s\" answers no call of the assistant turn before it",
                ACOG_VIEW_FMT(id));
            return;
        }
        if (call->answered) {
            struct acog_view id = shown(part->id);
            acog_builder_refuse(builder, "the call \"%.*s\" has two tool results",
                                ACOG_VIEW_FMT(id));
            return;
        }
        call->answered = true;
        part->name = call->name;
    }
}

/* Each call of a turn that is followed by another has its result there. */
static void check_answered(struct acog_conversation_builder *builder, const struct acog_turn *turn)
{
    if (turn->role != ACOG_TURN_ASSISTANT || turn->next == NULL) {
        return;
    }
    for (const struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_CALL && !part->answered) {
            struct acog_view id = shown(part->id);
            acog_builder_refuse(builder,
                                "the call \"%.*s\" has no tool result in the turn after it",
                                ACOG_VIEW_FMT(id));
            return;
        }
    }
}

/* Arguments must be the text of one JSON object: an upstream that wants an object gets what the client wrote. */
static void check_arguments(struct acog_conversation_builder *builder, struct acog_part *part)
{
    struct acog_view text;
    struct acog_json_value value;
    struct acog_json_error error;
    if (acog_text_is_blank(part->arguments)) {
        part->arguments = acog_text_plain(ACOG_VIEW("{}"));
        return;
    }
    enum acog_code code = acog_text_characters(part->arguments, builder->arena, &text);
    if (code != ACOG_OK) {
        builder->code = code;
        return;
    }
    bool sound = acog_json_check(text, ACOG_JSON_DEPTH_MAX, &value, &error) == ACOG_OK;
    /* [] is how PHP writes an object without members, null how others write no arguments. */
    bool nothing =
        sound && (value.type == ACOG_JSON_NULL || acog_view_equal(value.raw, ACOG_VIEW("[]")));
    if (nothing) {
        part->arguments = acog_text_plain(ACOG_VIEW("{}"));
    } else if (!sound || value.type != ACOG_JSON_OBJECT) {
        struct acog_view id = shown(part->id);
        acog_builder_refuse(builder, "the arguments of the call \"%.*s\" are not a JSON object",
                            ACOG_VIEW_FMT(id));
    }
}

/* Checks the calls of an assistant's turn, and puts them under their ids. */
static void check_calls(struct acog_conversation_builder *builder, const struct acog_turn *turn,
                        struct acog_id_index *calls)
{
    size_t count = 0;
    for (struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_CALL) {
            settle_id(builder, part);
            check_arguments(builder, part);
            count++;
        }
    }
    if (count > ACOG_CALLS_OF_TURN_MAX) {
        acog_builder_refuse(builder, "an assistant's turn has more than %d calls",
                            ACOG_CALLS_OF_TURN_MAX);
    }
    if (count == 0 || builder->code != ACOG_OK) {
        return;
    }
    builder->code = acog_id_index_init(calls, count, builder->arena);
    struct acog_part *part = builder->code == ACOG_OK ? turn->parts.first : NULL;
    for (; part != NULL; part = part->next) {
        if (part->kind == ACOG_PART_TOOL_CALL) {
            acog_id_index_add(calls, part->id.bytes, part);
        }
    }
}

static void check_turns(struct acog_conversation_builder *builder)
{
    const struct acog_turn *before = NULL;
    struct acog_turn *turn = builder->conversation->turns;
    struct acog_id_index calls = {.room = 0}; /* of the turn before */
    while (turn != NULL && builder->code == ACOG_OK) {
        check_results(builder, &calls, turn);
        calls = (struct acog_id_index){.room = 0};
        check_calls(builder, turn, &calls);
        if (before != NULL) {
            check_answered(builder, before);
        }
        before = turn;
        turn = turn->next;
    }
}

/* -- all of it ------------------------------------------------------------------------------------- */

/* Takes the results out of a turn, behind those that were taken before. */
static void move_results(struct acog_turn *turn, struct acog_part_list *results)
{
    struct acog_part_list others = {.first = NULL};
    struct acog_part *next = NULL;
    for (struct acog_part *part = turn->parts.first; part != NULL; part = next) {
        next = part->next;
        part->next = NULL;
        acog_part_append(part->kind == ACOG_PART_TOOL_RESULT ? results : &others, part);
    }
    turn->parts = others;
}

/* Whether system words stand before one of the results that follow an assistant's turn. */
static bool has_late_results(const struct acog_turn *assistant)
{
    bool behind_system = false;
    for (const struct acog_turn *turn = assistant->next;
         turn != NULL && turn->role != ACOG_TURN_ASSISTANT; turn = turn->next) {
        if (behind_system && turn->role == ACOG_TURN_USER &&
            acog_turn_has(turn, ACOG_PART_TOOL_RESULT)) {
            return true;
        }
        behind_system = behind_system || turn->role == ACOG_TURN_SYSTEM;
    }
    return false;
}

/* A client of Responses may have system words between calls and their results; elsewhere all of these come at once. */
static void bring_results_forward(struct acog_conversation_builder *builder)
{
    for (struct acog_turn *turn = builder->conversation->turns; turn != NULL; turn = turn->next) {
        struct acog_turn *forward = turn->role == ACOG_TURN_ASSISTANT && has_late_results(turn)
                                        ? acog_builder_take(builder, sizeof(*forward))
                                        : NULL;
        if (forward == NULL) {
            continue;
        }
        *forward = (struct acog_turn){.role = ACOG_TURN_USER, .next = turn->next};
        turn->next = forward;
        for (struct acog_turn *later = forward->next;
             later != NULL && later->role != ACOG_TURN_ASSISTANT; later = later->next) {
            if (later->role == ACOG_TURN_USER) {
                move_results(later, &forward->parts);
            }
        }
    }
}

/* Turns of which nothing is left go; the neighbours that meet are one. */
static void tidy_turns(struct acog_conversation_builder *builder)
{
    struct acog_turn *kept = NULL;
    struct acog_turn *turn = builder->conversation->turns;
    builder->conversation->turns = NULL;
    while (turn != NULL) {
        struct acog_turn *next = turn->next;
        turn->next = NULL;
        drop_blank(&turn->parts);
        if (turn->parts.first == NULL) {
            /* nothing of it */
        } else if (kept != NULL && kept->role == turn->role) {
            acog_part_append(&kept->parts, turn->parts.first);
            kept->parts.last = turn->parts.last;
        } else {
            if (kept == NULL) {
                builder->conversation->turns = turn;
            } else {
                kept->next = turn;
            }
            kept = turn;
        }
        turn = next;
    }
    for (turn = builder->conversation->turns; turn != NULL; turn = turn->next) {
        order_parts(turn);
    }
}

/* What a blank turn stood before is leading now. */
static void lead_with_system(struct acog_conversation *conversation)
{
    while (conversation->turns != NULL && conversation->turns->role == ACOG_TURN_SYSTEM) {
        struct acog_part_list parts = conversation->turns->parts;
        acog_part_append(&conversation->system, parts.first);
        conversation->system.last = parts.last;
        conversation->turns = conversation->turns->next;
    }
}

/* System words alone are the question: OpenAI's providers answer them, so they are a turn, told like one between others.
 * Anthropic's API has no such request. */
static void ask_with_system_alone(struct acog_conversation_builder *builder)
{
    struct acog_conversation *conversation = builder->conversation;
    if (conversation->turns != NULL || conversation->system.first == NULL ||
        conversation->surface == ACOG_SURFACE_MESSAGES) {
        return;
    }
    struct acog_turn *turn = acog_builder_take(builder, sizeof(*turn));
    if (turn != NULL) {
        *turn = (struct acog_turn){.role = ACOG_TURN_SYSTEM, .parts = conversation->system};
        conversation->turns = turn;
        conversation->system = (struct acog_part_list){0};
    }
}

static void tidy_results(const struct acog_conversation *conversation)
{
    for (const struct acog_turn *turn = conversation->turns; turn != NULL; turn = turn->next) {
        for (struct acog_part *part = turn->parts.first; part != NULL; part = part->next) {
            if (part->kind == ACOG_PART_TOOL_RESULT) {
                drop_blank(&part->content);
            }
        }
    }
}

/* What the client runs, and what only its own provider does. */
static void part_tools(struct acog_conversation *conversation)
{
    struct acog_tool **own = &conversation->tools;
    struct acog_tool **foreign = &conversation->foreign_tools;
    struct acog_tool *next = NULL;
    for (struct acog_tool *tool = conversation->tools; tool != NULL; tool = next) {
        next = tool->next;
        struct acog_tool ***end = tool->foreign.len > 0 ? &foreign : &own;
        **end = tool;
        *end = &tool->next;
    }
    *own = NULL;
    *foreign = NULL;
}

static bool is_declared(struct acog_conversation_builder *builder, const struct acog_tool *tools,
                        struct acog_text name)
{
    while (tools != NULL && !same_text(builder, acog_text_of(tools->name), name)) {
        tools = tools->next;
    }
    return tools != NULL;
}

/* No choice without tools; a named tool is a declared one (B09). */
static void check_choice(struct acog_conversation_builder *builder)
{
    struct acog_conversation *conversation = builder->conversation;
    if (conversation->tools == NULL) {
        conversation->forces_foreign_tool = conversation->foreign_tools != NULL &&
                                            acog_tool_choice_forces(conversation->tool_choice);
        conversation->tool_choice = ACOG_TOOL_CHOICE_UNSET;
        conversation->parallel_off = false;
        return;
    }
    if (conversation->tool_choice != ACOG_TOOL_CHOICE_NAMED) {
        return;
    }
    /* Once: it is compared with each. */
    struct acog_text wanted = acog_text_plain(
        acog_builder_characters(builder, acog_text_of(conversation->tool_choice_name)));
    if (is_declared(builder, conversation->tools, wanted)) {
        return;
    }
    conversation->forces_foreign_tool = is_declared(builder, conversation->foreign_tools, wanted);
    if (!conversation->forces_foreign_tool) {
        struct acog_view name = shown(wanted);
        acog_builder_refuse(builder, "tool_choice: no tool is named \"%.*s\"", ACOG_VIEW_FMT(name));
    }
}

void acog_builder_finish(struct acog_conversation_builder *builder)
{
    if (builder->code != ACOG_OK) {
        return;
    }
    bring_results_forward(builder);
    tidy_turns(builder);
    lead_with_system(builder->conversation);
    drop_blank(&builder->conversation->system);
    ask_with_system_alone(builder);
    tidy_results(builder->conversation);
    check_turns(builder);
    part_tools(builder->conversation);
    check_choice(builder);
    if (builder->code == ACOG_OK && builder->conversation->turns == NULL) {
        acog_builder_refuse(builder, "there is no message that says anything");
    }
}
