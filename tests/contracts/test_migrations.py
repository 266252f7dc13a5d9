"""Documents of other schemas: earlier ones are brought forward, later ones are refused and left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS, FileDocuments
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.schema_rewrite import JOBS, rewrite, schemas_in
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.casework.reports.code_standings import CLONE_STANDINGS, CloneStanding
from bot.domain.doubts import Doubt, DoubtCode
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports import Documents
from bot.ports.collections import BRIEFS, HOME, SESSIONS, THREADS, Collection, SingleDocument
from bot.ports.migrations import (
    MIGRATIONS,
    SCHEMA_KEY,
    SCHEMA_VERSION,
    Migration,
    NewerSchema,
    backward,
    forward,
    refuse_newer,
    sealed,
)
from bot.ports.threads import Threads
from bot.release import program_version
from tests.builders import THREAD_ID, in_status, some_work
from tests.contracts.test_documents import ENGINES, Open, stored
from tests.fakes import FakeClock, MemoryDocuments

LATER = SCHEMA_VERSION + 1
NEVER_MIND = Doubt(code=DoubtCode.SETTLED, by="U1", about="never mind")
DOUBTFUL = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL).in_doubt([NEVER_MIND])
CHANGES: dict[str, Callable[[Documents], object]] = {
    THREADS.name: lambda documents: Threads(documents).get(THREAD_ID),
    SESSIONS.name: lambda documents: Collection(documents, SESSIONS).change(SESSIONS.name, lambda now: now),
    BRIEFS: lambda documents: SingleDocument(documents, BRIEFS).update({"morning": "x"}),
}
STEPS = (
    Migration(
        number=2,
        collection="a",
        name="count is a number",
        forward=lambda one: {**one, "count": int(one["count"])},
        backward=lambda one: {**one, "count": str(one["count"])},
    ),
    Migration(
        number=3,
        collection="a",
        name="count is called total",
        forward=lambda one: {"total": one["count"], **{k: v for k, v in one.items() if k != "count"}},
        backward=lambda one: {"count": one["total"], **{k: v for k, v in one.items() if k != "total"}},
    ),
)


def test_steps_are_made_in_order_and_undone_in_reverse() -> None:
    """Fields that no step names stay; another collection is left alone; what is earlier already stays as it is."""
    old = {"count": "5", "later": [1]}
    new = forward("a", old, 1, STEPS)
    assert new == {"total": 5, "later": [1]}
    assert backward("a", {**new, SCHEMA_KEY: 3}, 2, STEPS) == {"count": 5, "later": [1], SCHEMA_KEY: 2}
    assert backward("a", {**new, SCHEMA_KEY: 3}, 1, STEPS) == {**old, SCHEMA_KEY: 1}
    assert forward("b", old, 1, STEPS) == old
    assert backward("a", {"count": 5, SCHEMA_KEY: 2}, 2, STEPS) == {"count": 5, SCHEMA_KEY: 2}


def test_every_step_has_a_number_of_its_own_collection() -> None:
    """Without a gap, and for a collection that there is."""
    assert {step.number for step in MIGRATIONS} == set(range(2, SCHEMA_VERSION + 1))
    assert {step.collection for step in MIGRATIONS} <= {*ALL_COLLECTIONS, JOBS}
    assert len({(step.number, step.collection) for step in MIGRATIONS}) == len(MIGRATIONS)


def test_doubts_go_back_one_release_and_come_again() -> None:
    """The sentences are enough to tell the codes."""
    now = sealed(DOUBTFUL.model_dump(mode="json", exclude={"version"}))
    before = backward(THREADS.name, now, 1)
    assert "doubts" not in before
    assert before["stale_reasons"] == ["<@U1> wrote: never mind"]
    documents = MemoryDocuments()
    documents.put(THREADS.name, THREAD_ID, before, version=0)
    again = Threads(documents).get(THREAD_ID)
    assert again is not None
    assert again == DOUBTFUL.evolve(version=1)


def test_stamps_go_back_to_the_session_and_come_again() -> None:
    """Nothing rings again on the way back, nor on the way up; what was sent in between counts."""
    stamps = {"slack:U0ANA": "2026-03-01T12:00:00Z"}
    now = sealed({"findings": {"shop/ci/red": {"key": "shop/ci/red", "stamps": stamps}, "shop/ci/new": {}}})
    before = backward(SESSIONS.name, now, 2)
    assert before["sent"] == {"stamps": {"slack:U0ANA finding shop/ci/red": "2026-03-01T12:00:00Z"}}
    assert before["findings"]["shop/ci/red"] == {"key": "shop/ci/red"}
    before["sent"]["stamps"]["webhook:x finding shop/ci/new"] = "2026-03-02T12:00:00Z"
    again = forward(SESSIONS.name, before, 2)
    assert "sent" not in again
    assert [each["stamps"] for each in again["findings"].values()] == [stamps, {"webhook:x": "2026-03-02T12:00:00Z"}]


def test_an_alert_in_the_queue_goes_back_as_a_question() -> None:
    """The work that an earlier release does not know; other work stays what it is."""
    alert, beat = ({"payload": {"class": name, "event": {}}} for name in ("alert-arrived", "run-beat"))
    assert backward(JOBS, sealed(alert), 2)["payload"] == {"class": "question-asked", "event": {}}
    assert backward(JOBS, sealed(beat), 2)["payload"] == beat["payload"]


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same documents again and again, as a process that restarts does."""
    return ENGINES[request.param](tmp_path)


