"""What a later version added to a document outlives every change by this one, wherever in the document it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS
from bot.adapters.storage.files.spool_queue import SpoolQueue, decode_job, encode_job
from bot.domain.acknowledgement import Acknowledgement
from bot.domain.heartbeats.alerts import OpenFinding, Removal
from bot.domain.heartbeats.beats import Delivered, Receipt, RunCheckpoint, Wake
from bot.domain.heartbeats.session_state import (
    ChangedBy,
    EnabledOverride,
    EveryOverride,
    Failures,
    SessionOverride,
    SessionState,
)
from bot.domain.jobs import Job, QuestionAsked
from bot.domain.returns import Usage
from bot.domain.suggestions import Suggestion, suggestion_id
from bot.domain.threads import Followup, HumanContext, PendingReason, PostIntent, ThreadStatus
from bot.domain.tiers import TaskHistory, Tier
from bot.domain.waits import Doubt, DoubtCode
from bot.ports import Documents
from bot.ports.collections import (
    BRIEFS,
    OVERRIDES,
    SESSIONS,
    THREADS,
    WAKES,
    Collection,
    CollectionSpec,
    SingleDocument,
)
from bot.ports.feature_collections import ACKNOWLEDGEMENTS, SUGGESTIONS
from bot.ports.migrations import sealed
from tests.builders import NOW, THREAD_ID, an_event, in_status
from tests.contracts.test_documents import ENGINES
from tests.fakes import FakeClock, MemoryDocuments
from tests.tables import each_row

BY_ANA = ChangedBy(id="U0ANA", name="ana", at=NOW)
KEY = "shop/1a2b3c4d/red"
FINDING = OpenFinding(key=KEY, task="1a2b3c4d", text="red", first_at=NOW, last_at=NOW, removed=Removal(at=NOW))
RUN = RunCheckpoint(
    message="red",
    receipts=(Receipt(task="1a2b3c4d", result="finding", evidence="red"),),
    usage=Usage(),
    run_id="r1",
    wake=Wake.INTERVAL,
    tier=Tier.QUICK,
    started_at=NOW,
    stamp_at=NOW,
    due=("1a2b3c4d",),
    inbox=0,
)
SUGGESTION = Suggestion(
    id=suggestion_id("shop", "Disk"), to="shop", task="Disk", tier=Tier.DAILY, from_="api", reason="x", at=NOW
)
DRAFT = in_status(
    ThreadStatus.PENDING_USER,
    PendingReason.APPROVAL,
    followups=(Followup(message_id="1.2", sender_id="U1", text="and?", at=NOW),),
    human_context=(HumanContext(by="U2", at=NOW, text="EU only"),),
    post_intent=PostIntent(at=NOW, draft_hash="a"),
    usage=Usage(),
).in_doubt([Doubt(code=DoubtCode.SETTLED, by="U1", about="never mind")])
STATE = SessionState(
    findings={KEY: FINDING},
    paid=RUN,
    last_place=Delivered(mode="last", channel="slack", to="D1"),
    failures=Failures(key="x", count=1),
    measured={"1a2b3c4d": TaskHistory(text="CI", tier=Tier.QUICK)},
)
OVERRIDE = SessionOverride(
    enabled=EnabledOverride(value=False, by=BY_ANA), every=EveryOverride(value=timedelta(hours=2), by=BY_ANA)
)
Change = Callable[[Any], Any]
VALUES: Final[list[tuple[CollectionSpec[Any], str, BaseModel, Change]]] = [
    (THREADS, THREAD_ID, DRAFT, lambda now: now.with_draft("Six.").evolve(card_ts="1.9")),
    (
        SESSIONS,
        "shop",
        STATE,
        lambda now: now.with_findings(now.findings[KEY].evolve(acknowledged_by="U1")),
    ),
    (OVERRIDES, "shop", OVERRIDE, lambda now: now.evolve(every=now.every.evolve(value=timedelta(hours=3)))),
    (SUGGESTIONS, SUGGESTION.id, SUGGESTION, lambda now: now.evolve(card_ts="1.9")),
    (ACKNOWLEDGEMENTS, THREAD_ID, Acknowledgement(thread_id=THREAD_ID), lambda now: now.evolve(told_at=NOW)),
]
SINGLE: Final = sorted(set(ALL_COLLECTIONS) - {spec.name for spec, *_ in VALUES} - {WAKES})
LATER: Final = st.dictionaries(
    st.sampled_from(["later_a", "later_b", "x-later"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda one: st.lists(one, max_size=2)
    ),
    min_size=1,
)
Place = tuple[str | int, ...]


def places_of(value: object, place: Place = ()) -> Iterator[Place]:
    """Yield where in a document the values stand that have fields of their own."""
    if isinstance(value, BaseModel):
        yield place
        for name in type(value).model_fields:
            yield from places_of(getattr(value, name), (*place, name.rstrip("_")))
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from places_of(held, (*place, key))
    elif isinstance(value, tuple):
        for number, held in enumerate(value):
            yield from places_of(held, (*place, number))


def at(document: Any, place: Place) -> Any:
    """Return what stands in a document at a place."""
    for step in place:
        document = document[step]
    return document


def put_in(document: Any, added: Mapping[Place, Mapping[str, Any]]) -> Any:
    """Return a document with fields added."""
    document = json.loads(json.dumps(document))
    for place, fields in added.items():
        at(document, place).update(fields)
    return document


def assert_kept(document: Any, added: Mapping[Place, Mapping[str, Any]]) -> None:
    """Assert that all of them are still where they were."""
    for place, fields in added.items():
        assert {key: at(document, place).get(key) for key in fields} == fields, place


def some_added(value: object) -> st.SearchStrategy[dict[Place, dict[str, Any]]]:
    """Return fields of a later version at some of the places of a value."""
    return st.dictionaries(st.sampled_from(list(places_of(value))), LATER, min_size=1)


def stored(documents: Documents, collection: str, doc_id: str) -> Mapping[str, Any]:
    """Return what is stored of a document."""
    found = documents.get(collection, doc_id)
    assert found is not None
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(("spec", "doc_id", "value", "change"), VALUES, ids=[one[0].name for one in VALUES])
@given(data=st.data())
def test_a_change_keeps_the_fields_of_a_later_version(
    spec: CollectionSpec[Any], doc_id: str, value: BaseModel, change: Change, data: st.DataObject
) -> None:
    """Wherever they stand; nothing is set aside, and what this version changed is changed."""
    added = data.draw(some_added(value))
    documents = MemoryDocuments()
    written = value.model_dump(mode="json", exclude={"version"})
    documents.put(spec.name, doc_id, sealed(put_in(written, added)), version=0)
    after = Collection(documents, spec, on_damage=pytest.fail).change(doc_id, change)
    assert_kept(stored(documents, spec.name, doc_id), added)
    assert documents.damaged(spec.name) == []
    without = after.model_dump(mode="json", exclude={"version"})
    for place, fields in added.items():
        for key in fields:
            del at(without, place)[key]
    assert without == change(value).model_dump(mode="json", exclude={"version"})


@each_row("engine", ENGINES)
@each_row("spec_doc", [THREADS, SESSIONS])
def test_every_engine_keeps_them(spec_doc: CollectionSpec[Any], engine: str, tmp_path: Path) -> None:
    """As the memory does: once for each way in which documents lie in files."""
    reopen = ENGINES[engine](tmp_path)
    spec, doc_id, value, change = next(one for one in VALUES if one[0] is spec_doc)
    added = {place: {"later": [1]} for place in places_of(value)}
    written = sealed(put_in(value.model_dump(mode="json", exclude={"version"}), added))
    reopen().put(spec.name, doc_id, written, version=0)
    for _ in range(2):
        Collection(reopen(), spec, on_damage=pytest.fail).change(doc_id, change)
    assert_kept(stored(reopen(), spec.name, doc_id), added)


@pytest.mark.parametrize("collection", SINGLE)
@given(added=LATER)
@settings(max_examples=10, deadline=None)
def test_a_single_document_keeps_keys_that_nobody_names(collection: str, added: dict[str, Any]) -> None:
    """However often it is updated."""
    documents = MemoryDocuments()
    documents.put(collection, collection, sealed({"at": "x", **added}), version=0)
    one = SingleDocument(documents, collection, on_damage=pytest.fail)
    one.update({"at": "y"})
    one.update({"n": 1})
    assert {**stored(documents, collection, collection)} == sealed({"at": "y", "n": 1, **added})


def test_a_single_document_loses_no_change_of_another_process() -> None:
    """A change is made anew of what was written meanwhile."""
    documents = MemoryDocuments()
    documents.meanwhile = lambda: SingleDocument(documents, BRIEFS).update({"theirs": 1})
    SingleDocument(documents, BRIEFS).update({"mine": 2})
    assert SingleDocument(documents, BRIEFS).read() == {"theirs": 1, "mine": 2}


@given(data=st.data())
def test_a_job_keeps_the_fields_of_a_later_version(data: st.DataObject) -> None:
    """Its own, those of its work and those of its message, also after a death."""
    work = QuestionAsked(event=an_event(), question=an_event("Why?"))
    job = Job(kind=work.kind, job_id="1", epoch_ms=1, key=work.key, work=work)
    added = {
        tuple("payload" if step == "work" else step for step in place): fields
        for place, fields in data.draw(some_added(job)).items()
    }
    read = decode_job(put_in(encode_job(job), added))
    assert_kept(encode_job(read.died(alone=True)), added)


def test_a_queue_keeps_them_through_a_claim_and_a_return(tmp_path: Path) -> None:
    """And gives the job back as it came, one attempt later."""
    work = QuestionAsked(event=an_event())
    queue = SpoolQueue(tmp_path, FakeClock())
    path = tmp_path / queue.put(work).name
    path.write_text(json.dumps(put_in(json.loads(path.read_text()), {(): {"later": 1}, ("payload",): {"later": 2}})))
    again = SpoolQueue(tmp_path, FakeClock())
    claimed = again.claim()
    assert claimed is not None
    assert again.give_back(claimed, why="no")
    assert_kept(json.loads(path.read_text()), {(): {"later": 1, "attempts": 1}, ("payload",): {"later": 2}})
    assert again.corrupt == []
