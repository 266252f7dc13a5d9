"""Reads a question set (questions and the files that answer them) from YAML, or from one JSON object a line.

Each entry has `ask` and `files`, the paths that answer; `files: []` says that nothing in the codebase does. A file is
read whole or refused, and every wrong entry is named at once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from bot.agent.codebases import Codebases
from bot.config.strict_yaml import read_strict
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.text.sanitize import has_visible, one_line
from bot.errors import ConfigError

MAX_PROBLEMS: Final = 10
_EXAMPLE: Final = '- {ask: "where are sessions signed?", files: [src/sessions.py]}'


class KnownQuestion(NamedTuple):
    """What is asked, and every file that answers it; none: nothing in the codebase does."""

    ask: str
    files: tuple[str, ...]


def read_questions(path: Path, codebases: Codebases) -> list[KnownQuestion]:
    """Return the questions of a file, in its order.

    Raises:
        ConfigError: it cannot be read, an entry is no question, or a file it names is not in the codebases at HEAD.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}") from error
    entries = _entries(text, path)
    if not entries:
        raise ConfigError(f"{path} holds no question; write a list, as in {_EXAMPLE}")
    known = {f"{one.prefix}{entry.path}" for one in codebases for entry in one.repo.tree(one.repo.head())}
    problems = [f"{path}, question {n}: {said}" for n, one in enumerate(entries, 1) if (said := _problem(one, known))]
    if problems:
        left = len(problems) - MAX_PROBLEMS
        raise ConfigError(*problems[:MAX_PROBLEMS], *([f"… and {left} more questions of {path}"] if left > 0 else []))
    return [KnownQuestion(one["ask"].strip(), tuple(one["files"])) for one in entries]


def _entries(text: str, path: Path) -> list[Any]:
    """Return an object a line, or the YAML list that the file is or that stands under its key `questions`."""
    try:
        if path.suffix in (".ndjson", ".jsonl"):  # a JSON text may hold other ends of lines
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        value = read_strict(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}: this line is no JSON: {one_line(error.doc, 80)}; write one object a line"
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f" at line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path} cannot be read{at}; write a YAML list, as in {_EXAMPLE}") from error
    found = value.get("questions") if isinstance(value, dict) else value
    if not isinstance(found, list):
        raise ConfigError(f"{path} is no list of questions; write one, as in {_EXAMPLE}")
    return found


def _problem(value: Any, known: Collection[str]) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("ask"), str) or not has_visible(value["ask"]):
        return f"there is no question in `ask`; write it as in {_EXAMPLE}"
    files = value.get("files")
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        return "`files` is no list of paths; write `files: []` where nothing in the codebase answers"
    missing = [one_line(one, 80) for one in files if one not in known]
    if missing:
        return f"not committed in the codebase: {', '.join(missing[:3])}; write paths from its top, as git has them"
    return None


def questions_on_files(codebases: Codebases, count: int) -> list[KnownQuestion]:
    """Return questions what a file does, each after another file with code or text, for drafts to plant errors in.

    They say nothing of how well questions are answered: each names its answer.
    """
    files = [(one, entry.path) for one in codebases for entry in one.repo.tree(one.repo.head())]
    known = [file for file in files if is_indexed(file[1]) and path_weight(file[1], "") == 1.0]
    drawn = random.Random(0).sample(known, len(known))  # noqa: S311 - the same ones every time
    texts = (f"{one.prefix}{path}" for one, path in drawn if one.repo.lines_at(one.repo.head(), path))
    return [KnownQuestion(f"What does {path} do?", (path,)) for path in islice(texts, count)]
