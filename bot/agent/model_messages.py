"""Messages of one run in the provider's form: requests, streamed replies, and the final answer as one JSON object."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import anthropic
import httpx2
from anthropic.lib.streaming import BetaMessageStream
from anthropic.types.beta import BetaContentBlock, BetaMessage
from pydantic import BaseModel, ValidationError

from bot.agent.cost import CostMeter
from bot.agent.model_run import RunRequest
from bot.agent.provider_errors import NotAnApi, Truncated, vendor_words
from bot.agent.run_records import RunLog
from bot.agent.watchdog import Watchdog
from bot.domain.text.sanitize import is_deeper_than, mend, storable
from bot.ports import Image

_BEGIN: Final = re.compile(r"\{(?=[ \t\r\n]{0,1000}[\"}])")
_MAX_DEPTH: Final = 60
"""Answers stay below 10 levels; what can be read at several hundred may not be written again."""

_READ_BEFORE_CUT: Final = 65_536
_TOO_DEEP_CHARS: Final = 1_000
"""How far to go on from an object that is nested more deeply than can be read: it nests on for longer than this."""


class Unreadable(ValueError):
    """There is no such object in the text; the message tells the model what is wrong."""


def read_answer(text: str, kind: type[BaseModel]) -> BaseModel:
    """Return the object in `text` that is a `kind`.

    Raises:
        Unreadable: there is none, and the message lists what is wrong with the last object; or there are several that
            differ, since one of them may be a quotation.
    """
    problem, answers = None, list[BaseModel]()
    for found in objects(text):
        try:
            answers.append(kind.model_validate(found))
        except ValidationError as error:
            problem = explain(error)
    if any(answer != answers[0] for answer in answers):
        raise Unreadable("there are several JSON objects that answer, and they differ; send one")
    if not answers:
        raise Unreadable(problem or "there is no JSON object in it")
    return answers[0]


def objects(text: str) -> Iterator[dict[str, Any]]:
    r"""Yield the top-level JSON objects in a text, skipping what is none.

    >>> list(objects('Here: ```json\n{"a": {"b": "}"}}\n``` or {not json} {"c": 1}'))
    [{'a': {'b': '}'}}, {'c': 1}]
    """
    decoder = json.JSONDecoder(strict=False)
    begin = _BEGIN.search(text)
    while begin:
        at = begin.start()
        if at > _READ_BEFORE_CUT:  # a failure counts the lines of all that was read
            text, at = text[at:], 0
        found, end = _object_at(decoder, text, at)
        if found is not None:
            mend(found)
            yield found
        begin = _BEGIN.search(text, end)


def _object_at(decoder: json.JSONDecoder, text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at `at`, if it is one, and where to look on."""
    try:
        found, end = decoder.raw_decode(text, at)
    except ValueError:
        return None, at + 1
    except RecursionError:
        return None, at + _TOO_DEEP_CHARS
    return (found if isinstance(found, dict) and not is_deeper_than(found, _MAX_DEPTH) else None), end


def explain(error: ValidationError) -> str:
    """Return what is wrong with an object that a model wrote, for the model to read."""
    details = error.errors(include_url=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'answer'}: {detail['msg']}" for detail in details[:8])


_EPHEMERAL: Final = {"type": "ephemeral"}
FINISH: Final = "Stop here: {why}. Answer now with what you have, {how}."
IN_TEXT: Final = "as the one JSON object, without calling a tool"
BY_CALL: Final = "by calling `{tool}`"
HAND_IN: Final = "Nobody reads that text. End by calling `{tool}`."
UNSEEN: Final = "The images of this message could not be shown to you."
ONE_OBJECT: Final = "Answer with one JSON object of this schema and nothing else: {schema}"
REPAIR: Final = "That answer could not be read: {why}. Answer again with the one JSON object and nothing else."

_CONTENT = frozenset({"content_block_start", "content_block_delta"})
_OF_THE_API = frozenset({"text/event-stream", "application/json"})
_THINKING = frozenset({"thinking", "redacted_thinking"})
_SAYS_NOTHING = frozenset({None, "end_turn", "stop_sequence"})


class Unsupported:
    """Which optional parameters models refused, by model; all runs of a process share what one of them met."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], frozenset[str]] = {}

    def of_run(self, request: RunRequest) -> frozenset[str]:
        """Return what is not to be sent in a run: of `effort`, `thinking` and `format`.

        Some models refuse to think, others refuse not to.
        """
        return self._found.get((request.model, request.thinks), frozenset())

    def learn(self, request: RunRequest, error: anthropic.APIStatusError) -> bool:
        """Note what a refusal names; whether that is new. The API has no code for it, so its words are read."""
        words = (vendor_words(error) or "").casefold()
        named = {name for name in ("effort", "thinking") if name in words}
        if not named and "output_config" in words:  # the server knows neither this block nor what is in it
            named = {"effort", "format"}
        known = self.of_run(request)
        self._found[request.model, request.thinks] = known | named
        return not named <= known


def fixed_params(client: object, request: RunRequest, without: Collection[str] = ()) -> dict[str, Any]:
    """Return what every call of a run has in common, messages and tools aside.

    Args:
        client: The SDK's client; only the vendor's own API marks the growing history for caching by itself.
        request: The run; the provider holds its answer to the schema, unless it ends by a call of its final tool.
        without: The optional parameters that the model is known to refuse.
    """
    system: list[dict[str, Any]] = [{"type": "text", "text": request.system, "cache_control": _EPHEMERAL}]
    params: dict[str, Any] = {"model": request.model, "max_tokens": request.limits.max_tokens, "system": system}
    if request.rubric:
        system.append({"type": "text", "text": request.rubric})
    output: dict[str, Any] = {}
    if request.final is None:
        schema = anthropic.transform_schema(request.answer)
        if "format" in without:
            system.append({"type": "text", "text": ONE_OBJECT.format(schema=json.dumps(schema))})
        else:
            output["format"] = {"type": "json_schema", "schema": schema}
    if request.effort and "effort" not in without:
        output["effort"] = request.effort
    if output:
        params["output_config"] = output
    if "thinking" not in without:
        params["thinking"] = {"type": "adaptive", "display": "summarized"} if request.thinks else {"type": "disabled"}
    if isinstance(client, anthropic.Anthropic):
        params["cache_control"] = _EPHEMERAL
    return params


def build_first_message(request: RunRequest) -> dict[str, Any]:
    """Return the message that opens a run: its data, the end of the second cached stretch."""
    return {"role": "user", "content": [{"type": "text", "text": request.prompt, "cache_control": _EPHEMERAL}]}


def with_images(history: Sequence[Any], images: Sequence[Image]) -> list[Any]:
    """Return the history as it is sent: the images stand before the words of its first message, where there are any.

    Source: https://platform.claude.com/docs/en/build-with-claude/vision (images first)
    """
    if not images:
        return list(history)
    sources = [
        {"type": "base64", "media_type": one.media_type, "data": b64encode(one.data).decode("ascii")} for one in images
    ]
    first = history[0]
    blocks = [{"type": "image", "source": source} for source in sources]
    return [{**first, "content": [*blocks, *first["content"]]}, *history[1:]]


def render_sections(history: list[Any], words: str) -> list[Any]:
    """Return the history with our words at its end, in the last message if that is ours already."""
    block = {"type": "text", "text": words}
    if history[-1]["role"] == "user":
        return [*history[:-1], {"role": "user", "content": [*history[-1]["content"], block]}]
    return [*history, {"role": "user", "content": [block]}]


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
    an empty one. Source: the API's 400s (anthropic-sdk-python#461, and measured).
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
