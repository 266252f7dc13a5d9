"""The card in every state, with the worst that can stand in it."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.cards.draft_actions import click_of
from blocks.cards.draft_card import CardFacts, card_blocks, card_text, draft_fits
from blocks.cards.incoming_alert import hand_over_click
from bot.domain.alerts import Severity
from bot.domain.citations.links import code_links
from bot.domain.drafts import edit_draft, propose_draft
from bot.domain.paging import Paging
from bot.domain.returns import (
    CODE_CHECKS,
    Check,
    EvidenceKind,
    EvidenceRef,
    SuspectChange,
    TriageFile,
    Verdict,
)
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus, Transition
from tests.blocks.limits import actions, as_slack_takes_it, shown
from tests.builders import NOW, REF, a_return, a_verdict, in_status
from tests.tables import each_row

OPEN = [status for status in ThreadStatus if status not in (ThreadStatus.PENDING_USER, ThreadStatus.CLOSED)]
STATES = [
    *[in_status(status) for status in OPEN],
    *[in_status(ThreadStatus.PENDING_USER, reason) for reason in PendingReason],
    *[in_status(ThreadStatus.CLOSED, resolution=resolution) for resolution in Resolution],
]
REMOTE = "git@github.com:acme/shop.git"
NAMES = [f"{state.status}-{state.pending_reason or state.resolution or ''}" for state in STATES]

HOSTILE = {
    "40,000 characters": "why " * 10_000,
    "40,000 without a space": "x" * 40_000,
    "40,000 lines": "\n" * 40_000,
    "short lines": "a\n" * 20_000,
    "broadcast": "<!channel> <!here|here> <!subteam^S123|@oncall> @everyone @channel",
    "unterminated fence": "look: ```\ncode without an end\n" + "line\n" * 2_000,
    "many fences": "```\nx\n```\n" * 2_000,
    "right to left": "\u202eלמה \u2067זה\u2069 لماذا؟",
    "only emoji": ":tada: 🎉🧵",
    "entities": "&amp;&lt;&gt;" * 5_000,
    "ampersands": "&" * 40_000,
    "backticks": "`" * 40_000,
    "links": "<https://example.com/a|label> " * 2_000,
    "empty": "",
    "blank": " \n ",
    "controls": "\x00\x07 a\u2028b",
}


SHORT = [kind for kind, text in HOSTILE.items() if len(text) < 100]
FEW = {kind: HOSTILE[kind] for kind in (*SHORT, "40,000 characters", "short lines", "unterminated fence", "ampersands")}
"""One of each class: long words, many lines, code without an end, what grows as it is escaped."""


def card(state: ThreadState, remote: str | None = None) -> list[Block]:
    """Return the card of a codebase with this git remote."""
    return card_blocks(state, CardFacts(link_to=code_links(remote)))


@each_row("state", STATES)
def test_every_state_makes_a_card_that_slack_takes(state: ThreadState) -> None:
    """Each status, reason and resolution; question and card marker always there."""
    blocks = as_slack_takes_it(card(state))
    assert blocks[0]["block_id"] == ids.card_block_id(state.thread_id)
    assert state.question in shown(card(state))
    assert 0 < len(card_text(state)) <= 3_400


@each_row("number, kind", [*product(range(len(STATES)), SHORT), *product([NAMES.index("pending-user-approval")], FEW)])
def test_no_text_breaks_a_card_or_calls_anybody(number: int, kind: str) -> None:
    """The same hostile text as question, draft, reason, doubt, objection, open question and citation."""
    check_card(STATES[number], HOSTILE[kind])


@pytest.mark.full
@each_row("number, kind", product(range(len(STATES)), HOSTILE))
def test_no_text_however_long_breaks_a_card(number: int, kind: str) -> None:
    """Each text in each state."""
    check_card(STATES[number], HOSTILE[kind])


def check_card(state: ThreadState, text: str) -> None:
    """Draw a card that holds a text wherever one may stand."""
    ref = EvidenceRef(
        kind=EvidenceKind.FILE, ref=text[:5_000] or "x", commit=text[:40], quote=text, supports_claim=text
    )
    suspect = SuspectChange(ref=text, commit=text, author=text, subject=text, changed_at=NOW)
    ret = a_return(
        text,
        evidence_refs=(ref,) * 12,
        candidates=(ref, ref.evolve(commit=None)),
        open_questions=(text,) * 5,
        not_answered=(text,) * 5,
        not_searched=text,
        suspect_changes=(suspect,) * 5,
    )
    verdict = a_verdict(state.validator_return.verdict if state.validator_return else Verdict.PASS, reasons=(text,) * 5)
    step = Transition(
        at=NOW, from_=ThreadStatus.INVESTIGATING, to=state.status, why=text if state.is_open else "dismissed by <@U2>"
    )
    nasty = state.evolve(
        question=text,
        original_sender_name=text,
        status_history=(step,),
        investigator_return=ret,
        validator_return=verdict,
        rounds=(Round(round=1, investigator_return=ret),),
        draft_pending=text[:12_000] if state.draft_pending else None,
        stale_reasons=(text,) * 3,
        dismiss_reason=text,
        posted_message_id="1.2" if state.resolution is Resolution.APPROVED else None,
    )
    as_slack_takes_it(card(nasty, REMOTE))
    assert "<!" not in card_text(nasty).replace("<!date^", "")


@given(text=st.text(alphabet=st.sampled_from("ab <>&`*_~|@!#\n:/()[]-0\u202e🧵"), max_size=4_000))
def test_any_draft_and_question_make_a_card_that_slack_takes(text: str) -> None:
    """Property: no mixture of Slack's own signs breaks the limits or gets a broadcast through."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question=text)
    as_slack_takes_it(card(state.with_draft(text or "x")))


