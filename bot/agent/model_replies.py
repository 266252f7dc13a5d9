"""Reading one streamed reply to its end, and judging whether it is whole.

A reply counts only after its stop event. A tool call counts only when its block was closed and its arguments are
complete JSON; one that counts is kept whatever reason the reply gives for stopping.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx2
from anthropic.lib.streaming import BetaMessageStream
from anthropic.types.beta import BetaContentBlock, BetaMessage

from bot.agent.cost import CostMeter
from bot.agent.retry import NotAnApi, Truncated
from bot.agent.run_log import RunLog
from bot.agent.watchdog import Watchdog
from bot.domain.text.sanitize import mend, storable

_CONTENT = frozenset({"content_block_start", "content_block_delta"})
_OF_THE_API = frozenset({"text/event-stream", "application/json"})
_THINKING = frozenset({"thinking", "redacted_thinking"})
_SAYS_NOTHING = frozenset({None, "end_turn", "stop_sequence"})


class StreamReader:
    """Follows one stream; `read` may be called once."""

    def __init__(self, stream: BetaMessageStream[Any], watch: Watchdog, journal: RunLog) -> None:
        self._stream, self._watch, self._journal = stream, watch, journal
        self._started = self._stopped = False
        self._bytes = 0
        self._open: dict[int, str] = {}

    def read(self, meter: CostMeter) -> BetaMessage:
        """Return the whole reply; what it cost is counted, also when it breaks off.

        Raises:
            NotAnApi: the answer is a page or a file, not a stream of events.
            Truncated: it ended early or with half a tool call.
        """
        refuse_pages(self._stream.response.headers.get("content-type", ""))
        try:
            for event in self._stream:
                self._take(event)
        except ValueError as error:
            raise Truncated("the arguments of a tool call are no JSON") from error
        except httpx2.TransportError as error:
            raise Truncated("the connection broke in the middle of a reply") from error
        finally:
            if self._started:
                seen = 0 if self._stopped else self._bytes // 4
                meter.add(self._stream.current_message_snapshot.usage, at_least_output=seen)
        if not self._stopped:
            raise Truncated("the reply ended without its stop event")
        return self._judge(self._stream.current_message_snapshot)

    def _take(self, event: Any) -> None:
        if event.type in _CONTENT:
            self._watch.touch()
        if event.type == "message_start":
            self._started = True
        elif event.type == "message_stop":
            self._stopped = True
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            self._open[event.index] = ""
        elif event.type == "content_block_delta":
            self._take_delta(event.index, event.delta)
        elif event.type == "content_block_stop" and event.index in self._open:
            json.loads(self._open.pop(event.index) or "{}")

    def _take_delta(self, index: int, delta: Any) -> None:
        words = str(getattr(delta, "thinking", None) or getattr(delta, "text", None) or "")
        part = str(getattr(delta, "partial_json", None) or "")
        self._bytes += len(words.encode("utf-8", "replace")) + len(part)
        if index in self._open:
            self._open[index] += part
        if words and self._journal.log_progress(words):
            with self._watch.deaf():
                self._journal.preview()

    def _judge(self, message: BetaMessage) -> BetaMessage:
        """Return the message, its reason for stopping put right where its calls say otherwise."""
        _mend(message)
        calls = any(block.type == "tool_use" for block in message.content)
        if self._open and message.stop_reason != "max_tokens":
            raise Truncated("a tool call was cut in two")
        if calls and message.stop_reason in _SAYS_NOTHING:
            message.stop_reason = "tool_use"
        elif not calls and message.stop_reason == "tool_use":
            message.stop_reason = "end_turn"
        return message


def _mend(message: BetaMessage) -> None:
    """Replace half characters, which could be neither kept nor sent back."""
    for block in message.content:
        if block.type == "text":
            block.text = storable(block.text)
        elif block.type == "tool_use":
            mend(block.input)


def refuse_pages(content_type: str) -> None:
    """Raise NotAnApi if what an address answered with is no answer of the API: a proxy's page, a login, a file."""
    kind = content_type.partition(";")[0].strip().casefold()
    if kind and kind not in _OF_THE_API:
        raise NotAnApi(kind)


def sendable(content: Sequence[BetaContentBlock]) -> list[BetaContentBlock]:
    """Return the blocks of a reply as the API takes them back, which is not always as it sent them.

    Blank texts are left out, and so is thinking that nothing follows; arguments of a call that are no object become
    an empty one. Source: the API's 400s (anthropic-sdk-python#461; FACTS M).
    """
    kept = [block for block in content if block.type != "text" or block.text.strip()]
    while kept and kept[-1].type in _THINKING:
        kept.pop()
    return [
        block.model_copy(update={"input": {}})
        if block.type == "tool_use" and not isinstance(block.input, dict)
        else block
        for block in kept
    ]


def model_text(message: BetaMessage) -> str:
    """Return what a reply says, thinking and calls aside."""
    return "".join(block.text for block in message.content if block.type == "text")
