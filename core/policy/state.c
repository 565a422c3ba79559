/* state.c - making a Lua state for a snapshot: run the same bytes again, and see that they meant the same. */
#include "state.h"

#include "acog/contract.h"
#include "acog/memory.h"
#include "load.h"
#include "objects.h"
#include "sandbox.h"
#include "sources.h"

#include <lauxlib.h>

/* `require` from the snapshot's own sources; nothing is read again. */
static enum acog_code read_kept(void *user, struct acog_view name, struct acog_view *path,
                                struct acog_view *text, struct acog_error *error)
{
    const struct acog_snapshot *snapshot = user;
    (void)error;
    for (size_t i = 1; i < snapshot->source_count; i++) {
        if (acog_view_equal(snapshot->sources[i].name, name)) {
            *path = snapshot->sources[i].path;
            *text = snapshot->sources[i].text;
            return ACOG_OK;
        }
    }
    return ACOG_NOT_FOUND;
}

struct adoption {
    struct acog_policy_state *state;
    const struct acog_loaded *key; /* under which load_compile() left the functions */
};

static int adopt_protected(lua_State *L)
{
    const struct adoption *adoption = lua_touserdata(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, adoption->key);
    if (lua_type(L, -1) != LUA_TTABLE) {
        return luaL_error(L, "the snapshot was not made in this state");
    }
    objects_open(adoption->state, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, adoption->state);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, adoption->key);
    return 0;
}

static enum acog_code adopt(struct acog_policy_state *state, const struct acog_loaded *key,
                            struct acog_error *error)
{
    struct adoption adoption = {.state = state, .key = key};
    if (lua_checkstack(state->L, 4) == 0) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    lua_pushcfunction(state->L, adopt_protected);
    lua_pushlightuserdata(state->L, &adoption);
    return acog_lua_call(state->L, 1, 0, LOAD_INSTRUCTIONS, error);
}

/* Runs and compiles the configuration in state->L. */
static enum acog_code run_again(struct acog_policy_state *state, const struct load *load,
                                struct acog_error *error)
{
    const struct acog_source *source = &state->snapshot->sources[0];
    enum acog_code code = load_run(state->L, source->text, load->path, error);
    if (code == ACOG_OK) {
        code = load_compile(load, state->L, -1, error);
        lua_pop(state->L, 1);
    }
    if (code == ACOG_OK && load->loaded->fingerprint != state->loaded->fingerprint) {
        code = acog_error_set(error, ACOG_POLICY,
                              "%s: means something else each time it is run; do not build lists in "
                              "the order of pairs()",
                              load->path);
    }
    return code;
}

/* Evaluates the configuration in state->L and adopts its functions. */
static enum acog_code evaluate(struct acog_policy_state *state, struct acog_error *error)
{
    struct acog_report report;
    struct load load = {
        .path = state->snapshot->sources[0].path.ptr,
        .options = {.offline = true}, /* no env: secrets stay where they are */
        .loaded = loaded_new(NULL),
        .report = &report,
    };
    if (load.loaded == NULL) {
        return acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
    }
    acog_report_init(&report);
    enum acog_code code = run_again(state, &load, error);
    if (code == ACOG_OK) {
        code = adopt(state, load.loaded, error);
    }
    acog_report_fini(&report);
    loaded_free(&load.loaded);
    return code;
}

static struct acog_policy_state *new_state(struct acog_snapshot *snapshot, struct acog_error *error)
{
    struct acog_policy_state *state = acog_new(sizeof(*state));
    if (state == NULL || !memo_init(&state->memo, snapshot->candidate_count)) {
        acog_free(state);
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
        return NULL;
    }
    reasons_init(&state->reasons);
    state->snapshot = acog_snapshot_ref(snapshot);
    state->loaded = loaded_of(snapshot);
    return state;
}

struct acog_policy_state *acog_policy_state_new(struct acog_snapshot *snapshot,
                                                struct acog_error *error)
{
    struct acog_lua_files files = {.read = read_kept, .user = snapshot};
    struct acog_policy_state *state = new_state(snapshot, error);
    if (state == NULL) {
        return NULL;
    }
    ACOG_ASSERT(snapshot->source_count > 0);
    state->owns_lua = true;
    state->L = acog_lua_new(STATE_BYTES_MAX, &files, error);
    if (state->L == NULL || evaluate(state, error) != ACOG_OK) {
        acog_policy_state_free(&state);
    }
    return state;
}

struct acog_policy_state *acog_policy_state_in(struct lua_State *L, struct acog_snapshot *snapshot,
                                               struct acog_error *error)
{
    struct acog_policy_state *state = new_state(snapshot, error);
    if (state == NULL) {
        return NULL;
    }
    state->L = L;
    if (adopt(state, state->loaded, error) != ACOG_OK) {
        acog_policy_state_free(&state);
    }
    return state;
}

/* Scripts may hold objects of the state for longer than it lives. */
static int release_protected(lua_State *L)
{
    const struct acog_policy_state *state = lua_touserdata(L, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, state) == LUA_TTABLE) {
        objects_close(L, -1);
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, state);
    }
    return 0;
}

static void release_lua(struct acog_policy_state *state)
{
    if (state->L == NULL) {
        return;
    }
    if (state->owns_lua) {
        acog_lua_close(&state->L);
        return;
    }
    int room = lua_checkstack(state->L, 4);
    ACOG_ASSERT(room != 0); /* the state's own stack is never that full between calls */
    lua_pushcfunction(state->L, release_protected);
    lua_pushlightuserdata(state->L, state);
    enum acog_code code = acog_lua_call(state->L, 1, 0, LOAD_INSTRUCTIONS, NULL);
    ACOG_ASSERT(code == ACOG_OK); /* it allocates nothing */
}

void acog_policy_state_free(struct acog_policy_state **state)
{
    if (*state == NULL) {
        return;
    }
    release_lua(*state);
    memo_fini(&(*state)->memo);
    reasons_fini(&(*state)->reasons);
    acog_snapshot_unref(&(*state)->snapshot);
    acog_free(*state);
    *state = NULL;
}

/* -- for core/simulate -------------------------------------------------------------------------------- */

/* What a test's state owns besides itself. */
struct test_files {
    struct acog_arena arena;
    struct sources sources;
};

#define TEST_FILES_BYTES_MAX ((size_t)16 * 1024 * 1024)

static void free_test_files(struct test_files **files)
{
    acog_arena_fini(&(*files)->arena);
    acog_free(*files);
    *files = NULL;
}

struct lua_State *acog_policy_lua_new(const char *beside_path, struct acog_error *error)
{
    struct test_files *files = acog_new(sizeof(*files));
    if (files == NULL) {
        acog_error_set(error, ACOG_NO_MEMORY, "%s", acog_code_text(ACOG_NO_MEMORY));
        return NULL;
    }
    acog_arena_init(&files->arena, TEST_FILES_BYTES_MAX);
    sources_init(&files->sources, &files->arena, beside_path);
    struct acog_lua_files read = {
        .read = sources_read, .read_policy = sources_read_policy, .user = &files->sources};
    lua_State *L = acog_lua_new(STATE_BYTES_MAX, &read, error);
    if (L == NULL) {
        free_test_files(&files);
    }
    return L;
}

void acog_policy_lua_free(struct lua_State **L)
{
    if (*L == NULL) {
        return;
    }
    struct sources *sources = acog_lua_files_of(*L)->user;
    struct test_files *files =
        (struct test_files *)(void *)((char *)sources - offsetof(struct test_files, sources));
    acog_lua_close(L);
    free_test_files(&files);
}
