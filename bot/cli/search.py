"""`triage search`: the ranking of passages on its own, for one text or, with `--batch`, for a stream of them.

Reads commits of a codebase and writes nothing but its index, a cache in the data directory. No model is asked.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from click import get_current_context as this_command

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.code_findings import search_codebases
from bot.cli.data_directory import environment_at, settings_at
from bot.cli.options import FILE, config_option, home_option, json_option
from bot.cli.output import cut, index_progress, to_json
from bot.composition.codebases import open_team_code
from bot.domain.search.passages import Passage
from bot.domain.text.sanitize import one_line
from bot.errors import CodebaseUnreadable, ConfigError, InputError

LIMIT: Final = 8
SHOWN_LINES: Final = 3
_NAME_CHARS: Final = 12
OR_ANY_CHECKOUT: Final = "or name a git checkout, with no triage.yml needed: add `--codebase DIR`"
_EXAMPLE: Final = 'triage search "where are retries configured?"'


@click.command("search", help="Rank the passages of a codebase for a text. No model is asked.")
@click.argument("text", default="", help="what to look for: a question, a name or an error message")
@click.option("--codebase", type=FILE, metavar="DIR", help="a git checkout (default: the one of triage.yml)")
@click.option("--limit", type=click.IntRange(1, 100), default=LIMIT, show_default=True, help="how many passages")
@click.option("--batch", is_flag=True, help="read one JSON {id, text} a line, write one {id, passages} a line")
@json_option
@home_option
@config_option
def command(
    text: str, codebase: Path | None, limit: int, batch: bool, as_json: bool, home: Path | None, config: Path | None
) -> int:
    """Print the ranked passages; exit code 0, also where nothing is found or a line of `--batch` is no request.

    Raises:
        UsageError: there is no text.
        ConfigError: the codebase cannot be searched, or there is no triage.yml and no `--codebase`.
        StoreError: the index cannot be written.
    """
    if not text.strip() and not batch:
        raise click.UsageError(f"there is no text to search for; give one, as in `{_EXAMPLE}`", this_command())
    codebases = open_codebases(codebase, home, config)
    codebases = codebases.among(_refreshed(codebases, "" if codebase else "; `triage doctor` says what to do"))
    if batch:
        _answer_lines(codebases, sys.stdin.buffer, limit)
        return 0
    found = search_codebases(text, codebases, limit=limit)
    print(to_json({"text": text, "passages": [_as_json(one) for one in found]}) if as_json else _as_text(found))
    return 0


def _refreshed(codebases: Codebases, then: str) -> list[str]:
    """Return the ids of those that can be read, brought up to HEAD; what is not searched is named on stderr."""
    readable = []
    for one in codebases:
        try:
            gaps = one.index.refresh(index_progress(partial(print, file=sys.stderr))).gaps.words()
        except CodebaseUnreadable as error:
            if len(codebases) == 1:
                raise
            print(f"not searched: {one.id}: {error}", file=sys.stderr)
            continue
        readable.append(one.id)
        if gaps:
            print(f"not searched: {one.prefix}{gaps}{then}", file=sys.stderr)
    return readable


def open_codebases(codebase: Path | None, home: Path | None, config: Path | None) -> Codebases:
    """Return the bot's own codebases, or any other checkout, whose index is named after its path."""
    environment = environment_at(home)
    own: Codebases | None = None
    if codebase is None or config is not None:
        try:
            own = open_team_code(settings_at(config, environment.home), environment).codebases
        except ConfigError as error:
            raise error if codebase else ConfigError(*error.problems, OR_ANY_CHECKOUT) from error
    if codebase is None:
        assert own is not None
        return own
    repo = GitRepo(codebase)
    known = next((one for one in own or () if one.repo.root == repo.root), None)
    name = hashlib.sha256(bytes(repo.root)).hexdigest()[:_NAME_CHARS]
    database = environment.home / "index" / f"{name}.sqlite"
    index = known.index if known else SqlitePassageIndex(repo, database, environment.secrets())
    return Codebases.named([("", repo, index)])


def _answer_lines(codebases: Codebases, lines: Iterable[bytes], limit: int) -> None:
    """Answer each line as soon as it is read; one that is no request is named on stderr and has no answer."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            request = _request(line.decode("utf-8", "replace"))
        except InputError as error:
            print(f"line {number}: {error}", file=sys.stderr)
            continue
        passages = [_as_json(one) for one in search_codebases(request["text"], codebases, limit=limit)]
        print(json.dumps({"id": request["id"], "passages": passages}), flush=True)


def _request(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError('it is no JSON; write {"id": …, "text": "…"}') from error
    if not isinstance(request, dict) or "id" not in request or not isinstance(request.get("text"), str):
        raise InputError('it has no `id` or no text in `text`; write {"id": …, "text": "…"}')
    return request


def _as_json(passage: Passage) -> dict[str, Any]:
    return {"path": passage.path, "start": passage.start, "end": passage.end, "score": round(passage.score, 4)}


def _as_text(found: Iterable[Passage]) -> str:
    blocks = ["\n".join([_place(one), *_first_lines(one)]) for one in found]
    return "\n\n".join(blocks) or "nothing found; try other words, an identifier or the exact error text"


def _place(passage: Passage) -> str:
    return f"{passage.path}:{passage.start}-{passage.end}  score {passage.score:.2f}"


def _first_lines(passage: Passage) -> list[str]:
    lines = [line for line in passage.text.splitlines() if line.strip()][:SHOWN_LINES]
    return [cut(f"  | {one_line(line, 2 * len(line) + 1)}") for line in lines]
