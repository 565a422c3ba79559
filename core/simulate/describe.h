/* describe.h - a plan and its attempts as lines for a person. What does not fit into the buffer is left out.
 */
#ifndef ACOG_SIMULATE_DESCRIBE_H
#define ACOG_SIMULATE_DESCRIBE_H

#include "acog/buffer.h"
#include "acog/engine.h"
#include "acog/snapshot.h"

/* One line a candidate: the kept ones in their order, then the dropped ones with filter, reason and place. */
void acog_describe_plan(struct acog_buffer *out, const char *indent,
                        const struct acog_snapshot *snapshot, const struct acog_request *request);

/* One line an attempt: connection, model, times since the arrival, how it ended. */
void acog_describe_attempts(struct acog_buffer *out, const char *indent,
                            const struct acog_snapshot *snapshot,
                            const struct acog_request *request);

#endif
