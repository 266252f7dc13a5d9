"""The buttons of a draft and the dialogues behind them, each with the draft it is about and where it was opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    CheckboxesElement,
    InputBlock,
    InteractiveElement,
    Option,
    OverflowMenuElement,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.incoming_alert import hand_over_button
from blocks.elements import (
    MAX_OPTIONS,
    OPTION_CHARS,
    actions,
    button,
    confirmation,
    form,
    initial_text,
    menu,
    reason_input,
    text_input,
)
from blocks.text.outgoing_text import context, plain
from blocks.text.splitting import INPUT_CHARS, split
from bot.casework.clicks import DraftClick
from bot.domain.notes import MAX_NOTE_CHARS, offered_words
from bot.domain.secrets import redact
from bot.domain.text.humanize import duration
from bot.domain.threads import NewDraft, PendingReason, ThreadState

REASON_CHARS = 500
_NOT_PASSED = (PendingReason.DISAGREEMENT, PendingReason.STOPPED)

_DESPITE_OBJECTIONS = confirmation(
    "Post despite the objections?",
    "The checks did not pass this draft. Post it anyway?",
    yes="Post it",
    no="Back",
)

SAME_AS_SAID = (
    "This card goes away; the other question's card names this one and offers to post its reply here, too. "
    "“Not the same” on that card takes it apart again."
)

NOTE_SAID = (
    "Whoever looks into a similar question finds this first. What stands here when you press Save is what is kept, and "
    "nothing else. Lines of code that it names as `path:start-end` are looked up now, and again whenever it is found."
)


def edit_modal(click: DraftClick, draft: str, *, from_home: bool = False) -> View:
    """Return the editor, pre-filled; what is submitted goes through every gate an approval goes through.

    Of a draft longer than Slack's editor holds it shows the beginning, and says that it does.
    """
    save = Option(text="Only save it; I will post later", value=ids.ONLY_SAVE)
    choice = CheckboxesElement(action_id=ids.INPUT, options=[save])
    return form(
        ids.EDIT_VIEW,
        ids.encode_dialogue(click, from_home=from_home),
        title="Edit the reply",
        submit="Post now",
        blocks=[
            *([] if len(initial_text(draft)) <= INPUT_CHARS else [_cut_note(len(draft))]),
            text_input(ids.REPLY, "Reply (Markdown)", text=prefill(draft) or None),
            InputBlock(block_id=ids.ONLY_SAVE, label="Not yet?", element=choice, optional=True),
        ],
    )


def prefill(draft: str) -> str:
    """Return what the editor shows of a draft; submitted as it is, it stands for the whole draft."""
    shown = initial_text(draft)
    return shown if len(shown) <= INPUT_CHARS else "".join(split(shown, INPUT_CHARS)[:1])


def _cut_note(chars: int) -> Block:
    words = (
        f"The draft has {chars:,} characters and Slack's editor holds {INPUT_CHARS:,}: the rest was cut here. "
        "If you submit without changes, the whole draft is used. If you change anything, only this text is used."
    )
    return context(words)


def dismiss_modal(click: DraftClick, *, from_home: bool = False) -> View:
    """Return the question for a reason, which may stay empty."""
    why = reason_input("Why? (helps the next draft)", "Already answered, not for us, wrong …", REASON_CHARS)
    metadata = ids.encode_dialogue(click, from_home=from_home)
    return form(ids.DISMISS_VIEW, metadata, title="Dismiss the draft", submit="Dismiss", blocks=[why])


def context_modal(click: DraftClick, *, from_home: bool = False) -> View:
    """Return the input for what neither the code nor the message says."""
    asked = text_input(ids.CONTEXT, "What should the investigator know?")
    metadata = ids.encode_dialogue(click, from_home=from_home)
    return form(ids.CONTEXT_VIEW, metadata, title="Add context", submit="Investigate", blocks=[asked])


def same_as_modal(
    click: DraftClick, others: Sequence[tuple[ThreadState, timedelta]], *, from_home: bool = False
) -> View:
    """Return the choice of another open question, of those given with their ages, that asks the same."""
    choices = [(_choice(one, age), one.thread_id) for one, age in others[:MAX_OPTIONS]]
    return form(
        ids.SAME_AS_VIEW,
        ids.encode_dialogue(click, from_home=from_home),
        title="Same as…",
        submit="Join",
        blocks=[
            context(SAME_AS_SAID),
            InputBlock(block_id=ids.OTHER, label="The other question", element=menu(ids.INPUT, "Choose", choices)),
        ],
    )


def _choice(other: ThreadState, age: timedelta) -> str:
    where = plain(f" · #{other.chat_name or other.chat_id}, {duration(age)}", OPTION_CHARS // 2)
    return f"{plain(redact(other.question), OPTION_CHARS - len(where) - 1)} {where}"


def click_of(state: ThreadState, *, with_twins: bool = False) -> DraftClick:
    """Return the click that the buttons of the current card carry; some are about the twins, too."""
    return DraftClick(
        thread_id=state.thread_id,
        version=state.draft_version,
        draft_hash=state.clicked_hash,
        seen=min(len(state.stale_reasons), ids.MAX_SEEN),
        twins=len(state.twins) if with_twins else 0,
    )


def waiting_actions(state: ThreadState, *, can_approve: bool, can_escalate: bool, can_join: bool) -> ActionsBlock:
    """Return what a waiting thread offers, nothing of it twice.

    Args:
        state: The thread.
        can_approve: Whether its draft can be read whole.
        can_escalate: Whether long investigations are run here.
        can_join: Whether another question is open that may ask the same.
    """
    offered = _on_draft(state, can_approve=can_approve) if state.draft_pending else _without_draft(state)
    joining = [button("Same as…", ids.SAME_AS, _click(state))] if can_join else []
    handing = [] if state.is_alert else [hand_over_button(state)]  # an alert has a row for it
    names = _menu_names(state, can_escalate=can_escalate)
    left = {action: name for action, name in names.items() if action not in {one.action_id for one in offered}}
    return _row(state, [*offered, _dismiss(state), *joining, *handing, _menu(left, click_of(state))])


def _on_draft(state: ThreadState, *, can_approve: bool) -> list[InteractiveElement]:
    """Return what can be done with a draft."""
    click = _click(state)
    edit = button("Edit", ids.EDIT, click)
    if not can_approve:
        return [edit]
    if state.stale_reasons:
        approve = button("Post anyway", ids.APPROVE, click, style="danger")
    elif state.pending_reason in _NOT_PASSED and state.draft_new is None:
        approve = button("Approve", ids.APPROVE, click, style="danger", confirm=_DESPITE_OBJECTIONS)
    else:
        approve = button("Approve", ids.APPROVE, click, style="primary")
    return [approve, *_answer_too(state, approve), edit]


def choice_actions(state: ThreadState, new: NewDraft) -> ActionsBlock:
    """Return the choice between a human's text and a new draft; both clicks name the new one."""
    click = ids.CLICK.encode(replace(click_of(state), draft_hash=new.hash))
    mine, use_new = button("Use mine", ids.USE_MINE, click), button("Use new", ids.USE_NEW, click)
    return actions(f"choice:{state.thread_id}:{state.draft_version}", mine, use_new)


