"""The turns of one run (request, reply, tools) until the model answers or makes no progress.

A run with a final tool ends by a valid call of it. `history` holds whole replies only, in the form the API takes back,
and no image: these are put in as it is sent. Each turn is one turn of the SDK's streaming tool runner, begun from the
history, so a retry sends the same bytes. `is_cut` says whether the last reply to our own prompt exceeded the length
limit. Every tool call is validated, bounded in time, and noted in the run's ledger here. What git, a server or the disk
refuses goes to the model as an error result; any other exception of a tool is our bug: the SDK would report it to the
model and go on, so it is kept here and ends the run.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import anthropic
from anthropic.lib.tools import BetaBuiltinFunctionTool, ToolError
from anthropic.types.beta import BetaMessage, BetaToolUnionParam
from pydantic import BaseModel, ValidationError

from bot.agent.cost import CostMeter
from bot.agent.model_messages import (
    HAND_IN,
    UNSEEN,
    StreamReader,
    Unsupported,
    build_first_message,
    explain,
    fixed_params,
    model_text,
    refuse_pages,
    render_sections,
    sendable,
    with_images,
)
from bot.agent.model_run import RunFailed, RunRequest
from bot.agent.provider_errors import RetryPolicy, vendor_words
from bot.agent.run_records import RunLog
from bot.agent.tools.base import Tool, ToolProblem
from bot.agent.watchdog import UNLIMITED_S, LoopDetector, Stuck, Watchdog
from bot.domain.text.sanitize import mend
from bot.errors import ProviderError, StoreError

log = logging.getLogger(__name__)


class Toolbox:
    """The tools of one run; `crash` is what one of them must not have raised, or None.

    `answers` are the arguments of each valid call of the final tool in the latest turn, `last_given` those of its last
    call in the run as JSON, valid or not; "" where there was none.
    """

    def __init__(self, request: RunRequest, watch: Watchdog, journal: RunLog) -> None:
        final = self._final = request.final
        self._ledger, self._watch, self._journal = request.ledger, watch, journal
        self.crash: BaseException | None = None
        self.answers: list[BaseModel] = []
        self.last_given = ""
        self.runnable = [_Runnable(tool, self) for tool in (*request.tools, *([final] if final else []))]

    @property
    def handed_in(self) -> BaseModel | None:
        """What the final tool was called with; None if it was not, or twice in one turn with different arguments."""
        return self.answers[0] if self.answers and all(answer == self.answers[0] for answer in self.answers) else None

    def call(self, tool: Tool, given: object) -> str:
        """Return what the tool says; raises ToolError for the model to read."""
        self._journal.tool_calls += tool is not self._final
        said = json.dumps(given, ensure_ascii=False)
        if tool is self._final:
            self.last_given = said
        self._journal.note_call(f"{tool.name} {said}")
        try:
            text = self._answer(tool, given)
        except ToolError as problem:
            self._journal.write("Problem", str(problem))
            raise
        self._journal.write("Result", text)
        return text

    def results(self, calls: list[Any], refusal: str = "") -> dict[str, Any]:
        """Return the message that answers calls, of which only the final tool's are made; none with a refusal.

        The API wants each call in the history answered.
        """
        results = []
        for call in calls:
            mend(call.input)
            try:
                if refusal or self._final is None or call.name != self._final.name:
                    raise ToolError(refusal or "not called: only the answer was asked for")
                result: dict[str, Any] = {"content": self.call(self._final, call.input)}
            except ToolError as problem:
                result = {"content": str(problem), "is_error": True}
            results.append({"type": "tool_result", "tool_use_id": call.id, **result})
        return {"role": "user", "content": results}

    def _answer(self, tool: Tool, given: object) -> str:
        if not isinstance(given, dict):
            raise ToolError(f"{tool.name} cannot be called like that: its arguments must be a JSON object")
        try:
            arguments = tool.arguments.model_validate(given) if tool.arguments else given
        except ValidationError as error:
            raise ToolError(f"{tool.name} cannot be called like that: {explain(error)}") from error
        if tool is self._final and isinstance(arguments, BaseModel):
            self.answers.append(arguments)
        text, problem = within(self._watch.left_s(), lambda: tool.call(arguments))
        ledger = self._ledger if tool is not self._final else None
        if problem is None:
            return text if ledger is None else ledger.note_answer(tool.name, spell(arguments), text)
        if ledger is not None:
            ledger.note_failure(tool.name, spell(arguments))
        if isinstance(problem, ToolProblem):
            raise ToolError(str(problem)) from problem
        if isinstance(problem, ProviderError | StoreError):
            log.warning("a tool could not answer: %s", problem, extra={"action": "tool_failed", "tool": tool.name})
            raise ToolError(f"{tool.name} failed; narrow the call or use another tool") from problem
        self.crash = problem
        raise ToolError("this tool failed") from problem


class _Runnable(BetaBuiltinFunctionTool):
    """One tool in the SDK's shape."""

    def __init__(self, tool: Tool, box: Toolbox) -> None:
        self._tool, self._box = tool, box
        schema = tool.arguments.model_json_schema() if tool.arguments else tool.schema
        self._sent: BetaToolUnionParam = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": schema or {"type": "object"},
        }

    def to_dict(self) -> BetaToolUnionParam:
        """Return the definition that is sent."""
        return self._sent

    def call(self, input: object) -> str:
        """Return what the tool says."""
        return self._box.call(self._tool, input)


