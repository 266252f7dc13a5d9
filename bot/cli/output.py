"""What every command shares towards the terminal: lines of at most 80 columns, marks, and commands as typed here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the ports import the whole domain, and every command imports this module
    from bot.ports import Progress

WIDTH: Final = 80
MARKS: Final = {True: "✓", False: "✗", None: "?"}
"""What a check found: yes, no, cannot be told."""

_COMMAND: Final = re.compile(r"`[^`\n]{1,70}`")
_SLASH: Final = re.compile(
    r"(?<![\w./])/triage(?= (?:heartbeat|tiers|pollinate|status|open|brief|metrics|investigate|pause|resume)\b)"
)
_KEPT_SPACE: Final = "\0"


def wrapped(text: str, *, lead: str = "", indent: str | None = None) -> str:
    r"""Return text on lines of at most 80 columns, `lead` before the first; lines keep their own indent.

    What the first line continues on has `indent` before it, or as many blanks as `lead` has characters. A path, a
    link, and a command in backticks is one word and never broken, however long.

    >>> print(wrapped("put that right first, and then look whether the bot is in every channel you named", lead="  - "))
      - put that right first, and then look whether the bot is in every channel you
        named
    """
    first, *rest = text.split("\n")
    lines = [
        _fill(first, lead, " " * len(lead) if indent is None else indent),
        *(_fill(line.lstrip(), _indent(line), _indent(line)) for line in rest),
    ]
    return "\n".join(lines)


def cut(line: str) -> str:
    """Return a line of at most 80 columns; "…" stands for the rest."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def index_progress(say: Callable[[str], object]) -> Progress:
    """Return what tells `say` how far a codebase is indexed; of what is done at once it tells nothing."""

    def tell(done: int, todo: int) -> None:
        if done < todo:
            say(f"indexing: {done:,} of {todo:,} files …")

    return tell


def terminal_words(text: str) -> str:
    """Return text that names commands of Slack with those of the terminal.

    >>> terminal_words("Next: /triage heartbeat why shop; to resume: /triage resume")
    'Next: triage heartbeat why shop; to resume: triage resume'
    """
    return _SLASH.sub("triage", text)


def to_json(value: object) -> str:
    """Return a value as JSON for programs; times and paths become text."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _fill(line: str, lead: str, indent: str) -> str:
    import textwrap  # here: most commands have nothing to wrap

    filled = textwrap.fill(
        _COMMAND.sub(lambda command: command[0].replace(" ", _KEPT_SPACE), line),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace(_KEPT_SPACE, " ") or lead.rstrip()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
