"""What a turn may take from the request, so that one script works on any codebase.

`${question}` the first message's question or all of it, `${hit.path|start|end}` the first place a search named,
`${read.path|start|end|quote}` what the last read_file returned, `${ref}`, `${ref.path|start|end}` the draft's citation.
"""

from __future__ import annotations

import json
import re
from typing import Any

_VARIABLE = re.compile(r"\$\{([a-z.]+)\}")
_PASSAGE = re.compile(r"(?m)^(\S+) lines (\d+)-(\d+)")
_HIT = re.compile(r"(?m)^(\S+)\n(\d+)\| ")
_PLACE = re.compile(r"([\w./-]+\.\w+):(\d+)(?:-(\d+))?")
_PATH = re.compile(r"(?m)^([\w./-]+\.\w+)")
_REF = re.compile(r'"ref": "([^"]+):(\d+)(?:-(\d+))?"')
_NUMBERED = re.compile(r"^\s*(\d+)\s?[:|\t→]\s?(.*)$")
_RESULT_NUMBER = re.compile(r"(?m)^(?:call \d+, lines are cited as .*\n|\d+: )")
_QUOTED_LINES = 2
_READ_LINES = 40


def fill(value: Any, body: dict[str, Any]) -> Any:
    """Return a scripted value with every `${…}` replaced; a text that is one variable keeps the variable's type."""
    known = _variables(body)
    return _fill(value, known)


def text_of(content: Any) -> str:
    """Return the text of a message's or a tool result's content."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text") or text_of(block.get("content", "")) for block in content or ())


def system_of(body: dict[str, Any]) -> str:
    """Return the text of the system prompt."""
    return text_of(body.get("system", ""))


def _fill(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _fill(item, known) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_fill(item, known) for item in value]
    if not isinstance(value, str):
        return value
    whole = _VARIABLE.fullmatch(value)
    if whole:
        return known.get(whole[1], value)
    return _VARIABLE.sub(lambda found: str(known.get(found[1], found[0])), value)


def _variables(body: dict[str, Any]) -> dict[str, Any]:
    messages = body.get("messages", [])
    first = text_of(messages[0]["content"]) if messages else ""
    known: dict[str, Any] = {"question": _question(first)}
    calls = {
        block["id"]: block for message in messages for block in _blocks(message) if block.get("type") == "tool_use"
    }
    for message in messages:
        for block in _blocks(message):
            if block.get("type") == "tool_result" and (call := calls.get(block["tool_use_id"])):
                known |= _of_result(call, text_of(block.get("content", "")))
    if found := _REF.search(first):
        known |= _place("ref", found) | {"ref": json.loads("{" + found[0] + "}")["ref"]}
    return known


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [] if isinstance(message["content"], str) else message["content"]


def _of_result(call: dict[str, Any], text: str) -> dict[str, Any]:
    if call["name"] == "read_file":
        return _of_read(str(call["input"].get("path")), text)
    text = _RESULT_NUMBER.sub("", text)
    if found := _PASSAGE.search(text) or _HIT.search(text) or _PLACE.search(text):
        return _place("hit", found)
    path = _PATH.search(text)
    return {"hit.path": path[1], "hit.start": 1, "hit.end": _READ_LINES} if path else {}


def _place(name: str, found: re.Match[str]) -> dict[str, Any]:
    start, last = int(found[2]), found[3] if len(found.groups()) > 2 else None
    end = int(last) if last else start + (_READ_LINES if name == "hit" else 0)
    return {f"{name}.path": found[1], f"{name}.start": start, f"{name}.end": end}


def _of_read(path: str, text: str) -> dict[str, Any]:
    """Return the first lines of a read that are worth quoting."""
    lines = [(int(found[1]), found[2]) for line in text.splitlines() if (found := _NUMBERED.match(line))]
    for (start, first), (end, second) in zip(lines, lines[_QUOTED_LINES - 1 :], strict=False):
        if len(first.strip()) > 8 and second.strip():
            quote = f"{first.rstrip()}\n{second.rstrip()}"
            return {"read.path": path, "read.start": start, "read.end": end, "read.quote": quote}
    return {}


def _question(text: str) -> str:
    """Return the asker's words, if the message marks them, else the longest line that asks something."""
    if found := re.search(r'"question":\s*("(?:[^"\\]|\\.)*")', text):
        return str(json.loads(found[1]))
    if found := re.search(r'(?s)<data-\w+ name="question"[^>]*>\n(.*?)\n</data-', text):
        return found[1]
    asking = [line for line in text.splitlines() if line.rstrip().endswith("?")]
    return max(asking, key=len, default=text[:200])