MENU = ["Re-investigate", "Add context", "Escalate", "Show evidence", "Remember this"]


@each_row(
    "reason, judge, expected",
    [
        (PendingReason.APPROVAL, CODE_CHECKS, ["Approve", "Edit", "Dismiss", "Hand to…", *MENU]),
        (PendingReason.APPROVAL, "claude", ["Approve", "Edit", "Dismiss", "Hand to…", *MENU]),
        (PendingReason.DISAGREEMENT, "claude", ["Approve", "Edit", "Dismiss", "Hand to…", *MENU]),
        (
            PendingReason.CONTEXT,
            "claude",
            ["Add context", "Write reply", "Dismiss", "Hand to…", *[one for one in MENU if one != "Add context"]],
        ),
        (
            PendingReason.FAILED,
            "claude",
            ["Re-investigate", "Add context", "Write reply", "Dismiss", "Hand to…", *MENU[2:]],
        ),
    ],
)
def test_each_state_offers_its_own_buttons_and_none_twice(
    reason: PendingReason, judge: str, expected: list[str]
) -> None:
    """Nothing to approve without a draft."""
    judged = a_verdict(validator_model=judge)
    assert actions(card(in_status(ThreadStatus.PENDING_USER, reason, validator_return=judged))) == expected


def test_what_is_not_waiting_offers_little() -> None:
    """A run takes context, of a closed card a note may be saved."""
    for status in OPEN:
        assert actions(card(in_status(status))) == ["Stop", "Add context", "Dismiss"]
    assert actions(card(in_status(ThreadStatus.CLOSED))) == ["Show evidence", "Remember this"]


def test_no_entry_stands_there_that_can_do_nothing() -> None:
    """No long investigation without a model, no evidence without a citation."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    offline = CardFacts(link_to=lambda _: None, can_escalate=False)
    assert "Escalate" not in actions(card_blocks(state, offline))
    bare = state.evolve(investigator_return=a_return(evidence_refs=()))
    assert "Show evidence" not in actions(card(bare))


def test_every_button_is_bound_to_the_draft_it_shows() -> None:
    """Thread, version, hash and the number of doubts shown."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, stale_reasons=("one", "two"))
    [row] = [block for block in as_slack_takes_it(card(state)) if block["type"] == "actions"]
    values = [element["value"] for element in row["elements"] if element["type"] == "button"]
    options = [option["value"] for element in row["elements"] for option in element.get("options", [])]
    click = click_of(state)
    assert (click.version, click.draft_hash, click.seen) == (1, state.draft_hash, 2)
    assert {ids.CLICK.decode(value) for value in values} == {click, hand_over_click(state)}
    assert {ids.CLICK.decode(ids.split_option(value)[1]) for value in options} == {click}


