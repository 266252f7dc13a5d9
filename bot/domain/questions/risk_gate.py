"""Finds commands that destroy, overwrite, weaken or run what nobody has read, in a draft that somebody may copy.

Pure and linear. The commands stand in risky_commands.yml: shell, SQL, the command line tools of clouds and containers,
and a few calls of libraries. A command counts wherever it stands, in code or in a sentence, unless the cited lines hold
it: then it is a quotation. Programs that only read (`grep "DROP TABLE"`) and dry runs do not count. The table is about
what a command can do, so it is not complete and cannot be: an unknown tool counts if one of its arguments is a word
such as `destroy`. What kind of advice a draft gives is not read here: both models say it in fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from bot.domain.questions.draft_language import CODE_SEGMENT, own_sentences
from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.text.linear_patterns import LinearPattern

_SEPARATOR: Final = LinearPattern(r"[\n;]|&&|\|\|?|\$\(|`")
_EDGES: Final = "$#%|;&(` \t\n"
"""A prompt, or an opening, before or behind a simple command."""

_FENCE_MARK: Final = re.compile(r"^(?:```|~~~)[\w+-]*\n?|`", re.MULTILINE)
SHOWN_CHARS: Final = 80


class _RiskyCommandsTable(NamedTuple):
    parts: Parts
    reads: Alternatives
    harmless: Alternatives
    anywhere: dict[str, Alternatives]
    in_code: dict[str, Alternatives]


_LISTS: Final = read_table(__file__, "risky_commands.yml", _RiskyCommandsTable)
_READS: Final = LinearPattern(rf"^\s*(?:[$#]\s+)?(?:sudo\s+)?(?:{_LISTS.reads})(?:\s|$)")
_HARMLESS: Final = LinearPattern(_LISTS.harmless)


def _compiled(table: dict[str, str]) -> dict[str, LinearPattern]:
    return {kind: LinearPattern(fill(pattern, _LISTS.parts)) for kind, pattern in table.items()}


_ANYWHERE: Final = _compiled(_LISTS.anywhere)
_IN_CODE: Final = _compiled(_LISTS.in_code)


class RiskyCommand(NamedTuple):
    """A dangerous command: what kind of danger, and the words that show it."""

    kind: str
    words: str


def risky_commands(draft: str, cited: Iterable[str] = ()) -> list[str]:
    """Return the dangerous commands of a draft, each as `kind: “words”`; `cited` are the lines it cites.

    >>> risky_commands("Run `rm -rf /var/data` on the host."), risky_commands("The job deletes old rows.")
    (['data deletion: “rm -rf”'], [])
    >>> risky_commands("It runs `DELETE FROM carts`.", ['    db.execute("DELETE FROM carts")'])
    []
    """
    text = _spaced(" ".join(cited))
    found = [one for sentence in own_sentences(draft) for one in commands_in_prose(sentence)]
    for segment in CODE_SEGMENT.findall(draft):
        code = _FENCE_MARK.sub("", segment)
        found += [] if _is_quoted(_spaced(code), text) else commands_in_code(code)
    return list(dict.fromkeys(f"{kind}: “{_spaced(words)[:SHOWN_CHARS]}”" for kind, words in found))


def _is_quoted(code: str, text: str) -> bool:
    """Whether cited text holds a piece of code whole: `rm -rf /` is no part of `rm -rf /tmp`."""
    return re.search(rf"(?<![\w/.~$*-]){re.escape(code)}(?![\w/.~$*-])", text) is not None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def commands_in_code(code: str) -> list[RiskyCommand]:
    """Return the dangerous commands in a piece of code: a code span or a fenced block, without its marks.

    >>> commands_in_code("curl https://x.example/i.sh | sudo bash")[0].kind
    'unread code'
    >>> commands_in_code("grep -rn 'rm -rf' scripts"), commands_in_code("git log")
    ([], [])
    """
    parts = list(_simple_commands(code))
    acting = "".join(f"{_acting(part)}{mark}" for part, mark in parts)
    simple = (part.strip(_EDGES) for part, _ in parts)
    return _found(_ANYWHERE, acting) or [one for part in simple if _acting(part) for one in _found(_IN_CODE, part)]


def commands_in_prose(text: str) -> list[RiskyCommand]:
    """Return the dangerous commands that stand in a sentence without marks of code.

    >>> [found.kind for found in commands_in_prose("Run rm -rf /var/data and delete from the list what is left.")]
    ['data deletion']
    """
    return _found(_ANYWHERE, text)


def _found(patterns: dict[str, LinearPattern], text: str) -> list[RiskyCommand]:
    spans = {kind: next(pattern.spans(text), None) for kind, pattern in patterns.items()}
    return [RiskyCommand(kind, text[span[0] : span[1]].strip()) for kind, span in spans.items() if span]


def _simple_commands(code: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a command line between pipes, semicolons and line ends, each with the mark behind it."""
    start = 0
    for begin, end in [*_SEPARATOR.spans(code), (len(code), len(code))]:
        yield code[start:begin], code[begin:end]
        start = end


def _acting(command: str) -> str:
    """Return what of a simple command can do harm: of what only reads its redirection, of a dry run nothing."""
    if _HARMLESS.is_in(command):
        return ""
    if not _READS.is_in(command):
        return command
    return command[command.find(">") :] if ">" in command else ""
