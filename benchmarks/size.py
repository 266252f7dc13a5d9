"""How large the project is: code lines of each part beside its budget, tables, tests, settings, commands, docs.

Reads the checkout alone. Which file belongs to which part says `benchmarks/parts.yml`; a file that no path there
covers is an error. Code lines are lines that hold code: no blanks, comments, docstrings. Target: every file outside
tests has a part, and none of the product is longer than 350 lines.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import yaml

from bot.__main__ import COMMANDS
from bot.config.environment import VARIABLES
from bot.domain.command_specs import manual
from reference.settings import blocks

ROOT: Final = Path(__file__).resolve().parents[1]
PRODUCT: Final = ("bot", "handlers", "blocks")
LONGEST_FILE: Final = 350
WEIGHTS: Final = "weights.json"
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE: Final = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of the project; `budget` is null where it has none, `paths` are files or folders that end in "/"."""

    name: str
    budget: int | None
    paths: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """What was counted; `parts` holds code lines by part, `long_files` lines of any kind by file."""

    parts: dict[str, int]
    product_lines: int
    modules: int
    long_files: dict[str, int]
    table_bytes: int
    weights_bytes: int
    tests: int
    test_lines: int
    settings: int
    variables: int
    terminal_commands: int
    slash_commands: int
    doc_words: int
    decision_pages: int
    readme_lines: int


class NoPart(Exception):
    """Files that no path of `benchmarks/parts.yml` covers."""


def code_lines(text: str) -> int:
    r"""Return how many lines of a module hold code; the docstring under a field counts as code.

    >>> code_lines("'Says what.'\n\nx = 1  # why\n\n\ndef f():\n    'Does.'\n    return (1,\n2)\n")
    4
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_docstring_lines(ast.parse(text))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            yield from range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def read_parts(path: Path = ROOT / "benchmarks" / "parts.yml") -> tuple[Part, ...]:
    """Return the parts in the order of the file."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(
        Part(name=name, budget=part.get("budget"), paths=tuple(part["paths"])) for name, part in content.items()
    )


def part_of(file: str, parts: tuple[Part, ...]) -> str | None:
    """Return the part whose path covers a file; of several the longest path; None if there is none.

    >>> parts = (Part(name="a", budget=1, paths=("bot/",)), Part(name="b", budget=1, paths=("bot/x.py",)))
    >>> part_of("bot/x.py", parts), part_of("bot/y.py", parts), part_of("demo/x.py", parts)
    ('b', 'a', None)
    """
    covers = [(len(path), part.name) for part in parts for path in part.paths if _covers(path, file)]
    return max(covers)[1] if covers else None


def _covers(path: str, file: str) -> bool:
    return file == path or (path.endswith("/") and file.startswith(path))


def lines_by_part(files: Mapping[str, str], parts: tuple[Part, ...]) -> dict[str, int]:
    """Return the code lines of each part, from the texts of its files.

    Raises:
        NoPart: naming every file with code that belongs to none.
    """
    counted = {file: code_lines(text) for file, text in files.items()}
    homeless = [file for file, lines in counted.items() if lines and part_of(file, parts) is None]
    if homeless:
        raise NoPart(", ".join(sorted(homeless)))
    sums = Counter({part.name: 0 for part in parts})
    for file, lines in counted.items():
        sums[part_of(file, parts) or ""] += lines
    return {name: lines for name, lines in sums.items() if name}


