"""One model run, carried out: the SDK's streaming tool runner, observed, and a finish of our own where it finds none.

Reads the request, calls the provider and the tools, writes run.log and transcript.md. Whatever happens, what the run
cost is in its result or in its error. The turns are in bot/agent/conversation.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

import anthropic
from pydantic import BaseModel

from bot.agent.conversation import Conversation
from bot.agent.cost import DEFAULT_PRICES, CostMeter, Prices
from bot.agent.model_messages import BY_CALL, FINISH, HAND_IN, IN_TEXT, REPAIR, Unreadable, Unsupported, read_answer
from bot.agent.model_run import (
    ModelUnavailable,
    RunCancelled,
    RunFailed,
    RunRequest,
    RunResult,
    RunStopped,
    RunTimedOut,
)
from bot.agent.provider_errors import (
    FAILURES,
    NotAnApi,
    Truncated,
    describe_failure,
    fault_of,
    retry_after_s,
    vendor_words,
)
from bot.agent.run_records import RunLog
from bot.agent.watchdog import Expired, Stuck, Watchdog
from bot.ports import Clock

Client = anthropic.Anthropic | anthropic.AnthropicBedrock | anthropic.AnthropicVertex


class AnthropicRunner:
    """Makes model runs; any number of them may be under way, sharing only connections."""

    def __init__(
        self,
        client: Client,
        prices: Prices = DEFAULT_PRICES,
        *,
        clock: Clock,
        monotonic: Callable[[], float],
        secrets: Collection[str] = (),
        stop: threading.Event | None = None,
    ) -> None:
        """Take what all runs share; `stop`, once set, ends those under way and refuses new ones with RunStopped."""
        key = getattr(client, "api_key", None)
        self._client, self._prices = client, prices
        self._clock, self._monotonic, self._stop = clock, monotonic, stop
        self._secrets = frozenset(secrets) | ({key} if isinstance(key, str) else set())
        self._unsupported = Unsupported()

    def run(self, request: RunRequest) -> RunResult:
        """Return the answer; raises RunFailed (RunTimedOut, RunCancelled, SpendLimitReached) with the usage so far."""
        limits = request.limits
        meter = CostMeter(request.model, self._prices, limit_usd=limits.spend_usd, max_tokens=limits.max_tokens)
        journal = RunLog(request, clock=self._clock, monotonic=self._monotonic, secrets=self._secrets)
        watch = Watchdog(
            total_s=limits.total_s,
            stall_s=limits.stall_s,
            monotonic=self._monotonic,
            cancel=request.cancel,
            stop=self._stop,
        )
        try:
            with watch:
                talk = Conversation(self._client, request, watch, meter, journal, self._unsupported)
                result = _finish(talk, request)
        except (RunFailed, Expired, Truncated, NotAnApi, *FAILURES) as error:
            failure = _explain(error, request, meter)
            if (words := vendor_words(error)) is not None:
                journal.say(f"the provider's words: {words}")
            journal.say(f"ended: {failure}")
            raise failure from error.__cause__ if failure is error else error
        journal.say(f"answered after {result.turns} turns and {result.tool_calls} tool calls")
        return result


def _finish(talk: Conversation, request: RunRequest) -> RunResult:
    """Talk until there is an answer: force one where the run got stuck, have an unreadable one repaired once."""
    forced = False
    try:
        text = talk.until_answer()
    except Stuck as stuck:
        forced = True
        how = BY_CALL.format(tool=request.final.name) if request.final else IN_TEXT
        text = talk.ask(FINISH.format(why=stuck, how=how))
    return RunResult(
        answer=_answer(talk, text, request),
        usage=talk.meter.usage,
        turns=talk.turns,
        tool_calls=talk.journal.tool_calls,
        convergence_forced=forced,
        images_shown=len(talk.images),
    )


def _answer(talk: Conversation, text: str, request: RunRequest) -> BaseModel:
    """Return the answer of a run that is over; a forced call that was wrong is corrected once.

    One that stays wrong is read like text, and so is what was said beside it: nothing that a model saw is lost.
    """
    if request.final is None:
        return request.read(text) if request.read else _readable(talk, text, request)
    if talk.tools.handed_in is None and not text.strip():
        text = talk.ask(HAND_IN.format(tool=request.final.name))
    if talk.tools.handed_in is not None:
        return talk.tools.handed_in
    words = "\n".join(filter(None, (talk.tools.last_given, text.strip())))
    if request.read is None or not words:
        raise RunFailed(f"the model ended without a valid call of {request.final.name}", usage=talk.meter.usage)
    return request.read(words)


def _readable(talk: Conversation, text: str, request: RunRequest) -> BaseModel:
    """Return the answer in the model's last words, corrected once if need be."""
    most = request.limits.max_tokens
    try:
        return read_answer(text, request.answer)
    except Unreadable as problem:
        text = talk.ask(REPAIR.format(why=f"it was longer than {most} tokens; be brief" if talk.is_cut else problem))
    try:
        return read_answer(text, request.answer)
    except Unreadable as again:
        why = f"the model's answer could not be read, nor could its correction: {again}"
        if talk.is_cut:
            why = f"the model's answer was longer than {most} tokens, asked to be brief too; ask a narrower question"
        raise RunFailed(why, usage=talk.meter.usage) from again


def _explain(error: Exception, request: RunRequest, meter: CostMeter) -> RunFailed:
    """Return the end of a run as the caller knows it, with what the run cost."""
    if isinstance(error, RunFailed):
        return error
    if isinstance(error, Expired):
        return _of_limit(error, request, meter)
    if isinstance(error, Truncated):
        return RunFailed(f"the model's reply was cut off twice: {error}; try again", usage=meter.usage)
    fault = fault_of(error)
    kind = ModelUnavailable if fault.passes else RunFailed
    said = describe_failure(error, request.model)
    return kind(said, usage=meter.usage, retry_after_s=retry_after_s(error), code=fault.code)


def _of_limit(expired: Expired, request: RunRequest, meter: CostMeter) -> RunFailed:
    """Return the error that a reached limit of time is for the caller."""
    limits = request.limits
    if expired.kind == "cancel":
        return RunCancelled("the run was cancelled", usage=meter.usage)
    if expired.kind == "stop":
        return RunStopped("the bot stopped", usage=meter.usage)
    limit_s = limits.total_s if expired.kind == "total" else limits.stall_s
    said = {"total": "the run reached its limit of {:g} s", "stall": "the model fell silent for {:g} s, twice"}
    return RunTimedOut(
        said[expired.kind].format(limit_s),
        usage=meter.usage,
        timeout_kind=expired.kind,
        timeout_s=limits.total_s,
        stall_s=limits.stall_s,
    )
