/* identity.h - private to core/dialect: what a client calls a tool that upstreams know by another name, or as another
 * kind of tool.
 *
 * A Responses client has functions in namespaces, and tools whose input is a text. Upstreams have functions, each under
 * one name of at most 64 letters, digits, "_" and "-". So a tool is told as the function NAMESPACE__NAME, "_" for each
 * character that is not legal; where that is too long, or another tool has it, as its first 55 characters, "_" and
 * eight digits of a hash of both names. A text is that function's one argument. The tool's identity is kept beside what
 * is told: a call comes back under it, and calls of the history go up under the name that is told.
 *
 * The readers of Responses requests make such identities, whichever the upstream is; writers add one for each tool of any
 * client whose name their upstream does not take (tool_names.c).
 */
#ifndef ACOG_CORE_DIALECT_IDENTITY_H
#define ACOG_CORE_DIALECT_IDENTITY_H

#include "acog/error.h"
#include "acog/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACOG_IDENTITIES_MAX    512     /* of a request; OpenAI takes a quarter as many tools */
#define ACOG_IDENTITY_NAME_MAX 256     /* of each name, in bytes */
#define ACOG_IDENTITY_TOLD_MAX 64      /* what every upstream takes, in bytes */
#define ACOG_IDENTITY_ARGUMENT "input" /* of a text */

struct acog_tool_identity {
    struct acog_view name_space; /* characters; empty: none */
    struct acog_view name;       /* characters */
    uint64_t hash;               /* of both */
    struct acog_view told;       /* the function's name, which no other tool of the request has */
    bool custom;                 /* its input is a text */
    struct acog_tool_identity *next;
};

/* With the hash of both, and no name yet that is told. Both are lent. */
struct acog_tool_identity acog_identity_make(struct acog_view name_space, struct acog_view name);

/* The name to tell, in `memory`. `cut`: with the hash, however long it is. */
struct acog_view acog_identity_told_name(const struct acog_tool_identity *identity, bool cut,
                                         char memory[ACOG_IDENTITY_TOLD_MAX]);

/* By the client's names (and their hash), or by the name that is told. NULL: it is none of the list. */
const struct acog_tool_identity *acog_identity_find(const struct acog_tool_identity *list,
                                                    const struct acog_tool_identity *same);
const struct acog_tool_identity *acog_identity_find_told(const struct acog_tool_identity *list,
                                                         struct acog_view told);

/* A copy that points to nothing else, to be given to acog_free(); NULL of an empty list. ACOG_NO_MEMORY. */
enum acog_code acog_identities_copy(const struct acog_tool_identity *list,
                                    struct acog_tool_identity **copy) ACOG_MUST_CHECK;

#endif
