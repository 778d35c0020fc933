"""A model on loopback for real agent programs: it has them start an agent, and never answers that agent.

It speaks as much of Anthropic's messages, OpenAI's responses and chat completions, and Gemini's content as the programs
need. What it says depends on the words of the conversation alone.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

ROOT, LEAF, AGAIN = "ROOT-TASK", "LEAF-TASK", "AGAIN-TASK"
"""Who begins with these words is the session itself, the agent below it, and the session once it was taken up again."""
NAME = "mock-1"
_SPAWNS = ("Agent", "Task", "task", "agent", "spawn_agent", "spawn_subagent", "invoke_agent", "use_subagents")
_WAITS = ("wait_agent", "wait")
_WORK = ("prompt", "message", "task", "objective", "instructions", "request", "query")
_KINDS = ("subagent_type", "agent_type", "agent_name", "agent", "kind")
_STARTED = re.compile(r"agent_id[^0-9a-z]+([0-9a-f-]{36})")
_PACE = 0.02
"""Seconds between two looks whether it is to be closed."""
_USED = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}


class Tool(NamedTuple):
    name: str
    schema: dict[str, Any]
    namespace: str | None = None


class Said(NamedTuple):
    """One answer: words, or a call."""

    text: str = "All is done."
    tool: Tool | None = None
    input: dict[str, Any] | None = None


class ModelStandIn:
    """Answers until it is closed."""

    def __init__(self, kind: str = "general-purpose") -> None:
        self.kind = kind
        """Of the agent that is to be started."""
        self.hung = threading.Event()
        """The agent has asked, and gets no answer."""
        self.over = threading.Event()
        self.requests: list[str] = []
        model = self

        class Handler(_Handler):
            stand_in = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(_PACE,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: dict[str, Any]) -> Said | None:
        """What it says to that; None if nothing, for ever."""
        words = json.dumps([asked.get(key) for key in ("messages", "input", "contents")])
        tools = {tool.name: tool for tool in _tools(asked)}
        if LEAF in words and ROOT not in words:
            self.hung.set()
            return None
        if ROOT not in words or AGAIN in words:
            return Said()
        if LEAF in words:
            wait = next((tools[name] for name in _WAITS if name in tools), None)
            given = (
                {"targets": _STARTED.findall(words)[:1], "timeout_ms": 600_000}
                if wait and "targets" in _properties(wait)
                else {}
            )
            return Said(tool=wait, input=given) if wait else Said()
        spawn = next((tools[name] for name in _SPAWNS if name in tools), None)
        return Said(tool=spawn, input=_filled(spawn, self.kind)) if spawn else Said()


def _tools(asked: dict[str, Any]) -> Iterator[Tool]:
    for each in asked.get("tools") or ():
        if each.get("type") == "namespace":
            for one in each["tools"]:
                yield Tool(one["name"], one.get("parameters") or {}, each["name"])
        for one in each.get("functionDeclarations", each.get("function_declarations", ())):
            yield Tool(one["name"], one.get("parametersJsonSchema") or one.get("parameters") or {})
        one = each.get("function", each)
        if "name" in one:
            yield Tool(one["name"], one.get("input_schema") or one.get("parameters") or {})


def _properties(tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = tool.schema.get("properties") or {}
    return found


def _filled(tool: Tool, kind: str) -> dict[str, Any]:
    """A call that gives an agent its work, by what the tool wants to be told."""
    properties, given = _properties(tool), {}
    for name in (*tool.schema.get("required", ()), "run_in_background"):
        if name in properties:
            given[name] = _value(name, properties[name], kind)
    if not any(name in given for name in _WORK):
        given.update({name: _value(name, properties[name], kind) for name in _WORK if name in properties})
    return given


def _value(name: str, schema: dict[str, Any], agent: str) -> Any:
    kind = str(schema.get("type", "string")).lower()
    if kind == "array":
        return [_value(name, schema.get("items") or {}, agent)]
    if kind == "object":
        inner = schema.get("properties") or {}
        return {each: _value(each, inner.get(each, {}), agent) for each in schema.get("required", ())}
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return 600
    if schema.get("enum"):
        return agent if agent in schema["enum"] else schema["enum"][0]
    if name in _KINDS:
        return agent
    return f"{LEAF}: wait." if name.rstrip("s") in _WORK else "leaf"


class _Handler(BaseHTTPRequestHandler):
    stand_in: ModelStandIn
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        with suppress(ConnectionError):  # whoever was ended does not hear the answer out
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads along."""

    def do_GET(self) -> None:
        self.stand_in.requests.append(f"GET {self.path}")
        model = {"id": NAME, "object": "model", "name": NAME, "context_window": 200_000}
        self._send({"data": [model], "models": [model], "object": "list"})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.stand_in.requests.append(f"POST {self.path} {data[:60]!r}")
        path = self.path.partition("?")[0]
        wire = next((wire for wire in WIRES if wire.matches(path)), None)
        if wire is None:
            self._send({"input_tokens": 10, "totalTokens": 10})
            return
        asked = json.loads(data)
        said = self.stand_in.answer(asked)
        if said is None:
            self._hang()
        elif asked.get("stream") or "stream" in path:
            self._stream(wire.stream(said))
        else:
            self._send(wire.whole(said))

    def _hang(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.flush()
        self.stand_in.over.wait()
        self.close_connection = True

    def _stream(self, events: Iterator[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            said = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{head}data: {said}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True

    def _send(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Messages:
    """Anthropic's."""

    @staticmethod
    def matches(path: str) -> bool:
        return path.endswith("/messages")

    @classmethod
    def whole(cls, said: Said) -> dict[str, Any]:
        block = {"type": "text", "text": said.text}
        if said.tool:
            block = {"type": "tool_use", "id": "toolu_01leaf", "name": said.tool.name, "input": said.input}  # type: ignore[dict-item]  # a block of another kind
        used = {"input_tokens": 10, "output_tokens": 10}
        stop = "tool_use" if said.tool else "end_turn"
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": NAME}
        return {**head, "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": used}

    @classmethod
    def stream(cls, said: Said) -> Iterator[tuple[str, Any]]:
        whole = cls.whole(said)
        block = whole["content"][0]
        yield _event("message_start", message={**whole, "content": [], "stop_reason": None})
        if said.tool:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(said.input)}
            empty = {**block, "input": {}}
        else:
            delta, empty = {"type": "text_delta", "text": said.text}, {**block, "text": ""}
        yield _event("content_block_start", index=0, content_block=empty)
        yield _event("content_block_delta", index=0, delta=delta)
        yield _event("content_block_stop", index=0)
        stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield _event("message_delta", delta=stop, usage={"output_tokens": 10})
        yield _event("message_stop")


class Responses:
    """OpenAI's."""

    @staticmethod
    def matches(path: str) -> bool:
        return path.endswith("/responses")

    @classmethod
    def whole(cls, said: Said) -> dict[str, Any]:
        item: dict[str, Any]
        if said.tool:
            item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{said.tool.name}", "name": said.tool.name}
            item["arguments"] = json.dumps(said.input)
            if said.tool.namespace:
                item["namespace"] = said.tool.namespace
        else:
            text = {"type": "output_text", "text": said.text, "annotations": []}
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
        return {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": _USED}

    @classmethod
    def stream(cls, said: Said) -> Iterator[tuple[str, Any]]:
        whole = cls.whole(said)
        yield _event("response.created", response={**whole, "status": "in_progress", "output": []})
        yield _event("response.output_item.added", output_index=0, item=whole["output"][0])
        yield _event("response.output_item.done", output_index=0, item=whole["output"][0])
        yield _event("response.completed", response=whole)


class Chat:
    """OpenAI's chat completions, which most others speak too."""

    @staticmethod
    def matches(path: str) -> bool:
        return path.endswith("/chat/completions")

    @classmethod
    def _answer(cls, said: Said, key: str, kind: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.tool:
            call = {"name": said.tool.name, "arguments": json.dumps(said.input)}
            message["content"] = None
            message["tool_calls"] = [{"index": 0, "id": f"call_{said.tool.name}", "type": "function", "function": call}]
        choice = {"index": 0, key: message, "finish_reason": "tool_calls" if said.tool else "stop"}
        used = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        return {"id": "chat_1", "object": kind, "created": 1, "model": NAME, "choices": [choice], "usage": used}

    @classmethod
    def whole(cls, said: Said) -> dict[str, Any]:
        return cls._answer(said, "message", "chat.completion")

    @classmethod
    def stream(cls, said: Said) -> Iterator[tuple[str, Any]]:
        whole = cls._answer(said, "delta", "chat.completion.chunk")
        end = {"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}
        whole["choices"][0]["finish_reason"] = None
        yield "", {**whole, "usage": None}
        yield "", {**whole, "choices": [end]}
        yield "", "[DONE]"


class Content:
    """Gemini's."""

    @staticmethod
    def matches(path: str) -> bool:
        return path.lower().endswith("generatecontent")

    @classmethod
    def whole(cls, said: Said) -> dict[str, Any]:
        part: dict[str, Any] = {"text": said.text}
        if said.tool:
            part = {"functionCall": {"name": said.tool.name, "args": said.input}}
        used = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        answer = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return {"candidates": [answer], "usageMetadata": used, "modelVersion": NAME}

    @classmethod
    def stream(cls, said: Said) -> Iterator[tuple[str, Any]]:
        yield "", cls.whole(said)


WIRES = (Messages, Responses, Chat, Content)


def _event(name: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return name, {"type": name, **data}