@each_row("reason, verdict", list(product(PendingReason, [None, *Verdict])))
def test_only_a_pass_of_a_model_has_a_check_mark(reason: PendingReason, verdict: Verdict | None) -> None:
    """Whatever else a state claims."""
    judged = a_verdict(verdict, validator_model="claude") if verdict else None
    state = in_status(ThreadStatus.PENDING_USER, reason, validator_return=judged)
    checked = "✓ Checked by a second model" in shown(card(state))
    assert checked == (reason is PendingReason.APPROVAL and verdict is Verdict.PASS)
    assert checked == ("✓ Checked by a second model" in card_text(state))


def test_words_of_a_human_are_not_called_validated() -> None:
    """The checks were about other words."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL).with_draft("My own words.")
    seen = shown(card(state))
    assert "edited by a human" in seen
    assert "Checked by" not in seen
    assert "Search result" not in seen
    assert "confidence" not in seen


def buttons_of(blocks: list[Block]) -> list[dict[str, Any]]:
    """Return every button and menu of a card as it is sent."""
    return [element for block in blocks for element in block.to_dict().get("elements", []) if "action_id" in element]


class TestTwoDrafts:
    """A human's text, and the investigator's new draft beside it."""

    MINE, NEW = "Ask Ben about it.", "The limit is seven."

    def both(self, new: str = NEW, reason: PendingReason = PendingReason.APPROVAL) -> ThreadState:
        """Return a thread that was investigated again after somebody saved an edit."""
        edited = edit_draft(in_status(ThreadStatus.PENDING_USER, reason), self.MINE, by="U2")
        return propose_draft(edited.evolve(investigator_return=a_return(draft_reply=new)), new)

    def test_both_are_shown_each_with_what_it_rests_on(self) -> None:
        """Approve stands for the human's text; the choice names the new draft by its hash."""
        state = self.both()
        seen = card(state)
        assert self.MINE in shown(seen)
        assert self.NEW in shown(seen)
        assert "edited by a human* (<@U2>)" in shown(seen)
        assert "*Evidence* of the new draft" in shown(seen)
        values = {element["action_id"]: element.get("value") for element in buttons_of(seen)}
        assert state.draft_new is not None
        for choice in (ids.USE_MINE, ids.USE_NEW):
            assert ids.CLICK.decode(values[choice]).draft_hash == state.draft_new.hash
        assert ids.CLICK.decode(values[ids.APPROVE]).draft_hash == state.draft_hash

    def test_objections_to_the_new_draft_do_not_stand_before_the_humans_text(self) -> None:
        """Approve asks for no second confirmation while the draft objected to is the other one."""
        seen = card(self.both(reason=PendingReason.DISAGREEMENT))
        (approve,) = [element for element in buttons_of(seen) if element["action_id"] == ids.APPROVE]
        assert "confirm" not in approve
        assert "Did not pass the checks" in shown(seen)


@each_row("state", STATES)
def test_a_draft_is_shown_where_it_waits_or_was_posted_and_nowhere_else(state: ThreadState) -> None:
    """A dismissed or withdrawn thread's card holds no draft; a human's text stands while an investigation runs."""
    drafted = state.with_draft("The secret plan.", by="U2")
    assert ("The secret plan." in shown(card(drafted))) == state.is_open
    if not state.is_open:
        assert "The secret plan." in shown(card(drafted.evolve(posted_message_id="1.2")))


