"""The text that the shipped weights are trained on and measured with.

messages/<language>.yml: written for this project to train on; {a,b} in a line stands for either, and a fixed number of
the spellings of each line is used. held_out/<language>.yml: written to measure with, never trained on.
Labelled dialogues of developer chats are read from a file outside the repository, one JSON object a line:
{"id": …, "messages": [{"speaker": …, "text": …, "asks": true}]}.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from bot.domain.languages.packs import LANGUAGES

_HERE: Final = Path(__file__).parent
_ALIKE_CHARS: Final = 60
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_SPEAKER: Final = re.compile(r"\bperson\d+\b:?")


class Message(NamedTuple):
    """A message, and whether it wants an answer."""

    text: str
    asks: bool


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """Messages of one conversation; `group` is the same for dialogues that begin alike, which are one another's copies.

    `messages` are as they stand in the file, `cleaned` without what its makers added: a letter at the end of each
    message of some copies, and names such as person2.
    """

    group: int
    messages: Sequence[Message]
    cleaned: Sequence[Message]


def written_messages(language: str, spellings: int) -> Iterator[Message]:
    """Yield what was written in a language to train on, at most `spellings` of each line, the same on every run."""
    dice = random.Random(language)
    for kind, lines in _read(_HERE / "messages" / f"{language}.yml"):
        for line in lines:
            texts = sorted(expand(line))
            for text in dice.sample(texts, min(spellings, len(texts))):
                yield Message(text, kind == "asks")


def expand(line: str) -> set[str]:
    """Return every spelling of a line in lower case.

    >>> sorted(expand("{can,may} I go"))
    ['can i go', 'may i go']
    """
    choices = [part.split(",") for part in _BRACES.split(line.lower())]
    return {" ".join("".join(choice).split()) for choice in itertools.product(*choices)}


def held_out_messages(language: str) -> list[Message]:
    """Return what was written in a language to measure with."""
    return _held_out(language, asks="asks", others="others")


def held_out_reports(language: str) -> list[Message]:
    """Return reports of what is broken that ask nothing in words, and news that sound alike, to measure with."""
    return _held_out(language, asks="reports", others="news")


def _held_out(language: str, asks: str, others: str) -> list[Message]:
    lines = dict(_read(_HERE / "held_out" / f"{language}.yml"))
    return [Message(text, kind == asks) for kind in (asks, others) for text in lines[kind]]


def trained_languages() -> tuple[str, ...]:
    """Return the languages after English, and `xx` for a little of many others."""
    return (*(language for language in LANGUAGES if language != "en"), "xx")


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file; copies of one dialogue share a group."""
    groups: dict[str, int] = {}
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        messages = [Message(each["text"], bool(each["asks"])) for each in json.loads(line)["messages"]]
        cleaned = [Message(_SPEAKER.sub("@person", text), asks) for text, asks in _without_added_letter(messages)]
        key = re.sub(r"\s*e?$", "", cleaned[0].text.strip())[:_ALIKE_CHARS]
        found.append(Dialogue(group=groups.setdefault(key, len(groups)), messages=messages, cleaned=cleaned))
    return found


def first_of_each_group(dialogues: Sequence[Dialogue], but: Collection[int] = ()) -> list[Message]:
    """Return the cleaned messages of one dialogue of each group, groups in `but` left out."""
    firsts = {each.group: each for each in reversed(dialogues) if each.group not in but}
    return [message for group in sorted(firsts) for message in firsts[group].cleaned]


def _without_added_letter(messages: Sequence[Message]) -> list[Message]:
    if not all(text.endswith("e") for text, _ in messages):
        return list(messages)
    return [Message(text[:-1], asks) for text, asks in messages]


def _read(path: Path) -> list[tuple[str, list[str]]]:
    return [
        (kind, text.strip().splitlines()) for kind, text in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    ]
