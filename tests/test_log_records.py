"""Log calls: a field that hides one of logging's own raises KeyError, and only on the path that logs it."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESERVED = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def fields() -> Iterator[tuple[str, str]]:
    """Yield every key of every `extra={…}` of our code, with its place."""
    for path in (path for folder in ("bot", "handlers", "blocks", "demo") for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "extra" and isinstance(node.value, ast.Dict):
                for key in node.value.keys:
                    if isinstance(key, ast.Constant):
                        yield f"{path.relative_to(ROOT)}:{key.lineno}", str(key.value)


def test_no_log_call_hides_a_field_of_loggings_own() -> None:
    """`thread`, `name`, `process` and their like belong to logging; ours have other names."""
    found = list(fields())
    assert len(found) > 10
    assert [(place, key) for place, key in found if key in RESERVED] == []
