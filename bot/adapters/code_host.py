"""Draft pull requests on GitHub, GitHub Enterprise Server, Gitea, Forgejo and GitLab: one client, a table of the hosts.

The token is sent in one header, and redirects are not followed. An error quotes the host's message, never the request.
On GitLab and Gitea a title's prefix makes a draft. Source: https://docs.github.com/rest/pulls/pulls,
https://docs.gitlab.com/api/merge_requests/, https://docs.gitea.com/api/
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import requests
from pydantic import AliasChoices, AliasPath, BaseModel, Field, SecretStr, TypeAdapter, ValidationError
from urllib3.exceptions import HTTPError

from bot.domain.citations.links import CodeRepository
from bot.domain.fixes import FixStatus, NewPullRequest, PullRequest
from bot.domain.text.sanitize import is_deeper_than, one_line
from bot.errors import ProviderError, Unavailable, Unconfirmed

TIMEOUT_S: Final = 20
MAX_BYTES: Final = 4_000_000
READ_BYTES: Final = 65_536
MAX_DEPTH: Final = 60
"""The hosts' own answers stay below 10 levels."""

PAGES: Final = 5
PAGE: Final = 50
SAID_CHARS: Final = 300
LEAST_PAUSE_S: Final = 60
"""After a limit that does not say how long it lasts, as the secondary ones of GitHub."""

Shape = TypeVar("Shape")


class _Host(NamedTuple):
    """A kind of host: where its API is, what it is asked, and what makes a request there a draft."""

    name: str
    api: Callable[[CodeRepository], str]
    header: tuple[str, str]
    """The header with the token, in whose value `{}` stands for it."""
    pulls: str
    search: Mapping[str, str]
    """How the requests of `{branch}` of `{owner}` are asked for, the newest first."""
    draft: Mapping[str, Any]
    """What is asked for with a new one."""


def _github_api(at: CodeRepository) -> str:
    base = "https://api.github.com" if at.origin == "https://github.com" else f"{at.origin}/api/v3"
    return f"{base}/repos/{at.path}"


HOSTS: Final[Mapping[str, _Host]] = {
    "github": _Host(
        name="GitHub",
        api=_github_api,
        header=("Authorization", "Bearer {}"),
        pulls="/pulls",
        search={"head": "{owner}:{branch}", "state": "all", "per_page": str(PAGE)},
        draft={"head": "{branch}", "base": "{base}", "title": "{title}", "body": "{body}", "draft": True},
    ),
    "gitea": _Host(
        name="Gitea",
        api=lambda at: f"{at.origin}/api/v1/repos/{at.path}",
        header=("Authorization", "token {}"),
        pulls="/pulls",
        search={"state": "all", "sort": "newest", "limit": str(PAGE)},
        draft={"head": "{branch}", "base": "{base}", "title": "WIP: {title}", "body": "{body}"},
    ),
    "gitlab": _Host(
        name="GitLab",
        api=lambda at: f"{at.origin}/api/v4/projects/{quote(at.path, safe='')}",
        header=("PRIVATE-TOKEN", "{}"),
        pulls="/merge_requests",
        search={"source_branch": "{branch}", "state": "all", "per_page": str(PAGE)},
        draft={
            "source_branch": "{branch}",
            "target_branch": "{base}",
            "title": "Draft: {title}",
            "description": "{body}",
            "remove_source_branch": True,
        },
    ),
}


class _Repository(BaseModel):
    default_branch: str


class _Pull(BaseModel):
    """A pull or merge request, in the words of all three."""

    number: int = Field(validation_alias=AliasChoices("iid", "number"))
    url: str = Field(validation_alias=AliasChoices("html_url", "web_url"))
    branch: str = Field("", validation_alias=AliasChoices("source_branch", AliasPath("head", "ref")))
    body: str | None = Field(None, validation_alias=AliasChoices("body", "description"))
    title: str = ""
    state: str
    draft: bool = False
    merged_at: str | None = None

    def as_request(self) -> PullRequest:
        is_merged = bool(self.merged_at) or self.state == "merged"
        status = FixStatus.CLOSED if self.state == "closed" else FixStatus.OPEN
        is_draft = self.draft or self.title.startswith("WIP:")
        return PullRequest(
            number=self.number, url=self.url, status=FixStatus.MERGED if is_merged else status, is_draft=is_draft
        )


