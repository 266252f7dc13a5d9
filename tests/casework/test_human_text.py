"""What somebody saved as the reply outlives every investigation, until a human chooses otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blocks.cards.draft_actions import click_of
from bot.casework.clicks import DraftClick
from bot.domain.threads import Resolution, ThreadStatus
from bot.errors import Conflict
from tests.builders import a_return
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

CARL = "U3"
MINE, FIRST, NEW = "Ask Ben, he wrote it.", "It is five.", "It is seven."


def an_office(folder: Path, *more: object, faults: Faults | None = None, **known: object) -> Office:
    """Return an office in which the second investigation drafts something new."""
    script = (a_return(draft_reply=FIRST), *(more or (a_return(draft_reply=NEW),)))
    return Office(folder, *script, faults=faults, **known)  # type: ignore[arg-type]


def edited(office: Office) -> Office:
    """Let Ann ask, and Ben save an edit of the draft."""
    office.asked()
    office.decisions.refresh_card(office.decisions.edit(office.click(), MINE, by=BEN))
    return office


def new_click(office: Office) -> DraftClick:
    """Return what Use mine and Use new of the card carry."""
    new = office.shown.draft_new
    assert new is not None
    return replace(click_of(office.shown), draft_hash=new.hash)


def reinvestigate(office: Office) -> None:
    """Carl sends the question back, and it is investigated."""
    office.decisions.reinvestigate(office.click(), by=CARL)
    office.work()


def add_context(office: Office) -> None:
    """Carl adds context, and the question is investigated again."""
    office.decisions.add_context(office.click(), "Only on weekdays.", by=CARL)
    office.work()


def follow_up(office: Office) -> None:
    """Ann asks the bot again in the thread."""
    office.says("<@U0BOT> and on weekdays?", mention=True)


ROUNDS = [reinvestigate, add_context, follow_up]


@each_row("again", ROUNDS)
def test_a_saved_edit_stands_beside_the_new_draft(again: Callable[[Office], None], tmp_path: Path) -> None:
    """The card and the record hold both; Approve posts the human's text, which is what the card shows."""
    office = edited(an_office(tmp_path))
    again(office)
    assert (office.shown.draft_pending, office.shown.draft_edited_by) == (MINE, BEN)
    assert office.shown.draft_new is not None
    assert office.shown.draft_new.text == NEW
    office.decisions.approve(office.click(), by=CARL)
    assert [post.text for post in office.messenger.posts] == [MINE]
    assert office.ended.resolution is Resolution.EDITED


def test_the_text_stands_while_the_investigation_runs(tmp_path: Path) -> None:
    """The card shows it; nothing can be approved before the investigation ends."""
    office = edited(an_office(tmp_path))
    old = office.click()
    office.decisions.reinvestigate(office.click(), by=CARL)
    assert (office.shown.status, office.shown.draft_pending) == (ThreadStatus.INVESTIGATING, MINE)
    with pytest.raises(Conflict, match=f"<@{CARL}> asked for another investigation"):
        office.decisions.approve(old, by=BEN)
    assert office.messenger.posts == []


def test_words_typed_before_a_follow_up_are_kept_and_the_new_draft_comes_beside_them(tmp_path: Path) -> None:
    """Whoever had the editor open when somebody asked more loses nothing."""
    office = an_office(tmp_path).asked()
    opened = office.click()
    office.investigator.meanwhile = lambda: office.decisions.edit(opened, MINE, by=BEN)
    office.says("and on weekdays?")
    assert (office.state.draft_pending, office.state.draft_edited_by) == (MINE, BEN)
    assert office.state.draft_new is not None
    assert office.state.draft_new.text == NEW


def test_use_new_proposes_the_new_draft_and_approve_posts_it(tmp_path: Path) -> None:
    """It is no edit then, and its words are what is posted."""
    office = edited(an_office(tmp_path))
    reinvestigate(office)
    office.decisions.use_new(new_click(office), by=BEN)
    assert (office.shown.draft_pending, office.shown.draft_new) == (NEW, None)
    office.decisions.approve(office.click(), by=BEN)
    assert [post.text for post in office.messenger.posts] == [NEW]
    assert office.ended.resolution is Resolution.APPROVED


@pytest.mark.parametrize(("first", "second"), [("use_new", "use_mine"), ("use_mine", "use_new")])
def test_a_choice_counts_once_and_the_loser_is_told_who_chose(first: str, second: str, tmp_path: Path) -> None:
    """Both had the same card before them."""
    office = edited(an_office(tmp_path))
    reinvestigate(office)
    click, approval = new_click(office), office.click()
    getattr(office.decisions, first)(click, by=BEN)
    before = office.state
    with pytest.raises(Conflict, match=f"<@{BEN}> changed what is proposed"):
        getattr(office.decisions, second)(click, by=CARL)
    with pytest.raises(Conflict, match=f"<@{BEN}> changed what is proposed"):
        office.decisions.approve(approval, by=CARL)
    assert office.state == before
    assert office.messenger.posts == []


def test_a_choice_names_the_draft_it_saw(tmp_path: Path) -> None:
    """A click on the card of an earlier new draft, or with the hash of the human's text, chooses nothing."""
    office = edited(an_office(tmp_path, a_return(draft_reply=NEW), a_return(draft_reply="It is eight.")))
    reinvestigate(office)
    old = new_click(office)
    reinvestigate(office)
    for click in (old, office.click(), replace(new_click(office), version=old.version)):
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.use_new(click, by=BEN)
    assert office.state.draft_pending == MINE


def test_of_two_who_edit_the_second_is_told_who_was_first(tmp_path: Path) -> None:
    """Both had the editor open on the same draft; the first one's words stay."""
    office = an_office(tmp_path).asked()
    click = office.click()
    office.decisions.edit(click, MINE, by=BEN)
    with pytest.raises(Conflict, match=f"<@{BEN}> changed what is proposed"):
        office.decisions.edit(click, "Other words.", by=CARL)
    assert office.state.draft_pending == MINE


def test_what_was_written_since_the_edit_is_told_before_the_text_is_posted(tmp_path: Path) -> None:
    """The new draft knows of it, the human's text does not: only Use new settles it."""
    office = edited(an_office(tmp_path))
    follow_up(office)
    assert len(office.shown.stale_reasons) == 1
    said = office.decisions.approve(replace(office.click(), seen=0), by=BEN)
    assert "Not posted yet" in said
    office.decisions.use_new(new_click(office), by=BEN)
    assert office.shown.stale_reasons == ()


def test_the_text_and_the_choice_outlive_a_crash_anywhere(tmp_path: Path) -> None:
    """Whenever the process dies while the question is investigated again, the words of the human are on the card."""

    def build(faults: Faults) -> Office:
        crash_at, faults.crash_at = faults.crash_at, None
        folder = tmp_path / f"crash{crash_at}"
        folder.mkdir()
        office = edited(an_office(folder, faults=faults))
        faults.points.clear()
        faults.crash_at = crash_at
        return office

    ends = crash_everywhere(build, reinvestigate, every=2)
    assert ends
    for where, office in ends:
        office.restart()
        assert office.state.draft_pending == MINE, where
        if office.state.draft_new is not None:
            office.decisions.use_new(new_click(office), by=BEN)
            assert office.state.draft_pending == NEW, where


def test_nothing_is_sent_automatically_in_place_of_a_human_text(tmp_path: Path) -> None:
    """A thread with an edit is not judged fit to be sent."""
    office = edited(an_office(tmp_path))
    reinvestigate(office)
    assert office.state.auto is None or not office.state.auto.qualifies
    assert office.messenger.posts == []
    assert ANN not in office.approvers
