"""Three code hosts: one draft request, found by its branch and marker, followed; and each way to say no."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.adapters.code_host import HOSTS, LEAST_PAUSE_S, CodeHostApi
from bot.domain.citations.links import CodeRepository, code_repository
from bot.domain.fixes import FixStatus, NewPullRequest
from bot.errors import ProviderError, Unavailable, Unconfirmed
from tests.code_host import TOKEN, CodeHost, Fault
from tests.endless_host import endless_host
from tests.gitrepo import git, make_repo
from tests.tables import each_row

NEW = NewPullRequest(branch="triage/x", base="main", title="Raise it", body="Why.\n<!-- m1 -->")


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CodeHost]]:
    """A host of each kind whose repository has the branch."""
    folder = tmp_path_factory.mktemp("hosts")
    codebase = make_repo(folder / "shop", {"a.py": "a = 1\n"})
    with ExitStack() as running:
        hosts = {kind: running.enter_context(CodeHost(folder / kind, kind)) for kind in HOSTS}
        for host in hosts.values():
            git(codebase, "push", "--quiet", str(host.bare), "main:main", "main:triage/x")
        yield hosts


def emptied(host: CodeHost) -> CodeHost:
    """Return a host without requests and faults."""
    host.pulls.clear()
    host.faults.clear()
    return host


@pytest.fixture(params=sorted(HOSTS))
def host(request: pytest.FixtureRequest, lasting: dict[str, CodeHost]) -> CodeHost:
    """A host of each kind."""
    return emptied(lasting[request.param])


@pytest.fixture
def github(lasting: dict[str, CodeHost]) -> CodeHost:
    """One of them, where all are asked by the same code."""
    return emptied(lasting["github"])


def connect(host: CodeHost, token: str = TOKEN) -> CodeHostApi:
    """Return the client of a host."""
    found = code_repository(host.url, host.kind)  # type: ignore[arg-type]
    assert found is not None
    return CodeHostApi(found, SecretStr(token))


def test_a_draft_is_opened_found_and_followed(host: CodeHost) -> None:
    """By its branch and its marker, whatever else stands on the branch."""
    client = connect(host)
    assert client.default_branch() == "main"
    assert client.find("triage/x", "<!-- m1 -->") is None
    opened = client.open(NEW)
    assert (opened.number, opened.status, opened.is_draft) == (1, FixStatus.OPEN, True)
    assert client.find("triage/x", "<!-- m1 -->") == opened
    assert client.find("triage/x", "<!-- m2 -->") is None
    assert client.look(1) == opened
    host.merge(1)
    assert client.look(1).status is FixStatus.MERGED


def test_a_second_request_of_a_branch_is_kept_out(host: CodeHost) -> None:
    """The host itself says so."""
    client = connect(host)
    client.open(NEW)
    with pytest.raises(ProviderError, match="already exists") as refused:
        client.open(NEW)
    assert refused.value.code in ("409", "422")
    assert len(host.pulls) == 1


def test_a_wrong_token_is_refused_in_the_hosts_own_words(host: CodeHost) -> None:
    """The token stands in no error."""
    with pytest.raises(ProviderError, match=f"{connect(host).name} says: Bad credentials") as refused:
        connect(host, "tok-wrong").open(NEW)
    assert refused.value.code == "401"


@each_row(
    "status, headers, kind",
    [
        (403, {}, ProviderError),
        (404, {}, ProviderError),
        (422, {}, ProviderError),
        (403, {"X-RateLimit-Remaining": "0"}, Unavailable),
        (429, {"Retry-After": "7"}, Unavailable),
        (500, {}, Unconfirmed),
        (503, {}, Unconfirmed),
        (0, {}, Unconfirmed),
        (302, {"Location": "http://127.0.0.1:9/"}, ProviderError),
    ],
)
def test_every_refusal_says_whether_to_try_again(
    host: CodeHost, status: int, headers: dict[str, str], kind: type[ProviderError]
) -> None:
    """What may have taken effect is to be looked for first; no redirect gets the token."""
    host.faults = [Fault(pattern="^POST", status=status, body={"message": "no @here"}, headers=headers)]
    with pytest.raises(ProviderError) as refused:
        connect(host).open(NEW)
    assert type(refused.value) is kind
    assert TOKEN not in str(refused.value)
    if status == 429:
        assert refused.value.retry_after_s == 7


@each_row(
    "status, headers, said, least_s, most_s",
    [
        (403, {"Retry-After": "7"}, "no", 7, 7),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "+3000"}, "no", 2_000, 3_060),
        (429, {"RateLimit-Remaining": "0", "RateLimit-Reset": "+3000"}, "no", 2_000, 3_060),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-3000"}, "no", 0, 0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}, "no", LEAST_PAUSE_S, LEAST_PAUSE_S),
        (403, {}, "You have exceeded a secondary rate limit.", LEAST_PAUSE_S, LEAST_PAUSE_S),
        (429, {"Retry-After": "soon"}, "no", LEAST_PAUSE_S, LEAST_PAUSE_S),
        (429, {"X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "+3000"}, "no", LEAST_PAUSE_S, LEAST_PAUSE_S),
    ],
)
def test_a_limit_says_how_long_it_lasts(
    github: CodeHost, status: int, headers: dict[str, str], said: str, least_s: float, most_s: float
) -> None:
    """In seconds, or as the time of its end; that is held against the host's own clock."""
    now = time.time()
    times = {"+3000": f"{now + 3_000:.0f}", "-3000": f"{now - 3_000:.0f}"}
    given = {name: times.get(value, value) for name, value in headers.items()}
    github.faults = [Fault(pattern="^GET", status=status, body={"message": said}, headers=given)]
    with pytest.raises(Unavailable) as refused:
        connect(github).default_branch()
    assert refused.value.retry_after_s is not None
    assert least_s <= refused.value.retry_after_s <= most_s


