/* reply.h - the fields of a scripted reply, for the reference. */
#ifndef ACOG_POLICY_REPLY_H
#define ACOG_POLICY_REPLY_H

#include "reader.h"

extern const struct field reply_fields[];
extern const size_t reply_field_count;

#endif
