"""Clones are kept fresh: what is said of them and how often, what an investigation waits for, what others read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.clones import GitNetwork, clone_path
from bot.agent.git.git_repo import GitRepo
from bot.casework.reports.code_standings import CloneStanding, read_clones
from bot.config.codebase_settings import CodebaseSettings
from bot.domain.returns import AgedClone
from bot.runtime.clone_service import CloneService
from tests.fakes import FakeClock, MemoryDocuments
from tests.githttp import GitServer, Mood, git_server
from tests.gitrepo import commit_files, git, make_repo

FIVE_MINUTES = 300.0
PATIENCE_S = 60.0


class KeptDocuments(MemoryDocuments):
    """Documents that remember what stood in them."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[CloneStanding] = []

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        super().put(collection, doc_id, value, version=version)
        known = {name: value[name] for name in CloneStanding.model_fields if name in value}
        self.written.append(CloneStanding.model_validate(known))


class Keeping:
    """One remote called infra behind a server, and a service that keeps a clone of it."""

    def __init__(self, folder: Path, server: GitServer) -> None:
        self.folder, self.server = folder, server
        self.work = make_repo(folder / "work", {"a.txt": "one\n"})
        self.push()
        self.clock, self.documents = FakeClock(), KeptDocuments()
        self.said: list[str] = []
        self.service = self.serve()

    def serve(self, *, branch: str | None = None, wait_s: float = PATIENCE_S) -> CloneService:
        """Return the service of a process that begins now."""
        settings = {"infra": CodebaseSettings(url=self.server.url("infra.git"), branch=branch)}
        folder, network = self.folder / "home" / "codebases", GitNetwork(stall_s=PATIENCE_S)
        self.service = CloneService(settings, folder, network, self.documents, self.clock, say=self._say, wait_s=wait_s)
        return self.service

    def push(self, text: str = "one") -> str:
        """Push a commit and return its id."""
        sha = commit_files(self.work, {"a.txt": f"{text}\n"}, text)
        git(self.work, "push", "--quiet", "--force", str(self.server.folder / "infra.git"), "HEAD:refs/heads/main")
        return sha

    def tick(self) -> None:
        """Tick, and wait until what began has ended."""
        assert not wait(self.service.tick(), PATIENCE_S).not_done

    @property
    def repo(self) -> GitRepo:
        return GitRepo(clone_path(self.folder / "home" / "codebases", "infra"))

    def words(self) -> str:
        """How it stands, as others read it."""
        return read_clones(self.documents)["infra"].words(self.clock.now())

    def _say(self, codebase: str, text: str) -> None:
        assert codebase == "infra"
        self.said.append(text)


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Keeping]:
    folder = tmp_path / "remotes"
    folder.mkdir()
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "infra.git")
    with git_server(folder) as server:
        one = Keeping(tmp_path, server)
        yield one
        one.service.close()


def test_it_is_cloned_at_the_first_tick_and_fetched_at_every_refresh(keeping: Keeping) -> None:
    """Nothing is said of what goes well, and a restart does not fetch what is fresh."""
    keeping.tick()
    assert keeping.words() == "fetched 0 s ago"
    sha = keeping.push("two")
    keeping.clock.advance(FIVE_MINUTES - 1)
    keeping.serve()
    asked = keeping.server.requests
    keeping.tick()
    assert keeping.server.requests == asked
    keeping.clock.advance(1)
    keeping.tick()
    assert keeping.repo.head() == sha
    assert keeping.said == []


def test_an_investigation_reads_what_was_pushed_before_it(keeping: Keeping) -> None:
    """Where the clone is older than it may be; else nobody waits."""
    keeping.tick()
    sha = keeping.push("two")
    assert keeping.service.before_investigation() == ()
    assert keeping.repo.head() != sha
    keeping.clock.advance(FIVE_MINUTES)
    assert keeping.service.before_investigation(["infra"]) == ()
    assert keeping.repo.head() == sha


def test_other_codebases_are_not_waited_for(keeping: Keeping) -> None:
    """A team that reads none of it asks no server."""
    keeping.tick()
    keeping.clock.advance(FIVE_MINUTES)
    asked = keeping.server.requests
    assert keeping.service.before_investigation(["shop"]) == ()
    assert keeping.server.requests == asked


def test_a_failing_fetch_is_said_once_and_its_end_once(keeping: Keeping) -> None:
    """The last good commit is read meanwhile, and whoever investigates is told how old it is."""
    keeping.tick()
    head = keeping.repo.head()
    fetched_at = keeping.clock.now()
    keeping.server.mood = Mood.LOCKED
    for _ in range(3):
        keeping.clock.advance(FIVE_MINUTES)
        keeping.tick()
    (said,) = keeping.said
    assert said.startswith("infra cannot be fetched: could not read Username for 'http://127.0.0.1:")
    assert "`git ls-remote http://127.0.0.1:" in said
    assert keeping.words().startswith("was fetched 15 min ago, and cannot be now: could not read Username")
    assert keeping.repo.head() == head
    keeping.serve()  # a restart says nothing anew
    keeping.tick()
    now = keeping.clock.now()
    assert keeping.service.before_investigation() == (
        AgedClone(codebase="infra", fetched_at=fetched_at, read_at=now, failed=True),
    )
    assert len(keeping.said) == 1
    keeping.server.mood = Mood.WELL
    keeping.clock.advance(FIVE_MINUTES)
    keeping.tick()
    assert keeping.said[1:] == ["infra can be fetched again."]
    assert keeping.words() == "fetched 0 s ago"


