"""What else a search found: whoever approves makes it the draft with one click, proved like any other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks import ids
from blocks.cards.draft_card import CardFacts, card_blocks
from bot.casework.clicks import DraftClick
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn, Verdict, quoting_claims
from bot.domain.threads import PendingReason, Resolution, ThreadState
from bot.errors import Conflict, ProviderError
from tests.builders import a_return
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

CARL = "U3"
MINE = "Ask Ben, he wrote it."


def found(path: str) -> EvidenceRef:
    """Return what a search found in a file."""
    sentence = f"`go` is defined in `{path}:1`."
    return EvidenceRef(
        kind=EvidenceKind.FILE, ref=f"{path}:1", commit="a" * 40, quote=f"def {path[0]}():", supports_claim=sentence
    )


FIRST, SECOND, THIRD = map(found, ("a.py", "b.py", "c.py"))
RESULT: InvestigatorReturn = a_return(evidence_refs=(FIRST,), candidates=(SECOND, THIRD)).with_claims(
    quoting_claims(FIRST)
)


def an_office(folder: Path, *, faults: Faults | None = None, verdicts: tuple[Verdict, ...] = ()) -> Office:
    """Return an office in which a search found three places."""
    return Office(folder, RESULT, faults=faults, verdicts=verdicts).asked()


def buttons(state: ThreadState) -> list[DraftClick]:
    """Return what each Use this of a thread's card carries."""
    blocks = [block.to_dict() for block in card_blocks(state, CardFacts(link_to=lambda _: None))]
    offered = [block["accessory"] for block in blocks if "accessory" in block]
    return [ids.CLICK.decode(one["value"]) for one in offered if one["action_id"] == ids.USE_THIS]


def test_one_click_makes_it_the_draft(tmp_path: Path) -> None:
    """Its sentence and its lines, a version further; what was the draft is offered first; nothing is posted."""
    office = an_office(tmp_path)
    before = office.state
    office.decisions.use_candidate(buttons(office.shown)[0], by=BEN)
    after = office.shown
    assert after.draft_pending == f"{SECOND.supports_claim}\n\n```\n{SECOND.quote}\n```"
    assert (after.draft_version, after.has_edited_draft) == (before.draft_version + 1, False)
    assert after.investigator_return is not None
    assert (after.evidence_refs, after.investigator_return.candidates) == ((SECOND,), (FIRST, THIRD))
    assert after.investigator_return.claims == tuple(quoting_claims(SECOND))
    assert office.messenger.posts == []
    assert [one.chosen_by for one in after.rounds] == [None, BEN]


def test_the_asker_sees_what_was_chosen_and_nothing_else(tmp_path: Path) -> None:
    """The reply and its record name one place, and it is no edit."""
    office = an_office(tmp_path)
    office.decisions.use_candidate(buttons(office.shown)[0], by=BEN)
    office.decisions.approve(office.click(), by=BEN)
    [post] = office.messenger.posts
    [record] = office.log.records()
    assert "b.py" in post.text
    assert not any(path in f"{post.text} {json.dumps(record)}" for path in ("a.py", "c.py"))
    assert (office.ended.resolution, record["edited"]) == (Resolution.APPROVED, False)
    assert (record["validator_verdict"], record["investigator_rounds"]) == ("pass", 1)


def test_a_button_decides_on_no_other_draft(tmp_path: Path) -> None:
    """Neither on one of another version or other words, nor as an approval."""
    office = an_office(tmp_path)
    before, click = office.state, buttons(office.shown)[0]
    for wrong in (replace(click, version=click.version + 1), replace(click, draft_hash="0" * 16), office.click()):
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.use_candidate(wrong, by=BEN)
    with pytest.raises(Conflict, match="out of date"):
        office.decisions.approve(click, by=BEN)
    assert office.state == before


@each_row("verdict, reason", [(Verdict.PASS, "approval"), (Verdict.BOUNCE, "disagreement")])
def test_it_is_proved_anew(verdict: Verdict, reason: str, tmp_path: Path) -> None:
    """What the checks find of it stands on its card; the draft before it passed."""
    office = an_office(tmp_path, verdicts=(Verdict.PASS, verdict))
    office.decisions.use_candidate(buttons(office.shown)[0], by=BEN)
    after = office.shown
    assert office.validator.seen[-1].evidence_refs == (SECOND,)
    assert after.pending_reason is PendingReason(reason)
    assert after.validator_return is not None
    assert after.validator_return.verdict is verdict
    assert {check.ok for check in after.checks} == {verdict is Verdict.PASS}


