"""The review of the week as blocks: who sees what, and never more than Slack takes."""

from __future__ import annotations

from pathlib import Path

from blocks.text.splitting import MESSAGE_BLOCK_CHARS, chars_of
from blocks.views.report_views import review_blocks, review_line
from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.weekly_review import ReviewLine, ReviewPart, WeeklyReview, build_review
from tests.builders import NOW

HOSTILE = "<!channel> ```<https://evil.example|x>\n> *a*"


def a_review(home: Path, *parts: ReviewPart) -> WeeklyReview:
    store = FileStore(home)
    found = build_review(store, Rollups(store), NOW)
    return WeeklyReview(window=found.window, tally=found.tally, parts=parts, errors=found.errors)


def a_part(
    count: int = 1, text: str = "Why?: wrong", link: str = "https://acme.slack.com/archives/C1/p1"
) -> ReviewPart:
    return ReviewPart(title="Dismissed", count=count, todo="read the reasons", lines=[ReviewLine(text=text, link=link)])


def shown(review: WeeklyReview, *, may_see_drafts: bool) -> str:
    return str([block.to_dict() for block in review_blocks(review, may_see_drafts=may_see_drafts)])


def test_approvers_see_questions_and_others_counts(tmp_path: Path) -> None:
    """With a link, what to do, and how many more there are."""
    review = a_review(tmp_path, a_part(9))
    whole = shown(review, may_see_drafts=True)
    assert "Dismissed: 9" in whole
    assert "<https://acme.slack.com/archives/C1/p1|thread> · Why?: wrong" in whole
    assert "… and 8 more" in whole
    counts = shown(review, may_see_drafts=False)
    assert "Dismissed: 9" in counts
    assert "Why?" not in counts


def test_a_week_without_anything_says_so(tmp_path: Path) -> None:
    """To everybody."""
    for may_see_drafts in (True, False):
        assert "Nothing to do." in shown(a_review(tmp_path), may_see_drafts=may_see_drafts)
    assert review_line(a_review(tmp_path)).startswith("The week to ")


def test_foreign_words_stay_text_and_within_the_limits(tmp_path: Path) -> None:
    """However many there are."""
    review = a_review(tmp_path, *[a_part(text=HOSTILE * 200, link=HOSTILE)] * 12)
    blocks = review_blocks(review, may_see_drafts=True, mark="triage_review:a:b")
    assert chars_of(blocks) <= MESSAGE_BLOCK_CHARS
    assert blocks[0].block_id == "triage_review:a:b"
    assert "<!channel>" not in str([block.to_dict() for block in blocks])
