"""Views with more in them than anybody wants to read: what is left out is left out with a sign."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from slack_sdk.models.blocks import Block

from blocks.views.answers import answer_blocks
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.answers import open_answer, status_answer
from bot.casework.reports.status_overview import overview
from bot.domain.heartbeats.beats import BeatResult, Envelope, Indicator, Wake
from bot.domain.returns import Verdict
from bot.domain.threads import PendingReason
from bot.heartbeat.session_rows import log_answer, why_answer
from bot.ports.threads import Threads
from tests.builders import NOW
from tests.gallery.cards import RETURN, card, drafted
from tests.gallery.flaws import flaws
from tests.gallery.scene import Scene
from tests.gallery.stage import Stage

LONG = "Why does the warehouse answer so late on Mondays, and who would have to know of it first? " * 60
"""More than any of the views has room for."""


def _beat() -> Envelope:
    return Envelope(
        ts=NOW,
        session_id="shop",
        workspace_dir="/srv/shop",
        reason=Wake.INTERVAL,
        result=BeatResult.SENT,
        indicator=Indicator.ALERT,
        preview=LONG,
    )


def _crowded(home: Path) -> dict[str, Sequence[Block]]:
    """Return each view with a long text where people's or a model's words go."""
    waiting = drafted(question=LONG)
    Threads(FileDocuments(home)).put(waiting)
    seen = overview(FileStore(home), NOW)
    claims = tuple(ref.model_copy(update={"supports_claim": LONG}) for ref in RETURN.evidence_refs)
    objection = drafted(PendingReason.DISAGREEMENT, verdict=Verdict.BOUNCE, reasons=(LONG,))
    return {
        "question": card(waiting),
        "draft": card(drafted(ret=RETURN.model_copy(update={"draft_reply": LONG}))),
        "claim": card(drafted(ret=RETURN.model_copy(update={"evidence_refs": claims}))),
        "objection": card(objection),
        "doubt": card(drafted(stale_reasons=(LONG,))),
        "status": answer_blocks(status_answer(seen, NOW, may_see_drafts=True)),
        "open": answer_blocks(open_answer(seen, NOW, may_see_drafts=True)),
        "log": answer_blocks(log_answer("shop", [_beat()])),
        "why": answer_blocks(why_answer("shop", [_beat()])),
    }


@pytest.mark.browser
def test_a_crowded_view_says_what_it_leaves_out(stage: Stage, tmp_path: Path) -> None:
    """And nothing of it is wider than its place."""
    said = " ".join(LONG.split())
    found = {}
    for name, blocks in _crowded(tmp_path).items():
        view = stage.show(Scene(name=name, title=name, meaning=name, shows=blocks, said=(said,)))
        found[name] = flaws(view, (said,))
        stage.clear()
    assert {name: flawed for name, flawed in found.items() if flawed} == {}
