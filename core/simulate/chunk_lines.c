/* chunk_lines.c - the lines of a compiled chunk, functions within functions included.
 *
 * Lua tells the lines of a function that is at hand (lua_getinfo "L"), but a function that never ran is in nobody's
 * hands. So the chunk is read as ldump.c of Lua 5.4 writes it:
 *
 *   header, one byte, function = source, ints, bytes, code, constants, upvalues, functions, line information
 *
 * Two returns that the compiler adds are no lines of the author's: at the end of each function, and behind a tail call.
 *
 * A size is written in groups of seven bits, the highest first; the last one has the eighth bit set. A line is told as
 * the difference to the instruction before, or by a table of absolute lines where that is too great.
 */
#include "coverage.h"

#include <stdint.h>
#include <string.h>

#include <lua.h>

#define HEADER_BYTES      31 /* up to and with LUAC_NUM */
#define INSTRUCTION_BYTES 4
#define FUNCTIONS_DEEP    200 /* LUAI_MAXCCALLS is Lua's own bound of the nesting */
#define ABSOLUTE          (-0x80)
#define OPCODE_BITS       0x7fU
#define TAIL_CALL         69 /* OP_TAILCALL of lopcodes.h */

enum constant {
    ACOG_CONSTANT_NIL = 0x00,
    ACOG_CONSTANT_FALSE = 0x01,
    ACOG_CONSTANT_INTEGER = 0x03,
    ACOG_CONSTANT_SHORT_TEXT = 0x04,
    ACOG_CONSTANT_TRUE = 0x11,
    ACOG_CONSTANT_FLOAT = 0x13,
    ACOG_CONSTANT_LONG_TEXT = 0x14,
};

struct dump {
    struct acog_view left;
    bool broken; /* nothing read after it means anything */
    void (*add)(void *user, size_t line);
    void *user;
};

static struct acog_view take(struct dump *dump, size_t bytes)
{
    struct acog_view taken = acog_view_slice(dump->left, 0, bytes);
    dump->broken = dump->broken || taken.len != bytes;
    dump->left = acog_view_slice(dump->left, taken.len, dump->left.len);
    return taken;
}

static unsigned char take_byte(struct dump *dump)
{
    struct acog_view byte = take(dump, 1);
    return byte.len == 1 ? (unsigned char)byte.ptr[0] : 0;
}

static size_t take_size(struct dump *dump)
{
    size_t size = 0;
    unsigned char byte = 0;
    while (!dump->broken && (byte & 0x80U) == 0) {
        byte = take_byte(dump);
        dump->broken = dump->broken || size > SIZE_MAX >> 7U;
        size = (size << 7U) | (byte & 0x7fU);
    }
    return size;
}

/* Of so many elements, which the bytes that are left must be able to hold. */
static size_t take_count(struct dump *dump, size_t element_bytes)
{
    size_t count = take_size(dump);
    if (count > dump->left.len / element_bytes) {
        dump->broken = true;
    }
    return dump->broken ? 0 : count;
}

static void skip_text(struct dump *dump)
{
    size_t size = take_size(dump); /* with one more for the end; 0: none */
    (void)take(dump, size == 0 ? 0 : size - 1);
}

static void skip_constants(struct dump *dump)
{
    size_t count = take_count(dump, 1);
    for (size_t i = 0; i < count && !dump->broken; i++) {
        switch (take_byte(dump)) {
        case ACOG_CONSTANT_NIL:
        case ACOG_CONSTANT_FALSE:
        case ACOG_CONSTANT_TRUE:
            break;
        case ACOG_CONSTANT_INTEGER:
            (void)take(dump, sizeof(lua_Integer));
            break;
        case ACOG_CONSTANT_FLOAT:
            (void)take(dump, sizeof(lua_Number));
            break;
        case ACOG_CONSTANT_SHORT_TEXT:
        case ACOG_CONSTANT_LONG_TEXT:
            skip_text(dump);
            break;
        default:
            dump->broken = true;
        }
    }
}

/* The return behind a tail call is never reached. */
static bool is_behind_tail_call(struct acog_view code, size_t instruction)
{
    uint32_t before = 0;
    if (instruction > 0 && instruction * INSTRUCTION_BYTES <= code.len) {
        memcpy(&before, code.ptr + (instruction - 1) * INSTRUCTION_BYTES, sizeof(before));
    }
    return (before & OPCODE_BITS) == TAIL_CALL;
}

/* The line information of a function that begins in `line`. */
static void read_lines(struct dump *dump, struct acog_view code, size_t line, bool is_vararg)
{
    struct acog_view steps = take(dump, take_count(dump, 1));
    size_t absolute_count = take_count(dump, 2);
    struct dump absolute = *dump;
    for (size_t i = 0; i < absolute_count; i++) {
        (void)take_size(dump); /* which instruction: they come in order */
        (void)take_size(dump);
    }
    for (size_t i = 0; i < steps.len && !dump->broken; i++) {
        signed char step = (signed char)steps.ptr[i];
        if (step == ABSOLUTE) {
            (void)take_size(&absolute);
            line = take_size(&absolute);
        } else {
            line = (size_t)((long long)line + step);
        }
        bool prepares = is_vararg && i == 0;
        bool is_added_return = i + 1 == steps.len || is_behind_tail_call(code, i);
        if (!prepares && !is_added_return) {
            dump->add(dump->user, line);
        }
    }
}

static void skip_names(struct dump *dump)
{
    size_t locals = take_count(dump, 3);
    for (size_t i = 0; i < locals && !dump->broken; i++) {
        skip_text(dump);
        (void)take_size(dump);
        (void)take_size(dump);
    }
    size_t upvalues = take_count(dump, 1);
    for (size_t i = 0; i < upvalues && !dump->broken; i++) {
        skip_text(dump);
    }
}

/* Functions within functions, to a bound. NOLINTNEXTLINE(misc-no-recursion) */
static void read_function(struct dump *dump, size_t depth)
{
    skip_text(dump); /* its source */
    size_t line = take_size(dump);
    (void)take_size(dump); /* its last line */
    (void)take_byte(dump); /* parameters */
    bool is_vararg = take_byte(dump) != 0;
    (void)take_byte(dump); /* the size of its stack */
    struct acog_view code = take(dump, take_count(dump, INSTRUCTION_BYTES) * INSTRUCTION_BYTES);
    skip_constants(dump);
    (void)take(dump, take_count(dump, 3) * 3); /* upvalues */
    size_t functions = take_count(dump, 1);
    dump->broken = dump->broken || depth == FUNCTIONS_DEEP;
    for (size_t i = 0; i < functions && !dump->broken; i++) {
        read_function(dump, depth + 1);
    }
    read_lines(dump, code, line, is_vararg);
    skip_names(dump);
}

bool acog_chunk_lines(struct acog_view dumped, void (*add)(void *user, size_t line), void *user)
{
    struct dump dump = {.left = dumped, .add = add, .user = user};
    struct acog_view header = take(&dump, HEADER_BYTES);
    if (dump.broken || memcmp(header.ptr, LUA_SIGNATURE "\x54\x00", 6) != 0) {
        return false;
    }
    (void)take_byte(&dump); /* upvalues of the chunk */
    read_function(&dump, 0);
    return !dump.broken && dump.left.len == 0;
}
