"""What the providers' own descriptions say of a body: OpenAI's and Anthropic's OpenAPI files, and google-genai's types."""
import functools
import json
import os

import jsonschema_rs
import pydantic
import yaml
from google.genai import types

import corpus


def rewritten(schema):
    """As JSON Schema 2020-12 says it: `nullable` is OpenAPI 3.0's, and a oneOf whose branches overlap is meant as
    anyOf, of which a discriminator tells one."""
    if isinstance(schema, list):
        return [rewritten(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {("anyOf" if name == "oneOf" and "anyOf" not in schema else name): rewritten(value)
           for name, value in schema.items() if name not in ("discriminator", "example", "examples", "x-oaiMeta")}
    if out.pop("nullable", None) is True:
        out = {"anyOf": [out, {"type": "null"}]}
    if "$recursiveRef" in out:
        out["$dynamicRef"] = out.pop("$recursiveRef")
    if "required" in out and isinstance(out["required"], list):
        out["required"] = [name for name in out["required"]
                           if not may_be_left_out(out.get("properties", {}).get(name, {}))]
    return out


def may_be_left_out(schema):
    """Anthropic's file demands of its answers what its recorded answers do not have: what may be null, or has a
    default. (OpenAI's file does so for requests nowhere.)"""
    return "default" in schema or any(one.get("type") == "null" for one in schema.get("anyOf", []))


@functools.cache
def components(dialect):
    if dialect == "messages":
        with open(os.path.join(corpus.ROOT, "openapi", "anthropic.openapi.yaml"), encoding="utf-8") as file:
            document = yaml.load(file, Loader=yaml.CSafeLoader)
    else:
        with open(os.path.join(corpus.ROOT, "openapi", "openai.openapi.json"), encoding="utf-8") as file:
            document = json.load(file)
    schemas = rewritten(document["components"]["schemas"])
    if dialect == "messages":  # role "system" (B14) is younger than the file; the SDK's SystemMessageParam has it
        # An id goes back to the provider that made it, whose ids may have other characters (core/dialect/README.md).
        schemas["ResponseToolUseBlock"]["properties"]["id"].pop("pattern")
        schemas["InputMessage"]["properties"]["role"]["enum"].append("system")
    return {"schemas": schemas}


@functools.cache
def validator(dialect, name, closed):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": f"#/components/schemas/{name}",
              "components": components(dialect)}
    if closed:
        schema["unevaluatedProperties"] = False
    return jsonschema_rs.Draft202012Validator(schema)


class GeminiRequest(pydantic.BaseModel):
    """The body of generateContent, of the SDK's own types: they forbid what they do not know."""

    model_config = pydantic.ConfigDict(extra="forbid")
    contents: list[types.Content] = pydantic.Field(min_length=1)
    systemInstruction: types.Content | None = None
    tools: list[types.Tool] | None = None
    toolConfig: types.ToolConfig | None = None
    generationConfig: types.GenerationConfig | None = None


REQUESTS = {"chat": "CreateChatCompletionRequest", "messages": "CreateMessageParams", "responses": "CreateResponse"}
WHOLE = {"chat": "CreateChatCompletionResponse", "messages": "Message", "responses": "Response"}
EVENTS = {"chat": "CreateChatCompletionStreamResponse", "messages": "MessageStreamEvent",
          "responses": "ResponseStreamEvent"}


def complaints(dialect, name, value, closed=False):
    """Where and why the value is not what the schema says; empty when it is."""
    found = []
    for error in validator(dialect, name, closed).iter_errors(value):
        where = "/".join(str(step) for step in error.instance_path)
        found.append(f"{where}: {error.message[:300]}")
    return found


def request_complaints(dialect, body):
    if dialect == "gemini":
        try:
            GeminiRequest.model_validate(body)
        except pydantic.ValidationError as error:
            return [f"{'/'.join(str(step) for step in one['loc'])}: {one['msg']}" for one in error.errors()]
        return []
    return complaints(dialect, REQUESTS[dialect], body, closed=True)
