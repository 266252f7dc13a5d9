"""From a click to one draft pull request, over real git and a code host on this machine; wherever the process dies."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.adapters.code_host import CodeHostApi
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.approvers import Approvers
from bot.casework.card_marks import FixMarks
from bot.casework.fix_opening import FixOpening
from bot.casework.fix_service import MAX_TRIES, NO_TOKEN, Fixes, FixUpdates
from bot.casework.patch_check import PatchChecks, PatchCodebases
from bot.config.codebase_settings import FixSettings
from bot.domain.citations.links import code_repository
from bot.domain.fixes import Fix, FixStatus, NewPullRequest, PullRequest, hash_patch
from bot.domain.patches import FixCode
from bot.domain.returns import ProposedPatch
from bot.domain.threads import ThreadState
from bot.errors import Conflict
from bot.ports.feature_collections import FIXES
from tests.builders import REF, THREAD_ID, a_return
from tests.casework.office import BEN, Office
from tests.casework.test_patch_check import CODE, GOOD, RUN_TESTS, TEST
from tests.code_host import REPOSITORY, TOKEN, CodeHost, Fault
from tests.fakes import Crash, Faults, MemoryDocuments, in_memory
from tests.gitrepo import commit_files, git, make_repo


class Files:
    """Port CardFiles over a list."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str]] = []

    def show(self, state: ThreadState, *, filename: str, title: str, text: str, said: str) -> None:
        self.shown.append((filename, text, said))


class DyingClient(CodeHostApi):
    """GitHub, with a place to die before and after each call."""

    faults = Faults()

    def find(self, branch: str, marker: str) -> PullRequest | None:
        self.faults.point("host: before a look")
        return super().find(branch, marker)

    def open(self, new: NewPullRequest) -> PullRequest:
        self.faults.point("host: before a request")
        opened = super().open(new)
        self.faults.point("host: after a request")
        return opened


class Desk:
    """A thread with a patch, and everything that opens draft pull requests; `restart` is another process."""

    def __init__(
        self,
        folder: Path,
        host: CodeHost,
        diff: str = GOOD,
        keep: timedelta | None = None,
        secret: str = TOKEN,
        base: str | None = None,
        **settings: Any,
    ) -> None:
        self.host, self.folder, self.keep, self.secret, self.base = host, folder, keep, secret, base
        self.codebase = folder / "shop"
        commit = git(self.codebase, "rev-parse", "HEAD")
        patch = ProposedPatch(title="Raise the limit", diff=diff, rationale="Five are too few.")
        refs = (REF.model_copy(update={"commit": commit}),)
        self.patch = patch
        self.office = Office(folder, a_return(proposed_patch=patch, evidence_refs=refs))
        self.office.workspace.groups["C0OPS"] = frozenset({BEN})
        self.office.asked()
        self.faults = Faults()
        self.documents = MemoryDocuments(faults=self.faults)
        self.files, self.settings = Files(), FixSettings(**settings)
        self.restart()

    def restart(self, *, token: bool = True) -> None:
        self.store = in_memory(FIXES, self.documents)
        found = code_repository(self.host.url, "github")
        assert found is not None
        client = DyingClient(found, SecretStr(self.secret))
        client.faults = self.faults
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=self.office.workspace)
        repo = GitRepo(self.codebase)
        index = SqlitePassageIndex(repo, self.folder / "index.sqlite")
        self.codebases = PatchCodebases(Codebases.named([("", repo, index)]), lambda _: ())
        checks = PatchChecks(
            repo, self.settings, self.folder / "workshop", hidden=[], stop=threading.Event(), secrets=()
        )
        opening = FixOpening(
            self.store,
            checks,
            client,
            Remote(self.host.url, self.secret),
            approvers,
            base=self.base,
            link_to=lambda _: None,
        )
        desk = self.office.service
        self.client = client
        self.updates = FixUpdates(
            desk, self.store, self.files, self.codebases, lambda _: client if token else None, keep=self.keep
        )
        self.fixes = Fixes(
            desk, self.store, self.codebases, self.files, self.updates, lambda _: opening if token else None
        )
        self.marks = FixMarks(self.store, self.codebases, lambda _: client)

    def click(self) -> str:
        return self.fixes.open(THREAD_ID, hash_patch(self.patch), by=BEN, team="T1", name="ben")

    @property
    def fix(self) -> Fix:
        [fix] = self.store.all()
        return fix

    @property
    def state(self) -> ThreadState:
        state = self.office.store.get(THREAD_ID)
        assert state is not None
        return state

    def wait(self, times: int = 1) -> None:
        """Let so many pauses pass."""
        for _ in range(times):
            self.office.clock.advance(700)
            self.fixes.tick()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CodeHost]:
    with CodeHost(tmp_path / "host") as host:
        publish(make_repo(tmp_path / "shop", CODE), host)
        yield host


