"""`triage files …`: notes, decisions.md and what runs left, by their paths in a data directory, wherever they are kept.

Works beside a running bot. What is shown is printed byte by byte into a file or a pipe, and as plain text on a screen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

import click

from bot.cli.arguments import Scope, scoped
from bot.cli.data_directory import store_at
from bot.cli.verb_group import VerbGroup
from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError
from bot.ports import RunFolders, Store

MAX_NOTE_BYTES: Final = 1_000_000
_PLACES: Final = "there are memory/, decisions.md, runs/<run>/ and escalations/<thread>/"

path_argument = click.argument("path", help="as in memory/retries.md or runs/<run>/trace.json; a folder is listed")
note_argument = click.argument("note", help="as in memory/retries.md")


@click.group("files", cls=VerbGroup, help="Notes, decisions.md and what runs left, in files or in a database.")
def command() -> None:
    """Hold the verbs."""


@command.command("show", help="print a note, decisions.md or a file of a run")
@path_argument
@scoped
def show(scope: Scope, path: str) -> int:
    """Print a file, or what a folder holds; raises InputError where there is none."""
    content = _content(store_at(scope.one_team()), path.strip("/"))
    if sys.stdout.isatty():
        print(strip_hidden(content.decode("utf-8", "replace"))[0])
    else:
        sys.stdout.buffer.write(content)
    return 0


@command.command("put", help="keep stdin as a note, over the one of that name")
@note_argument
@scoped
def put(scope: Scope, note: str) -> int:
    """Write a note; raises InputError where it is no text, too long, or no note's path."""
    store = store_at(scope.one_team(), is_reader=False)
    content = sys.stdin.buffer.read(MAX_NOTE_BYTES + 1)
    if len(content) > MAX_NOTE_BYTES:
        raise InputError(f"a note has at most {MAX_NOTE_BYTES:,} bytes; nothing was kept")
    if not content.strip():
        raise InputError("there is no text on stdin; nothing was kept")
    try:
        store.notes.put(_note(note), content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError("this is no UTF-8; nothing was kept") from error
    print(f"{note} is kept; the next question finds it.")
    return 0


def _note(path: str) -> str:
    if not path.startswith("memory/"):
        raise InputError(f"{path[:200]!r} is no note's path; one looks like memory/retries.md")
    return path


def _content(store: Store, path: str) -> bytes:
    """Return what stands at a path, of a folder a line for each file; raises InputError."""
    place, *rest = PurePosixPath(path).parts or ("",)
    if path == "decisions.md":
        if not (decisions := store.decisions.text()):
            raise InputError("decisions.md is empty; nothing was decided yet")
        return decisions.encode()
    if place == "memory":
        notes = {note.ref: note.whole for note in store.notes.all()}
        if not notes:
            raise InputError("memory/ holds no notes")
        return notes[path].encode() if path in notes else _listed(notes, path)
    if place in ("runs", "escalations") and rest and ".." not in rest:
        return _of_run(store.runs, f"{place}/{rest[0]}", "/".join(rest[1:]))
    raise InputError(f"there is nothing to show at {path[:200]!r}; {_PLACES}")


def _of_run(runs: RunFolders, folder: str, name: str) -> bytes:
    here = runs.fetch(folder).resolve()
    path = here / name
    if path.is_file() and path.resolve().is_relative_to(here):
        return path.read_bytes()
    return _listed((f"{folder}/{one.relative_to(here).as_posix()}" for one in here.rglob("*")), f"{folder}/{name}")


def _listed(paths: Iterable[str], below: str) -> bytes:
    """Return those paths that lie below a folder; raises InputError where none does."""
    found = sorted(path for path in paths if path.startswith(f"{below.rstrip('/')}/"))
    if not found:
        raise InputError(f"there is nothing to show at {below[:200]!r}; {_PLACES}")
    return "".join(f"{path}\n" for path in found).encode()
