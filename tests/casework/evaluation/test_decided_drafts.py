"""What people did with a team's drafts, by kind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.evaluation.decided_drafts import Decided, read_history
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.threads import Resolution
from bot.ports import Store
from bot.ports.collections import FEEDBACK, Collection
from tests.builders import NOW, a_return
from tests.casework.four_weeks import live_four_weeks


def vote(store: Store, thread_id: str, *helpful: bool) -> None:
    votes = {f"U{number}": Vote(is_helpful=one, at=NOW) for number, one in enumerate(helpful)}
    name = f"{abs(hash(thread_id)) % 16**16:016x}"
    Collection(store.documents, FEEDBACK).add(name, Feedback(id=name, thread_id=thread_id, votes=votes))


def test_decisions_are_counted_by_kind(tmp_path: Path) -> None:
    """Automatic replies and threads that ended otherwise are nobody's decision; drafts of models stand apart."""
    store = FileStore(tmp_path)
    endings = {1: Resolution.EDITED, 2: Resolution.DISMISSED, 3: Resolution.AUTO, 4: Resolution.EXPIRED}
    closed = live_four_weeks(store, NOW, endings, drafts=8, investigator="claude")
    live_four_weeks(
        store,
        NOW - timedelta(days=60),
        drafts=2,
        investigator="offline",
        investigator_return=a_return(confidence="low"),
    )
    vote(store, closed[0].thread_id, True, False, False)
    assert read_history(store) == {
        "model_high": Decided(approved=4, edited=1, dismissed=1, drafts=6, helpful=1, not_helpful=2),
        "search": Decided(approved=2, drafts=2),
    }
