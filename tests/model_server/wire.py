"""One turn as the provider would send it: a message, or the events of its stream cut into chunks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.model_server.script import Turn
from tests.model_server.templates import fill

Event = dict[str, Any]
_numbers = itertools.count(1)


def message_of(turn: Turn, body: dict[str, Any], usage: dict[str, int]) -> dict[str, Any]:
    """Return the whole reply as the non-streamed endpoint sends it."""
    content = _content(turn, body)
    calls = any(block["type"] == "tool_use" for block in content)
    stop = turn.stop if turn.stop != "auto" else "tool_use" if calls else "end_turn"
    output = max(1, len(json.dumps(content)) // 4)
    return {
        "id": f"msg_{next(_numbers):06d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": output, **turn.usage},
    }


def _content(turn: Turn, body: dict[str, Any]) -> list[Event]:
    blocks: list[Event] = []
    if turn.thinking:
        blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": "c2ln"})
    blocks += [{"type": "text", "text": blank} for blank in turn.blanks]
    choice = body.get("tool_choice", {})
    no_tools = choice.get("type") == "none"
    is_final = turn.answer is not None and (no_tools or not turn.calls)
    text = json.dumps(fill(turn.answer, body), indent=1) if is_final else fill(turn.text, body)
    if text:
        blocks.append({"type": "text", "text": text})
    if no_tools:
        return blocks
    for call in turn.calls:
        if choice.get("type") == "tool" and call.name != choice["name"]:
            continue
        name = f"toolu_{next(_numbers):06d}"
        blocks.append({"type": "tool_use", "id": name, "name": call.name, "input": fill(call.input, body)})
    return blocks


def refusal_of(messages: list[Any]) -> str | None:
    """Return why the API answers 400 to a history, or None. Source: anthropic-sdk-python#461 and its issues."""
    for number, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        if not message["content"]:
            return f"messages.{number}: content must not be empty"
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                return f"messages.{number}: text content blocks must be non-empty"
            if block["type"] == "tool_use" and not isinstance(block["input"], dict):
                return f"messages.{number}: tool_use.input: Input should be a valid dictionary"
        if message["role"] == "assistant" and blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            return f"messages.{number}: the final block in an assistant message cannot be thinking"
    return None


def events_of(turn: Turn, message: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of a stream, in order, without pauses or failures; a cut call leaves out its end."""
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    cuts = {call.name: call.cut for call in turn.calls}
    for index, block in enumerate(message["content"]):
        cut = cuts.get(block.get("name"))
        yield from _block_events(index, block, turn.chunk_chars, cut)
        if cut is None:
            yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Event, chars: int, cut: int | None) -> Iterator[Event]:
    kind, field = {
        "text": ("text_delta", "text"),
        "thinking": ("thinking_delta", "thinking"),
        "tool_use": ("input_json_delta", "partial_json"),
    }[block["type"]]
    empty = {"input": {}} if kind == "input_json_delta" else {field: ""}
    yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    text = json.dumps(block["input"]) if kind == "input_json_delta" else block[field]
    text = text[:cut]
    for at in range(0, len(text), chars):
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: text[at : at + chars]}}
