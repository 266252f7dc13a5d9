"""Questions with the files that answer them, as somebody wrote them down: YAML, or one JSON object a line.

Each entry has `ask` and `files`, the paths that answer; `files: []` says that nothing in the codebase does. A file is
taken whole or not at all, and every wrong line is named at once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from bot.agent.codebases import Codebases
from bot.config.strict_yaml import load_strict
from bot.domain.search.files import is_indexed, path_weight
from bot.domain.text.sanitize import has_visible, one_line
from bot.errors import ConfigError

MAX_BYTES: Final = 4_000_000
MAX_PROBLEMS: Final = 10
_EXAMPLE: Final = '- {ask: "where are sessions signed?", files: [src/sessions.py]}'
_AS_JSON: Final = (".ndjson", ".jsonl")


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownQuestion:
    """What is asked, and every file that answers it; none: nothing in the codebase does."""

    ask: str
    files: tuple[str, ...]


class _Entry(NamedTuple):
    line: int
    value: Any


def read_questions(path: Path, codebases: Codebases) -> list[KnownQuestion]:
    """Return the questions of a file, in its order.

    Raises:
        ConfigError: it cannot be read, a line is no question, or a file it names is not in the codebases at HEAD.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"{path} is too large for a set of questions; give one below {MAX_BYTES // 1_000_000} MB")
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no UTF-8 text'}") from error
    entries = list(_json_entries(text, path) if path.suffix in _AS_JSON else _yaml_entries(text, path))
    if not entries:
        raise ConfigError(f"{path} holds no question; write a list, as in {_EXAMPLE}")
    known = {f"{one.prefix}{entry.path}" for one in codebases for entry in one.repo.tree(one.repo.head())}
    problems = [f"{path}, line {entry.line}: {said}" for entry in entries if (said := _problem(entry.value, known))]
    if problems:
        left = len(problems) - MAX_PROBLEMS
        raise ConfigError(*problems[:MAX_PROBLEMS], *([f"… and {left} more lines of {path}"] if left > 0 else []))
    return [KnownQuestion(ask=one.value["ask"].strip(), files=tuple(one.value["files"])) for one in entries]


def _json_entries(text: str, path: Path) -> Iterator[_Entry]:
    for number, line in enumerate(text.split("\n"), 1):  # a JSON text may hold other ends of lines
        if not line.strip():
            continue
        try:
            yield _Entry(number, json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}, line {number} is no JSON; nothing was measured") from error


def _yaml_entries(text: str, path: Path) -> Iterator[_Entry]:
    """Yield the entries of the list that the file is, or of its key `questions`, each with its line."""
    try:
        value = load_strict(text)
        root = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f" at line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path} is not valid YAML{at}; write a list, as in {_EXAMPLE}") from error
    if isinstance(root, yaml.MappingNode) and isinstance(value, dict):
        root = next((node for key, node in root.value if key.value == "questions"), None)
        value = value.get("questions")
    if not isinstance(root, yaml.SequenceNode) or not isinstance(value, list):
        raise ConfigError(f"{path} is no list of questions; write one, as in {_EXAMPLE}")
    for node, one in zip(root.value, value, strict=True):
        yield _Entry(node.start_mark.line + 1, one)


def _problem(value: Any, known: Collection[str]) -> str | None:
    if not isinstance(value, dict) or not isinstance(value.get("ask"), str) or not has_visible(value["ask"]):
        return f"there is no question in `ask`; write it as in {_EXAMPLE}"
    files = value.get("files")
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        return "`files` is no list of paths; write `files: []` where nothing in the codebase answers"
    missing = [one for one in files if one not in known]
    if missing:
        named = ", ".join(one_line(one, 80) for one in missing[:3])
        return f"not committed in the codebase: {named}; write paths from its top, as git has them"
    return None


def questions_on_files(codebases: Codebases, count: int) -> list[KnownQuestion]:
    """Return questions what a file does, each after another file with code or text, for drafts to plant errors in.

    They say nothing of how well questions are answered: each names its answer.
    """
    files = [(one, entry.path) for one in codebases for entry in one.repo.tree(one.repo.head())]
    known = [file for file in files if is_indexed(file[1]) and path_weight(file[1], "") == 1.0]
    drawn = random.Random(0).sample(known, len(known))  # noqa: S311 - the same ones every time
    texts = (f"{one.prefix}{path}" for one, path in drawn if one.repo.lines_at(one.repo.head(), path))
    return [KnownQuestion(ask=f"What does {path} do?", files=(path,)) for path in islice(texts, count)]
