"""Builds the Slack clients, translates their errors, and waits for Slack at the start.

Reads and updates may be repeated, so their client retries broken connections. A post may not: its client repeats
nothing, and a broken connection is Unconfirmed. At the start the bot waits until Slack answers, because a supervisor
would only start it again; what Slack refuses for good (a token, a scope, an unknown channel) ends it.
Measured: slack_sdk's default handler re-sends chat.postMessage when the server hangs up after reading it.
"""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from http.client import HTTPException
from json import JSONDecodeError
from socket import gaierror
from typing import Final, TypeVar

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.errors import ProviderError, Unavailable, Unconfirmed

log = logging.getLogger(__name__)

TIMEOUT_S = 20
OF_ONE_PLACE: Final = frozenset({"channel_not_found", "thread_not_found", "message_not_found", "invalid_thread_ts"})
"""Refusals of a newer call that say nothing of whether Slack takes it elsewhere."""

PATIENCE_S: Final = 8.0
"""How long one call may wait for Slack's leave to try again, in all; whoever clicked sees nothing happen meanwhile."""

_AT_THE_POSTERS_PACE: Final = ("/chat.update", "/reactions.add", "/reactions.remove")
"""For these the poster decides whether a refusal is waited for."""

_LAYOUT = "Slack does not take how the message is laid out; the bot's log names it, please report that"
_THREADS = "the channel's posting permissions forbid this; ask a workspace admin to allow the bot to post and to reply"
_CLICK_AGAIN = "the click was too long ago for Slack to open a dialogue; click again"

ADVICE: Final = {
    "channel_not_found": "invite the bot to the channel, or correct its id in triage.yml",
    "not_in_channel": "invite the bot to the channel",
    "is_archived": "the channel is archived",
    "restricted_action": _THREADS,
    "restricted_action_read_only_channel": _THREADS,
    "restricted_action_thread_only_channel": _THREADS,
    "restricted_action_non_threadable_channel": _THREADS,
    "thread_not_found": "the message it belongs to was deleted; ask again in a new message",
    "message_not_found": "the message was deleted",
    "user_not_in_channel": "the person is not in the channel; invite them",
    "msg_too_long": "the text is too long for one message; shorten it",
    "msg_blocks_too_long": "the message is too long as a whole; shorten it",
    "invalid_blocks": _LAYOUT,
    "invalid_blocks_format": _LAYOUT,
    "expired_trigger_id": _CLICK_AGAIN,
    "invalid_trigger_id": _CLICK_AGAIN,
    "trigger_exchanged": "the dialogue was opened already; close it, or click again",
    "missing_scope": "reinstall the app from manifest.yml",
    "invalid_auth": "check the tokens in .env",
    "not_authed": "check the tokens in .env",
    "token_revoked": "the token was revoked; copy the new one into .env",
    "token_expired": "the token has expired; copy the new one into .env",
    "not_allowed_token_type": "the two tokens in .env are swapped",
    "account_inactive": "the app was removed from the workspace; install it again",
}
"""What each of Slack's refusals means and what to do about it; people read it behind the code."""


_LATER = frozenset({"ratelimited", "rate_limited", "accesslimited", "team_added_to_org", "temporarily_unavailable"})
"""Refusals that end by themselves; Slack sends some of them with status 200."""

_PERHAPS_DONE = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
"""Answers after which, says Slack, "some aspect of the operation" may have succeeded."""

T = TypeVar("T")

FIRST_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 60.0
MAX_ADVISED_S: Final = 900.0
"""How long Slack's own Retry-After is obeyed; a longer one is asked about in between."""

Sent = TypeVar("Sent")
Members = Callable[[str], Collection[str]]
"""Returns the user ids in a user group; raises ProviderError if Slack cannot say."""

MAX_MEMBERS: Final = 30
"""How many members of a user group are written to."""


def _code_of(error: SlackApiError) -> str | None:
    """Return Slack's own word for what went wrong; None where the answer was not Slack's JSON."""
    data = getattr(error.response, "data", error.response)
    code = data.get("error") if isinstance(data, dict) else None
    return code if isinstance(code, str) and re.fullmatch(r"\w+", code) else None


def _retry_after_s(headers: Mapping[str, object]) -> float | None:
    """Return how long Slack asks to wait, in seconds, if it says; at most `MAX_ADVISED_S`."""
    value = header_of(headers, "retry-after") or ""
    return min(float(value), MAX_ADVISED_S) if value.isascii() and value.isdigit() else None


def _never_left(error: Exception) -> bool:
    """Whether no connection was made, so that nothing can have taken effect."""
    return isinstance(getattr(error, "reason", error), ConnectionRefusedError | gaierror)


class RateLimitRetry(RetryHandler):
    """Waits as long as a 429 asks and lets the call be made again, unless that would take more than a few seconds.

    The SDK's own handler sleeps whatever Retry-After says, an hour included (slack_sdk 3.47, read). What is not waited
    for becomes Unavailable with `retry_after_s`, for the queue to pause or the person to be told.
    """

    def __init__(self, *, patience_s: float = PATIENCE_S, wait: Callable[[float], object] = time.sleep) -> None:
        super().__init__(max_retry_count=3)
        self._patience_s, self._wait = patience_s, wait

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002 - the SDK's signature
    ) -> bool:
        if response is None or response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
            return False
        if request.url.endswith(_AT_THE_POSTERS_PACE):
            return False
        return _waited_s(state) + _asked_s(response) <= self._patience_s

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,  # noqa: ARG002 - the SDK's signature
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002 - the SDK's signature
    ) -> None:
        """Wait, and have the request sent again."""
        asked_s = _asked_s(response)
        state.custom_values = {"waited_s": _waited_s(state) + asked_s}
        state.next_attempt_requested = True
        self._wait(asked_s)
        state.increment_current_attempt()