def test_a_login_of_the_machines_user_takes_the_place_of_no_token(host: CodeHost, tmp_path: Path) -> None:
    """As ~/.netrc has one where people push by hand."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login joe password his-own\n")
    netrc.chmod(0o600)
    os.environ["NETRC"] = str(netrc)
    try:
        assert connect(host).default_branch() == "main"
    finally:
        del os.environ["NETRC"]


def test_a_look_that_fails_is_no_unconfirmed_effect(host: CodeHost) -> None:
    """It is only tried again."""
    for status in (0, 502):
        host.faults = [Fault(pattern="^GET", status=status)]
        with pytest.raises(Unavailable) as refused:
            connect(host).default_branch()
        assert type(refused.value) is Unavailable


def test_an_answer_of_another_form_is_an_error(host: CodeHost) -> None:
    """A proxy's page, or a host of another age."""
    host.faults = [Fault(pattern="^GET", status=200, body=["surprise"])]
    with pytest.raises(ProviderError, match="in a form that triage does not know"):
        connect(host).default_branch()


def test_a_page_for_people_is_no_answer(host: CodeHost) -> None:
    """Something between may show one, and what it stands for may work later."""
    host.faults = [Fault(pattern="^GET", status=200, page="<html>Sign in</html>")]
    with pytest.raises(Unavailable, match="HTTP 200 without JSON"):
        connect(host).default_branch()


@each_row("status, depth", [(status, depth) for status in (200, 422, 500) for depth in (900, 100_000)])
def test_an_answer_nested_without_end_is_no_answer(github: CodeHost, status: int, depth: int) -> None:
    """What would exhaust the stack of whoever reads it."""
    github.faults = [Fault(pattern="^GET", status=status, page="[" * depth + "]" * depth)]
    with pytest.raises(ProviderError, match=f"HTTP {status}"):
        connect(github).default_branch()


def test_an_answer_without_end_is_cut_off() -> None:
    """No memory is filled by it, and nobody waits for its end."""
    with endless_host() as server:
        with pytest.raises(Unavailable, match="HTTP 200 without JSON"):
            CodeHostApi(CodeRepository("gitea", server.url, "acme/shop"), SecretStr(TOKEN)).default_branch()
        assert server.cut_off.wait(60)
