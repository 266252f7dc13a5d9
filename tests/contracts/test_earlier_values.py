"""Stored values of earlier releases with fields that went since are read, and what went is not shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blocks.cards.draft_card import CardFacts, card_blocks
from bot.casework.long_run import EscalationFolder
from bot.domain.threads import PendingReason, ThreadState, ThreadStatus
from bot.domain.waits import wrote_in_thread
from bot.ports.migrations import sealed
from bot.ports.threads import Threads
from tests.builders import NOW, THREAD_ID, a_return, in_status
from tests.contracts.test_documents import ENGINES
from tests.tables import each_row

TRACK_RECORD = {"band": "question", "right": 84, "drafts": 92, "expected": 0.9, "is_own": False, "decided": 0}


def as_stored(state: ThreadState) -> dict[str, Any]:
    """Return a thread's document as a process wrote it."""
    return sealed(state.model_dump(mode="json", exclude={"version"}))


def shown(state: ThreadState) -> str:
    """Return what stands on a thread's card."""
    return repr([block.to_dict() for block in card_blocks(state, CardFacts(link_to=lambda _: None))])


def labels(state: ThreadState) -> list[tuple[str, str | None]]:
    """Return the buttons of a thread's card, each with its style."""
    blocks = [block.to_dict() for block in card_blocks(state, CardFacts(link_to=lambda _: None))]
    (buttons,) = (block["elements"] for block in blocks if block["type"] == "actions")
    return [(one["text"]["text"], one.get("style")) for one in buttons if one["type"] == "button"]


@each_row("engine", ENGINES)
def test_a_thread_whose_draft_has_a_track_record_is_read(engine: str, tmp_path: Path) -> None:
    """Its card says nothing of it, and the thread can be changed."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL).evolve(investigator_return=a_return())
    stored = as_stored(state)
    stored["investigator_return"]["track_record"] = TRACK_RECORD
    documents = ENGINES[engine](tmp_path)()
    documents.put("threads", THREAD_ID, stored, version=0)
    threads = Threads(documents)
    found = threads.get(THREAD_ID)
    assert found is not None
    assert found.investigator_return is not None
    assert found.investigator_return.model_dump() == a_return().model_dump()
    assert shown(found) == shown(state)
    changed = threads.amend(THREAD_ID, lambda now: now.with_draft("Six."))
    assert changed is not None
    assert changed.draft_pending == "Six."


@each_row("engine", ENGINES)
def test_a_thread_whose_asker_needed_no_answer_any_more_is_read(engine: str, tmp_path: Path) -> None:
    """Its card quotes the asker and offers what any other card does."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    stored = as_stored(state)
    stored["doubts"] = [{"code": "settled", "by": state.original_sender_id, "about": "never mind <!here>"}]
    stored["stale_reasons"] = [f"<@{state.original_sender_id}> wrote: never mind <!here>"]
    documents = ENGINES[engine](tmp_path)()
    documents.put("threads", THREAD_ID, stored, version=0)
    found = Threads(documents).get(THREAD_ID)
    assert found is not None
    assert f"<@{state.original_sender_id}> wrote: never mind &lt;!here&gt;" in shown(found)
    other = state.in_doubt([wrote_in_thread(state.original_sender_id, NOW)])
    assert labels(found) == labels(other)


@pytest.mark.parametrize("track_record", [None, TRACK_RECORD])
def test_the_return_of_a_long_run_of_an_earlier_release_is_collected(
    track_record: dict[str, Any] | None, tmp_path: Path
) -> None:
    """A run that an earlier release began may end after the update."""
    old = {**a_return().model_dump(mode="json"), "track_record": track_record}
    (tmp_path / "return.json").write_text(json.dumps(old))
    found = EscalationFolder(tmp_path).returned()
    assert found is not None
    assert found.model_dump() == a_return().model_dump()
