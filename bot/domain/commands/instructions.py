"""What a mention of the bot may be; mention_instructions.py reads it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class InstructionKind(StrEnum):
    """What a mention is."""

    QUESTION = "question"
    """It has words of its own, to be worked on as any question or added to the thread's."""
    BARE = "bare"
    """The bot's name, perhaps a greeting, and nothing else."""
    LOOK = "look"
    """"Look into this", "any idea?": about what stands above it."""
    COMMAND = "command"
    """One of `/triage`, typed as a mention."""
    DECISION = "decision"
    """"Approve it": what only a button of a card does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """A mention read. `command` is what to type after `/triage`, for a COMMAND only."""

    kind: InstructionKind
    command: str = ""
