/* streams.h - a small good stream of each dialect, in the providers' form: two pieces of text, "He" and "llo". */
#ifndef ACOG_TESTS_UNIT_EXCHANGE_STREAMS_H
#define ACOG_TESTS_UNIT_EXCHANGE_STREAMS_H

#define CHAT_CHUNK(choices, more)                                                                \
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":" \
    "\"m-1-served\",\"choices\":[" choices "]" more "}\n\n"
#define CHAT_ROLE                                                                           \
    CHAT_CHUNK("{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_" \
               "reason\":null}",                                                            \
               "")
#define CHAT_TEXT(text) \
    CHAT_CHUNK("{\"index\":0,\"delta\":{\"content\":\"" text "\"},\"finish_reason\":null}", "")
#define CHAT_FINISH(reason) \
    CHAT_CHUNK("{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}", "")
#define CHAT_USAGE \
    CHAT_CHUNK("", ",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7}")
#define CHAT_DONE   "data: [DONE]\n\n"
#define CHAT_BEGIN  CHAT_ROLE CHAT_TEXT("He")
#define CHAT_STREAM CHAT_BEGIN CHAT_TEXT("llo") CHAT_FINISH("stop") CHAT_USAGE CHAT_DONE

#define MESSAGES_EVENT(name, rest) "event: " name "\ndata: {\"type\":\"" name "\"" rest "}\n\n"
#define MESSAGES_START                                                                    \
    MESSAGES_EVENT(                                                                       \
        "message_start",                                                                  \
        ",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\""      \
        ",\"model\":\"m-1-served\",\"content\":[],\"stop_reason\":null,\"stop_sequence\"" \
        ":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}")
#define MESSAGES_BLOCK                    \
    MESSAGES_EVENT("content_block_start", \
                   ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
#define MESSAGES_PING "event: ping\ndata: {\"type\": \"ping\"}\n\n"
#define MESSAGES_TEXT(text)                                                                  \
    MESSAGES_EVENT("content_block_delta", ",\"index\":0,\"delta\":{\"type\":\"text_delta\"," \
                                          "\"text\":\"" text "\"}")
#define MESSAGES_BLOCK_STOP MESSAGES_EVENT("content_block_stop", ",\"index\":0")
#define MESSAGES_FINISH(reason)                                             \
    MESSAGES_EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"" reason \
                                    "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":2}")
#define MESSAGES_STOP  MESSAGES_EVENT("message_stop", "")
#define MESSAGES_BEGIN MESSAGES_START MESSAGES_BLOCK MESSAGES_PING MESSAGES_TEXT("He")
#define MESSAGES_STREAM                                                                 \
    MESSAGES_BEGIN MESSAGES_TEXT("llo") MESSAGES_BLOCK_STOP MESSAGES_FINISH("end_turn") \
        MESSAGES_STOP

#define RESPONSES_EVENT(name, number, rest) \
    "event: " name "\ndata: {\"type\":\"" name "\",\"sequence_number\":" #number rest "}\n\n"
#define RESPONSES_OBJECT(status)                                                                     \
    ",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1,\"status\":\"" status \
    "\",\"model\":\"m-1-served\",\"output\":[]"
#define RESPONSES_CREATED \
    RESPONSES_EVENT("response.created", 0, RESPONSES_OBJECT("in_progress") "}")
#define RESPONSES_TEXT(text, number)                                                               \
    RESPONSES_EVENT("response.output_text.delta", number,                                          \
                    ",\"item_id\":\"i1\",\"output_index\":0,\"content_index\":0,\"delta\":\"" text \
                    "\"")
#define RESPONSES_COMPLETED                                                              \
    RESPONSES_EVENT(                                                                     \
        "response.completed", 3,                                                         \
        RESPONSES_OBJECT("completed") ",\"usage\":{\"input_tokens\":5,\"output_tokens\"" \
                                      ":2,\"total_tokens\":7}}")
#define RESPONSES_BEGIN  RESPONSES_CREATED RESPONSES_TEXT("He", 1)
#define RESPONSES_STREAM RESPONSES_BEGIN RESPONSES_TEXT("llo", 2) RESPONSES_COMPLETED

#define SSE "text/event-stream; charset=utf-8"

#define ASK_CHAT \
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
#define ASK_CHAT_USAGE                                                              \
    "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true}," \
    "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
#define ASK_MESSAGES                                                                      \
    "{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,\"messages\":[{\"role\":\"user\"," \
    "\"content\":\"hi\"}]}"
#define ASK_RESPONSES  "{\"model\":\"m\",\"stream\":true,\"input\":\"hi\"}"
#define ASK_CHAT_WHOLE "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
#define ASK_MESSAGES_WHOLE \
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"

#define CHAT_WHOLE                                                                                  \
    "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m-1-served\"," \
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hello\"},"         \
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,"          \
    "\"total_tokens\":7}}"
#define MESSAGES_WHOLE                                                                        \
    "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-1-served\"," \
    "\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}],\"stop_reason\":\"end_turn\","      \
    "\"stop_sequence\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}"
#define MESSAGES_REFUSED                                                                      \
    "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m-1-served\"," \
    "\"content\":[],\"stop_reason\":\"refusal\",\"stop_sequence\":null,\"usage\":{"           \
    "\"input_tokens\":5,\"output_tokens\":0}}"

#endif
