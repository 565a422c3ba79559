/* play.h - the inside of a play, for the dialects that render it. */
#ifndef ACOG_PROVIDER_PLAY_H
#define ACOG_PROVIDER_PLAY_H

#include "acog/buffer.h"
#include "acog/provider.h"
#include "beat.h"

enum acog_play_state {
    ACOG_PLAY_NEW = 0,
    ACOG_PLAY_CONNECTED,   /* a head comes next */
    ACOG_PLAY_BODY,        /* after the head */
    ACOG_PLAY_STREAM,      /* between two events */
    ACOG_PLAY_EVENT_READY, /* a comment went out, its event is in `out` */
    ACOG_PLAY_BODY_SENT,   /* the end comes next */
    ACOG_PLAY_CUT,         /* a fault of the stage EVENTS comes next */
    ACOG_PLAY_OVER,
};

struct acog_provider_play {
    struct acog_provider_reply reply; /* without defaults: every field says what is sent */
    struct acog_provider_request request;
    enum acog_play_state state;
    bool streamed; /* an event stream, else one body */
    bool raw;      /* reply.body is the body */
    int64_t now_ms;
    int64_t head_ms;
    uint64_t seed; /* of all ids */
    uint32_t events;
    bool output_seen;
    bool malformed_sent;
    uint32_t sequence; /* responses: of the next event */
    struct acog_walk walk;
    struct acog_header_row *headers;
    size_t header_count;
    struct acog_buffer out; /* one event or one body */
};

/* One dialect: writes what the walk's beat is in it, or nothing; and the whole answer. */
void acog_chat_write_beat(struct acog_provider_play *play, struct acog_buffer *out);
void acog_chat_write_whole(const struct acog_provider_play *play, struct acog_buffer *out);
void acog_messages_write_beat(struct acog_provider_play *play, struct acog_buffer *out);
void acog_messages_write_whole(const struct acog_provider_play *play, struct acog_buffer *out);
void acog_responses_write_beat(struct acog_provider_play *play, struct acog_buffer *out);
void acog_responses_write_whole(const struct acog_provider_play *play, struct acog_buffer *out);
void acog_responses_write_failed(struct acog_provider_play *play, struct acog_buffer *out);
void acog_gemini_write_beat(struct acog_provider_play *play, struct acog_buffer *out);
void acog_gemini_write_whole(const struct acog_provider_play *play, struct acog_buffer *out);

/* The surfaces that are never streamed. */
void acog_count_tokens_write(const struct acog_provider_play *play, struct acog_buffer *out);
void acog_embeddings_write(const struct acog_provider_play *play, struct acog_buffer *out);
size_t acog_embeddings_bytes_max(const struct acog_provider_play *play);

/* The body of an error with this status, in the dialect of the request (errors.c). */
void acog_error_write_body(const struct acog_provider_play *play, unsigned status,
                           struct acog_buffer *out);

/* The same as the last of a stream. */
void acog_error_write_events(struct acog_provider_play *play, struct acog_buffer *out);

#endif
