"""Failures of a model provider: what people are told, whether the request is made again, and after how long.

After silence or a cut reply a request is made once more; after a transient failure a few times more, at the intervals
the provider asks for, within the run's time limit. The vendor's own message stays behind `from` and in the run's log;
no key, header or request is quoted.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Final, TypeVar

import anthropic
import httpx2

from bot.agent.run_records import RunLog
from bot.agent.watchdog import Expired, Watchdog
from bot.errors import ConfigError, ProviderError, TriageError

FAILURES = (anthropic.AnthropicError, httpx2.TransportError, httpx2.StreamError)
"""Everything that a call to a model may raise."""

_FIRST_WAIT_S: Final = 0.5
_MAX_VENDOR_CHARS: Final = 20_000
_LONG_WAIT_S: Final = 90
_LONGEST_ADVICE_S: Final = 7 * 86_400
_TRANSIENT_STATUS: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_TRANSIENT_TYPES: Final = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})

MAX_ATTEMPTS: Final = 4
"""How often a request is made at most while its failures are transient."""

MAX_WAIT_S: Final = 120.0
"""The longest wait for another attempt where a run has no total limit."""

T = TypeVar("T")


class Truncated(Exception):
    """A reply ended before its stop event, or with a tool call cut in two; nothing of it may be used."""


class NotAnApi(Exception):
    """Something answered that is no model API; the message is the media type of what came."""


def vendor_words(error: BaseException) -> str | None:
    """Return the provider's own reason for a refusal, for the log of the run and never for a person in a chat.

    Whoever writes it redacts it, then shortens it: some gateways repeat the key.
    """
    if not isinstance(error, anthropic.APIStatusError):
        return None
    body = error.body if isinstance(error.body, dict) else {}
    told = body.get("error")
    words = told.get("message") if isinstance(told, dict) else None
    return str(words or error.message)[:_MAX_VENDOR_CHARS]


def translate_provider_error(error: Exception, model: str) -> TriageError:
    """Return a failure in words for whoever must act: ConfigError or ProviderError."""
    match error:
        case NotAnApi():
            return ConfigError(
                f"something answered that is no model API ({error}); check `base_url` in triage.yml and any proxy"
            )
        case anthropic.AuthenticationError() | anthropic.CredentialsError():
            return ConfigError(
                "the model provider refused the key; check ANTHROPIC_API_KEY (or the cloud's credentials)"
            )
        case anthropic.PermissionDeniedError():
            return ConfigError(
                f"this key may not use the model {model}; check ANTHROPIC_API_KEY and the account's rights"
            )
        case anthropic.NotFoundError():
            return ConfigError(
                f"the provider has no model {model} at this address; change `investigator.model` or `validator.model`"
                " in triage.yml, or `base_url`"
            )
        case anthropic.APIStatusError(status_code=402):
            return ConfigError("the model provider says the account has no credit; add some, then re-investigate")
        case anthropic.APIStatusError(status_code=413):
            return ProviderError("the request was too large for the model provider; ask a narrower question")
        case anthropic.APIStatusError():
            return ProviderError(_of_status(error), retry_after_s=retry_after_s(error))
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return ProviderError("the model provider did not answer in time; try again")
    return ProviderError("the model provider could not be reached; check the network and `base_url`, then try again")


def _is_transient(error: Exception) -> bool:
    """Whether asking again may help: overload, rate limits, server errors, broken connections, cut replies."""
    if isinstance(error, anthropic.APIStatusError):
        return error.status_code in _TRANSIENT_STATUS or (error.status_code == 200 and _kind(error) in _TRANSIENT_TYPES)
    return isinstance(error, anthropic.APIConnectionError | httpx2.TransportError)


def retry_after_s(error: Exception) -> float | None:
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


def wait_s(error: Exception, attempt: int) -> float:
    """Return how long to wait before attempt number `attempt` + 1: as advised, else doubling from half a second."""
    advised = retry_after_s(error)
    return advised if advised is not None else _FIRST_WAIT_S * 2 ** (attempt - 1)


def _kind(error: anthropic.APIStatusError) -> str:
    return str(error.type or "")


def _of_status(error: anthropic.APIStatusError) -> str:
    kind = _kind(error)
    if error.status_code == 429 or kind == "rate_limit_error":
        return f"the model provider is limiting our rate; try again {_when(retry_after_s(error))}"
    if error.status_code == 529 or kind == "overloaded_error":
        return f"the model provider is overloaded; try again {_when(retry_after_s(error), 'in a few minutes')}"
    if error.status_code >= 500 or kind in _TRANSIENT_TYPES:
        return "the model provider had a fault of its own; try again in a few minutes"
    reference = f" (request {error.request_id})" if error.request_id else ""
    return f"the model provider refused the request as invalid{reference}; run.log of the run has its reason"


def _when(seconds: float | None, otherwise: str = "in a minute") -> str:
    """Return when to try again, in words.

    >>> _when(3600), _when(20), _when(None)
    ('in 60 min', 'in a minute', 'in a minute')
    """
    if seconds is None or seconds <= _LONG_WAIT_S:
        return otherwise
    return f"in {math.ceil(seconds / 60)} min"


class RetryPolicy:
    """Counts the attempts at one run's current request."""

    def __init__(self, watch: Watchdog, journal: RunLog, model: str) -> None:
        self._watch, self._journal, self._model = watch, journal, model
        self.start_over()

    def start_over(self) -> None:
        """Begin with the next request: it has all its attempts before it."""
        self._broken, self._failed = 0, 0

    def insist(self, work: Callable[[], T]) -> T:
        """Do what makes requests, again where that may help; raises what the last attempt raised."""
        while True:
            try:
                return work()
            except (Expired, Truncated) as error:
                self._once_more(error)
            except FAILURES as error:
                self._back_off(error)

    def guarded(self, request: Callable[[], T]) -> T:
        """Make one request under the watchdog; what broke because a limit was reached is that limit."""
        try:
            with self._watch.listening():
                return request()
        except (*FAILURES, Truncated):
            self._watch.check()
            raise

    def _once_more(self, error: Expired | Truncated) -> None:
        """Allow one more attempt after silence or a cut reply; none after the end of the run."""
        self._broken += 1
        if self._broken > 1 or (isinstance(error, Expired) and error.kind != "stall"):
            raise error
        self._journal.say(f"asking again: {'the model fell silent' if isinstance(error, Expired) else error}")

    def _back_off(self, error: Exception) -> None:
        """Wait before another attempt, if one may help and the run lasts that long."""
        self._failed += 1
        pause_s, left_s = wait_s(error, self._failed), self._watch.left_s()
        is_too_long = pause_s >= (MAX_WAIT_S if left_s is None else left_s)
        if is_too_long or self._failed >= MAX_ATTEMPTS or not _is_transient(error):
            raise error
        self._journal.say(f"{translate_provider_error(error, self._model)}: asking again in {pause_s:g} s")
        self._watch.sleep(pause_s)