def test_each_citation_has_its_mark_and_its_link() -> None:
    """Verified, contradicted and uncheckable are told apart, the link pinned to the commit."""
    refs = tuple(REF.model_copy(update={"ref": f"app/{n}.py:{n}-9"}) for n in (1, 2, 3))
    ret = a_return(evidence_refs=refs)
    checks = (
        Check(name="ref[0].resolves", ok=True, reason=""),
        Check(name="ref[1].quote", ok=False, reason=""),
        Check(name="ref[2].resolves", ok=None, reason=""),
    )
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.DISAGREEMENT,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret, checks=checks),),
    )
    seen = shown(card(state, REMOTE))
    for mark, n in zip("✓✗?", (1, 2, 3), strict=True):
        url = f"https://github.com/acme/shop/blob/{'a' * 40}/app/{n}.py#L{n}-L9"
        assert f"{mark} <{url}|app/{n}.py:{n}-9> at aaaaaaa" in seen
    assert "✓ `app/1.py:1-9` at aaaaaaa" in shown(card(state))


def test_claims_that_are_not_backed_are_named_with_what_is_missing() -> None:
    """In the draft behind their words, and below the evidence; of a human's own draft nothing is said."""
    said = ("The limit is 5.", "It waits 9 s.", "It stops.")
    ret = a_return(" ".join(said), evidence_refs=(REF,), claims=tuple({"text": text, "cites": (0,)} for text in said))
    checks = (
        Check(name="ref[0].resolves", ok=True, reason=""),
        Check(name="claim[0]", ok=True, reason="“The limit is 5.” is backed"),
        Check(name="claim[1]", ok=False, reason="“It waits 9 s.” is not backed by what it cites: 9 s"),
        Check(name="claim[2]", ok=None, reason="“It stops.” holds nothing that code can compare"),
    )
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.DISAGREEMENT,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret, checks=checks),),
    ).with_draft(ret.draft_reply)
    assert "The limit is 5. It waits 9 s. [?] It stops." in shown(card(state))
    edited = edit_draft(state, "Ask Ana.", by="U2")
    assert "The limit is 5. It waits 9 s. [?] It stops." in shown(card(propose_draft(edited, ret.draft_reply)))
    assert "[?]" not in shown(card(state.with_draft("Ask Ana.")))
    assert "is backed" not in shown(card(state))
    assert "nothing that code can compare" not in shown(card(state))
    assert "is not backed" not in shown(card(state.with_draft("Ask Ana.")))


def test_a_disagreement_lists_the_objections_and_asks_twice() -> None:
    """Approve is red and wants a second click."""
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.DISAGREEMENT,
        investigator="claude",
        validator_return=a_verdict(Verdict.BOUNCE, reasons=("line 10 says 3",)),
    )
    blocks = as_slack_takes_it(card(state))
    assert "• line 10 says 3" in shown(card(state))
    [row] = [block for block in blocks if block["type"] == "actions"]
    assert row["elements"][0]["style"] == "danger"
    assert row["elements"][0]["confirm"]["confirm"]["text"] == "Post it"


def test_a_closed_card_says_who_decided_and_why() -> None:
    """In the words of the history."""
    step = Transition(at=NOW, from_=ThreadStatus.PENDING_USER, to=ThreadStatus.CLOSED, why="dismissed by <@U2>")
    ended: dict[str, Any] = {"status_history": (step,), "closed_at": NOW + timedelta(hours=1)}
    dismissed = in_status(ThreadStatus.CLOSED, dismiss_reason="answered <by phone>", **ended)
    assert "*Closed* · dismissed by <@U2> · answered &lt;by phone&gt;" in shown(card(dismissed))
    approved = in_status(ThreadStatus.CLOSED, resolution=Resolution.APPROVED, **ended)
    assert "*Posted*" in shown(card(approved))


def test_a_proposed_note_can_be_saved_once() -> None:
    """The entry comes last, only for a note, and goes once the note is saved; five fit at most."""
    noted = a_return(proposed_triage_file=TriageFile(filename="retries.md", content="# Retries"))
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=noted)

    def entries(state: ThreadState) -> list[str]:
        return actions(card(state))[4:]

    assert entries(state)[-1] == "Save note"
    assert len(entries(state)) <= 5
    assert "Save note" not in entries(state.evolve(investigator_return=a_return()))
    saved = state.evolve(triage_file_path="memory/retries.md")
    assert "Save note" not in entries(saved)
    assert "note saved as `memory/retries.md`" in shown(card(saved))


