"""What a mention asks the bot to do when it is no question of its own: look at the thread, or take a command. Pure.

Conservative: only a message that is nothing but the instruction is one, and anything with words of its own stays a
question. Nothing is ever changed on the strength of it; see docs/decisions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from bot.domain.command_specs import command_names, manual, read_line
from bot.domain.tables import Words, read_table
from bot.domain.text.sanitize import strip_hidden


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


MAX_CHARS: Final = 200

_MARKS: Final = re.compile(r"[¡¿?!.,;:…。、，！？]+")
_COURTESY: Final = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|and|so|please|pls|plz|kindly|also|just|yo|dear|sorry|ping|cc|fyi"
    r"|good (?:morning|afternoon|evening))\b(?:[\s,;!.-]|:(?!\w))*)+",
    re.IGNORECASE,
)
_PICTURE: Final = r":(?:-1|[\w+][\w+'-]*):|[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]"
_END: Final = re.compile(rf"(?:[\s,;.!:…-]|\b(?:please|pls|plz|thanks|thank you|thx|ty|asap|now)\b|{_PICTURE})+$", re.I)
_OTHERS: Final = re.compile(r"^(?:<[@!][^<>]*>[\s,;:]*)+|(?:[\s,;:]*<[@!][^<>]*>)+$")
_UPWARDS: Final = re.compile(r"(?:\s|👀|:eyes:|\?|⬆️|☝️|👆|:point_up(?:_2)?:|:arrow_up:|\^)+")
_ALL_OF_IT: Final = re.compile(r"^(pause|resume|stop)(?: (?:triage|yourself|everything|it all|it|all|the bot))?$")


class _Language(NamedTuple):
    looks: Words
    decides: Words
    little: Words
    has_blanks: bool = True


@cache
def _languages() -> dict[str, _Language]:
    return read_table(__file__, "instruction_words.yml", dict[str, _Language])


def read_instruction(text: str, bot_user_id: str) -> Instruction:
    """Return what a message that mentions the bot asks for.

    >>> read_instruction("<@U0BOT> can you look into this please?", "U0BOT").kind
    <InstructionKind.LOOK: 'look'>
    >>> read_instruction("<@U0BOT> why does the retry fail?", "U0BOT").kind
    <InstructionKind.QUESTION: 'question'>
    >>> read_instruction("<@U0BOT> status?", "U0BOT").command
    'status'
    """
    if len(text) > MAX_CHARS:
        return Instruction(kind=InstructionKind.QUESTION)
    said = unicodedata.normalize("NFKC", strip_hidden(text)[0]).replace("’", "'")
    said = " ".join(re.sub(rf"<@{re.escape(bot_user_id)}(?:\|[^<>]*)?>", " ", said).split())
    said = _OTHERS.sub("", _COURTESY.sub("", _OTHERS.sub("", said)))
    if _UPWARDS.fullmatch(said):
        return Instruction(kind=InstructionKind.LOOK)
    bare = _END.sub("", said).strip()
    if not bare:
        return Instruction(kind=InstructionKind.BARE)
    if command := _command(bare):
        return Instruction(kind=InstructionKind.COMMAND, command=command)
    return Instruction(kind=_kind_of(re.sub(_PICTURE, " ", bare)))


def _kind_of(said: str) -> InstructionKind:
    """Return what a message asks for that says nothing but to look or to decide, in one of the languages here.

    >>> [_kind_of(said).value for said in ("schau dir das bitte mal an", "¿puedes mirar esto?", "これを見てください")]
    ['look', 'look', 'look']
    >>> [_kind_of(said).value for said in ("passt so", "schau dir die Retries an", "warum geht das nicht?")]
    ['decision', 'question', 'question']
    """
    words = _MARKS.sub(" ", said.casefold()).split()
    if any(_is_only(words, lists.decides, lists) for lists in _languages().values()):
        return InstructionKind.DECISION
    is_look = any(_is_only(words, lists.looks, lists) for lists in _languages().values())
    return InstructionKind.LOOK if is_look else InstructionKind.QUESTION


def _is_only(words: Sequence[str], asks: Words, lists: _Language) -> bool:
    """Whether every word is listed, or without blanks is made of listed pieces, and one of them asks."""
    if lists.has_blanks:
        return not set(words).isdisjoint(asks) and set(words) <= {*asks, *lists.little}
    pieces = "|".join(sorted({*asks, *lists.little}, key=len, reverse=True))
    said = "".join(words)
    return any(word in said for word in asks) and bool(re.fullmatch(f"(?>(?:{pieces})+)", said))


def _command(said: str) -> str:
    """Return the command that a mention is, word for word and without more words; "" for what may be a question."""
    line = read_line(said.rstrip("?! "))
    path = " ".join(line.words).lower()
    if not path and said.startswith("/"):
        return "help"
    if whole := _ALL_OF_IT.match(path):
        return "pause" if whole[1] == "stop" else whole[1]
    entry = manual().get(path.removeprefix("help "))
    is_whole = entry is not None and (entry.path != path or " <" not in entry.form or bool(command_names(path)))
    return path if is_whole else ""
