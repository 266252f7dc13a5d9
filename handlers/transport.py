"""Two Slack clients and the translation of their errors.

Reads and updates may be repeated, so their client retries broken connections. A post may not: its client retries only
what Slack says it refused (429, after Retry-After); a connection that breaks is Unconfirmed.
Source: slack_sdk's default handler re-sends chat.postMessage when the server hangs up after reading it (FACTS B2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException
from json import JSONDecodeError
from socket import gaierror

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import RateLimitErrorRetryHandler
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.errors import ProviderError, Unavailable, Unconfirmed

TIMEOUT_S = 20
_ADVICE = {
    "channel_not_found": "invite the bot to the channel, or correct its id in triage.yml",
    "not_in_channel": "invite the bot to the channel",
    "is_archived": "the channel is archived",
    "missing_scope": "reinstall the app from manifest.yml",
    "invalid_auth": "check the tokens in .env",
    "token_revoked": "the token was revoked; copy the new one into .env",
    "not_allowed_token_type": "the tokens in .env stand in each other's place",
    "account_inactive": "the app was removed from the workspace; install it again",
}


_PERHAPS_DONE = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
"""Answers after which, says Slack, "some aspect of the operation" may have succeeded."""


def _code_of(error: SlackApiError) -> str | None:
    """Return Slack's own word for what went wrong; None where the answer was not Slack's JSON."""
    data = getattr(error.response, "data", error.response)
    code = data.get("error") if isinstance(data, dict) else None
    return code if isinstance(code, str) and re.fullmatch(r"\w+", code) else None


def _retry_after_s(error: SlackApiError) -> float | None:
    """Return how long Slack asks to wait, in seconds, if it says."""
    said = {name.lower(): value for name, value in getattr(error.response, "headers", {}).items()}.get("retry-after")
    value = said[0] if isinstance(said, list) else said
    return float(value) if value is not None and str(value).isdigit() else None


def _never_left(error: Exception) -> bool:
    """Whether no connection was made, so that nothing can have taken effect."""
    return isinstance(getattr(error, "reason", error), ConnectionRefusedError | gaierror)


def repeatable_client(token: str, api_url: str) -> WebClient:
    """Return a client for reads and updates."""
    handlers = [ConnectionErrorRetryHandler(max_retry_count=2), RateLimitErrorRetryHandler(max_retry_count=3)]
    return WebClient(token=token, base_url=api_url, timeout=TIMEOUT_S, retry_handlers=list(handlers))


def posting_client(token: str, api_url: str) -> WebClient:
    """Return a client for calls that must not happen twice."""
    handlers = [RateLimitErrorRetryHandler(max_retry_count=3)]
    return WebClient(token=token, base_url=api_url, timeout=TIMEOUT_S, retry_handlers=list(handlers))


@contextmanager
def translated(what: str, *, posting: bool = False) -> Iterator[None]:
    """Turn Slack's errors into ours; `what` completes "Slack could not …".

    Raises:
        ProviderError: Slack refused.
        Unavailable: Slack could not be reached or asks for patience.
        Unconfirmed: only when posting: the request may have taken effect.
    """
    try:
        yield
    except SlackApiError as error:
        status = getattr(error.response, "status_code", 200)
        code = _code_of(error) or f"HTTP {status}"
        in_trouble = status >= 500 or code in _PERHAPS_DONE or code == "HTTP 200"
        if posting and in_trouble:
            raise Unconfirmed(f"Slack could not confirm to {what} ({code})") from error
        if in_trouble or status == HTTPStatus.TOO_MANY_REQUESTS:
            raise Unavailable(f"Slack could not {what}: {code}", retry_after_s=_retry_after_s(error)) from error
        advice = f"; {_ADVICE[code]}" if code in _ADVICE else ""
        raise ProviderError(f"Slack could not {what}: {code}{advice}") from error
    except (OSError, HTTPException, JSONDecodeError) as error:
        kind = Unconfirmed if posting and not _never_left(error) else Unavailable
        raise kind(f"Slack could not be reached to {what}; trying again may help") from error
