"""The dialogues behind the card's buttons; each carries the draft it is about in its private metadata."""

from __future__ import annotations

from slack_sdk.models.blocks import (
    Block,
    CheckboxesElement,
    ContextBlock,
    InputBlock,
    MarkdownTextObject,
    Option,
    PlainTextInputElement,
    SectionBlock,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.text import escape, fence, split, truncate
from bot.casework.checks import ref_marks
from bot.casework.decisions import Click
from bot.domain.returns import EvidenceRef
from bot.domain.threads import ThreadState

MODAL_TEXT_CHARS = 3_000
SHOWN_REFS = 45
_MARKS = {True: "✓ verified", False: "✗ not what the source says", None: "? cannot be checked by code"}


def edit_modal(click: Click, draft: str) -> View:
    """Return the editor, pre-filled; what is submitted goes through every gate an approval goes through.

    Of a draft longer than Slack's editor holds it shows the beginning, and says that it does.
    """
    fits = len(draft) <= MODAL_TEXT_CHARS
    text = PlainTextInputElement(
        action_id=ids.INPUT,
        multiline=True,
        initial_value=prefill(draft) or None,
        max_length=MODAL_TEXT_CHARS,
    )
    save = Option(text="Only save it; I will post later", value=ids.ONLY_SAVE)
    choice = CheckboxesElement(action_id=ids.INPUT, options=[save])
    return _modal(
        ids.EDIT_VIEW,
        click,
        title="Edit the reply",
        submit="Post now",
        blocks=[
            *([] if fits else [_cut_note(len(draft))]),
            InputBlock(block_id=ids.REPLY, label="Reply (Markdown)", element=text),
            InputBlock(block_id=ids.ONLY_SAVE, label="Not yet?", element=choice, optional=True),
        ],
    )


def prefill(draft: str) -> str:
    """Return what the editor shows of a draft; submitted as it is, it stands for the whole draft."""
    return draft if len(draft) <= MODAL_TEXT_CHARS else "".join(split(draft, MODAL_TEXT_CHARS)[:1])


def _cut_note(chars: int) -> Block:
    words = (
        f"The draft has {chars:,} characters and Slack's editor holds {MODAL_TEXT_CHARS:,}: the rest was cut here. "
        "Submitted untouched, the whole draft counts; once you change it, what stands here replaces all of it."
    )
    return ContextBlock(elements=[MarkdownTextObject(text=words)])


def dismiss_modal(click: Click) -> View:
    """Return the question for a reason, which may stay empty."""
    text = PlainTextInputElement(
        action_id=ids.INPUT, placeholder="Already answered, not for us, wrong …", max_length=500
    )
    block = InputBlock(block_id=ids.REASON, label="Why? (helps the next draft)", element=text, optional=True)
    return _modal(ids.DISMISS_VIEW, click, title="Dismiss the draft", submit="Dismiss", blocks=[block])


def context_modal(click: Click) -> View:
    """Return the input for what neither the code nor the message says."""
    text = PlainTextInputElement(action_id=ids.INPUT, multiline=True, max_length=MODAL_TEXT_CHARS)
    block = InputBlock(block_id=ids.CONTEXT, label="What should the investigator know?", element=text)
    return _modal(ids.CONTEXT_VIEW, click, title="Add context", submit="Investigate", blocks=[block])


def evidence_modal(state: ThreadState) -> View:
    """Return every citation with its quote and what the checks say of it."""
    ret = state.investigator_return
    refs = (ret.evidence_refs if ret else ())[:SHOWN_REFS]
    marks = ref_marks(state.rounds[-1].checks, len(refs)) if state.rounds else [None] * len(refs)
    blocks = [block for ref, mark in zip(refs, marks, strict=True) for block in _citation(ref, mark)]
    nothing = SectionBlock(text=MarkdownTextObject(text="This draft cites nothing."))
    return View(type="modal", title="Evidence", close="Close", blocks=blocks or [nothing])


def _citation(ref: EvidenceRef, mark: bool | None) -> list[Block]:
    where = f"*{escape(ref.ref)}*" + (f" at `{escape(ref.commit[:12])}`" if ref.commit else "")
    return [
        SectionBlock(text=MarkdownTextObject(text=truncate(f"{where}\n{fence(ref.quote)}", 2_900))),
        ContextBlock(
            elements=[MarkdownTextObject(text=truncate(f"{_MARKS[mark]} · {escape(ref.supports_claim)}", 300))]
        ),
    ]


def _modal(callback_id: str, click: Click, *, title: str, submit: str, blocks: list[Block]) -> View:
    return View(
        type="modal",
        callback_id=callback_id,
        private_metadata=ids.encode_click(click),
        title=title,
        submit=submit,
        close="Cancel",
        blocks=blocks,
    )
