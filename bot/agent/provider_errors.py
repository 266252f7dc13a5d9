"""What went wrong at a model provider: what people are told, and whether and when the request is made again."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import anthropic
import httpx2

from bot.agent.model_run import RunLimits
from bot.agent.run_records import RunLog
from bot.agent.watchdog import Expired, Watchdog

FAILURES = (anthropic.AnthropicError, httpx2.TransportError, httpx2.StreamError)
"""Everything that a call to a model may raise."""

_MAX_VENDOR_CHARS: Final = 20_000
_LONG_WAIT_S: Final = 90
_LONGEST_ADVICE_S: Final = 7 * 86_400


class Truncated(Exception):
    """A reply ended before its stop event, or with a tool call cut in two; nothing of it may be used."""


class NotAnApi(Exception):
    """Something answered that is no model API; the message is the media type of what came."""


class Fault(NamedTuple):
    """One way in which a provider fails; `{model}` in its words is the model's id.

    `passes`: the same request may work later, and `advice` is when to try it where the provider does not say.
    """

    code: str
    says: str
    advice: str
    passes: bool = False


_SOON: Final = "in a minute"
_LATER: Final = "in a few minutes"
_NAMES: Final = "change `investigator.model` or `validator.model` in triage.yml, or `base_url`"
_MONEY: Final = "add credit or raise the limit in the provider's console, then re-investigate"

_ROWS: Final = (
    Fault("overloaded", "the model provider is overloaded", _LATER, passes=True),
    Fault("rate_limited", "the model provider is limiting our rate", _SOON, passes=True),
    Fault("server_error", "the model provider had an internal error", _LATER, passes=True),
    Fault("no_answer", "the model provider did not answer in time", _LATER, passes=True),
    Fault("unreachable", "the model provider could not be reached (network, `base_url`)", _SOON, passes=True),
    Fault("no_credit", "the account at the model provider is empty, or its spend limit is reached", _MONEY),
    Fault("prompt_too_long", "the prompt is longer than {model} takes", "leave out long pasted text, or ask for less"),
    Fault("request_too_large", "the request was too large for the model provider", "ask a narrower question"),
    Fault("key_refused", "the model provider refused the key", "check ANTHROPIC_API_KEY (or the cloud's credentials)"),
    Fault("model_forbidden", "this key may not use the model {model}", "check ANTHROPIC_API_KEY and its rights"),
    Fault("model_unknown", "the provider has no model {model} at this address", _NAMES),
    Fault("not_an_api", "something answered that is no model API", "check `base_url` in triage.yml and any proxy"),
    Fault("invalid_request", "the model provider refused the request as invalid", "run.log of the run has its reason"),
)
FAULTS: Final = {fault.code: fault for fault in _ROWS}

_BY_STATUS: Final = {
    **dict.fromkeys((408, 409), "server_error"),
    **{401: "key_refused", 402: "no_credit", 403: "model_forbidden", 404: "model_unknown"},
    **{407: "not_an_api", 413: "request_too_large", 429: "rate_limited", 529: "overloaded"},
}
_BY_TYPE: Final = {
    **{"overloaded_error": "overloaded", "rate_limit_error": "rate_limited"},
    **dict.fromkeys(("api_error", "timeout_error"), "server_error"),
}
"""Types that also come in the middle of a stream, whose status is 200."""

_BY_WORDS: Final = {"credit balance is too low": "no_credit", "prompt is too long": "prompt_too_long"}
_SPEND_LIMIT: Final = "spend_limit_reached"
"""How the error codes of a limit end that somebody has to raise; they come as 402 and 429."""


def fault_of(error: BaseException) -> Fault:
    """Return which fault an error of a call is."""
    return FAULTS[_code_of(error)]


def _code_of(error: BaseException) -> str:
    match error:
        case anthropic.APIStatusError():
            return _code_of_status(error)
        case NotAnApi() | anthropic.APIResponseValidationError():
            return "not_an_api"
        case anthropic.CredentialsError():
            return "key_refused"
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return "no_answer"
        case anthropic.APIConnectionError() | httpx2.TransportError():
            return "unreachable"
    return "invalid_request"


def _code_of_status(error: anthropic.APIStatusError) -> str:
    words = (vendor_words(error) or "").casefold()
    if (error.error_code or "").endswith(_SPEND_LIMIT):
        return "no_credit"
    if error.status_code in (403, 404) and "html" in error.response.headers.get("content-type", ""):
        return "not_an_api"  # a proxy's page
    if error.status_code in (400, 413) and (told := next((said for said in _BY_WORDS if said in words), None)):
        return _BY_WORDS[told]
    if code := _BY_TYPE.get(str(error.type)) or _BY_STATUS.get(error.status_code):
        return code
    return "server_error" if error.status_code >= 500 else "invalid_request"


def vendor_words(error: BaseException) -> str | None:
    """Return the provider's own reason for a refusal, for the log of the run and never for a person in a chat.

    Whoever writes it redacts it, then shortens it: some gateways repeat the key.
    """
    if not isinstance(error, anthropic.APIStatusError):
        return None
    return str(error.api_message or error.message)[:_MAX_VENDOR_CHARS]


def describe_failure(error: BaseException, model: str) -> str:
    """Return a failure in words for people: what happened, and what to do."""
    fault = fault_of(error)
    says = fault.says.format(model=model)
    if fault.passes:
        return f"{says}; try again {_when(retry_after_s(error), fault.advice)}"
    if isinstance(error, NotAnApi):
        says += f" ({error})"
    if fault.code == "invalid_request" and (request_id := getattr(error, "request_id", None)):
        says += f" (request {request_id})"
    return f"{says}; {fault.advice}"


def retry_after_s(error: BaseException) -> float | None:
    """Return the provider's own advice on when to ask again, in seconds."""
    if isinstance(error, anthropic.APIStatusError):
        with contextlib.suppress(ValueError):
            if (milliseconds := error.response.headers.get("retry-after-ms")) is not None:
                return _waitable(float(milliseconds) / 1000)
            if (seconds := error.response.headers.get("retry-after")) is not None:
                return _waitable(float(seconds))
    return None