def test_an_alert_that_is_edited_again_and_again_is_one_line() -> None:
    """Bots update their message in place; the newest doubt stays the first."""
    doubts = ("edited", "a reply", *["edited"] * 98)
    said = str(
        [
            block.to_dict()
            for block in card(in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, stale_reasons=doubts))
        ]
    )
    assert "100 things changed" in said
    assert "• edited (99 times)\\n• a reply" in said


class TestCandidates:
    """What else a search found, below the evidence of the draft."""

    def seen(self, remote: str | None = None, **changes: Any) -> list[dict[str, Any]]:
        found = [REF.evolve(ref=f"app/{name}.py:1-4", quote="a\nb\nc\nd", supports_claim=f"{name}!") for name in "xyz"]
        ret = a_return(candidates=tuple(found))
        rounds = (Round(round=1, investigator_return=ret),)
        state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret, rounds=rounds)
        return [block for block in as_slack_takes_it(card(state.evolve(**changes), remote)) if "accessory" in block]

    def test_two_stand_there_with_place_lines_and_button(self) -> None:
        """The lines as they would be posted, the place with its link; more than two are not shown."""
        first, second = self.seen(REMOTE)
        place = f"<https://github.com/acme/shop/blob/{REF.commit}/app/x.py#L1-L4|app/x.py:1-4>"
        assert first["text"]["text"] == f"x!\n{place}\n```\na\nb\nc\nd\n```"
        assert second["text"]["text"].startswith("y!\n")
        assert {each["accessory"]["text"]["text"] for each in (first, second)} == {"Use this"}


class TestEvidence:
    """Each citation on its own: mark, place, claim, and the lines it rests on."""

    def seen(self, **changes: Any) -> str:
        ret = a_return(evidence_refs=(REF.model_copy(update=changes),))
        rounds = (Round(round=1, investigator_return=ret, checks=(Check(name="ref[0].quote", ok=True, reason=""),)),)
        state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret, rounds=rounds)
        return shown(card(state.evolve(question="How many retries are there?")))

    def test_a_secret_in_a_quote_is_not_shown(self) -> None:
        """The card is no place for it."""
        assert "ghp_" not in self.seen(quote='retries_token = "ghp_' + "a1B2" * 9 + '"')


LONG_TEXTS = st.builds(
    lambda unit, size: (unit * (size // len(unit) + 1))[:size],
    st.text(alphabet=st.sampled_from("ab <>&`*_~|@!#\n:/()[]-0\u202e🧵ж"), min_size=1, max_size=40),
    st.integers(min_value=1, max_value=12_000),
)


@pytest.mark.full
@given(draft=LONG_TEXTS, other=LONG_TEXTS, refused=st.sampled_from([None, "msg_blocks_too_long"]))
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])  # to make a failure smaller would take an hour
def test_long_contents_never_make_a_card_too_long(draft: str, other: str, refused: str | None) -> None:
    """Property: whatever they are."""
    check_length(draft, other, refused)


def check_length(draft: str, other: str, refused: str | None) -> None:
    """Draw a card full of two texts: it fits, and offers approval where all of its draft can be read."""
    ref = REF.model_copy(update={"quote": other, "supports_claim": other, "ref": other[:300]})
    ret = a_return(draft, evidence_refs=(ref,) * 8, open_questions=(other,) * 5, gloss=other)
    verdict = a_verdict(Verdict.BOUNCE, reasons=(other,) * 5, read=(other,) * 9)
    earlier = Round(round=1, investigator_return=ret, validator_return=verdict)
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.DISAGREEMENT,
        question=other,
        investigator_return=ret,
        investigator_round=2,
        validator_return=verdict,
        rounds=(earlier, earlier.model_copy(update={"round": 2})),
        stale_reasons=(other,) * 5,
    ).with_draft(f"x {draft}")
    for whole_at in (None, "1.2"):
        blocks = card_blocks(
            state, CardFacts(link_to=lambda _: "https://example.com/x"), whole_at=whole_at, refused=refused
        )
        as_slack_takes_it(blocks)
        is_offered = any(label in actions(blocks) for label in ("Approve", "Post anyway"))
        assert is_offered == (whole_at is not None or draft_fits(state, is_short=refused is not None))


