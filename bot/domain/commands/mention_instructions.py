"""What a mention asks the bot to do when it is no question of its own: look at the thread, or take a command. Pure.

Conservative: only a message that is nothing but the instruction is one, and anything with words of its own stays a
question. Nothing is ever changed on the strength of it; see docs/decisions.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.commands.command_line import CommandLine, read_line
from bot.domain.commands.command_specs import MANUAL, command_names, commands
from bot.domain.tables import Words, read_table
from bot.domain.text.did_you_mean import spelled_alike
from bot.domain.text.sanitize import strip_hidden

MAX_CHARS: Final = 200
MAX_COMMAND_WORDS: Final = 4
SURELY: Final = 0.8

_MARKS: Final = re.compile(r"[¡¿?!.,;:…。、]+")
_COURTESY: Final = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|and|so|please|pls|plz|kindly|also|just|yo|dear|sorry|ping|cc|fyi"
    r"|good (?:morning|afternoon|evening))\b(?:[\s,;!.-]|:(?!\w))*)+",
    re.IGNORECASE,
)
_CLOSING: Final = (
    r"\b(?:please|pls|plz|thanks|thank you|thx|ty|asap|when you can|for (?:me|us)|now|quickly)\b"
    r"|:(?:-1|[\w+][\w+'-]*):|[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]"
)
_END: Final = re.compile(rf"(?:[\s,;.!:…-]|{_CLOSING})+$", re.IGNORECASE)
_ASKING_END: Final = re.compile(rf"(?:[\s,;.!:…?-]|{_CLOSING})+$", re.IGNORECASE)
_OTHERS: Final = re.compile(r"^(?:<[@!][^<>]*>[\s,;:]*)+|(?:[\s,;:]*<[@!][^<>]*>)+$")
_EYES: Final = re.compile(r"(?:\s|👀|:eyes:|\?|⬆️|☝️|👆|:point_up(?:_2)?:|:arrow_up:|\^)+")
_ABLE: Final = r"(?:(?:can|could|would|will) (?:you|u|we|it)(?: please| pls| maybe| perhaps)? )?"
_THIS: Final = (
    r"(?: (?:this|that|it|these|here|above|the above|the (?:question|thread|message|one)(?: above)?"
    r"|this (?:one|thread|question|message|issue|problem)|<@[^<>]*>))?"
)
_LOOK: Final = re.compile(
    rf"{_ABLE}(?:(?:have|take|get) (?:a |another )?(?:quick )?look(?: at| into)?|look(?: at| into)?|investigate|triage"
    rf"|check|dig into|see|handle|answer|help(?: out)?(?: with| on)?|find out|take|chime in|weigh in|assist)"
    rf"{_THIS}(?: too| as well| again| once more| one more time)?"
    r"|(?:any|got any|have an?) (?:ideas?|thoughts?|clues?|answers?)(?: (?:here|on this|about this))?"
    r"|(?:thoughts|ideas|what about (?:this|that|it)|what do you (?:think|say)(?: about (?:this|that))?|do you know"
    r"|you know|can you help|this|this one|your turn|over to you)"
    r"|(?:re-?investigate|investigate again|try(?: it)? again|look again|check again|do it again|once more|again|retry"
    r"|re-?run|redo(?: it)?)(?: this| it)?",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"(?:approve|approved|lgtm|looks good|dismiss|reject|accept|ship|post|send|publish|edit)"
    r"(?: (?:it|this|that|one|(?:the |this |that )?(?:draft|reply|answer|card)))?",
    re.IGNORECASE,
)
_ALL_OF_IT: Final = re.compile(r"^(pause|resume|stop)(?: (?:triage|yourself|everything|it all|it|all|the bot))?$")
_SAME: Final = {"stop": "pause", "paused": "status", "resumed": "status", "stopped": "status"}
_ALONE: Final = frozenset(entry.path for entry in commands() if " " not in entry.form or entry.path == "help")


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


class _Language(NamedTuple):
    looks: Words
    little: Words
    decides: tuple[str, ...]
    has_blanks: bool = True


_LANGUAGES: Final = read_table(__file__, "instruction_words.yml", dict[str, _Language])
_DECIDES: Final = frozenset(itertools.chain.from_iterable(lists.decides for lists in _LANGUAGES.values()))


def read_instruction(text: str, bot_user_id: str, sessions: Collection[str] = ()) -> Instruction:
    """Return what a message that mentions the bot asks for; `sessions` are the ids that a command may name.

    >>> read_instruction("<@U0BOT> can you look into this please?", "U0BOT").kind
    <InstructionKind.LOOK: 'look'>
    >>> read_instruction("<@U0BOT> why does the retry fail?", "U0BOT").kind
    <InstructionKind.QUESTION: 'question'>
    >>> read_instruction("<@U0BOT> status?", "U0BOT").command
    'status'
    """
    if len(text) > MAX_CHARS * 4:
        return Instruction(kind=InstructionKind.QUESTION)
    said = unicodedata.normalize("NFKC", strip_hidden(text)[0]).replace("’", "'")
    said = " ".join(re.sub(rf"<@{re.escape(bot_user_id)}(?:\|[^<>]*)?>", " ", said).split())
    if len(said) > MAX_CHARS:
        return Instruction(kind=InstructionKind.QUESTION)
    said = _OTHERS.sub("", _COURTESY.sub("", _OTHERS.sub("", said)))
    if _EYES.fullmatch(said):
        return Instruction(kind=InstructionKind.LOOK)
    bare = _END.sub("", said).strip()
    if not bare:
        return Instruction(kind=InstructionKind.BARE)
    if command := _command(bare, sessions):
        return Instruction(kind=InstructionKind.COMMAND, command=command)
    asked = _ASKING_END.sub("", bare)
    if _DECISION.fullmatch(asked) or _means_decision(asked):
        return Instruction(kind=InstructionKind.DECISION)
    return Instruction(
        kind=InstructionKind.LOOK if _LOOK.fullmatch(asked) or _means_look(asked) else InstructionKind.QUESTION
    )


def _command(said: str, sessions: Collection[str]) -> str:
    """Return the command that a mention is, word for word; "" for anything that may be a question."""
    line = read_line(said.rstrip("?! "))
    first = line.word(0)
    if not line.words and said.startswith("/"):
        return "help"
    if whole := _ALL_OF_IT.match(" ".join(line.words).lower()):
        return _SAME.get(whole[1], whole[1])
    if len(line.words) == 1:
        if first in _SAME:
            return _SAME[first]
        if first in _ALONE or command_names(first):
            return first
        near = spelled_alike(first, _ALONE - {"help"}, most=1, cutoff=SURELY)
        return near[0] if near else ""
    return line.text if _has_the_form(line, sessions) and "?" not in said else ""


def _has_the_form(line: CommandLine, sessions: Collection[str]) -> bool:
    """Whether several words are a command: `help pause`, `heartbeat run shop`, `tiers shop add hourly …`.

    "help status codes", "tiers pricing" and "heartbeat log location" are questions: code has tiers and heartbeats, too.
    """
    first, second, third = (line.word(place) for place in range(3))
    if first == "help":
        return " ".join(line.words[1:]).lower() in MANUAL
    if first == "tiers":
        return second in sessions and (len(line.words) == 2 or third in command_names(first))
    entry = MANUAL.get(f"{first} {second}")
    if entry is None or (third and "<session>" in entry.form and third not in sessions):
        return False
    more = len(line.words) - 2
    return more <= (MAX_COMMAND_WORDS - 2 if entry.extra_words is None else entry.extra_words) or second == "reject"


def _means_look(said: str) -> bool:
    """Whether a message asks, in one of the languages here, to look at what stands above it, and says nothing else.

    >>> _means_look("schau dir das bitte mal an"), _means_look("¿puedes mirar esto?"), _means_look("これを見てください")
    (True, True, True)
    >>> _means_look("schau dir die Retries an"), _means_look("warum geht das nicht?")
    (False, False)
    """
    words = _plain(said).split()
    return any(_is_only(lists, words if lists.has_blanks else ["".join(words)]) for lists in _LANGUAGES.values())


def _means_decision(said: str) -> bool:
    """Whether a message is "approve it" or "reject it" in one of the languages here, and says nothing else."""
    return _plain(said) in _DECIDES


def _plain(said: str) -> str:
    return " ".join(_MARKS.sub(" ", unicodedata.normalize("NFKC", said).casefold()).split())


def _is_only(lists: _Language, words: Sequence[str]) -> bool:
    """Whether every word is listed, or without blanks is made of listed pieces, and one asks to look."""
    looks, little = lists.looks, lists.little
    if lists.has_blanks:
        return not set(words).isdisjoint(looks) and set(words) <= {*looks, *little}
    pieces = "|".join(sorted({*looks, *little}, key=len, reverse=True))
    return any(look in words[0] for look in looks) and bool(re.fullmatch(f"(?>(?:{pieces})+)", words[0]))
