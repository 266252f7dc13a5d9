"""Documents of other schemas: earlier ones are brought forward, later ones are refused and left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.composition.state_move import JOBS
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.threads import PendingReason, ThreadStatus
from bot.domain.waits import Doubt, DoubtCode
from bot.ports import Documents
from bot.ports.collections import BRIEFS, SESSIONS, THREADS, Collection, SingleDocument
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
        forward=lambda one: {**one, "count": int(one["count"])},
        backward=lambda one: {**one, "count": str(one["count"])},
    ),
    Migration(
        number=3,
        collection="a",
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
    for part in (place, f"schema {LATER}", f"up to {SCHEMA_VERSION}", program_version(), "triage migrate --schema"):
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
