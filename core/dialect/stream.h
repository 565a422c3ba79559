/* stream.h - private to core/dialect: one event of a stream that is a JSON object, read by its dialect. */
#ifndef ACOG_CORE_DIALECT_STREAM_H
#define ACOG_CORE_DIALECT_STREAM_H

#include "acog/dialect.h"

struct acog_stream_input {
    struct acog_stream_tracker *tracker;
    struct acog_view name; /* of the SSE event */
    struct acog_view data; /* its text */
    struct acog_json_value object;
    struct acog_arena *arena;
    unsigned outputs; /* out */
    struct acog_failure *failure;
};

enum acog_stream_event acog_stream_read_chat(struct acog_stream_input *input);
enum acog_stream_event acog_stream_read_messages(struct acog_stream_input *input);
enum acog_stream_event acog_stream_read_responses(struct acog_stream_input *input);
enum acog_stream_event acog_stream_read_gemini(struct acog_stream_input *input);

/* The event tells an error. */
enum acog_stream_event acog_stream_error(struct acog_stream_input *input);

/* OUTPUT if the event brought any, else OTHER. */
enum acog_stream_event acog_stream_output_or_other(const struct acog_stream_input *input);

/* Keeps the answer's id and model, from an object that may have them. The first ones that are not empty stay. */
void acog_stream_keep_names(struct acog_stream_input *input, struct acog_json_value id,
                            struct acog_json_value model);

#endif