def _answer_too(state: ThreadState, approve: ButtonElement) -> list[ButtonElement]:
    """Return the button that posts the draft in the threads of the twins as well; it is bound to those shown."""
    count = len(state.shown_twins)
    if not count:
        return []
    value = ids.CLICK.encode(click_of(state, with_twins=True))
    label = f"Answer there too ({count})"
    return [button(label, ids.ANSWER_TOO, value, style=approve.style, confirm=approve.confirm)]


def _without_draft(state: ThreadState) -> list[InteractiveElement]:
    click = _click(state)
    write = button("Write reply", ids.EDIT, click)
    if state.pending_reason in (PendingReason.FAILED, PendingReason.STOPPED):
        again = button("Re-investigate", ids.REINVESTIGATE, click, style="primary")
        return [again, button("Add context", ids.ADD_CONTEXT, click), write]
    return [button("Add context", ids.ADD_CONTEXT, click, style="primary"), write]


def running_actions(state: ThreadState) -> ActionsBlock:
    """Return what can be done while an investigation runs."""
    add_context = button("Add context", ids.ADD_CONTEXT, _click(state))
    return _row(state, [button("Stop", ids.STOP, _click(state), style="danger"), add_context, _dismiss(state)])


def reinvestigate_button(state: ThreadState) -> ButtonElement:
    """Return the button for another investigation."""
    return button("Re-investigate", ids.REINVESTIGATE, _click(state))


def _dismiss(state: ThreadState) -> ButtonElement:
    """Return the way out."""
    click = ids.CLICK.encode(click_of(state, with_twins=True))
    return button("Dismiss", ids.DISMISS, click)


def _menu_names(state: ThreadState, *, can_escalate: bool) -> Mapping[str, str]:
    """Return the entries of the menu, five at most."""
    ret = state.investigator_return
    is_note_offered = ret and ret.proposed_triage_file and not state.triage_file_path
    return {
        ids.REINVESTIGATE: "Re-investigate",
        ids.ADD_CONTEXT: "Add context",
        **({ids.ESCALATE: "Escalate"} if can_escalate else {}),
        **({ids.SHOW_EVIDENCE: "Show evidence"} if state.evidence_refs else {}),
        **({ids.SAVE_NOTE: "Save note"} if is_note_offered else {ids.REMEMBER: "Remember this"}),
    }


def closed_actions(state: ThreadState) -> ActionsBlock:
    """Return what the card of a closed thread offers."""
    shows = {ids.SHOW_EVIDENCE: "Show evidence"} if state.evidence_refs else {}
    return _row(state, [_menu({**shows, ids.REMEMBER: "Remember this"}, click_of(state))])


def _menu(names: Mapping[str, str], click: DraftClick) -> OverflowMenuElement:
    options = [Option(text=name, value=ids.encode_option(action, click)) for action, name in names.items()]
    return OverflowMenuElement(action_id=ids.MORE, options=options)


def _click(state: ThreadState) -> str:
    return ids.CLICK.encode(click_of(state))


def _row(state: ThreadState, elements: list[InteractiveElement]) -> ActionsBlock:
    return actions(f"actions:{state.thread_id}:{state.draft_version}", *elements)


def note_modal(callback_id: str, metadata: str, words: str) -> View:
    """Return the whole note, to be changed; nothing is kept before it is submitted."""
    shown = offered_words(initial_text(words))  # a mark in words is longer
    return form(
        callback_id,
        metadata,
        title="Save a note",
        submit="Save",
        blocks=[
            context(NOTE_SAID),
            text_input(ids.NOTE, "Note (Markdown)", text=shown or None, at_most=MAX_NOTE_CHARS),
        ],
    )
