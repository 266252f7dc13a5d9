"""Find things on the screen of the throw-away workspace without a screen: the card, its buttons, the reply.

Works on message dictionaries as Slack's API gives them; nothing here talks to anybody but `Transcript`, which prints.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """A button, or the one option of a menu that was asked for; what `Control.click` wants."""

    action_id: str
    block_id: str
    type: str
    value: str | None = None
    selected_option: Json | None = None
    asks_first: bool = False
    """Whether a click opens a question, "do it all the same?", that only a human answers."""

    def click_fields(self) -> dict[str, Any]:
        """Return the keyword arguments for `Control.click`."""
        return {
            "action_id": self.action_id,
            "block_id": self.block_id,
            "type": self.type,
            "value": self.value,
            "selected_option": self.selected_option,
        }


@dataclass(slots=True)
class Transcript:
    """What happened when, in seconds since it was made; each step is printed as it happens, unless `out` is None."""

    out: TextIO | None = field(default_factory=lambda: sys.stdout)
    clock: Callable[[], float] = time.monotonic
    steps: list[tuple[float, str]] = field(default_factory=list)
    _start_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._start_s = self.clock()

    def note(self, what: str) -> float:
        """Record a step and return its time.

        >>> ticks = iter([10.0, 12.5])
        >>> Transcript(clock=lambda: next(ticks)).note("the card is there")
            2.50 s  the card is there
        2.5
        """
        at_s = self.clock() - self._start_s
        self.steps.append((at_s, what))
        if self.out is not None:
            print(f"{at_s:8.2f} s  {what}", file=self.out, flush=True)
        return at_s


def shown_text(message: Json) -> str:
    """Return all text of a message's blocks, or its `text` when it has none, entities decoded, white space folded.

    >>> shown_text({"text": "x", "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "> a &lt;\\n> b"}}]})
    'a < b'
    """
    pieces = list(_texts(message.get("blocks") or [])) or [str(message.get("text") or "")]
    lines = [line.removeprefix(">") for piece in pieces for line in html.unescape(piece).splitlines()]
    return " ".join(" ".join(lines).split())


def find_element(message: Json, action_id: str) -> Element | None:
    """Return the button with `action_id`, or None while the card does not offer it."""
    for block, element in elements_of(message):
        if element.get("action_id") == action_id:
            return Element(
                action_id=action_id,
                block_id=block["block_id"],
                type=element["type"],
                value=element.get("value"),
                asks_first="confirm" in element,
            )
    return None


def find_replies(messages: Iterable[Json], thread_ts: str, sender_id: str) -> list[Json]:
    """Return what `sender_id` said in a thread for all to see, oldest first."""
    said = (m for m in messages if m.get("thread_ts") == thread_ts and m["ts"] != thread_ts)
    return [m for m in said if m.get("user") == sender_id and m.get("subtype") != "ephemeral"]


def named_blocks(message: Json) -> list[Json]:
    """Return the blocks of a message that have an id."""
    return [block for block in message.get("blocks") or [] if block.get("block_id")]


def elements_of(message: Json) -> Iterator[tuple[Json, Json]]:
    """Yield each button and menu of a message with its block."""
    for block in named_blocks(message):
        for element in [*(block.get("elements") or []), block.get("accessory")]:
            if element:
                yield block, element


_WITH_TEXT: Final = ("mrkdwn", "plain_text", "raw_text", "text", "link")


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("type") in _WITH_TEXT and isinstance(node.get("text"), str):
            yield node["text"]
        for value in node.values():
            yield from _texts(value)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