def measure() -> Size:
    """Count everything in this checkout; starts pytest once, which collects the tests (10 s).

    Raises:
        NoPart: a file belongs to no part.
    """
    tracked = tracked_files()
    modules = [file for file in tracked if file.endswith(".py")]
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in modules}
    outside = {file: text for file, text in texts.items() if not file.startswith("tests/")}
    product = {file: text for file, text in outside.items() if file.startswith(PRODUCT)}
    tables = [file for file in tracked if file.startswith(PRODUCT) and file.endswith((".yml", ".json"))]
    weights = {file for file in tables if file.endswith(WEIGHTS)}
    pages = [file for file in tracked if file.startswith("docs/") and file.endswith(".md")]
    return Size(
        parts=lines_by_part(outside, read_parts()),
        product_lines=sum(map(code_lines, product.values())),
        modules=len(product),
        long_files=_long(outside),
        table_bytes=sum((ROOT / file).stat().st_size for file in tables if file not in weights),
        weights_bytes=sum((ROOT / file).stat().st_size for file in weights),
        tests=_collected(),
        test_lines=sum(code_lines(text) for file, text in texts.items() if file.startswith("tests/")),
        settings=len(_settings()),
        variables=len(VARIABLES),
        terminal_commands=len(COMMANDS),
        slash_commands=len(manual()),
        doc_words=sum(len((ROOT / page).read_text(encoding="utf-8").split()) for page in pages),
        decision_pages=sum(page.startswith("docs/decisions/") and not page.endswith("README.md") for page in pages),
        readme_lines=len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()),
    )


def tracked_files() -> list[str]:
    """Return the files of this checkout that git tracks or would track, as paths below its root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(file for file in set(listed.stdout.splitlines()) if (ROOT / file).is_file())


def _long(files: Mapping[str, str]) -> dict[str, int]:
    lengths = {file: len(text.splitlines()) for file, text in files.items()}
    return {file: lines for file, lines in sorted(lengths.items()) if lines > LONGEST_FILE}


def _collected() -> int:
    """Return how many tests `make test` and `make test-full` have together, each row of parameters one."""
    print("collecting the tests, which takes 10 s …", file=sys.stderr)
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-m", "", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"^(\d+) tests collected", listed.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"pytest collected no tests: {listed.stdout[-500:]}{listed.stderr[-500:]}")
    return int(found[1])


COPIES: Final = {
    "teams.<name>.": "",
    "codebases.<name>.": "",
    "heartbeat.": "pages.",
    "pricing.<name>.long.": "pricing.<name>.",
}
"""Which blocks hold keys of others once more, and those."""


def _settings() -> set[str]:
    """Return the paths of triage.yml that take a value; without copies, which inherit from another path."""
    keys = {key.path for block in blocks() for key in block.keys if "](#" not in key.kind}
    return {key for key in keys if not any(key.replace(copy, of, 1) in keys - {key} for copy, of in COPIES.items())}


def table(size: Size, parts: tuple[Part, ...]) -> Iterator[str]:
    """Yield the lines of the report, as Markdown."""
    yield "| part | code lines | budget |"
    yield "|---|---|---|"
    for part in parts:
        yield f"| {part.name} | {size.parts[part.name]:,} | {f'{part.budget:,}' if part.budget else '–'} |"
    yield f"| **bot, handlers, blocks** | **{size.product_lines:,}** | **{_whole(parts):,}** |"
    yield ""
    yield "| counted | today |"
    yield "|---|---|"
    yield f"| modules of bot, handlers, blocks | {size.modules:,} |"
    yield f"| tables, bytes (weights beside them) | {size.table_bytes:,} ({size.weights_bytes:,}) |"
    yield f"| tests; their code lines | {size.tests:,}; {size.test_lines:,} |"
    yield f"| settings; environment variables | {size.settings:,}; {size.variables:,} |"
    yield f"| commands in the terminal; in Slack | {size.terminal_commands:,}; {size.slash_commands:,} |"
    yield f"| words of docs; decision pages | {size.doc_words:,}; {size.decision_pages} |"
    yield f"| lines of README | {size.readme_lines:,} |"
    for file, lines in size.long_files.items():
        yield f"| longer than {LONGEST_FILE} lines: `{file}` | {lines:,} |"


def _whole(parts: tuple[Part, ...]) -> int:
    return sum(part.budget or 0 for part in parts)


def main(argv: list[str] | None = None) -> int:
    """Print the sizes; return 1 if a file has no part or is too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks size", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args(argv or [])
    try:
        size = measure()
    except NoPart as error:
        print(f"these files belong to no part: {error}. Next: add each one's path to benchmarks/parts.yml")
        return 1
    print(json.dumps(asdict(size), indent=2) if args.json else "\n".join(table(size, read_parts())))
    return 1 if size.long_files else 0
