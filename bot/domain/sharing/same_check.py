"""Which tasks make the same check: by the commands they name, not by their wording. Pure.

Two commands are one check if program, subcommand and operands are the same in the same order, whatever their options.
A task without a command is compared by its whole title. In doubt two commands differ: a check too many is offered once
and rejected; one that is taken to be there already is never offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

from bot.domain.heartbeats.allowed_commands import commands_in
from bot.domain.playbooks.playbook_entries import task_id

CheckKey = tuple[str, ...]

_NUMBER: Final = re.compile(r"\d+[a-z.]*")
"""A number with or without a unit, as in `-n 5`, `--since 1h` and `--since 2.weeks`."""

_NAMED_WORDS: Final = 3
"""Programs called as `gh pr list` and `kubectl get pods` take an option's value from the next word."""


@lru_cache(maxsize=4_096)
def check_keys(text: str, *details: str) -> frozenset[CheckKey]:
    """Return one key for each command in a task's lines, or one for its title where it names none.

    >>> check_keys("Tree: `git status --porcelain`") == check_keys("`git status --porcelain=v1 --branch`")
    True
    >>> check_keys("`df -h`") == check_keys("`df -h /var`")
    False
    """
    return frozenset(map(command_key, commands_in((text, *details)))) or frozenset({(task_id(text),)})


def command_key(argv: Sequence[str]) -> CheckKey:
    """Return a command without its options and their values; all that follows `--` are operands.

    A value is joined to its option by `=`, or is the next word: a number always, any other word without a slash where
    the command begins with `_NAMED_WORDS` words that are no options.

    >>> command_key(("git", "log", "-n", "5", "main")), command_key(("gh", "pr", "list", "--state", "open"))
    (('git', 'log', 'main'), ('gh', 'pr', 'list'))
    """
    words = [*takewhile(lambda word: word != "--", argv)]
    takes_words = len([*takewhile(lambda word: not _is_option(word), words)]) >= _NAMED_WORDS
    kept = [
        word
        for before, word in pairwise(("", *words))
        if not _is_option(word) and not (_is_option(before) and _is_value(before, word, takes_words=takes_words))
    ]
    return (*kept, *argv[len(words) + 1 :])


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _is_value(option: str, word: str, *, takes_words: bool) -> bool:
    return "=" not in option and (_NUMBER.fullmatch(word) is not None or (takes_words and "/" not in word))
