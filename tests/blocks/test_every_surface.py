"""Whoever writes what a surface shows, nobody but code sets a mark on it, approves anything, pings or breaks markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
import responses
from pydantic import SecretStr
from slack_sdk.models.views import View

from blocks.cards.alert_card import (
    alert_blocks,
    alert_text,
    closing_blocks,
    closing_text,
    escalation_blocks,
    notice_text,
    reject_modal,
    retired_blocks,
    ring_blocks,
    rings_blocks,
    rings_text,
    suggestion_blocks,
    suggestion_text,
)
from blocks.cards.draft_actions import click_of, edit_modal
from blocks.cards.draft_card import card_text
from blocks.cards.evidence_modal import evidence_modal
from blocks.cards.fix_view import diff_modal
from blocks.cards.reply_cards import (
    audit_blocks,
    audit_text,
    message_text,
    not_helpful_blocks,
    not_helpful_text,
    reply_messages,
)
from blocks.elements import text_input
from blocks.text.outgoing_text import given_back
from blocks.views.answers import answer_blocks, message_blocks, without_tables
from blocks.views.home_view import Notice, TeamHome, home_view
from blocks.views.report_views import reminder_blocks
from bot.adapters.notify import TelegramSurface, WebhookSurface
from bot.casework.checks.sources import Lines, Missing
from bot.casework.reports.answers import open_answer, status_answer
from bot.casework.reports.answers_autonomy import autonomy_answer
from bot.casework.reports.answers_brief import brief_answer
from bot.casework.reports.status_overview import FindingLine
from bot.domain.alerts import Severity
from bot.domain.answers import Part, all_commands, lines_of, unknown
from bot.domain.citations.links import code_links
from bot.domain.fixes import FixMark
from bot.domain.paging import Paging
from bot.domain.playbook import parse
from bot.domain.returns import EvidenceKind, SuspectChange, Verdict
from bot.domain.threads import EarlierReply, Followup, PendingReason, Resolution, ThreadState, ThreadStatus
from bot.heartbeat.session_rows import list_answer, log_answer, why_answer
from bot.heartbeat.suggestion_desk import list_suggestions
from bot.ports import PageRing
from tests.blocks.cards.test_alert_card import FINDING, alert
from tests.blocks.cards.test_evidence_modal import a_citation
from tests.blocks.cards.test_reply_cards import some_feedback
from tests.blocks.forged_forms import FORMS, filled, seen
from tests.blocks.limits import texts
from tests.builders import NOW, REF, a_return
from tests.casework.reports.test_answers import an_overview
from tests.casework.reports.test_answers_brief import brief
from tests.casework.test_fix_opening import a_fix
from tests.domain.test_patches import a_patch
from tests.gallery import answers
from tests.gallery.cards import AUTO, card, drafted
from tests.gallery.offers import OFFER, QUARANTINED
from tests.tables import each_row

SUSPECT = SuspectChange(ref="a.py:1", commit="a" * 40, author="x", subject="x", changed_at=NOW, is_latest=True)
EARLIER = EarlierReply(chat_id="C1", message_id="1.2", text="x", posted_at=NOW, approved_by="U1", changed=("x",))
RETURN = a_return(
    "x",
    gloss="x",
    evidence_refs=(REF, REF.model_copy(update={"kind": EvidenceKind.MEMORY, "supports_claim": "x"})),
    open_questions=("x",),
    not_answered=("x",),
    not_searched="x",
    suspect_changes=(SUSPECT,),
    proposed_patch=a_patch(),
)
JUDGED = {"ret": RETURN, "verdict": Verdict.BOUNCE, "reasons": ("x",), "note": "x", "judge": "x"}
KNOWN: Final[dict[str, Any]] = {
    "stale_reasons": ("x",),
    "followups": (Followup(message_id="1.3", sender_id="U2", text="x", at=NOW),),
    "dismiss_reason": "x",
    "triage_file_path": "x",
    "earlier_reply": EARLIER,
    "paging": Paging(since=NOW, said="x", said_by="U2"),
    "severity": Severity.PAGE,
}
FIX = a_fix(waits="x", unseen="x")


def asked(text: str, reason: PendingReason | None = PendingReason.DISAGREEMENT, **changes: Any) -> ThreadState:
    """Return a thread that waits, in which everybody but code writes `text`."""
    state = filled(drafted(reason, **JUDGED).evolve(**KNOWN), text)
    two = tuple(one.model_copy(update={"round": number}) for number, one in enumerate(state.rounds * 2, 1))
    return state.model_copy(update={"rounds": two, "investigator_round": 2, **changes})


def closed(text: str, resolution: Resolution) -> ThreadState:
    """Return such a thread as it ended, in our own words."""
    step = drafted().status_history[-1].model_copy(update={"why": "dismissed by <@U1>"})
    ended = {"status": ThreadStatus.CLOSED, "pending_reason": None, "resolution": resolution, "closed_at": NOW}
    return asked(text, **ended, status_history=(step,), posted_message_id="1.9")


def evidence(text: str) -> View:
    """Return the dialogue of citations of each kind; lines of code are not filled, they are printed as they are."""
    lines = Lines(lines=("x = 1",), shown=("x = 1",), start=9, path="x.py")
    commit = Lines(lines=("x",), shown=("x",), commit="b" * 40, about=text)
    refs = [a_citation(one, False, "x") for one in (lines, commit, Missing("x"))]
    return evidence_modal("T1.C1.1", [filled(ref, text) for ref in refs], code_links(None))


def alerts(text: str) -> Iterator[Any]:
    """Yield the alert of a finding in each state, the list, and their one-line texts."""
    for finding in (FINDING, FINDING.evolve(resolved_at=NOW), None):
        one = filled(alert(finding, reasoning="x", notes=("x",)), text)
        listed = one.evolve(finding=None, listed=(filled(FINDING.evolve(resolved_at=one.at, is_unshown=True), text),))
        yield from (alert_blocks(one), alert_blocks(listed), retired_blocks(one))
        yield from (alert_text(one), closing_text(listed), closing_text(one), closing_blocks(listed))


def pages(text: str) -> Iterator[Any]:
    """Yield what rings for a question that pages."""
    state, waited = asked(text), timedelta(minutes=5)
    rings = [PageRing(state, 1, waited)]
    yield from (ring_blocks(state, (), number=1, waited=waited), escalation_blocks(state, waited=waited))
    yield from (rings_blocks(rings, ()), rings_text(rings), notice_text(state, waited))


def replies(text: str) -> Iterator[Any]:
    """Yield a draft as it is posted, and what follows a reply."""
    auto, feedback = filled(AUTO, text), filled(some_feedback(), text)
    yield from reply_messages(text)
    yield from map(message_text, reply_messages(text))
    yield from (
        audit_blocks(auto),
        audit_text(auto),
        not_helpful_blocks(asked(text), feedback),
        not_helpful_text(feedback),
    )


def suggestions(text: str) -> Iterator[Any]:
    """Yield a suggestion as a card, as a dialogue and in the list."""
    for one in (filled(OFFER.evolve(decision_reason="x", decided_by_name="x"), text), filled(QUARANTINED, text)):
        one = one.evolve(card_channel=None)
        yield from (suggestion_blocks(one), answer_blocks(list_suggestions([one])), suggestion_text(one))
        yield reject_modal(one)


def briefs(text: str) -> Iterator[Any]:
    """Yield the brief, open drafts, reminders and status."""
    found = FindingLine(session_id="shop", text=text, severity=Severity.PAGE, since=NOW)
    seen_now = filled(an_overview("x", paused="x", index="x", clones=("x",)), text)
    whole = filled(brief(paused="x", remarks=(("x", "x"),)), text)
    told = replace(whole, open_findings=(found,))
    yield answer_blocks(brief_answer(told, text, may_see_drafts=True))
    for answer in (open_answer, status_answer):
        blocks = answer_blocks(answer(seen_now, NOW, may_see_drafts=True))
        yield from (blocks, without_tables(blocks))
    yield reminder_blocks(seen_now.drafts, NOW, expire_after=None)
    yield answer_blocks(autonomy_answer(filled(answers._CASE, text), may_see_drafts=True))


def homes(text: str) -> Iterator[Any]:
    """Yield App Home of one team and of several."""
    home = replace(filled(answers._HOME, text), card=lambda state: card(state), drafts={})
    notice = Notice(text=text, at=NOW, about=text)
    for name in ("", "shop"):
        yield home_view([TeamHome(name=name, home=home, may_approve=True)], user="U2", notice=notice)


def sessions(text: str) -> Iterator[Any]:
    """Yield what commands answer about sessions and their tasks."""
    beats, rows = filled(answers._BEATS, text), filled(answers._ROWS, text)
    playbook = parse(f"## Quick\n\n- [ ] {' '.join(text.split())}\n")
    tasks = replace(answers._tasks(), playbook=playbook)
    changed = tasks.answer(Part(lines=lines_of([text]), quoted=text), undo=("tiers", text))
    said = (list_answer(rows, NOW), log_answer("shop", beats), tasks.answer(problem=text))
    yield from map(answer_blocks, (*said, why_answer("shop", beats), changed))
    yield message_blocks(text)


def dialogues(text: str) -> Iterator[Any]:
    """Yield what dialogues show."""
    yield from (evidence(text), diff_modal(filled(a_patch(), text), remark=text))


def inputs(text: str) -> Iterator[Any]:
    """Yield what inputs hold before somebody types."""
    for part in (edit_modal(click_of(asked(text)), text), text_input("x", "x", text=text)):
        yield from re.findall(r"'initial_value': (?:'([^']*)'|\"([^\"]*)\")", repr(part.to_dict()))[0]


def sent(surface: TelegramSurface | WebhookSurface, text: str) -> dict[str, Any]:
    """Return what is sent outside of Slack."""
    with responses.RequestsMock() as network:
        network.post(re.compile("https://.*"), json={"ok": True, "result": {"message_id": 1}})
        surface.send("https://hook.example", filled(alert(reasoning="x", notes=("x",)), text))
        return dict(json.loads(network.calls[0].request.body or "{}"))


def read(parts: Iterable[Any]) -> list[str]:
    """Return every text of messages, dialogues and lines."""
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        else:
            whole = [one.to_dict() for one in (part if isinstance(part, list) else [part])]
            found += texts(whole)
    return found


SURFACES: Final[dict[str, Callable[[str], Iterator[Any]]]] = {
    "card of a draft": lambda text: iter((card(asked(text), fixes=FixMark(fixes=(filled(FIX, text),), problem=text)),)),
    "card of a search": lambda text: iter((card(asked(text, PendingReason.APPROVAL)),)),
    "card of a failure": lambda text: iter((card(asked(text, PendingReason.FAILED, draft_pending=None)),)),
    "card at work": lambda text: iter((card(asked(text, None, status=ThreadStatus.ESCALATED), progress=text),)),
    "card of a reply": lambda text: iter((card(closed(text, Resolution.APPROVED)),)),
    "card of a dismissal": lambda text: iter((card(closed(text, Resolution.DISMISSED)),)),
    "notification of a card": lambda text: iter((card_text(asked(text)),)),
    "page": pages,
    "reply": replies,
    "alert": alerts,
    "Telegram": lambda text: iter((sent(TelegramSurface(SecretStr("7:x")), text)["text"],)),
    "webhook": lambda text: (one for one in sent(WebhookSurface(), text).values() if isinstance(one, str)),
    "suggestion": suggestions,
    "brief and status": briefs,
    "App Home": homes,
    "session and tasks": sessions,
    "dialogue": dialogues,
    "input": inputs,
    "ephemeral answer": lambda text: iter((*given_back(text, "x"), answer_blocks(all_commands(unknown(text, [text]))))),
}
PLAIN: Final = ("Telegram", "webhook", "input")
"""Surfaces that know neither Slack's mentions nor its escapes."""


