/* user.h - private to core/dialect: whose request it is, as far as a provider may know. */
#ifndef ACOG_CORE_DIALECT_USER_H
#define ACOG_CORE_DIALECT_USER_H

#include "conversation.h"

/* Keeps what a client says of its user when that is opaque. An e-mail address, a telephone number or a name is not sent
 * to another provider than the client chose: it is named as dropped (B23). `name` is the field's, a STRING. */
void acog_builder_user(struct acog_conversation_builder *builder, struct acog_json_value name,
                       struct acog_json_value user);

#endif
