/* request.h - private to core/dialect: the one pass over a client's body, and the place it stands at.
 *
 * Reading functions stand at a value and pass over it. The first thing that is wrong fills the problem in and stops
 * the scanner, so that every loop above ends by itself.
 */
#ifndef ACOG_CORE_DIALECT_REQUEST_H
#define ACOG_CORE_DIALECT_REQUEST_H

#include "acog/dialect.h"

struct acog_request_reader {
    struct acog_json_scanner scanner;
    struct acog_arena *arena;
    enum acog_surface surface;
    struct acog_client_request *request;
    struct acog_request_problem *problem;
    enum acog_code code;           /* OK until something was wrong */
    int64_t max_completion_tokens; /* chat: beats max_tokens; -1: none */
    bool model_given;
    bool content_given; /* messages or input */
};

/* Where a value stands, as a chain up to the body: a member by its key, or an element by its index. */
struct acog_request_place {
    const struct acog_request_place *up; /* NULL: the body itself */
    struct acog_json_value key;          /* absent: an element */
    size_t index;
};

/* Something is wrong at `place`: "messages[2].content: must be a string or a list". The first one counts. */
void acog_request_refuse(struct acog_request_reader *reader, const struct acog_request_place *place,
                         const char *what);

/* The next member of the object that was entered, with its place below `up`; a key that comes twice is a problem.
 * False: no more, or stopped. */
bool acog_request_member(struct acog_request_reader *reader, struct acog_json_keys *keys,
                         const struct acog_request_place *up, struct acog_request_place *place);

/* Passes over the value at hand, whatever it is. */
struct acog_json_value acog_request_pass(struct acog_request_reader *reader);

/* Messages, input items, system and content, and tools: request_content.c */
void acog_request_read_messages(struct acog_request_reader *reader,
                                const struct acog_request_place *place);
void acog_request_read_input(struct acog_request_reader *reader,
                             const struct acog_request_place *place);
void acog_request_read_system(struct acog_request_reader *reader,
                              const struct acog_request_place *place);
void acog_request_read_tools(struct acog_request_reader *reader,
                             const struct acog_request_place *place);

#endif
