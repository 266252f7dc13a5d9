"""Doubts about a draft: their codes decide, their sentences are shown, and records of older versions are read."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.waits import Doubt, DoubtCode, question_edited, wrote_in_thread
from tests.builders import NOW, a_thread
from tests.tables import each_row


@each_row("code", list(DoubtCode))
def test_a_doubt_is_read_back_from_its_sentence(code: DoubtCode) -> None:
    """As the records of older versions hold it: the same doubt, so that it is not shown twice."""
    by = "U1" if code in (DoubtCode.WROTE, DoubtCode.SETTLED, DoubtCode.CONTEXT, DoubtCode.NOT_POSTED) else ""
    bare = code in (DoubtCode.CONTEXT, DoubtCode.EDITED) or Doubt(code=code).is_hard
    doubt = Doubt(code=code, by=by, about="" if bare else "two {words}\nand more")
    assert Doubt.read(doubt.text) == doubt


def test_an_edit_is_shown_without_its_digest_and_read_with_it() -> None:
    """A digest says nothing to people; records of older versions hold it in the sentence."""
    edited = question_edited("six?")
    assert edited.text == "the question was edited; the draft answers its earlier wording"
    old = f"the question was edited (to wording {edited.about}); the draft answers its earlier wording"
    assert Doubt.read(old) == edited


def test_known_doubts_are_not_added_again() -> None:
    """Of two messages of one person both are."""
    said = wrote_in_thread("U8", NOW)
    state = a_thread().in_doubt([wrote_in_thread("U9", NOW), said])
    assert state.with_doubts([said]) == state
    later = state.with_doubts([wrote_in_thread("U8", NOW + timedelta(seconds=5))])
    assert len(later.doubts) == 3