def header_of(headers: Mapping[str, object], name: str) -> str | None:
    """Return a header of an answer, however its name is written; `name` is in small letters."""
    said = {key.lower(): value for key, value in headers.items()}.get(name)
    value = said[0] if isinstance(said, list) and said else said
    return value if isinstance(value, str) else None


def _asked_s(response: HttpResponse | None) -> float:
    """Return how long a refusal asks to wait; a second where it does not say."""
    asked_s = _retry_after_s(response.headers) if response is not None else None
    return 1.0 if asked_s is None else asked_s


def _waited_s(state: RetryState) -> float:
    return float((state.custom_values or {}).get("waited_s", 0.0))


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context of every client of this process: the machine's trusted certificates, read once.

    The SDK itself reads them at every call and every connection, which takes 20 ms. Certificates that are installed
    meanwhile count from the next start on. Source: slack_sdk 3.47 and http.client of Python 3.11, measured.
    """
    return ssl.create_default_context()


def repeatable_client(token: str, api_url: str) -> WebClient:
    """Return a client for reads and updates."""
    handlers: list[RetryHandler] = [ConnectionErrorRetryHandler(max_retry_count=2), RateLimitRetry()]
    return _client(token, api_url, handlers)


def posting_client(token: str, api_url: str) -> WebClient:
    """Return a client for calls that must not happen twice; it repeats none."""
    return _client(token, api_url, [])


def history_client(token: str, api_url: str) -> WebClient:
    """Return a client for long readings on a thread of their own, which waits as long as a rate limit asks."""
    patient = RateLimitRetry(patience_s=MAX_ADVISED_S)
    return _client(token, api_url, [ConnectionErrorRetryHandler(max_retry_count=2), patient])


def brief_client(token: str, api_url: str, *, timeout_s: int) -> WebClient:
    """Return a client that asks once and waits for nobody."""
    return _client(token, api_url, [], timeout_s=timeout_s)


def _client(token: str, api_url: str, handlers: list[RetryHandler], *, timeout_s: int = TIMEOUT_S) -> WebClient:
    return WebClient(token=token, base_url=api_url, timeout=timeout_s, ssl=tls_context(), retry_handlers=handlers)


@contextmanager
def translate_slack_errors(what: str, *, posting: bool = False) -> Iterator[None]:
    """Turn Slack's errors into ours; `what` completes "Slack could not …".

    Raises:
        ProviderError: Slack refused.
        Unavailable: Slack could not be reached or asks for patience.
        Unconfirmed: only when posting: the request may have taken effect.
    """
    try:
        yield
    except SlackApiError as error:
        status, said = getattr(error.response, "status_code", 200), _code_of(error)
        code = said or f"HTTP {status}"
        in_trouble = status >= 500 or code in _PERHAPS_DONE or code == "HTTP 200"
        if posting and in_trouble:
            raise Unconfirmed(f"Slack could not confirm to {what} ({code})", code=said) from error
        if in_trouble or status == HTTPStatus.TOO_MANY_REQUESTS or said is None or said in _LATER:
            wait_s = _retry_after_s(getattr(error.response, "headers", {}))
            advice = f"; nothing was done, try again in {wait_s:.0f} s" if wait_s is not None else ""
            raise Unavailable(f"Slack could not {what}: {code}{advice}", retry_after_s=wait_s, code=said) from error
        advice = f"; {ADVICE[code]}" if code in ADVICE else ""
        raise ProviderError(f"Slack could not {what}: {code}{advice}", code=code) from error
    except (OSError, HTTPException, JSONDecodeError) as error:
        kind = Unconfirmed if posting and not _never_left(error) else Unavailable
        raise kind(f"Slack could not be reached to {what}; trying again may help") from error
    except (UnicodeDecodeError, AttributeError, KeyError, TypeError) as error:  # what came is no answer of Slack's
        kind = Unconfirmed if posting else Unavailable
        raise kind(f"Slack's answer to {what} could not be read; trying again may help") from error


def patiently(ask: Callable[[], T], *, wait: Callable[[float], object] = time.sleep) -> T:
    """Return what `ask` returns, asking again in growing pauses while Slack cannot be reached; each wait is logged.

    Raises:
        ProviderError: Slack refused it; trying again would not help.
    """
    failures = 0
    while True:
        try:
            return ask()
        except Unavailable as error:
            pause_s = _pause_s(failures, error.retry_after_s)
            failures += 1
            log.warning(
                "triage waits for Slack and starts when it answers; next try in %g s: %s",
                pause_s,
                error,
                extra={"action": "start_waits", "attempt": failures},
            )
            wait(pause_s)


def _pause_s(failures: int, advised_s: float | None) -> float:
    """Return how long to wait after so many earlier failures, and Slack's own advice if it gave one."""
    ours_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures, 10))
    return max(ours_s, advised_s or 0.0)


def send_to_each(to: str, members: Members, send: Callable[[str], Sent]) -> list[Sent]:
    """Send to a person, a channel or each member of a user group; return what came of those that were reached.

    Raises:
        ProviderError: nobody was reached; Unconfirmed if nobody can tell.
    """
    people = sorted(members(to))[:MAX_MEMBERS] if to.startswith("S") else [to]
    sent: list[Sent] = []
    problem = ProviderError(f"Slack could not send an alert: the user group {to} has no members")
    for person in people:
        try:
            sent.append(send(person))
        except ProviderError as error:
            log.warning("an alert did not reach everybody", extra={"action": "alert_unsent"}, exc_info=True)
            problem = error
    if not sent:
        raise problem
    return sent
