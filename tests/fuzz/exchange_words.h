/* exchange_words.h - what exchange_fuzz.c lets clients and upstreams say, so that the fuzzer need not find it out. */
#ifndef ACOG_TESTS_FUZZ_EXCHANGE_WORDS_H
#define ACOG_TESTS_FUZZ_EXCHANGE_WORDS_H

#define SECRET "sk-secret-of-one-0123456789"

static const char *const bodies[] = {
    "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
    "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"messages\":[{"
    "\"role\":\"user\",\"content\":\"hi\"}],\"provider\":{\"only\":[\"direct\"]}}",
    "{\"model\":\"\\u006d\\r\\nx: y\",\"stream\":true,\"input\":\"hi\",\"messages\":[{\"role\":\"user\","
    "\"content\":\"hi\"}]}",
    "{\"model\":\"m\",\"stream\":true,\"input\":\"hi\"}",
    "{\"model\":\"m\",\"input\":[\"hi\"],\"n\":2}",
    "{\"model\":\"m\",\"stream\":true,\"max_tokens\":9,\"seed\":1,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"hi\"}]}],\"stream_options\":{\"include_usage\":true}}",
    "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"assistant\",\"content\":\"hi\"},{\"role\":\"user\","
    "\"content\":[{\"type\":\"image\"}]}]}",
};

static const char *const targets[] = {
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/responses",
    "/v1/messages?beta=true",
    "/v1/embeddings",
    "/v1/models",
    "/v1/models/m",
    "/v1/messages/count_tokens",
    "/healthz",
    "/v1/models/a%2f",
    "/v1/route",
    "/nowhere",
};

#define CHUNK(delta, finish)                                                                  \
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\"," \
    "\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":" finish "}]}\n\n"
#define EVENT(name, rest) "event: " name "\ndata: {\"type\":\"" name "\"" rest "}\n\n"

static const char *const fragments[] = {
    CHUNK("{\"role\":\"assistant\",\"content\":\"\"}", "null"),
    CHUNK("{\"content\":\"hello\"}", "null"),
    CHUNK(
        "{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}",
        "null"),
    CHUNK("{}", "\"stop\""),
    CHUNK("{}", "\"content_filter\""),
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
    "data: [DONE]\n\n",
    EVENT(
        "message_start",
        ",\"message\":{\"id\":\"a\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1}}"),
    EVENT("content_block_start",
          ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}"),
    EVENT("content_block_delta",
          ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}"),
    EVENT("content_block_stop", ",\"index\":0"),
    EVENT("message_delta",
          ",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}"),
    EVENT("message_delta",
          ",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":{\"output_tokens\":0}"),
    EVENT("message_stop", ""),
    EVENT("ping", ""),
    EVENT("response.created",
          ",\"sequence_number\":0,\"response\":{\"id\":\"r\",\"status\":\"in_progress\"}"),
    EVENT("response.output_text.delta", ",\"sequence_number\":1,\"delta\":\"hello\""),
    EVENT(
        "response.completed",
        ",\"sequence_number\":2,\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}"),
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy " SECRET
    "\"}}\n\n",
    "data: {oops\n\n",
    ": comment\n\n",
    "\r\n",
    "{\"error\":{\"message\":\"no " SECRET
    "\",\"type\":\"invalid_request_error\",\"code\":\"c\\u0000\\n\"}}",
    "{\"id\":\"c\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
    "\"assistant\",\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}",
    "{\"id\":\"a\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":"
    "\"hello\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}",
    "{\"id\":\"a\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":"
    "\"refusal\",\"usage\":{\"input_tokens\":5,\"output_tokens\":0}}",
    "{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\",\"output\":[]}",
    EVENT("error", ",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}"),
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hello\"}]}}],\"modelVersion\":\"m\"}"
    "\n\n",
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}},"
    "\"thoughtSignature\":\"c2ln\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":5,"
    "\"candidatesTokenCount\":2}}\n\n",
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hello\"}]},\"finishReason\":\"STOP\"}],"
    "\"usageMetadata\":{\"promptTokenCount\":5,\"candidatesTokenCount\":2}}",
    "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
    CHUNK(
        "{\"reasoning_content\":\"hm\",\"tool_calls\":[{\"index\":1,\"id\":\"u\",\"function\":{\"name\":\"g\","
        "\"arguments\":\"{}\"}}]}",
        "\"tool_calls\""),
    EVENT(
        "content_block_start",
        ",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}"),
    EVENT("content_block_delta",
          ",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}"),
    EVENT(
        "response.output_item.done",
        ",\"sequence_number\":1,\"output_index\":1,\"item\":{\"type\":\"function_call\",\"id\":\"fc\","
        "\"call_id\":\"t\",\"name\":\"f\",\"arguments\":\"{}\"}"),
};

#endif
