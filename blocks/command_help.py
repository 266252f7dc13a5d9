"""What `/triage help` says: every command on a line, one command in full, and the near ones for a slip of the pen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from slack_sdk.models.blocks import Block, MarkdownTextObject, SectionBlock

from blocks.text import escape

_FORMS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "status": (("status", "what waits, what runs, whether Slack is heard. Approvers also see the questions."),),
    "open": (
        ("open", "the drafts that wait for a decision, oldest first, each with a link to its card. Approvers only."),
    ),
    "brief": (
        ("brief", "the last 24 hours; questions and findings are for approvers. `brief:` in triage.yml says it daily"),
    ),
    "pause": (
        (
            "pause",
            "nothing that costs money begins: messages are still heard and get their cards, investigations and "
            "heartbeats wait; what runs already ends. A restart changes nothing of that. Approvers only.",
        ),
    ),
    "resume": (("resume", "what waited is taken up, oldest first. Approvers only."),),
    "investigate": (
        (
            "investigate <question>",
            "asks in the ops channel, in your name, from wherever you type; the card shows the draft. Approvers only.",
        ),
    ),
    "approve-list": (("approve-list", "who may approve, and where that is written."),),
    "heartbeat": (
        ("heartbeat list", "every session: how often, how it stands"),
        ("heartbeat on|off <session>", "switch it"),
        ("heartbeat every <session> 15m", "how often; `default` gives the word back to triage.yml"),
        ("heartbeat run <session>", "a beat now"),
        ("heartbeat log|why <session>", "its latest beats; the way its latest one went"),
    ),
    "help": (("help", "the list of commands"), ("help <command>", "one command in full")),
}


def help_blocks(commands: dict[str, str], *, unknown: str | None = None, near: list[str] | None = None) -> list[Block]:
    """Return the list of commands, and for an unknown word the nearest ones."""
    parts: list[Block] = []
    if unknown:
        meant = f" Did you mean {' or '.join(f'`/triage {word}`' for word in near)}?" if near else ""
        parts.append(_section(f"There is no `/triage {escape(unknown)}`.{meant}"))
    lines = [f"`/triage {name}`  {what}" for name, what in commands.items()]
    parts.append(_section("\n".join(lines)))
    return parts


def word_blocks(word: str, what: str) -> list[Block]:
    """Return all there is to say on a known command; `what` is its line in the list."""
    forms = _FORMS.get(word, ((word, what),))
    return [_section("\n".join(f"`/triage {escape(form)}`  {says}" for form, says in forms))]


def _section(text: str) -> Block:
    return SectionBlock(text=MarkdownTextObject(text=text))
