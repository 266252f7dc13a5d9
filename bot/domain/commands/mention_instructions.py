"""What a mention asks the bot to do when it is no question of its own: look at the thread, or take a command. Pure.

Conservative: only a message that is nothing but the instruction is one, and anything with words of its own stays a
question. Nothing is ever changed on the strength of it; see docs/decisions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final, NamedTuple

from bot.domain.commands.command_line import CommandLine, read_line
from bot.domain.commands.command_specs import command_names, commands, manual
from bot.domain.commands.instructions import Instruction, InstructionKind
from bot.domain.tables import Words, read_table
from bot.domain.text.sanitize import strip_hidden

MAX_CHARS: Final = 200
MAX_COMMAND_WORDS: Final = 4

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


@cache
def _alone() -> frozenset[str]:
    """Return the commands that may stand alone."""
    return frozenset(spec.path for spec in commands() if " <" not in spec.form or command_names(spec.path))


class _Language(NamedTuple):
    looks: Words
    decides: Words
    little: Words
    has_blanks: bool = True


@cache
def _languages() -> dict[str, _Language]:
    return read_table(__file__, "instruction_words.yml", dict[str, _Language])


def read_instruction(text: str, bot_user_id: str, sessions: Collection[str] = ()) -> Instruction:
    """Return what a message that mentions the bot asks for; `sessions` are the ids that a command may name.

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
    if command := _command(bare, sessions):
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


def _command(said: str, sessions: Collection[str]) -> str:
    """Return the command that a mention is, word for word; "" for anything that may be a question."""
    line = read_line(said.rstrip("?! "))
    first = line.word(0)
    if not line.words and said.startswith("/"):
        return "help"
    if whole := _ALL_OF_IT.match(" ".join(line.words).lower()):
        return "pause" if whole[1] == "stop" else whole[1]
    if len(line.words) == 1:
        return first if first in _alone() else ""
    return line.text if _has_the_form(line, sessions) and "?" not in said else ""


def _has_the_form(line: CommandLine, sessions: Collection[str]) -> bool:
    """Whether several words are a command: `help pause`, `heartbeat run shop`, `tiers shop add hourly …`.

    "help status codes", "tiers pricing" and "heartbeat log location" are questions: code has tiers and heartbeats, too.
    """
    first, second, third = (line.word(place) for place in range(3))
    if first == "help":
        return " ".join(line.words[1:]).lower() in manual()
    if first == "tiers":
        return second in sessions and (len(line.words) == 2 or third in command_names(first))
    entry = manual().get(f"{first} {second}")
    if entry is None or (third and "<session>" in entry.form and third not in sessions):
        return False
    more = len(line.words) - 2
    return more <= (MAX_COMMAND_WORDS - 2 if entry.extra_words is None else entry.extra_words) or second == "reject"