class CodeHostApi:
    """Port CodeHostClient for one repository."""

    def __init__(self, repository: CodeRepository, token: SecretStr) -> None:
        self._host = HOSTS[repository.kind or ""]
        self.name, self._owner = self._host.name, repository.path.partition("/")[0]
        self._base, self._token = self._host.api(repository), token

    def default_branch(self) -> str:
        """Return the branch that pull requests lead to."""
        return self._call(_Repository, "GET", "").default_branch

    def find(self, branch: str, marker: str) -> PullRequest | None:
        """Return the pull request of a branch, in whatever state, whose body holds the marker; of the newest 250."""
        wanted = {key: value.format(owner=self._owner, branch=branch) for key, value in self._host.search.items()}
        for page in range(1, PAGES + 1):
            found = self._call(tuple[_Pull, ...], "GET", self._host.pulls, params={**wanted, "page": page})
            for one in found:
                if one.branch in ("", branch) and marker in (one.body or ""):
                    return one.as_request()
            if len(found) < PAGE:
                break
        return None

    def open(self, new: NewPullRequest) -> PullRequest:
        """Open a draft pull request; raises Unconfirmed where nobody can tell: look before trying again."""
        known = new._asdict()
        asked = {
            key: value.format(**known) if isinstance(value, str) else value for key, value in self._host.draft.items()
        }
        return self._call(_Pull, "POST", self._host.pulls, json=asked).as_request()

    def look(self, number: int) -> PullRequest:
        """Return how a pull request stands now."""
        return self._call(_Pull, "GET", f"{self._host.pulls}/{number}").as_request()

    def _call(self, shape: type[Shape], method: str, path: str, **what: Any) -> Shape:
        body = self._answer(method, path, what)
        try:
            return TypeAdapter(shape).validate_python(body)
        except ValidationError:
            raise ProviderError(f"{self.name} answered in a form that triage does not know", code="form") from None

    def _answer(self, method: str, path: str, what: Mapping[str, Any]) -> Any:
        name, value = self._host.header
        headers = {"Accept": "application/json", name: value.format(self._token.get_secret_value())}
        try:
            with requests.request(
                method,
                f"{self._base}{path}",
                headers=headers,
                timeout=TIMEOUT_S,
                allow_redirects=False,
                auth=lambda request: request,  # where nothing is said, a login of ~/.netrc takes the token's place
                stream=True,
                **what,
            ) as answer:
                body = _json(_beginning(answer))
        except (requests.ConnectTimeout, requests.exceptions.SSLError):
            raise Unavailable(f"{self.name} cannot be reached") from None  # its text holds the address
        except (requests.RequestException, HTTPError):
            raise self._unsure(method, "did not confirm the request") from None
        if answer.ok and not answer.is_redirect and body is not None:
            return body
        raise self._refusal(method, answer, body)

    def _unsure(self, method: str, said: str) -> ProviderError:
        """Return the error where a request may have taken effect."""
        return (Unconfirmed if method == "POST" else Unavailable)(f"{self.name} {said}")

    def _refusal(self, method: str, answer: requests.Response, body: Any) -> ProviderError:
        """Return the error for an answer that is none; a limit of requests is no refusal."""
        status = answer.status_code
        page = " without JSON, as something between triage and the host may answer" if answer.ok else ""
        said = _words(body) or f"HTTP {status}{page}"
        is_limit = (
            "Retry-After" in answer.headers or _is_spent(answer.headers) or "secondary rate limit" in said.lower()
        )
        if status == requests.codes.too_many_requests or (status == requests.codes.forbidden and is_limit):
            return Unavailable(f"{self.name} limits requests now: {said}", retry_after_s=_pause_s(answer.headers))
        if status >= requests.codes.server_error or (answer.ok and not answer.is_redirect):
            return self._unsure(method, f"failed: {said}")  # a proxy answers for a host that may have done it
        return ProviderError(f"{self.name} says: {said}", code=str(status))


def _beginning(answer: requests.Response) -> bytes:
    """Return what comes of a body in `TIMEOUT_S`, as far as it is read; raises RequestException or urllib3's error."""
    until, body = time.monotonic() + TIMEOUT_S, bytearray()
    while len(body) < MAX_BYTES and time.monotonic() < until:
        part = answer.raw.read1(READ_BYTES, decode_content=True)
        if not part:
            break
        body += part
    return bytes(body)


def _json(content: bytes) -> Any:
    """Return what a body says; None for what is no JSON, or nested without end."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return None if is_deeper_than(body, MAX_DEPTH) else body


def _words(said: Any) -> str:
    """Return what a refusal says, wherever the hosts put that."""
    if isinstance(said, dict):
        said = [said.get(key) for key in ("message", "error", "error_description", "errors", "base", "name")]
    found = map(_words, said) if isinstance(said, list) else [said if isinstance(said, str) else ""]
    return one_line("; ".join(dict.fromkeys(filter(None, found))), SAID_CHARS)


def _is_spent(headers: Mapping[str, str]) -> bool:
    return headers.get("X-RateLimit-Remaining", headers.get("RateLimit-Remaining")) == "0"


def _pause_s(headers: Mapping[str, str]) -> float:
    """Return how long a host wants to be left alone; the end of a limit is held against the host's own clock."""
    try:
        if wait := headers.get("Retry-After"):
            return float(int(wait))
        reset = int(headers.get("X-RateLimit-Reset", headers.get("RateLimit-Reset", "")))
        now = parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, reset - now.timestamp()) if _is_spent(headers) else LEAST_PAUSE_S
    except ValueError:
        return LEAST_PAUSE_S
