"""What prompt caching would have saved: breakpoints are prefixes of tools, system and messages, in that order."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from typing import Any

_BYTES_PER_TOKEN = 4


class Cache:
    """Remembers the prefixes it was shown."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def usage(self, body: dict[str, Any]) -> dict[str, int]:
        """Return the three input counts of a request, and remember its marked prefixes."""
        digest, size, read, marked = hashlib.sha256(), 0, 0, 0
        with self._lock:
            for block in _blocks(body):
                cached = block.pop("cache_control", None)
                data = json.dumps(block, sort_keys=True).encode()
                digest.update(data)
                size += len(data)
                key = (str(body.get("model")), digest.hexdigest())
                if key in self._seen:
                    read = size
                if cached:
                    marked = size
                    self._seen.add(key)
        read, marked = read // _BYTES_PER_TOKEN, max(read, marked) // _BYTES_PER_TOKEN
        return {
            "input_tokens": size // _BYTES_PER_TOKEN - marked,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": marked - read,
        }


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in body.get("tools", ()):
        yield dict(tool)
    system = body.get("system", "")
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield dict(block)
    last = len(body.get("messages", ())) - 1
    for number, message in enumerate(body.get("messages", ())):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for place, block in enumerate(blocks):
            marked = number == last and place == len(blocks) - 1 and body.get("cache_control")
            yield {"role": message["role"], **block, **({"cache_control": marked} if marked else {})}