def spell(arguments: Any) -> str:
    """Return the arguments of a call in one spelling, as the ledger keeps them.

    >>> spell({"b": 1, "a": "ü"})
    '{"a":"ü","b":1}'
    """
    if isinstance(arguments, BaseModel):
        return arguments.model_dump_json(exclude_defaults=True)
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def within(limit_s: float | None, work: Callable[[], str]) -> tuple[str, BaseException | None]:
    """Return `(text, what was raised)`, the work being left behind when the limit passes: it only reads."""
    done: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, in the caller's thread
            done.put(("", error))

    threading.Thread(target=run, name="tool", daemon=True).start()
    try:
        return done.get(timeout=limit_s)
    except queue.Empty:
        return "", ToolProblem("no time is left")


class Conversation:
    """One run's dialogue with the model."""

    def __init__(
        self,
        client: Any,
        request: RunRequest,
        watch: Watchdog,
        meter: CostMeter,
        journal: RunLog,
        unsupported: Unsupported,
    ) -> None:
        self._client, self._request, self._unsupported = client, request, unsupported
        self._params = fixed_params(client, request, unsupported.of_run(request))
        self._messages = client.with_options(
            max_retries=0, middleware=[*client.middleware, watch.middleware]
        ).beta.messages
        self.tools = Toolbox(request, watch, journal)
        self._limits, self._watch = request.limits, watch
        self._repeats = LoopDetector()
        self._attempts = RetryPolicy(watch, journal, request.model, request.limits)
        self.meter, self.journal = meter, journal
        self.history: list[Any] = [build_first_message(request)]
        self.images = tuple(request.images)
        self.turns = 0
        self.is_cut = False
        self._said: str | None = None
        """The text in which a run with a final tool ended first, whereupon it was asked for the call."""
        journal.write("Asked", request.prompt)

    def until_answer(self) -> str:
        """Return the text of the model's last reply; nothing where it ended by the final tool.

        Raises:
            Stuck: it goes in circles, or the turns or the reply's length are used up.
            RunFailed, Expired, Truncated, and what the SDK raises: there will be no answer.
        """
        while self.turns < self._limits.max_turns:
            runner, reply = self._next_turn()
            with closing(runner):
                self._accept(reply)
                if reply.stop_reason == "tool_use":
                    self._use_tools(runner, reply)
            if self.tools.handed_in is not None:
                return ""
            if reply.stop_reason not in ("tool_use", "pause_turn") and (words := self._last_words(reply)) is not None:
                return words
        raise Stuck(f"the limit of {self._limits.max_turns} turns is reached")

    def _next_turn(self) -> tuple[Any, BetaMessage]:
        """Return the SDK's runner and the reply it got; what the model refuses in the first request is left out."""
        while True:
            try:
                return self._attempts.insist(self._stream_turn, is_first=self.turns == 0)
            except (anthropic.BadRequestError, anthropic.UnprocessableEntityError) as error:
                if self.turns or not self._can_do_without(error):
                    raise

    def _stream_turn(self) -> tuple[Any, BetaMessage]:
        self._reserve()
        runner = self._messages.tool_runner(
            **self._params,
            messages=with_images(self.history, self.images),
            tools=self.tools.runnable,
            stream=True,
            thread=False,
        )
        with ExitStack() as on_failure:
            on_failure.callback(runner.close)
            reply = StreamReader(next(runner), self._watch, self.journal).read(self.meter)
            on_failure.pop_all()
        return runner, reply

    def _can_do_without(self, error: anthropic.APIStatusError) -> bool:
        """Whether a request was refused for its images or an optional parameter; the next do not have it."""
        if self.images and "image" in (vendor_words(error) or "").casefold():
            self.images, self.history = (), render_sections(self.history, UNSEEN)
            self.journal.say(f"{self._request.model} does not take the images: asking without")
            return True
        if not self._unsupported.learn(self._request, error):
            return False
        without = self._unsupported.of_run(self._request)
        self._params = fixed_params(self._client, self._request, without)
        self.journal.say(f"{self._request.model} does not take {', '.join(sorted(without))}: asking without")
        return True

    def ask(self, words: str) -> str:
        """Return the reply to our own words, not streamed, without tools but the final one, whose call is forced."""
        self.journal.say(f"asked for the answer: {words}")
        self.history = render_sections(self.history, words)
        reply = self._attempts.insist(self._ask_once, is_first=self.turns == 0)
        self._accept(reply)
        self._refuse_dead_ends(reply)
        self.is_cut = reply.stop_reason == "max_tokens"
        if calls := _calls_in(reply):
            too_long = f"not called: it was longer than {self._limits.max_tokens} tokens; be brief"
            self.history.append(self.tools.results(calls, too_long if self.is_cut else ""))
        return model_text(reply)

    def _ask_once(self) -> BetaMessage:
        self._reserve()
        tools = [tool.to_dict() for tool in self.tools.runnable]
        params = dict(self._params)
        if tools:
            params |= {"tools": tools, "tool_choice": {"type": "none"}}
        if final := self._request.final:
            params["tool_choice"] = {"type": "tool", "name": final.name}
            if "thinking" in params:  # the API refuses to force a call on a model that thinks
                params["thinking"] = {"type": "disabled"}
        params["timeout"] = UNLIMITED_S  # without any, the SDK refuses long answers that are not streamed

        with self._watch.deaf():
            raw = self._messages.with_raw_response.create(**params, messages=with_images(self.history, self.images))
        refuse_pages(raw.headers.get("content-type", ""))
        reply: BetaMessage = raw.parse()
        self.meter.add(reply.usage)
        return reply

    def _reserve(self) -> None:
        self._watch.check()
        tools = [tool.to_dict() for tool in self.tools.runnable]
        self.meter.reserve([self._params, tools, self.history], images=len(self.images))

    def _accept(self, reply: BetaMessage) -> None:
        """Take a whole reply into the history."""
        self.turns += 1
        self.tools.answers.clear()
        self._watch.check()
        thoughts = "\n\n".join(block.thinking for block in reply.content if block.type == "thinking")
        self.journal.write(
            f"Turn {self.turns} ({reply.stop_reason})", "\n\n".join(filter(None, (thoughts, model_text(reply))))
        )
        if content := sendable(reply.content):
            self.history.append({"role": "assistant", "content": [block.to_dict() for block in content]})

    def _last_words(self, reply: BetaMessage) -> str | None:
        """Return what a run ends with; None where it is asked for the final tool instead, which it is once."""
        self._refuse_dead_ends(reply)
        if reply.stop_reason == "max_tokens":
            if self.history[-1]["role"] == "assistant":
                self.history.pop()
            raise Stuck(f"the reply was longer than {self._limits.max_tokens} tokens; be brief")
        said, before = model_text(reply), self._said
        if (final := self._request.final) is None or before is not None:
            return said if said.strip() else before or ""
        self._said = said
        self.journal.say(f"asked for a call of {final.name}")
        self.history = render_sections(self.history, HAND_IN.format(tool=final.name))
        return None

    def _refuse_dead_ends(self, reply: BetaMessage) -> None:
        if reply.stop_reason == "refusal":
            raise RunFailed("the model declined to work on this; a human has to", usage=self.meter.usage)
        if reply.stop_reason == "model_context_window_exceeded":
            why = "the run outgrew the model's context window; ask a narrower question"
            raise RunFailed(why, usage=self.meter.usage)

    def _use_tools(self, runner: Any, reply: BetaMessage) -> None:
        calls = _calls_in(reply)
        circle = self._repeats.note([(call.name, call.input) for call in calls])
        if circle is not None:
            self.history.append(self.tools.results(calls, "not called again: the same call was answered before"))
            raise Stuck(circle)
        results = runner.generate_tool_call_response()
        self._watch.check()
        if self.tools.crash is not None:
            raise RunFailed("a tool of ours failed; the log says how", usage=self.meter.usage) from self.tools.crash
        self.history.append(results)


def _calls_in(reply: BetaMessage) -> list[Any]:
    return [block for block in reply.content if block.type == "tool_use"]
