/* media.c - data URLs, and what a name or a word says of a medium. */
#include "media.h"

#define SCHEME_BYTES_MAX ((size_t)16) /* "https://", "gs://" */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What goes between quotes, and into headers of parts: a token, a slash, a token. */
bool acog_media_is_type(struct acog_view type)
{
    for (size_t i = 0; i < type.len; i++) {
        char byte = type.ptr[i];
        char letter = (char)(byte | 0x20);
        bool word = (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9');
        if (!word && byte != '/' && byte != '+' && byte != '-' && byte != '.' && byte != '_') {
            return false;
        }
    }
    return acog_view_find(type, ACOG_VIEW("/")) < type.len;
}

struct acog_view acog_media_registered_type(struct acog_view type)
{
    static const struct acog_view types[] = {
        {"image/jpeg", 10}, {"image/png", 9},        {"image/gif", 9},
        {"image/webp", 10}, {"application/pdf", 15}, {"text/plain", 10},
    };

    if (acog_view_equal_nocase(type, ACOG_VIEW("image/jpg"))) {
        return types[0];
    }
    for (size_t i = 0; i < COUNT(types); i++) {
        if (acog_view_equal_nocase(type, types[i])) {
            return types[i];
        }
    }
    return type;
}

enum acog_code acog_media_read_url(struct acog_text url, struct acog_arena *arena,
                                   struct acog_media *media)
{
    const struct acog_view marker = ACOG_VIEW(";base64,");
    media->data = url;
    media->source = ACOG_MEDIA_URL;
    media->media_type = (struct acog_view){0};
    if (!acog_view_starts(url.bytes, ACOG_VIEW("data:"))) {
        return ACOG_OK;
    }
    size_t comma = acog_view_find(url.bytes, ACOG_VIEW(",")); /* before it: no megabytes */
    struct acog_view head = acog_view_slice(url.bytes, 0, comma + 1);
    size_t end = acog_view_find(head, marker);
    if (end == head.len) {
        return ACOG_OK;
    }
    struct acog_view type = acog_view_slice(head, sizeof("data:") - 1, end);
    type = acog_view_slice(type, 0, acog_view_find(type, ACOG_VIEW(";")));
    enum acog_code code = acog_text_characters(
        (struct acog_text){.bytes = type, .escaped = url.escaped}, arena, &type);
    if (code == ACOG_OK && acog_media_is_type(type)) {
        media->source = ACOG_MEDIA_BASE64;
        media->media_type = acog_media_registered_type(type);
        media->data.bytes = acog_view_slice(url.bytes, head.len, url.bytes.len);
        acog_media_settle_kind(media);
    }
    return code;
}

void acog_media_settle_kind(struct acog_media *media)
{
    enum acog_media_kind told = acog_media_kind_of(media->media_type);
    if (media->source == ACOG_MEDIA_BASE64 && told != ACOG_MEDIA_FILE) {
        media->kind = told;
    }
}

bool acog_media_is_readable(const struct acog_media *media)
{
    bool data_url =
        media->source == ACOG_MEDIA_URL && acog_view_starts(media->data.bytes, ACOG_VIEW("data:"));
    return media->data.bytes.len > 0 && !data_url;
}

struct ending {
    struct acog_view ending;
    struct acog_view media_type;
};

#define ENDING(text, type)           \
    {                                \
        {(text), sizeof(text) - 1},  \
        {                            \
            (type), sizeof(type) - 1 \
        }                            \
    }

/* The kinds of files that the APIs take, by the types that IANA has: Google's list says "audio/mp3" and "video/mov", but
 * its own SDK uploads as what is registered. Empty: none of them. */
static struct acog_view type_by_ending(struct acog_view name)
{
    static const struct ending endings[] = {
        ENDING(".png", "image/png"),         ENDING(".jpg", "image/jpeg"),
        ENDING(".jpeg", "image/jpeg"),       ENDING(".gif", "image/gif"),
        ENDING(".webp", "image/webp"),       ENDING(".heic", "image/heic"),
        ENDING(".heif", "image/heif"),       ENDING(".pdf", "application/pdf"),
        ENDING(".txt", "text/plain"),        ENDING(".md", "text/markdown"),
        ENDING(".csv", "text/csv"),          ENDING(".html", "text/html"),
        ENDING(".json", "application/json"), ENDING(".mp3", "audio/mpeg"),
        ENDING(".wav", "audio/wav"),         ENDING(".flac", "audio/flac"),
        ENDING(".mp4", "video/mp4"),         ENDING(".webm", "video/webm"),
        ENDING(".mov", "video/quicktime"),
    };
    for (size_t i = 0; i < COUNT(endings); i++) {
        size_t bytes = endings[i].ending.len;
        if (name.len >= bytes &&
            acog_view_equal_nocase(acog_view_slice(name, name.len - bytes, name.len),
                                   endings[i].ending)) {
            return endings[i].media_type;
        }
    }
    return (struct acog_view){0};
}

static struct acog_view type_by_name(struct acog_json_value name)
{
    struct acog_view text = acog_text_of(name).bytes;
    if (text.len == 0) {
        return ACOG_VIEW("application/pdf");
    }
    struct acog_view type = type_by_ending(text);
    return type.len > 0 ? type : ACOG_VIEW("application/octet-stream");
}

struct acog_view acog_media_address_type(struct acog_view address)
{
    address = acog_view_slice(address, 0, acog_view_find(address, ACOG_VIEW("?")));
    address = acog_view_slice(address, 0, acog_view_find(address, ACOG_VIEW("#")));
    return type_by_ending(address);
}

enum acog_code acog_media_read_file(struct acog_text data, struct acog_json_value name,
                                    struct acog_arena *arena, struct acog_media *media)
{
    enum acog_code code = acog_media_read_url(data, arena, media);
    if (code == ACOG_OK && media->source == ACOG_MEDIA_URL) {
        struct acog_view start = acog_view_slice(data.bytes, 0, SCHEME_BYTES_MAX);
        bool address = acog_view_find(start, ACOG_VIEW("://")) < start.len;
        media->source = address ? ACOG_MEDIA_URL : ACOG_MEDIA_BASE64;
        media->media_type = type_by_name(name);
    }
    media->name = name;
    media->kind = acog_media_kind_of(media->media_type);
    return code;
}

enum acog_media_kind acog_media_kind_of(struct acog_view media_type)
{
    if (acog_view_starts(media_type, ACOG_VIEW("image/"))) {
        return ACOG_MEDIA_IMAGE;
    }
    if (acog_view_starts(media_type, ACOG_VIEW("audio/"))) {
        return ACOG_MEDIA_AUDIO;
    }
    if (acog_view_starts(media_type, ACOG_VIEW("video/"))) {
        return ACOG_MEDIA_VIDEO;
    }
    return acog_view_starts(media_type, ACOG_VIEW("text/")) ||
                   acog_view_equal(media_type, ACOG_VIEW("application/pdf"))
               ? ACOG_MEDIA_DOCUMENT
               : ACOG_MEDIA_FILE;
}

/* The first row of a type is the one it goes back to. */
static const struct ending audio[] = {
    ENDING("mp3", "audio/mpeg"), ENDING("wav", "audio/wav"),   ENDING("flac", "audio/flac"),
    ENDING("aac", "audio/aac"),  ENDING("opus", "audio/opus"), ENDING("ogg", "audio/ogg"),
    ENDING("mp3", "audio/mp3"),  ENDING("wav", "audio/x-wav"),
};

struct acog_view acog_media_audio_type(struct acog_json_value format)
{
    for (size_t i = 0; i < COUNT(audio); i++) {
        if (acog_json_text_is(format, audio[i].ending)) {
            return audio[i].media_type;
        }
    }
    return (struct acog_view){0};
}

struct acog_view acog_media_audio_format(struct acog_view media_type)
{
    for (size_t i = 0; i < COUNT(audio); i++) {
        if (acog_view_equal(media_type, audio[i].media_type)) {
            return audio[i].ending;
        }
    }
    return (struct acog_view){0};
}