def test_code_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    """The same click counts once it can be."""
    office = an_office(tmp_path)
    before, click = office.state, buttons(office.shown)[0]
    office.validator.script = [ProviderError("git cannot read it")]
    with pytest.raises(ProviderError):
        office.decisions.use_candidate(click, by=BEN)
    assert office.state == before
    office.validator.script = [Verdict.PASS]
    office.decisions.use_candidate(click, by=BEN)
    assert office.shown.evidence_refs == (SECOND,)


def test_of_two_who_click_the_second_is_told_who_was_first(tmp_path: Path) -> None:
    """Also where both read the thread before either wrote, and whichever of the buttons they click."""
    office = an_office(tmp_path)
    one, other = buttons(office.shown)
    validate = office.validator.validate

    def while_ben_clicks(*args: object, **known: object) -> object:
        office.validator.validate = validate  # type: ignore[method-assign]
        office.decisions.use_candidate(one, by=BEN)
        return validate(*args, **known)  # type: ignore[arg-type]

    office.validator.validate = while_ben_clicks  # type: ignore[method-assign,assignment]
    for click in (other, one, other):
        with pytest.raises(Conflict, match=f"<@{BEN}> changed what is proposed"):
            office.decisions.use_candidate(click, by=CARL)
    assert office.state.evidence_refs == (SECOND,)


def test_a_saved_edit_stands_beside_what_was_chosen(tmp_path: Path) -> None:
    """Approve posts the human's text until somebody clicks Use new."""
    office = an_office(tmp_path)
    office.decisions.refresh_card(office.decisions.edit(office.click(), MINE, by=BEN))
    office.decisions.use_candidate(buttons(office.shown)[0], by=CARL)
    after = office.shown
    assert (after.draft_pending, after.draft_edited_by) == (MINE, BEN)
    assert after.draft_new is not None
    assert "b.py" in after.draft_new.text
    office.decisions.approve(office.click(), by=CARL)
    assert [post.text for post in office.messenger.posts] == [MINE]


def test_a_crash_at_any_point_leaves_one_draft_and_its_card(tmp_path: Path) -> None:
    """The one before or the one that was chosen, and the card of the next start shows it."""

    def build(faults: Faults) -> Office:
        crash_at, faults.crash_at = faults.crash_at, None
        folder = tmp_path / f"crash{crash_at}"
        folder.mkdir()
        office = an_office(folder, faults=faults)
        faults.points.clear()
        faults.crash_at = crash_at
        return office

    ends = crash_everywhere(build, lambda office: office.decisions.use_candidate(buttons(office.shown)[0], by=BEN))
    assert ends
    for where, office in ends:
        office.restart()
        office.service.cards.catch_up()
        assert office.state.evidence_refs in ((FIRST,), (SECOND,)), where
        assert buttons(office.shown) == buttons(office.state), where


def use_first(office: Office) -> None:
    """Choose the first candidate."""
    office.decisions.use_candidate(buttons(office.shown)[0], by=BEN)


def use_last(office: Office) -> None:
    """Choose the last candidate."""
    office.decisions.use_candidate(buttons(office.shown)[-1], by=CARL)


def edit(office: Office) -> None:
    """Save an edit."""
    words = f"{office.state.draft_pending} And more."
    office.decisions.refresh_card(office.decisions.edit(office.click(), words, by=BEN))


def reinvestigate(office: Office) -> None:
    """Have it found again."""
    office.decisions.reinvestigate(office.click(), by=CARL)
    office.work()


def keep(office: Office) -> None:
    """Keep the human's text where there are two drafts."""
    if office.shown.draft_new is not None:
        office.decisions.use_mine(replace(office.click(), draft_hash=office.shown.draft_new.hash), by=BEN)


_folders = count()


@given(steps=st.lists(st.sampled_from([use_first, use_last, edit, reinvestigate, keep]), min_size=1, max_size=6))
def test_a_button_of_an_old_card_only_has_it_shown_again(
    steps: list[Callable[[Office], None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever happened since, and though the same lines may be offered again."""
    office = an_office(tmp_path_factory.mktemp(f"old{next(_folders)}"))
    old: list[DraftClick] = []
    for step in steps:
        old += buttons(office.shown)
        step(office)
    current = buttons(office.shown)
    before, shown = office.state, len(office.messenger.cards[-1].shown)
    for click in [one for one in old if one not in current]:
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.use_candidate(click, by=BEN)
        shown += 1
        assert (office.state, len(office.messenger.cards[-1].shown)) == (before, shown)
    for click in current:  # nor does a button decide on another draft
        for wrong in (replace(click, version=click.version + 1), replace(click, draft_hash="0" * 16), office.click()):
            with pytest.raises(Conflict, match="out of date"):
                office.decisions.use_candidate(wrong, by=BEN)
        with pytest.raises(Conflict, match="out of date"):
            office.decisions.approve(click, by=BEN)
    assert office.state == before
