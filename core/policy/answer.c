/* answer.c - the questions of the engine (acog_policy_answer): one call of a function for each candidate. */
#include "acog/contract.h"
#include "compile.h"
#include "frozen.h"
#include "match.h"
#include "objects.h"
#include "sandbox.h"
#include "state.h"

#include <math.h>
#include <stdio.h>

#include <lauxlib.h>

/* One question on its way through the protected call. */
struct question {
    struct acog_policy_state *state;
    const struct acog_ask *ask;
    struct acog_answer *answer;
    struct acog_error *error;
    enum acog_code code; /* of the function */
    int home;            /* stack place of the state's table */
    int function;
};

/* -- MATCH ------------------------------------------------------------------------------------------ */

static void answer_match(struct question *question)
{
    struct acog_policy_state *state = question->state;
    lua_State *L = state->L;
    struct match_places places = {.find = question->function};
    lua_getfield(L, question->home, "declared");
    places.declared = lua_gettop(L);
    lua_getfield(L, question->home, "positions");
    places.positions = lua_gettop(L);
    question->code = match_find(L, places, question->ask->model, state->candidates,
                                &question->answer->count, question->error);
    question->answer->candidates = state->candidates;
}

/* -- FILTER, USABLE, ORDER -------------------------------------------------------------------------- */

/* The function answered something else than it may: the error names where it was written. */
static void refuse_answer(struct question *question, const char *allowed)
{
    lua_State *L = question->state->L;
    const char *got = luaL_typename(L, -1);
    acog_lua_push_definition(L, question->function);
    question->code =
        acog_error_set(question->error, ACOG_POLICY, "%s: the function answered a %s; %s",
                       lua_tostring(L, -1), got, allowed);
    lua_pop(L, 1);
}

/* true, or false and a reason. The two results are on top. */
static void take_verdict(struct question *question, struct acog_verdict *verdict)
{
    lua_State *L = question->state->L;
    struct acog_view reason = {0};
    if (lua_type(L, -1) != LUA_TSTRING && !lua_isnil(L, -1)) {
        refuse_answer(question, "the reason must be a text");
        return;
    }
    reason.ptr = lua_tolstring(L, -1, &reason.len);
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TBOOLEAN) {
        refuse_answer(question, "it must answer true, or false and a reason");
        return;
    }
    verdict->keep = lua_toboolean(L, -1) != 0;
    if (!verdict->keep && reason.len > 0) {
        verdict->reason = reasons_keep(&question->state->reasons, reason);
    }
}

static void take_number(struct question *question, double *number)
{
    lua_State *L = question->state->L;
    double value = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(value >= -HUGE_VAL && value <= HUGE_VAL)) {
        refuse_answer(question, "it must answer a number");
        return;
    }
    *number = value;
}

/* Calls the function for candidate `n` of the question and leaves `results` on the stack. */
static bool call_for(struct question *question, size_t n, int results)
{
    lua_State *L = question->state->L;
    lua_pushvalue(L, question->function);
    objects_push_request(L, question->home);
    objects_push_candidate(question->state, question->home, question->ask->candidates[n]);
    question->code = acog_lua_call(L, 2, results, CALL_INSTRUCTIONS, question->error);
    return question->code == ACOG_OK;
}

static void answer_verdicts(struct question *question)
{
    struct acog_policy_state *state = question->state;
    question->answer->verdicts = state->verdicts;
    for (size_t i = 0; i < question->ask->count && question->code == ACOG_OK; i++) {
        state->verdicts[i] = (struct acog_verdict){.keep = false};
        if (call_for(question, i, 2)) {
            take_verdict(question, &state->verdicts[i]);
        }
        lua_settop(state->L, question->function);
    }
    question->answer->count = question->ask->count;
}

static void answer_numbers(struct question *question)
{
    struct acog_policy_state *state = question->state;
    question->answer->numbers = state->numbers;
    for (size_t i = 0; i < question->ask->count && question->code == ACOG_OK; i++) {
        if (call_for(question, i, 1)) {
            take_number(question, &state->numbers[i]);
        }
        lua_settop(state->L, question->function);
    }
    question->answer->count = question->ask->count;
}

/* -- the way in ------------------------------------------------------------------------------------- */

static int answer_protected(lua_State *L)
{
    struct question *question = lua_touserdata(L, 1);
    luaL_checkstack(L, 20, "policy");
    lua_rawgetp(L, LUA_REGISTRYINDEX, question->state);
    question->home = lua_gettop(L);
    lua_rawgeti(L, question->home, question->ask->slot + 1);
    question->function = lua_gettop(L);
    switch (question->ask->kind) {
    case ACOG_SLOT_MATCH:
        answer_match(question);
        return 0;
    case ACOG_SLOT_FILTER:
    case ACOG_SLOT_USABLE:
        answer_verdicts(question);
        return 0;
    case ACOG_SLOT_ORDER:
        answer_numbers(question);
        return 0;
    case ACOG_SLOT_TRANSLATION:
        break; /* never asked here */
    }
    ACOG_UNREACHABLE("unknown kind of slot");
}

/* The error of a function with what the function is, cut to the room there is. */
static void name_slot(const struct question *question)
{
    const struct loaded_slot *slot = &question->state->loaded->slots[question->ask->slot];
    char text[ACOG_ERROR_TEXT_MAX];
    (void)snprintf(text, sizeof(text), "%s", question->error->text);
    acog_error_set(question->error, question->error->code, "%.160s (%.*s)", text,
                   ACOG_VIEW_FMT(acog_view_slice(slot->name, 0, 60)));
}

static void ask_lua(struct acog_policy_state *state, const struct acog_ask *ask,
                    struct acog_answer *answer, struct acog_error *error)
{
    lua_State *L = state->L;
    struct question question = {
        .state = state, .ask = ask, .answer = answer, .error = error, .code = ACOG_OK};
    int64_t budget = CALL_INSTRUCTIONS * (int64_t)(ask->count + 2);
    enum acog_code code = ACOG_NO_MEMORY;
    if (lua_checkstack(L, 4) != 0) {
        state->facts = ask->facts;
        lua_pushcfunction(L, answer_protected);
        lua_pushlightuserdata(L, &question);
        code = acog_lua_call(L, 1, 0, budget, error);
        state->facts = NULL;
    } else {
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    if (code != ACOG_OK || question.code != ACOG_OK) {
        name_slot(&question);
        *answer = (struct acog_answer){.failed = true};
    }
}

void acog_policy_answer(struct acog_policy_state *state, const struct acog_ask *ask,
                        struct acog_answer *answer, struct acog_error *error)
{
    ACOG_ASSERT(ask->slot < state->loaded->slot_count);
    ACOG_ASSERT(ask->kind == state->loaded->slots[ask->slot].kind);
    ACOG_ASSERT(ask->count <= ACOG_PLAN_MAX);
    struct acog_error own = {.code = ACOG_OK};
    *answer = (struct acog_answer){.failed = false};
    if (ask->kind != ACOG_SLOT_MATCH) {
        ask_lua(state, ask, answer, error != NULL ? error : &own);
        return;
    }
    const struct memo_entry *known = memo_find(&state->memo, ask->model);
    if (known == NULL) {
        ask_lua(state, ask, answer, error != NULL ? error : &own);
        if (!answer->failed) {
            memo_put(&state->memo, ask->model, answer->candidates, answer->count);
        }
        return;
    }
    answer->count = known->count;
    answer->candidates = known->candidates;
}