@pytest.mark.parametrize("collection", CHANGES)
def test_a_document_of_a_later_schema_is_refused_and_left_alone(reopen: Open, collection: str) -> None:
    """The sentence names the document, both versions and what to type; the start finds it, too."""
    documents = reopen()
    doc_id = THREAD_ID if collection == THREADS.name else collection
    held = {"status": "parked", SCHEMA_KEY: LATER}
    documents.put(collection, doc_id, held, version=0)
    place = documents.place(collection, doc_id)
    with pytest.raises(NewerSchema) as caught:
        refuse_newer(reopen(), ALL_COLLECTIONS)
    for part in (place, f"schema {LATER}", f"up to {SCHEMA_VERSION}", program_version(), "triage schema --to"):
        assert part in str(caught.value)
    with pytest.raises(NewerSchema):
        CHANGES[collection](reopen())
    assert stored(reopen(), collection, doc_id) == (1, held)
    assert reopen().damaged(collection) == []


def test_a_schema_that_is_no_number_is_damage(reopen: Open) -> None:
    """It is set aside as everything is that cannot be read; what it held is not taken for a default."""
    reopen().put(SESSIONS.name, "shop", {SCHEMA_KEY: "two"}, version=0)
    aside: list[str] = []
    assert Collection(reopen(), SESSIONS, on_damage=aside.append).get("shop") == SessionState()
    assert len(aside) == 1


def test_a_job_of_a_later_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    """It stays in the queue for the version that wrote it."""
    path = tmp_path / SpoolQueue(tmp_path, FakeClock()).put(some_work("T1.C1.1.1")).name
    path.write_text(json.dumps({**json.loads(path.read_text()), SCHEMA_KEY: LATER, "payload": {"class": "dance"}}))
    with pytest.raises(NewerSchema, match=path.name):
        SpoolQueue(tmp_path, FakeClock())
    assert path.is_file()


def test_a_directory_goes_back_to_an_earlier_schema(tmp_path: Path) -> None:
    """Open and closed threads, sessions and jobs; a second time nothing is left, and this version reads on."""
    documents = FileDocuments(tmp_path)
    threads, sessions = Threads(documents), Collection(documents, SESSIONS)
    threads.put(DOUBTFUL)
    ended = in_status(ThreadStatus.CLOSED, thread_id="T1.C1.1.1")
    threads.put(ended)
    threads.archive(ended.thread_id)
    sessions.change("shop", lambda now: now.evolve(inbox_read=3))
    SpoolQueue(tmp_path / "queue", FakeClock()).put(some_work("T1.C1.1.1"))
    assert schemas_in(tmp_path) == {SCHEMA_VERSION: 4}
    assert sum(rewrite(tmp_path, 1).values()) == 4
    assert schemas_in(tmp_path) == {1: 4}
    assert rewrite(tmp_path, 1) == {}
    documents = FileDocuments(tmp_path)
    again = Threads(documents).get(THREAD_ID)
    assert again is not None
    assert again.doubts == DOUBTFUL.doubts
    assert Threads(documents).last_closed(ended.thread_id) == ended.evolve(version=1)
    assert Collection(documents, SESSIONS).get("shop").inbox_read == 3
    assert len(SpoolQueue(tmp_path / "queue", FakeClock())._waiting) == 1


class TestCommand:
    """`triage schema`."""

    def test_it_says_which_schemas_there_are(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """And changes nothing."""
        Collection(FileDocuments(tmp_path), SESSIONS).change("shop", lambda now: now.evolve(inbox_read=3))
        assert main(["schema", "--home", str(tmp_path)]) == 0
        assert f"1 file of schema {SCHEMA_VERSION}" in capsys.readouterr().out
        assert main(["schema", "--home", str(tmp_path), "--to", "1"]) == 0
        assert schemas_in(tmp_path) == {1: 1}

    def test_what_a_later_release_wrote_is_for_that_release_to_lead_back(self, tmp_path: Path) -> None:
        """This one does not know how, and another number alone would make damage of it."""
        Collection(FileDocuments(tmp_path), SESSIONS).change("shop", lambda now: now.evolve(inbox_read=3))
        FileDocuments(tmp_path).put(BRIEFS, BRIEFS, {SCHEMA_KEY: LATER}, version=0)
        assert main(["schema", "--home", str(tmp_path), "--to", "1"]) == 1
        assert schemas_in(tmp_path) == {SCHEMA_VERSION: 1, LATER: 1}

    def test_it_rewrites_nothing_beside_a_running_bot(self, tmp_path: Path) -> None:
        """The bot holds what it read in memory."""
        Collection(FileDocuments(tmp_path), SESSIONS).change("shop", lambda now: now.evolve(inbox_read=3))
        lease = FileLeases(tmp_path).take(HOME)
        assert main(["schema", "--home", str(tmp_path), "--to", "1"]) == 2
        lease.release()
        assert schemas_in(tmp_path) == {SCHEMA_VERSION: 1}

    @pytest.mark.parametrize("to", ["0", str(LATER)])
    def test_a_schema_that_nobody_knows_is_refused(self, tmp_path: Path, to: str) -> None:
        """It would be of no release."""
        assert main(["schema", "--home", str(tmp_path), "--to", to]) == 1


def test_what_the_teams_have_in_common_is_counted_once(tmp_path: Path) -> None:
    """In the data directory of the process, not again in each team's."""
    team = tmp_path / "teams" / "payments"
    team.mkdir(parents=True)
    (tmp_path / "triage.yml").touch()
    Collection(FileDocuments(tmp_path), CLONE_STANDINGS).put("shop", CloneStanding(), version=0)
    assert schemas_in(tmp_path) == {SCHEMA_VERSION: 1}
    assert schemas_in(team) == {}