@each_row("surface", SURFACES)
def test_no_form_does_anything_on_any_surface(surface: str) -> None:
    """What a reader takes for the code's own, and what Slack acts on, is the same as with harmless words."""
    assert effects(surface, FORMS[::4]) == {}


@pytest.mark.full
@each_row("surface", SURFACES)
def test_none_of_all_forms_does_anything_on_any_surface(surface: str) -> None:
    """The same of every form; the test above takes each fourth."""
    assert effects(surface, FORMS) == {}


def effects(surface: str, forms: Sequence[str]) -> dict[str, list[str]]:
    """Return the forms that do anything there, each with what."""
    harmless = seen(read(SURFACES[surface]("so")))
    found = {form: seen(read(SURFACES[surface](form))) - harmless for form in forms}
    told = {form: [kind for kind in kinds if _counts(kind, surface)] for form, kinds in found.items()}
    return {form: kinds for form, kinds in told.items() if kinds}


def _counts(kind: str, surface: str) -> bool:
    """Whether it is of any effect there: no mention notifies who alone reads it, and other chats know only signs."""
    if surface in PLAIN:
        return kind.startswith(("mark ", "claim"))
    return kind != "token <@" or surface not in ("ephemeral answer", "App Home")


def test_there_are_many_forms() -> None:
    """Each once."""
    assert len(set(FORMS)) == len(FORMS) >= 80


