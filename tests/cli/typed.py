"""`triage` with some words, in this process, as a shell would run it: a folder, an environment, what is typed.

A process of its own costs a second of the processor; it is started where signals, pipes or a second process matter.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from bot.__main__ import main


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    returncode: int
    stdout: str
    stderr: str


def typed(words: Sequence[str], folder: Path, env: Mapping[str, str], stdin: str = "") -> Said:
    """Run `triage` with `words` in `folder`, 80 columns wide, with `env` alone and `stdin` for its input."""
    out, err = io.StringIO(), io.StringIO()
    with (
        chdir(folder),
        _environment({"COLUMNS": "80", **env}),
        _input(stdin),
        log_settings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = main(list(words))
    return Said(code, out.getvalue(), err.getvalue())


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _input(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def log_settings() -> Iterator[None]:
    """Put back what a command says about the log: it holds for the process."""
    loggers = [logging.getLogger(name) for name in (None, "bot", "handlers")]
    levels = [each.level for each in loggers]
    handlers = list(loggers[0].handlers)
    try:
        yield
    finally:
        loggers[0].handlers[:] = handlers
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)
