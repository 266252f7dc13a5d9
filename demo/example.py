"""`triage demo --example`: what cards look like with models, played by a script over a small shop.

The script (example.yml) answers on this machine as the provider does, with Messages and server-sent events; it says in
every draft and thought that it is no model. The bot is the ordinary one, and knows nothing of it.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, Final, Self

import yaml

from demo.watched import commit, git

Json = dict[str, Any]
_SCRIPT: Final[Json] = yaml.safe_load((resources.files("demo") / "example.yml").read_text(encoding="utf-8"))
QUESTIONS: Final[list[str]] = _SCRIPT["questions"]
MODEL: Final[str] = _SCRIPT["model"]
SETTINGS: Final[Json] = {
    "investigator": {"model": MODEL},
    "validator": {"model": MODEL},
    "pricing": {MODEL: {"input": 0, "output": 0, "cache_read": 0}},
}
_PART: Final = r'(?s)<data-\w+ name="{}"[^>]*>\n(.*?)\n</data-'
"""A part of the first message, by its name."""

_CHUNK_CHARS: Final = 12
PAUSE_S: Final = 0.35
"""So that one can read along; a thought takes about three seconds."""


def make_shop(folder: Path) -> Path:
    """Make the repository of the shop in `folder`, and return it; raises ConfigError and OSError."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, _SCRIPT["files"], "The shop", days_ago=30)
    return folder


class ScriptedModel:
    """Plays the script at `url`; enter it to start, leave it to stop."""

    def __init__(self, pause_s: float = PAUSE_S) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Paced", (_Handler,), {"pause_s": pause_s}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        """Start to answer."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="script", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


def turn_for(body: Json) -> Json:
    """Return the turn of a conversation as it stands; its last one for whoever may call no tool."""
    system, first = _text(body.get("system", "")).lower(), _text(body["messages"][0]["content"])
    entries: list[Json] = next(entries for role, entries in _SCRIPT["roles"].items() if role in system)
    parts = {name: "".join(re.findall(_PART.format(name), first)) for name in ("question", "feedback")} | {
        "draft": first
    }
    found = next(one for one in entries if all(one.get(name, "") in part for name, part in parts.items()))
    turns: list[Json] = [turn for one in found["turns"] for turn in (one if isinstance(one, list) else [one])]
    said = sum(message["role"] == "assistant" for message in body["messages"])
    is_last = (body.get("tool_choice") or {}).get("type") == "none"
    return turns[-1] if is_last else turns[min(said, len(turns) - 1)]


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def events_of(body: Json) -> Iterator[Json]:
    """Yield a turn as the events of a stream."""
    turn = turn_for(body)
    usage = {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": 200}
    stop = "tool_use" if turn.get("calls") else "end_turn"
    start = {"id": "msg_script", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}}
    for index, (block, kind, field, text) in enumerate(_blocks(turn, len(body["messages"]))):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for at in range(0, len(text), _CHUNK_CHARS):
            delta = {"type": kind, field: text[at : at + _CHUNK_CHARS]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 200}}
    yield {"type": "message_stop"}


def _blocks(turn: Json, number: int) -> Iterator[tuple[Json, str, str, str]]:
    """Yield each block of a turn: as it begins, and the kind, the field and the text of what follows."""
    if "thinking" in turn:
        begun = {"type": "thinking", "thinking": "", "signature": "c2ln"}
        yield begun, "thinking_delta", "thinking", turn["thinking"]
    for place, call in enumerate(turn.get("calls", ())):
        named = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call["name"], "input": {}}
        yield named, "input_json_delta", "partial_json", json.dumps(call["input"])
    if "answer" in turn:
        yield {"type": "text", "text": ""}, "text_delta", "text", json.dumps(turn["answer"])


class _Handler(BaseHTTPRequestHandler):
    pause_s = PAUSE_S

    def do_POST(self) -> None:
        """Stream the next turn."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events_of(body):
            is_thought = event.get("delta", {}).get("type") == "thinking_delta"
            time.sleep(self.pause_s if is_thought else 0)
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""