def test_a_failed_fetch_is_not_tried_again_for_every_question(keeping: Keeping) -> None:
    """But a minute later it is."""
    keeping.tick()
    keeping.server.mood = Mood.GONE
    keeping.clock.advance(FIVE_MINUTES)
    assert keeping.service.before_investigation()
    asked = keeping.server.requests
    assert keeping.service.before_investigation()
    assert keeping.server.requests == asked
    keeping.clock.advance(60)
    keeping.server.mood = Mood.WELL
    assert keeping.service.before_investigation() == ()


def test_an_investigation_does_not_wait_for_ever(keeping: Keeping) -> None:
    """It says that a newer state may be there."""
    keeping.tick()
    keeping.clock.advance(FIVE_MINUTES)
    keeping.server.mood = Mood.SILENT
    (aged,) = keeping.serve(wait_s=0.1).before_investigation()
    assert not aged.failed
    assert aged.words() == "infra as of 5 min before: the fetch was not finished"


def test_a_failing_first_clone_is_said_once_and_works_later(keeping: Keeping) -> None:
    """Nobody waits for it: there is nothing to read."""
    keeping.server.mood = Mood.GONE
    keeping.tick()
    keeping.clock.advance(FIVE_MINUTES)
    keeping.tick()
    (said,) = keeping.said
    assert said.startswith("infra cannot be cloned: repository 'http://127.0.0.1:")
    assert "nothing of it is read" in said
    assert keeping.words().startswith("cannot be cloned: repository 'http://127.0.0.1:")
    assert keeping.service.before_investigation() == ()
    keeping.server.mood = Mood.WELL
    keeping.clock.advance(FIVE_MINUTES)
    keeping.tick()
    assert keeping.said[1:] == ["infra can be cloned now."]


def test_a_first_clone_under_way_is_written_down(keeping: Keeping) -> None:
    """For `triage status`."""
    keeping.tick()
    written = [one.words(keeping.clock.now()) for one in keeping.documents.written]
    assert written == ["is being cloned", "fetched 0 s ago"]


def test_a_clone_that_was_removed_is_cloned_anew_at_once(keeping: Keeping) -> None:
    """As the advice says."""
    keeping.tick()
    shutil.rmtree(clone_path(keeping.folder / "home" / "codebases", "infra"))
    keeping.serve()
    keeping.tick()
    assert keeping.repo.head()


def test_another_branch_is_fetched_at_once(keeping: Keeping) -> None:
    """What was fetched of the other one does not count."""
    keeping.tick()
    git(keeping.work, "push", "--quiet", str(keeping.server.folder / "infra.git"), "HEAD:next")
    keeping.serve(branch="next")
    keeping.tick()
    assert keeping.repo.head() == git(keeping.work, "rev-parse", "HEAD")


def test_a_stop_ends_a_fetch_and_is_no_failure(keeping: Keeping) -> None:
    """Within seconds, whatever the server does."""
    keeping.server.mood = Mood.SILENT
    under_way = keeping.service.tick()
    while not keeping.server.requests:
        assert not wait(under_way, 0.05).done
    keeping.service.close()
    assert keeping.said == []
    assert [one.problem for one in keeping.documents.written] == [None]
    assert keeping.service.tick() == []  # one that comes late begins nothing


def test_a_codebase_that_is_configured_no_more_is_forgotten_and_its_commits_stay(keeping: Keeping) -> None:
    """It stands in no status any more."""
    keeping.tick()
    folder = keeping.folder / "home" / "codebases"
    CloneService({}, folder, GitNetwork(), keeping.documents, keeping.clock, say=pytest.fail)
    assert read_clones(keeping.documents) == {}
    assert keeping.repo.head()


def test_codebases_come_and_go_under_way(keeping: Keeping) -> None:
    """One that is gone is neither fetched nor waited for, and nothing is written of it; one that is back is fetched."""
    keeping.tick()
    service, infra = keeping.service, CodebaseSettings(url=keeping.server.url("infra.git"))
    service.follow({})
    assert read_clones(keeping.documents) == {}
    keeping.clock.advance(FIVE_MINUTES)
    assert (service.tick(), service.before_investigation(["infra"])) == ([], ())
    service.follow({"infra": infra})
    wait(service.tick())
    assert read_clones(keeping.documents)["infra"].fetched_at == keeping.clock.now()


def test_an_address_that_comes_back_is_read_at_once(keeping: Keeping) -> None:
    """A triage.yml with another branch was refused: what was read before is read on, without a fetch."""
    keeping.tick()
    before, service = keeping.repo.head(), keeping.service
    url, asked = keeping.server.url("infra.git"), keeping.server.requests
    service.follow({"infra": CodebaseSettings(url=url, branch="next")})
    service.open("infra")
    service.follow({"infra": CodebaseSettings(url=url)})
    assert (keeping.repo.head(), keeping.server.requests) == (before, asked)


def test_an_opened_clone_can_be_used_once_it_is_there(keeping: Keeping) -> None:
    """The repository is opened before anything was fetched."""
    repo = keeping.service.open("infra")
    assert repo.resolve("HEAD") is None
    keeping.tick()
    assert repo.head()
    assert repo.remote_url() == keeping.server.url("infra.git")


def test_questions_wait_for_a_fetch_under_way(keeping: Keeping) -> None:
    """One fetch at a time."""
    keeping.tick()
    sha = keeping.push("two")
    keeping.clock.advance(FIVE_MINUTES)
    keeping.service.tick()
    assert keeping.service.before_investigation() == ()
    assert keeping.repo.head() == sha
