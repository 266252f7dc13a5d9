"""What every command shares towards the terminal: lines of at most 80 columns, and refusals that say what is next."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from typing import Final, NoReturn

WIDTH: Final = 80
_COMMAND: Final = re.compile(r"`[^`\n]{1,70}`")
_KEPT_SPACE: Final = "\0"


def wrapped(text: str, *, lead: str = "") -> str:
    r"""Return text on lines of at most 80 columns, `lead` before the first; lines keep their own indent.

    A path, a link, and a command in backticks is one word and never broken, however long.

    >>> print(wrapped("put that right first, and then look whether the bot is in every channel you named", lead="  - "))
      - put that right first, and then look whether the bot is in every channel you
        named
    """
    first, *rest = text.split("\n")
    lines = [
        _fill(first, lead, " " * len(lead)),
        *(_fill(line.lstrip(), _indent(line), _indent(line)) for line in rest),
    ]
    return "\n".join(lines)


class CommandParser(argparse.ArgumentParser):
    """Reads arguments; what it cannot read is refused on lines that fit, with what to type next. Exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Say how it is meant, what was wrong, and where more is said."""
        self.print_usage(sys.stderr)
        self.exit(2, f"{wrapped(f'{self.prog}: {message}')}\nNext: {self.prog} --help\n")


def _fill(line: str, lead: str, indent: str) -> str:
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
