"""The draft as sentences, joined into one text and read back from one."""

from __future__ import annotations

from bot.domain.returns import Claim, join_claims
from tests.builders import REF, a_return
from tests.tables import each_row


def said(*texts: str) -> str:
    """Return the reply that sentences make."""
    return join_claims([Claim(text=text) for text in texts])


@each_row(
    "texts, reply",
    [
        (("It waits 30 s.", "Then it stops."), "It waits 30 s. Then it stops."),
        (("Steps:", "1. stop", "2. start", "Done."), "Steps:\n1. stop\n2. start\nDone."),
        (("Here:", "```\nx = 1\n```", "That is all."), "Here:\n```\nx = 1\n```\nThat is all."),
        (("One.", "\n\nTwo."), "One.\n\nTwo."),
        (("One.\n", "Two."), "One.\nTwo."),
        ((), ""),
    ],
)
def test_sentences_become_the_reply_that_is_posted(texts: tuple[str, ...], reply: str) -> None:
    """A blank between sentences, a line for each list item and block, and the breaks that a sentence brings."""
    assert said(*texts) == reply


def test_very_many_sentences_are_joined_in_linear_time() -> None:
    """A harness may print megabytes."""
    assert len(said(*["word"] * 60_000)) == 60_000 * 5 - 1


def test_a_draft_without_claims_is_a_fact_a_paragraph_that_cites_everything() -> None:
    """As drafts of earlier releases are read."""
    old = a_return("It is 5.\n \n\nSee the file.", evidence_refs=(REF, REF))
    assert old.said_claims == (Claim(text="It is 5.", cites=(0, 1)), Claim(text="See the file.", cites=(0, 1)))


def test_new_claims_change_the_draft_with_them() -> None:
    """The text that is posted is never another than the one that was checked."""
    ret = a_return().with_claims([Claim(text="It is 5.", cites=(0,)), Claim(text="Try again.")])
    assert (ret.draft_reply, len(ret.said_claims)) == ("It is 5. Try again.", 2)