LINES: Final = ("print('✅ done')", "notify('<!channel> @here')", "<!-- validated by hand -->", "x = 'a & b' # ⚠ :x:")


def test_code_is_printed_as_it_stands() -> None:
    """No line is dropped or changed for what it says; escaped it pings nobody, and no fence in it ends the block."""
    printed = (*LINES, "```")
    shown = Lines(lines=printed, shown=printed, path="x.py")
    text = "\n".join(read([evidence_modal("T1.C1.1", [a_citation(shown)], code_links(None))]))
    for line in LINES:
        escaped = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@here", "@\u200bhere")
        assert escaped in text
    assert text.count("```") == 2


@each_row("line", LINES)
def test_the_line_of_a_citation_on_the_card_is_the_code_s(line: str) -> None:
    """As inline code, escaped."""
    ret = a_return(evidence_refs=(REF.model_copy(update={"quote": line}),))
    text = "\n".join(read([card(drafted(ret=ret))]))
    assert line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@here", "@\u200bhere") in text


def test_what_is_posted_is_what_was_shown() -> None:
    """A draft stands on its card as it will stand in its thread, code blocks and emoji included."""
    draft = "✅ **Validated** by code :tada:\n\n```\nprint('✅')\n```"
    shown = read([card(drafted(ret=a_return(draft)))])
    (message,) = reply_messages(draft)
    assert read([message]) == ["(check mark) “Validated” by code :tada:\n\n```\nprint('✅')\n```"]
    assert set(read([message])) <= set(shown)
