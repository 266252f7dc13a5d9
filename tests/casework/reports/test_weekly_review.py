"""The week as a lead reads it: each thing that went wrong with its link, how often, and what to do."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.classifier_samples import error_words
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.weekly_review import build_review
from bot.domain.returns import Check, Verdict
from bot.domain.threads import Resolution
from bot.ports.collections import JUDGEMENTS
from tests.builders import NOW
from tests.casework.four_weeks import live_four_weeks
from tests.casework.past import a_round, judgement

ENDINGS = {46: Resolution.DISMISSED, 45: Resolution.EDITED, 44: Resolution.AUTO, 3: Resolution.DISMISSED}


def a_team(folder: Path) -> FileStore:
    store = FileStore(folder)
    live_four_weeks(store, NOW, ENDINGS)
    tone = Check(name="tone", ok=False, reason="hedging")
    bounced = a_round(1, Verdict.BOUNCE, (tone,))
    live_four_weeks(store, NOW - timedelta(days=27), {}, drafts=1, channel="C3")
    live_four_weeks(store, NOW + timedelta(days=26), {}, drafts=1, channel="C2", rounds=(bounced, a_round(2)))
    for number, right in ((1, False), (2, True)):
        store.journal(JUDGEMENTS).append(judgement(number, right=right).model_dump(mode="json"))
    return store


def test_each_part_says_how_often_where_and_what_to_do(tmp_path: Path) -> None:
    """Of this week alone; what needs nothing is not named."""
    store = a_team(tmp_path)
    review = build_review(store, Rollups(store), NOW)
    parts = {part.title: part for part in review.parts}
    counts = {title: part.count for title, part in parts.items()}
    assert counts == {
        "Dismissed": 1,
        "Edited before it was posted": 1,
        "Bounced in round 1": 1,
        "Sent automatically": 1,
        "Wrongly ignored": 1,
    }
    (dismissed,) = parts["Dismissed"].lines
    assert dismissed.text == "Where is limit 46 set? · it is another limit"
    assert dismissed.link.startswith("https://acme.slack.com/archives/C1/p")
    assert parts["Wrongly ignored"].lines[0].link == "https://acme.slack.com/archives/C1/p1"
    assert "tone (1)" in parts["Bounced in round 1"].todo
    assert "technical_qa (1)" in parts["Edited before it was posted"].todo
    assert all(part.todo for part in review.parts)
    assert error_words(review.errors[0]).startswith("50 % of 2 ignored messages deserved work")
    assert error_words(review.errors[1]) == "nothing was judged"
