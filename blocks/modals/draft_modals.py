"""The dialogues behind a draft's buttons; each carries which draft it is about, and where it was opened."""

from __future__ import annotations

from slack_sdk.models.blocks import (
    Block,
    CheckboxesElement,
    ContextBlock,
    InputBlock,
    MarkdownTextObject,
    Option,
    PlainTextInputElement,
)
from slack_sdk.models.views import View

from blocks import ids
from blocks.modals.dialogue import form
from blocks.text.outgoing_text import split
from blocks.text.splitting import INPUT_CHARS
from bot.casework.decisions import DraftClick


def edit_modal(click: DraftClick, draft: str, *, from_home: bool = False) -> View:
    """Return the editor, pre-filled; what is submitted goes through every gate an approval goes through.

    Of a draft longer than Slack's editor holds it shows the beginning, and says that it does.
    """
    fits = len(draft) <= INPUT_CHARS
    text = PlainTextInputElement(
        action_id=ids.INPUT,
        multiline=True,
        initial_value=prefill(draft) or None,
        max_length=INPUT_CHARS,
    )
    save = Option(text="Only save it; I will post later", value=ids.ONLY_SAVE)
    choice = CheckboxesElement(action_id=ids.INPUT, options=[save])
    return form(
        ids.EDIT_VIEW,
        ids.encode_dialogue(click, from_home=from_home),
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
    return draft if len(draft) <= INPUT_CHARS else "".join(split(draft, INPUT_CHARS)[:1])


def _cut_note(chars: int) -> Block:
    words = (
        f"The draft has {chars:,} characters and Slack's editor holds {INPUT_CHARS:,}: the rest was cut here. "
        "If you submit without changes, the whole draft is used. If you change anything, only this text is used."
    )
    return ContextBlock(elements=[MarkdownTextObject(text=words)])


def dismiss_modal(click: DraftClick, *, from_home: bool = False) -> View:
    """Return the question for a reason, which may stay empty."""
    text = PlainTextInputElement(
        action_id=ids.INPUT, placeholder="Already answered, not for us, wrong …", max_length=500
    )
    block = InputBlock(block_id=ids.REASON, label="Why? (helps the next draft)", element=text, optional=True)
    metadata = ids.encode_dialogue(click, from_home=from_home)
    return form(ids.DISMISS_VIEW, metadata, title="Dismiss the draft", submit="Dismiss", blocks=[block])


def context_modal(click: DraftClick, *, from_home: bool = False) -> View:
    """Return the input for what neither the code nor the message says."""
    text = PlainTextInputElement(action_id=ids.INPUT, multiline=True, max_length=INPUT_CHARS)
    block = InputBlock(block_id=ids.CONTEXT, label="What should the investigator know?", element=text)
    metadata = ids.encode_dialogue(click, from_home=from_home)
    return form(ids.CONTEXT_VIEW, metadata, title="Add context", submit="Investigate", blocks=[block])