def test_a_long_draft_is_approved_only_where_it_can_be_read() -> None:
    """The card shows its beginning and says where the whole stands; where it stands nowhere there is no Approve."""
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.APPROVAL,
        card_channel="C0OPS",
        permalink="https://acme.slack.com/archives/C1/p1",
    ).with_draft("word " * 2_300)
    nowhere = card_blocks(state, CardFacts(link_to=lambda _: None))
    assert "Approve" not in actions(nowhere)
    assert "cannot be approved" in shown(nowhere)
    there = card_blocks(state, CardFacts(link_to=lambda _: None), whole_at="1.2")
    assert "Approve" in actions(there)
    assert "is <https://acme.slack.com/archives/C0OPS/p12|in this card's thread>" in shown(there)


def test_an_alarm_leads_its_card_and_names_who_is_paged() -> None:
    """People and groups; with no approvers listed, the channel. An ordinary question names nobody."""
    page = in_status(ThreadStatus.PENDING_USER).evolve(severity=Severity.PAGE, question="prod is down!!")
    first = card_blocks(page, CardFacts(link_to=lambda _: None, pages=lambda: ("U0ANA", "S0ONCALL")))[0].to_dict()[
        "text"
    ]["text"]
    assert first.startswith("🚨 *Page:* <@U0ANA> <!subteam^S0ONCALL> ")
    assert card_text(page).startswith("🚨 *Page:* ")
    everybody = card_blocks(page, CardFacts(link_to=lambda _: None, pages=lambda: ("channel",)))[0].to_dict()["text"][
        "text"
    ]
    assert everybody.startswith("🚨 *Page:* <!channel> ")
    calm = card_blocks(page.evolve(severity=Severity.ACT), CardFacts(link_to=lambda _: None, pages=lambda: ("U0ANA",)))
    assert "Page" not in repr([block.to_dict() for block in calm])


def test_the_card_of_an_alarm_says_who_has_it() -> None:
    """Then it names nobody else; closed, it pages no more."""
    page = in_status(ThreadStatus.PENDING_USER).evolve(severity=Severity.PAGE, paging=Paging(acknowledged_by="U0BEN"))
    first = card_blocks(page, CardFacts(link_to=lambda _: None, pages=lambda: ("U0ANA",)))[0].to_dict()["text"]["text"]
    assert first.startswith(":eyes: *Page:* <@U0BEN> acknowledged it. *<@U1>* asked")


def test_what_a_draft_may_not_answer_stands_on_its_card() -> None:
    """Until a human writes another one."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL)
    ret = a_return(draft_reply=state.draft_pending, not_answered=("and for refunds?",))
    state = state.evolve(investigator_return=ret)
    assert "the draft may not answer it*\n• “and for refunds?”" in shown(card(state))
    assert "for refunds" not in shown(card(state.with_draft("Six.")))


def test_a_long_link_is_whole_or_absent() -> None:
    """A link cut in two would be read as text."""
    ref = REF.model_copy(update={"ref": "deep/" * 60 + "a.py:1-9"})
    ret = a_return(evidence_refs=(ref,))
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.APPROVAL,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret),),
    )
    seen = shown(card(state, REMOTE))
    assert seen.count("<https://github.com") == seen.count("#L1-L9|")


@each_row(
    "draft, other, refused",
    [
        ("word " * 900, "ж" * 12_000, None),
        ("&" * 12_000, "a\n" * 2_000, "msg_blocks_too_long"),
        ("x", "<🧵" * 3_000, None),
    ],
)
def test_long_contents_make_no_card_too_long(draft: str, other: str, refused: str | None) -> None:
    """Question, draft, claims, quotes, objections and doubts together stay under the limit."""
    check_length(draft, other, refused)