def _waitable(seconds: float) -> float | None:
    """Return a time somebody can wait; None for one that is negative, without end, or no number."""
    return seconds if 0 <= seconds <= _LONGEST_ADVICE_S else None


def _when(seconds: float | None, otherwise: str) -> str:
    """Return when to try again, in words.

    >>> _when(3600, "in a minute"), _when(20, "in a minute"), _when(None, "in a few minutes")
    ('in 60 min', 'in a minute', 'in a few minutes')
    """
    if seconds is None or seconds <= _LONG_WAIT_S:
        return otherwise
    return f"in {math.ceil(seconds / 60)} min"


FIRST_PAUSE_S: Final = 0.5
LEAST_PAUSE_S: Final = 0.01
"""The first pause where the provider says when to ask again, even if it says at once."""

MAX_PAUSE_S: Final = 60.0
"""The longest pause that nobody asked for."""

MAX_ADVISED_S: Final = 120.0
"""The longest advised pause where a run has no total limit."""

LATER_ATTEMPTS: Final = 3
"""How many attempts more a request has that is not the first of its run."""

T = TypeVar("T")


def pause_s(error: Exception, attempt: int) -> float:
    """Return how long to wait before attempt number `attempt` + 1: as advised, else doubling from half a second.

    Advice that did not help is not followed for ever.
    """
    advised = retry_after_s(error)
    least = min((FIRST_PAUSE_S if advised is None else LEAST_PAUSE_S) * 2.0 ** (attempt - 1), MAX_PAUSE_S)
    return max(advised or 0.0, least)


class RetryPolicy:
    """Makes the requests of one run, each of them again where that may help.

    The SDK has retries of its own, which are off: they sleep through a stop and longer than a run may last, and do not
    repeat a stream that broke off.
    """

    def __init__(self, watch: Watchdog, journal: RunLog, model: str, limits: RunLimits) -> None:
        self._watch, self._journal, self._model, self._limits = watch, journal, model, limits

    def insist(self, request: Callable[[], T], *, is_first: bool) -> T:
        """Make one request under the watchdog until it succeeds; raises what the last attempt raised."""
        broken = failed = 0
        while True:
            try:
                return self._attempt(request)
            except (Expired, Truncated) as error:
                broken += 1
                if broken > 1 or (isinstance(error, Expired) and error.kind != "stall"):
                    raise
                self._journal.say(f"asking again: {'the model fell silent' if isinstance(error, Expired) else error}")
            except FAILURES as error:
                failed += 1
                pause = pause_s(error, failed)
                attempts = self._limits.max_attempts + (0 if is_first else LATER_ATTEMPTS)
                if failed >= attempts or pause >= self._longest_s(is_first) or not fault_of(error).passes:
                    raise
                self._journal.say(f"{describe_failure(error, self._model)}: asking again in {pause:g} s")
                self._watch.sleep(pause)

    def _attempt(self, request: Callable[[], T]) -> T:
        """Make one request; what broke because a limit was reached is that limit."""
        try:
            with self._watch.listening():
                return request()
        except (*FAILURES, Truncated):
            self._watch.check()
            raise

    def _longest_s(self, is_first: bool) -> float:
        left_s, first_s = self._watch.left_s(), self._limits.first_pause_s
        longest = MAX_ADVISED_S if left_s is None else left_s
        return min(longest, first_s) if is_first and first_s is not None else longest
