"""What a page names in code and what is not there: commands of `/triage`, of the terminal with their options, files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.__main__ import COMMANDS, command_of
from reference.markdown import parsed
from reference.slash import slash_problem
from reference.terminal import arguments_of, options_of, verbs_of

_COMMAND: Final = re.compile(
    r"(?:(?<![\w@./~-])|(?<=bin/))triage +(?P<word>[a-z][a-z-]*)(?![\w:.=])(?P<rest>[^;&|)]*(?:\|[a-z][^;&)]*)?)"
)
_SLASH: Final = re.compile(r"(?<![\w./~-])/triage +(?P<words>[a-z][a-z-]*(?![\w:.=])[^;&)`]*)")
_VERBS: Final = r" +(?P<verbs>[a-z-]+(?:\|[a-z-]+)*)(?![\w:.=])"
_FILE: Final = re.compile(r"(?:bot|handlers|blocks|demo|reference|tests|benchmarks|docs)/[\w./-]+")
_OPTION: Final = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def unknown_commands(pages: Sequence[Path], root: Path) -> Iterator[str]:
    """Yield a line for each command that a page names and that there is not."""
    for page in pages:
        for line in code_lines(page.read_text(encoding="utf-8")):
            yield from (f"{page.relative_to(root).as_posix()}: {wrong}" for wrong in wrong_in(line))


def missing_files(pages: Sequence[Path], root: Path) -> Iterator[str]:
    """Yield a line for each file of the project that a page names in code and that is not there."""
    for page in pages:
        for line in code_lines(page.read_text(encoding="utf-8")):
            if _FILE.fullmatch(line) and not (root / line).exists():
                yield f"{page.relative_to(root).as_posix()}: there is no {line}"


def code_lines(text: str) -> Iterator[str]:
    """Yield a page's inline code, and each line of its code blocks.

    >>> list(code_lines("Type `triage run`, not triage fly.\\n\\n```\\ntriage status\\n```"))
    ['triage run', 'triage status']
    """
    for token in parsed(text):
        if token.type in ("fence", "code_block"):
            yield from token.content.splitlines()
        yield from (" ".join(child.content.split()) for child in token.children or () if child.type == "code_inline")


def wrong_in(line: str) -> Iterator[str]:
    """Yield what a line of code names that there is not.

    >>> list(wrong_in("triage fly; triage run --now; triage heartbeat on|of shop"))
    ['there is no `triage fly`', '`triage run` takes no --now', 'there is no `triage heartbeat of`']
    """
    for slash in _SLASH.finditer(line):
        if problem := slash_problem(slash["words"].split()):
            yield problem
    for typed in _COMMAND.finditer(line):
        word, rest = typed["word"], typed["rest"]
        if word not in COMMANDS:
            yield f"there is no `triage {word}`"
            continue
        command = command_of(word)
        taken, verbs = options_of(command), verbs_of(command)
        yield from (f"`triage {word}` takes no {one}" for one in _OPTION.findall(rest) if one not in taken)
        before = rf"(?: +\S+){{{len(arguments_of(command))}}}"
        named = re.match(before + _VERBS, rest) if verbs else None
        for verb in named["verbs"].split("|") if named else ():
            if verb not in verbs:
                yield f"there is no `triage {word} {verb}`"
