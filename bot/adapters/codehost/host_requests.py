"""HTTP requests about one repository of a code host: returns the parsed answer, raises an error for a refusal.

The token is sent in one header, and redirects are not followed. An error quotes the host's message, never the request.
Source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api (secondary limits have no field)
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

import requests
from pydantic import BaseModel, ConfigDict, SecretStr, TypeAdapter, ValidationError
from urllib3.exceptions import HTTPError

from bot.domain.text.sanitize import is_deeper_than, one_line
from bot.errors import ProviderError, Unavailable, Unconfirmed

TIMEOUT_S: Final = 20
MAX_BYTES: Final = 4_000_000
READ_BYTES: Final = 65_536
MAX_DEPTH: Final = 60
"""The hosts' own answers stay below 10 levels."""

SAID_CHARS: Final = 300
LEAST_PAUSE_S: Final = 60
"""After a secondary limit of GitHub that does not say how long it lasts."""

_NO_JSON: Final = " without JSON, as something between triage and the host may answer"
_SECONDARY: Final = "secondary rate limit"
_DIGITS: Final = re.compile(r"\d{1,12}", re.ASCII)
_CODES: Final = requests.codes
Shape = TypeVar("Shape")


class HostAnswer(BaseModel):
    """What is read of an answer; the rest is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class HostRequests:
    """Requests below `base`; `headers` are sent with each, `name` is what people call the host."""

    def __init__(self, name: str, base: str, headers: Mapping[str, SecretStr | str]) -> None:
        self._name, self._base, self._headers = name, base, headers

    def get(self, shape: type[Shape], path: str, **query: str | int) -> Shape:
        """Return what stands there; raises ProviderError, Unavailable where trying again helps."""
        return self._shaped(shape, self._call("GET", path, params=query))

    def post(self, shape: type[Shape], path: str, body: Mapping[str, Any]) -> Shape:
        """Create something; raises as `get` does, and Unconfirmed where it may have been created."""
        return self._shaped(shape, self._call("POST", path, json=body))

    def _shaped(self, shape: type[Shape], body: Any) -> Shape:
        try:
            return TypeAdapter(shape).validate_python(body)
        except ValidationError:
            raise ProviderError(f"{self._name} answered in a form that triage does not know", code="form") from None

    def _call(self, method: str, path: str, **what: Any) -> Any:
        headers = {
            key: value if isinstance(value, str) else value.get_secret_value() for key, value in self._headers.items()
        }
        try:
            with requests.request(
                method,
                f"{self._base}{path}",
                headers={"Accept": "application/json", **headers},
                timeout=TIMEOUT_S,
                allow_redirects=False,
                auth=_as_given,
                stream=True,
                **what,
            ) as answer:
                return self._read(method, answer, _beginning(answer))
        except (requests.ConnectTimeout, requests.exceptions.SSLError):
            raise Unavailable(f"{self._name} cannot be reached") from None  # its text holds the address
        except (requests.RequestException, HTTPError):
            if method == "POST":
                raise Unconfirmed(f"{self._name} did not confirm the request") from None
            raise Unavailable(f"{self._name} cannot be reached") from None

    def _read(self, method: str, answer: requests.Response, content: bytes) -> Any:
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        if is_deeper_than(body, MAX_DEPTH):
            body = None
        if _is_done(answer) and body is not None:
            return body
        raise self._refusal(method, answer, body)

    def _refusal(self, method: str, answer: requests.Response, body: Any) -> ProviderError:
        """Return the error for an answer that is none; a limit of requests is no refusal."""
        status = answer.status_code
        words = one_line("; ".join(dict.fromkeys(_words(body))), SAID_CHARS)
        said = words or f"HTTP {status}{_NO_JSON if _is_done(answer) else ''}"
        if _is_limit(answer, said):
            return Unavailable(f"{self._name} limits requests now: {said}", retry_after_s=_pause_s(answer.headers))
        if status >= _CODES.server_error or _is_done(answer):  # a proxy answers for a host that may have done it
            kind = Unconfirmed if method == "POST" else Unavailable
            return kind(f"{self._name} failed: {said}")
        return ProviderError(f"{self._name} says: {said}", code=str(status))


class _Repository(HostAnswer):
    default_branch: str


class RepositoryClient:
    """What the clients of all hosts share; each is for one repository."""

    def __init__(self, at: HostRequests) -> None:
        self._at = at

    def default_branch(self) -> str:
        """Return the repository's default branch."""
        return self._at.get(_Repository, "").default_branch


def _beginning(answer: requests.Response) -> bytes:
    """Return what comes of a body in `TIMEOUT_S`, as far as it is read; raises RequestException or urllib3's error."""
    until, body = time.monotonic() + TIMEOUT_S, bytearray()
    while len(body) < MAX_BYTES and time.monotonic() < until:
        part = answer.raw.read1(READ_BYTES, decode_content=True)
        if not part:
            break
        body += part
    return bytes(body)


def _is_done(answer: requests.Response) -> bool:
    return answer.status_code // 100 == 2


def _as_given(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Leave a request as it is; where nothing is said, requests puts a login of ~/.netrc in place of the token."""
    return request


def _is_limit(answer: requests.Response, said: str) -> bool:
    if answer.status_code != _CODES.forbidden:
        return bool(answer.status_code == _CODES.too_many_requests)
    is_spent = answer.headers.get("X-RateLimit-Remaining", "") == "0"
    return is_spent or "Retry-After" in answer.headers or _SECONDARY in said.casefold()


def _pause_s(headers: Mapping[str, str]) -> float:
    """Return how long a host wants to be left alone; the end of a limit is held against the host's own clock."""
    if _DIGITS.fullmatch(wait := headers.get("Retry-After", "")):
        return float(wait)
    reset = headers.get("X-RateLimit-Reset", headers.get("RateLimit-Reset", ""))
    is_spent = headers.get("X-RateLimit-Remaining", headers.get("RateLimit-Remaining")) == "0"
    try:
        now = parsedate_to_datetime(headers.get("Date", ""))
    except ValueError:
        return LEAST_PAUSE_S
    return max(0.0, float(reset) - now.timestamp()) if is_spent and _DIGITS.fullmatch(reset) else LEAST_PAUSE_S


def _words(body: Any) -> Iterator[str]:
    """Yield what a refusal says, wherever the hosts put that."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, list):
        for each in body:
            yield from _words(each)
    elif isinstance(body, dict):
        for key in ("message", "error", "error_description", "errors", "base", "name"):
            yield from _words(body.get(key))
