/* media.h - private to core/dialect: what a medium is, out of the strings in which chat and responses have it. */
#ifndef ACOG_CORE_DIALECT_MEDIA_H
#define ACOG_CORE_DIALECT_MEDIA_H

#include "conversation.h"

/* Fills in source, media type and data: of "data:TYPE;…;base64,BYTES" the bytes, anything else is an address. The kind
 * becomes what the type says, if it says one: clients put PDFs where images go. ACOG_NO_MEMORY only. */
enum acog_code acog_media_read_url(struct acog_text url, struct acog_arena *arena,
                                   struct acog_media *media) ACOG_MUST_CHECK;

/* A file's content as the OpenAI dialects have it: a data URL, an address, or bare base64 whose type only the name
 * tells. */
enum acog_code acog_media_read_file(struct acog_text data, struct acog_json_value name,
                                    struct acog_arena *arena,
                                    struct acog_media *media) ACOG_MUST_CHECK;

/* The registered spelling of a type that clients spell otherwise, as "image/jpg" and "image/PNG": it alone is taken. */
struct acog_view acog_media_registered_type(struct acog_view type);

/* Bytes are what their type says, whatever the place for them is called. Without a type that says anything the kind
 * stays. */
void acog_media_settle_kind(struct acog_media *media);

/* Whether a provider of any dialect could read it: an address, or the bytes of a data URL that has a type and base64
 * (B16). What is not is refused by the reader, with its place and this rule. */
bool acog_media_is_readable(const struct acog_media *media);

#define ACOG_MEDIA_URL_RULE "must be an address, or a data URL with a media type and base64"

/* TYPE/SUBTYPE of characters that need no escape anywhere. */
bool acog_media_is_type(struct acog_view type);

/* "image/…" is an image and so on, PDF and texts are documents; FILE for what is none of these. */
enum acog_media_kind acog_media_kind_of(struct acog_view media_type);

/* Of an address, by how its path ends; empty: not known. */
struct acog_view acog_media_address_type(struct acog_view address);

/* "wav", "mp3", … of input_audio as a media type, and back; empty: not known. */
struct acog_view acog_media_audio_type(struct acog_json_value format);
struct acog_view acog_media_audio_format(struct acog_view media_type);

#endif