def publish(codebase: Path, host: CodeHost) -> None:
    """Do what `host.publish` does, without the time that git needs for a push."""
    made, ref = codebase / ".git", Path("refs", "heads", "main")
    shutil.copytree(made / "objects", host.bare / "objects", dirs_exist_ok=True)
    shutil.copy(made / ref, host.bare / ref)
    with (made / "config").open("a") as config:
        config.write(f'[remote "origin"]\n\turl = {host.url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    with (host.bare / "config").open("a") as config:
        config.write("[receive]\n\tautogc = false\n")


def opened(desk: Desk) -> Fix:
    desk.click()
    desk.fixes.tick()
    return desk.fix


def standing(desk: Desk) -> Fix:
    """Let a request stand that the host finds: as after `opened`, without the time that git needs for a push."""
    desk.click()
    fix, host = desk.fix, desk.host
    git(host.bare, "branch", fix.branch, "main")
    body = {"head": fix.branch, "base": "main", "title": fix.patch.title, "body": fix.marker, "draft": True}
    assert host.answer("POST", f"/api/v3/repos/{REPOSITORY}/pulls", {}, body)[0] == 201
    desk.store.change(fix.id, lambda now: now.evolve(pushed=(host.branches()[fix.branch],)))
    desk.fixes.tick()
    assert desk.fix.status is FixStatus.OPEN
    return desk.fix


def refusal(desk: Desk) -> tuple[FixCode, str]:
    fix = opened(desk)
    assert fix.status is FixStatus.REFUSED
    assert fix.refusal is not None
    return fix.refusal.code, fix.refusal.text


def test_one_click_opens_one_draft_that_card_and_draft_name(tmp_path: Path, host: CodeHost) -> None:
    """With what was checked; the draft is not called edited for that."""
    desk = Desk(tmp_path, host, GOOD + TEST, check=RUN_TESTS)
    fix = opened(desk)
    assert fix.status is FixStatus.OPEN
    assert fix.request is not None
    assert (len(host.pulls), list(host.branches())) == (1, [fix.branch])
    assert desk.state.draft_pending == f"{a_return().draft_reply}\n\nDraft PR: {fix.request.url}"
    assert not desk.state.has_edited_draft
    assert desk.fix.is_shown
    with pytest.raises(Conflict, match="a draft PR already"):
        desk.click()
    assert desk.marks(desk.state).is_offered is False


def moments_of_an_opening(desk: Desk) -> list[str]:
    """Open a request undisturbed, and return the moments at which the process may have died, in their order."""
    opened(desk)
    return list(desk.faults.points)


def opened_over_a_death(desk: Desk, moment: int) -> tuple[FixStatus, int, int]:
    """Die at a moment of an opening and start again; return the status, and how many requests and branches are."""
    host = desk.host
    desk.documents.texts.clear()
    host.pulls.clear()
    for branch in host.branches():
        git(host.bare, "branch", "-D", branch)
    desk.faults.points.clear()
    desk.faults.crash_at = moment
    desk.restart()
    with pytest.raises(Crash):
        opened(desk)
    desk.faults.crash_at = None
    desk.restart()
    if not desk.store.all():  # the click itself was lost
        desk.click()
    desk.wait(2)
    return desk.fix.status, len(host.pulls), len(host.branches())


def test_a_process_that_dies_around_the_request_opens_one(tmp_path: Path, host: CodeHost) -> None:
    """The branch is pushed, the request made or not, and nobody has noted it; the next start goes on by itself."""
    desk = Desk(tmp_path, host)
    moments = moments_of_an_opening(desk)
    asked = [number for number, name in enumerate(moments, 1) if name.endswith(" a request")]
    assert len(asked) == 2
    for moment in asked:
        assert opened_over_a_death(desk, moment) == (FixStatus.OPEN, 1, 1), moments[moment - 1]


@pytest.mark.full
def test_wherever_the_process_dies_there_is_one_branch_and_one_request(tmp_path: Path, host: CodeHost) -> None:
    """At every write and every call; the next start goes on by itself."""
    desk = Desk(tmp_path, host)
    moments = moments_of_an_opening(desk)
    assert len(moments) > 7
    for moment, name in enumerate(moments, 1):
        assert opened_over_a_death(desk, moment) == (FixStatus.OPEN, 1, 1), name


@pytest.mark.parametrize("status", [0, pytest.param(502, marks=pytest.mark.full)])
def test_a_request_that_was_opened_and_not_confirmed_is_found(tmp_path: Path, host: CodeHost, status: int) -> None:
    """The answer is lost, or a proxy's."""
    desk = Desk(tmp_path, host)
    host.faults = [Fault(pattern="POST .*/pulls", status=status, takes_effect=True)]
    assert opened(desk).waits is not None
    desk.wait()
    assert (desk.fix.status, len(host.pulls), desk.fix.waits) == (FixStatus.OPEN, 1, None)


def test_a_request_that_appears_between_look_and_open_is_ours(tmp_path: Path, host: CodeHost) -> None:
    """Two processes, or a slow first one: the host keeps the second out, and the first is adopted."""
    desk = Desk(tmp_path, host)
    desk.click()
    desk.fixes.tick()
    first = desk.fix
    desk.store.change(first.id, lambda now: now.evolve(status=FixStatus.OPENING, request=None))
    host.faults = [Fault(pattern="GET .*/pulls\\?", status=200, body=[])]
    desk.wait()
    assert (desk.fix.request, len(host.pulls)) == (first.request, 1)


def test_the_hosts_own_words_reach_the_person(tmp_path: Path, host: CodeHost) -> None:
    """And the next click tries again, over the same branch."""
    desk = Desk(tmp_path, host)
    for status, word in ((403, "not accessible"), (422, "Validation Failed")):
        host.faults = [Fault(pattern="POST .*/pulls", status=status, body={"message": word})]
        code, said = refusal(desk)
        assert code is FixCode.HOST
        assert said.startswith(f"GitHub says: {word}. ")
        assert said.endswith(" Then press Open draft PR again.")
    assert opened(desk).status is FixStatus.OPEN
    assert (len(host.pulls), len(host.branches())) == (1, 1)


def test_a_hosts_words_hold_no_secret(tmp_path: Path, host: CodeHost) -> None:
    """Nor do those of a hook; a host that repeats what it was sent does not put it on a card."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    desk = Desk(tmp_path, host)
    host.faults = [Fault(pattern="POST .*/pulls", status=403, body={"message": f"no access with {token[:40]}"})]
    code, said = refusal(desk)
    assert (code, "no access with" in said, token[:40] in said) == (FixCode.HOST, True, False)
    hook = host.bare / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\necho 'no push with {token[:40]}' >&2\nexit 1\n")
    hook.chmod(0o755)
    code, said = refusal(Desk(tmp_path, host, GOOD.replace("7", "9")))
    assert (code, "no push with" in said, token[:40] in said) == (FixCode.HOST, True, False)


CALLS_OF_GIT = ["service=git-upload-pack", "service=git-receive-pack", "POST .*git-receive-pack"]
REFUSALS = [
    (401, CALLS_OF_GIT[0], "does not accept triage's token"),
    (403, CALLS_OF_GIT[1], "may not do that"),
    (404, CALLS_OF_GIT[2], "may not see it"),
    (301, CALLS_OF_GIT[0], "has moved"),
]
OUTAGES = [(0, CALLS_OF_GIT[1], False), (503, CALLS_OF_GIT[2], True)]


def test_what_git_is_refused_is_final_at_once(tmp_path: Path, host: CodeHost) -> None:
    """A token may suit the host's interface and not its git; a folder of the machine is named nowhere."""
    desk = Desk(tmp_path, host)
    for status, pattern, word in REFUSALS:
        host.faults = [Fault(pattern=pattern, status=status, body={"message": "no"})]
        code, said = refusal(desk)
        assert code is FixCode.HOST
        assert word in said
        assert str(tmp_path) not in said
    assert opened(desk).status is FixStatus.OPEN


@pytest.mark.parametrize(("status", "pattern", "takes_effect"), OUTAGES)
def test_what_git_cannot_reach_is_tried_again(
    tmp_path: Path, host: CodeHost, pattern: str, status: int, takes_effect: bool
) -> None:
    """Whatever took effect meanwhile; git itself asks a second time where a line breaks that it has used before."""
    desk = Desk(tmp_path, host)
    host.faults = [Fault(pattern=pattern, status=status, takes_effect=takes_effect)] * (1 if status else 2)
    assert str(opened(desk).waits).startswith("git cannot reach the code host: ")
    assert str(tmp_path) not in str(desk.fix.waits)
    desk.wait(2)
    assert (desk.fix.status, len(host.pulls), len(host.branches())) == (FixStatus.OPEN, 1, 1)


def test_a_limit_of_requests_is_waited_for_and_an_outage_ends_in_words(tmp_path: Path, host: CodeHost) -> None:
    """The card says what it waits for; after many tries there is none."""
    desk = Desk(tmp_path, host)
    host.faults = [Fault(pattern="/shop\\?", status=429, body={"message": "slow down"})]
    assert str(opened(desk).waits) == "GitHub limits requests now: slow down"
    desk.fixes.tick()
    assert desk.fix.status is FixStatus.OPENING
    desk.wait()
    assert desk.fix.status is FixStatus.OPEN
    other = Desk(tmp_path, host, GOOD.replace("7", "9"))
    host.faults = [Fault(pattern="/shop\\?", status=503)] * MAX_TRIES
    opened(other)
    other.wait(MAX_TRIES)
    assert (other.fix.status, other.fix.refusal and other.fix.refusal.code) == (FixStatus.REFUSED, FixCode.HOST)


@pytest.mark.parametrize("state", ["closed", pytest.param("merged", marks=pytest.mark.full)])
def test_what_ended_on_the_host_is_not_opened_again(tmp_path: Path, host: CodeHost, state: str) -> None:
    """A late click on an old card is told so."""
    desk = Desk(tmp_path, host)
    standing(desk)
    host.pulls[0]["state"] = state
    desk.office.clock.advance(400)
    desk.updates.follow()
    with pytest.raises(Conflict, match="a draft PR already"):
        desk.click()
    assert len(host.pulls) == 1


def test_a_patch_for_code_that_changed_is_refused(tmp_path: Path, host: CodeHost) -> None:
    """It applies where it was made and not to the newest commit; another investigation would see that."""
    desk = Desk(tmp_path, host)
    commit_files(desk.codebase, {"app/retry.py": "LIMIT = 6\n"})
    git(desk.codebase, "push", "--quiet", str(host.bare), "main:main")
    assert refusal(desk)[0] is FixCode.OUTDATED
    assert host.branches() == {}


def test_unpublished_commits_do_not_leave(tmp_path: Path, host: CodeHost) -> None:
    """A branch on top of them would publish them all."""
    commit_files(tmp_path / "shop", {"plans.md": "not yet\n"})
    assert refusal(Desk(tmp_path, host))[0] is FixCode.NOT_PUBLISHED
    assert host.branches() == {}


def test_who_lost_the_right_meanwhile_opens_nothing(tmp_path: Path, host: CodeHost) -> None:
    """Asked again just before it is pushed."""
    desk = Desk(tmp_path, host)
    desk.click()
    desk.office.workspace.groups["C0OPS"] = frozenset({"U9"})
    desk.fixes.tick()
    assert desk.fix.refusal is not None
    assert desk.fix.refusal.code is FixCode.NOT_APPROVED
    assert host.branches() == {}


def test_a_click_is_bound_to_the_diff(tmp_path: Path, host: CodeHost) -> None:
    """Another one by now: nothing happens."""
    desk = Desk(tmp_path, host)
    with pytest.raises(Conflict, match="another patch by now"):
        desk.fixes.open(THREAD_ID, "0" * 16, by=BEN, team="T1", name="ben")
    assert desk.store.all() == []


def test_a_failed_check_leaves_its_last_lines(tmp_path: Path, host: CodeHost) -> None:
    """As a file below the card, once."""
    desk = Desk(
        tmp_path, host, check=(str(Path(sys.executable).resolve()), "-c", "print('a is not b'); raise SystemExit(3)")
    )
    code, said = refusal(desk)
    assert code is FixCode.CHECK_FAILED
    assert "exit code 3" in said
    desk.wait(3)
    assert desk.files.shown == [("check.log", "a is not b", said)]
    assert host.branches() == {}


def test_a_branch_that_is_somebody_elses_is_left_alone(tmp_path: Path, host: CodeHost) -> None:
    """It has our name and not our commit."""
    desk = Desk(tmp_path, host)
    desk.click()
    git(host.bare, "branch", desk.fix.branch, "main")
    before = host.branches()
    desk.fixes.tick()
    assert desk.fix.refusal is not None
    assert "stands on GitHub already" in desk.fix.refusal.text
    assert host.branches() == before


def test_without_a_token_the_patch_is_a_file(tmp_path: Path, host: CodeHost) -> None:
    """With the commands to type."""
    desk = Desk(tmp_path, host)
    desk.restart(token=False)
    assert desk.click() == NO_TOKEN
    [(name, text, said)] = desk.files.shown
    assert (name, text) == ("triage.patch", GOOD)
    assert (
        f"git switch -c triage/{THREAD_ID}-{hash_patch(desk.patch)} {git(desk.codebase, 'rev-parse', 'HEAD')}" in said
    )
    assert desk.store.all() == []


def test_what_ended_is_removed_after_a_while(tmp_path: Path, host: CodeHost) -> None:
    """Not while its thread is open, nor an open request, however old."""
    desk = Desk(tmp_path, host, keep=timedelta(days=90))
    standing(desk)
    desk.office.decisions.approve(desk.office.click(), by=BEN)
    desk.wait()
    desk.office.clock.advance(200 * 86_400)
    desk.updates.follow()
    assert desk.fix.status is FixStatus.OPEN
    host.merge(1)
    desk.office.clock.advance(400)
    desk.updates.follow()
    desk.wait()
    assert desk.fix.status is FixStatus.MERGED
    desk.office.clock.advance(91 * 86_400)
    desk.updates.follow()
    assert desk.store.all() == []


def test_a_request_that_cannot_be_seen_is_said_on_the_card(tmp_path: Path, host: CodeHost) -> None:
    """A token that is no longer one, or a request that is gone; what was last known stays."""
    desk = Desk(tmp_path, host)
    standing(desk)
    host.faults = [Fault(pattern="GET .*/pulls/1\\?", status=404, body={"message": "Not Found"})]
    desk.office.clock.advance(400)
    desk.updates.follow()
    assert (desk.fix.status, desk.fix.unseen, desk.fix.is_shown) == (FixStatus.OPEN, "GitHub says: Not Found", False)
    desk.office.clock.advance(400)
    desk.updates.follow()
    assert desk.fix.unseen is None
    desk.restart(token=False)
    desk.office.clock.advance(400)
    desk.updates.follow()
    assert "no token" in str(desk.fix.unseen)


class Overtaken(Faults):
    """Another replica finishes before the request is made, and the host then refuses ours."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def point(self, name: str) -> None:
        if name == "host: before a request":
            request = PullRequest(number=7, url="https://github.com/acme/shop/pull/7")
            self._desk.store.change(self._desk.fix.id, lambda now: now.evolve(status=FixStatus.OPEN, request=request))
            self._desk.host.faults = [Fault(pattern="^POST .*/pulls", status=403)]


def test_a_late_refusal_changes_no_request_that_stands(tmp_path: Path, host: CodeHost) -> None:
    """A replica that stood still wakes up in the middle of what another one has finished."""
    desk = Desk(tmp_path, host)
    desk.faults = Overtaken(desk)
    desk.restart()
    fix = opened(desk)
    assert (fix.status, fix.refusal, fix.request and fix.request.number) == (FixStatus.OPEN, None, 7)


def test_a_request_is_followed_to_its_end(tmp_path: Path, host: CodeHost) -> None:
    """Asked every five minutes; what is news is shown."""
    desk = Desk(tmp_path, host)
    standing(desk)
    asked = len(host.requests)
    desk.updates.follow()
    assert len(host.requests) == asked
    host.pulls[0]["draft"] = False
    desk.office.clock.advance(400)
    desk.updates.follow()
    request = desk.fix.request
    assert request is not None
    assert (request.is_draft, desk.fix.is_shown) == (False, False)
    host.merge(1)
    desk.office.clock.advance(400)
    desk.updates.follow()
    desk.fixes.tick()
    assert (desk.fix.status, desk.fix.is_shown) == (FixStatus.MERGED, True)
    asked = len(host.requests)
    desk.office.clock.advance(4_000)
    desk.updates.follow()
    assert len(host.requests) == asked
