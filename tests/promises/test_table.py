"""The table of promises: each is proved by tests that exist and act from outside, and no row of the pages lacks one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
TABLE: Final[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "promises.yml").read_text(encoding="utf-8"))
GROUPS: Final = ("kept", "security", "reliability")
NO_PROMISES: Final = (("security", "scope"), ("security", "what"))
"""Tables of a page by the first cell of their head: the scopes, which are generated, and how to rotate tokens."""

SEAMS: Final = {
    "bot.domain.events": {"Event", "Classification"},
    "bot.domain.threads": {"thread_key"},
    "bot.domain.returns": {"InvestigatorReturn", "ValidatorReturn"},
    "bot.agent.ledger": {"Ledger"},
    "bot.intake.classifier": {"Rules", "classify"},
    "bot.intake.alerts": {"read_alert"},
    "bot.intake.message_text": {"read_message"},
    "bot.domain.ack": {"read_ack"},
    "bot.domain.hours": {"ActiveHours"},
    "bot.domain.intervals": {"parse_interval"},
    "bot.domain.tiers": {"due_tier", "Stamps"},
    "bot.domain.playbook": {"parse"},
    "bot.domain.prescreen": {"parse_decision"},
    "bot.domain.secrets": {"redact"},
    "bot.casework.checks": {"check_return", "check_claim", "ref_marks"},
    "bot.__main__": {"main", "COMMANDS", "command_of", "purpose_of"},
    "bot.errors": None,
    "blocks.ids": None,
}
"""What a test from outside may import, by module; None: all of it.

The errors are what commands and the demo's hands raise; ids stand in every message that Slack keeps.
"""

HARNESS: Final = {
    "demo",
    "tests.cli.typed",
    "tests.code_host",
    "tests.crashes.life",
    "tests.crashes.proxy",
    "tests.crashes.steps",
    "tests.crashes.victim",
    "tests.fork_server",
    "tests.githttp",
    "tests.gitrepo",
    "tests.handlers.signed",
    "tests.handlers.slack_stub",
    "tests.journeys.beat_office",
    "tests.journeys.company",
    "tests.journeys.hasty",
    "tests.journeys.home_files",
    "tests.journeys.office",
    "tests.journeys.shop",
    "tests.journeys.walled",
    "tests.kept",
    "tests.model_server",
    "tests.payloads",
    "tests.postgres",
    "tests.replicas.database_proxy",
    "tests.replicas.fleet",
    "tests.tables",
    "tests.workspaces",
}
"""Who may know how the bot is built: the few modules that build it and stand for the world around it."""

OF_A_BOT: Final = {"start", "stop", "reload", "kill", "connection"}
"""What a test from outside may do with the bot of its office; it listens at a port that only `connection` knows."""


def _entries() -> list[tuple[str, dict[str, Any]]]:
    return [(group, entry) for group in GROUPS for entry in TABLE[group]]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _tests_of(path: Path) -> set[str]:
    """Return the tests of a file as pytest names them, without the file."""
    body = _tree(path).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    inside = {f"{one.name}::{node.name}" for one in classes for node in one.body if isinstance(node, ast.FunctionDef)}
    return {node.name for node in body if isinstance(node, ast.FunctionDef)} | inside


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    is_test = name.rpartition("::")[2].startswith("test_")
    return is_test and (ROOT / file).is_file() and name in _tests_of(ROOT / file)


def _definitions(path: Path) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    return {node.name: node for node in _tree(path).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _assigned(path: Path, name: str) -> list[ast.expr]:
    """Return what a file assigns to a name of its own."""
    plain = [node for node in _tree(path).body if isinstance(node, ast.Assign)]
    return [node.value for node in plain if any(isinstance(to, ast.Name) and to.id == name for to in node.targets)]


def _is_full(test: str) -> bool:
    """Return whether only `make test-full` runs a test: it is marked, or its class, its file, or each of its cases."""
    file, _, name = test.partition("::")
    path, (outer, _, inner) = ROOT / file, name.partition("::")
    node = _definitions(path)[outer]
    marks = [*_assigned(path, "pytestmark"), *node.decorator_list]
    for one in node.body if inner else ():
        marks += one.decorator_list if isinstance(one, ast.FunctionDef) and one.name == inner else []
    return any(_makes_full(path, mark) for mark in marks)


def _makes_full(path: Path, mark: ast.expr) -> bool:
    if isinstance(mark, ast.List | ast.Tuple):
        return any(_makes_full(path, one) for one in mark.elts)
    if ast.unparse(mark) == "pytest.mark.full":
        return True
    is_table = isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.parametrize"
    return is_table and isinstance(mark, ast.Call) and _has_no_sample(path, mark.args[1])


def _has_no_sample(path: Path, cases: ast.expr) -> bool:
    """Return whether cases come from `met` (tests/crashes/steps.py) alone, without any that `make test` runs."""
    if isinstance(cases, ast.Name):
        return any(_has_no_sample(path, one) for one in _assigned(path, cases.id))
    if isinstance(cases, ast.BinOp):
        return _has_no_sample(path, cases.left) and _has_no_sample(path, cases.right)
    return isinstance(cases, ast.Call) and ast.unparse(cases.func) == "met" and len(cases.args) == 1


def _reached(path: Path, test: str) -> set[str]:
    """Return the names of a file's functions and classes that a test uses, itself or by another, with its own."""
    found, left, definitions = set[str](), [test.partition("::")[0]], _definitions(path)
    while left:
        name = left.pop()
        found.add(name)
        for node in ast.walk(definitions[name]):
            used = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            if used in definitions and used not in found:
                left.append(used)
    return found


def _insides_of_a_bot(test: str) -> set[str]:
    """Return what a test does with a bot that nobody outside can do: `office.bot.team`, or the bot handed around."""
    file, _, name = test.partition("::")
    path = ROOT / file
    nodes = [node for used in _reached(path, name) for node in ast.walk(_definitions(path)[used])]
    allowed = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in OF_A_BOT}
    bots = [one for one in nodes if isinstance(one, ast.Attribute) and one.attr == "bot"]
    return {f"line {one.lineno}" for one in bots if isinstance(one.ctx, ast.Load) and id(one) not in allowed}


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of everything a file imports, wherever it does; the name is empty for a whole module."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", one.name) for one in node.names)


def _is_harness(module: str, name: str) -> bool:
    parts = [*module.split("."), name]
    return any(".".join(parts[:end]) in HARNESS for end in range(1, len(parts) + 1))


def _is_seam(module: str, name: str) -> bool:
    whole = SEAMS.get(f"{module}.{name}", ()) is None or SEAMS.get(module, ()) is None
    return whole or name in (SEAMS.get(module) or ())


def _file_of(module: str, name: str) -> Path | None:
    """Return the file of a module of the tests, or of one that is imported from a package by its name."""
    places = [ROOT / Path(*module.split("."), f"{name}.py"), (ROOT / Path(*module.split("."))).with_suffix(".py")]
    return next((place for place in places if place.is_file()), None)


@cache
def _internals(path: Path) -> frozenset[str]:
    """Return what a file imports of the bot's inside, itself or by another module of the tests."""
    found: set[str] = set()
    for module, name in _imports(path):
        top = module.partition(".")[0]
        if top in ("bot", "handlers", "blocks") and not _is_seam(module, name):
            found.add(f"{module}.{name}")
        elif top == "tests" and not _is_harness(module, name):
            other = _file_of(module, name)
            found |= _internals(other) if other else set()
    return frozenset(found)


def _cells(page: str) -> Iterator[tuple[str, str]]:
    """Yield the first cells of head and row, for each row of each table of a page."""
    head = ""
    lines = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("|"):
            head = ""
            continue
        cell = line.split("|")[1].strip()
        if re.fullmatch(r"[-| ]+", following) and following:
            head = cell
        elif not re.fullmatch(r"[-| ]+", line):
            yield head, cell


def _rows(page: str) -> list[str]:
    return [cell for head, cell in _cells(page) if (page, head) not in NO_PROMISES]


@pytest.mark.parametrize("page", ["reliability", "security"])
def test_every_row_of_the_page_has_its_promise(page: str) -> None:
    """A row that is added or changed needs an entry; an entry whose row is gone goes, too."""
    entries = [entry["row"] for entry in TABLE[page]]
    assert sorted(entries) == sorted(_rows(page))


def test_every_promise_says_what_it_is_and_has_a_test() -> None:
    """One sentence, and at least one test; one of internals only where it is named as that."""
    keys = {"row", "says", "tests", "inside", "full"}
    assert [entry for _, entry in _entries() if set(entry) - keys or not (entry.get("row") or entry.get("says"))] == []
    assert [entry for _, entry in _entries() if not (entry.get("tests") or entry.get("inside"))] == []
    said = [entry["says"] for entry in TABLE["kept"]]
    assert len(said) == len(set(said))


def test_every_named_test_exists() -> None:
    """By its file, its class and its name."""
    named = {test for _, entry in _entries() for key in ("tests", "inside") for test in entry.get(key, ())}
    assert sorted(test for test in named if not _exists(test)) == []


def test_a_test_that_counts_as_one_from_outside_imports_nothing_of_the_inside() -> None:
    """It uses public seams and the harness; so it outlives any rebuilding."""
    files = {test.partition("::")[0] for _, entry in _entries() for test in entry.get("tests", ())}
    assert {file: sorted(found) for file in sorted(files) if (found := _internals(ROOT / file))} == {}


def test_a_test_that_counts_as_one_from_outside_leaves_the_bots_parts_alone() -> None:
    """It starts, stops and reloads a bot, and looks at nothing in it."""
    named = sorted({test for _, entry in _entries() for test in entry.get("tests", ())})
    assert {test: sorted(found) for test in named if (found := _insides_of_a_bot(test))} == {}


def test_a_promise_that_only_the_full_run_proves_says_so() -> None:
    """`full: true` stands where every test from outside is marked `full`, and nowhere else."""
    late = [entry for _, entry in _entries() if entry.get("tests") and all(map(_is_full, entry["tests"]))]
    said = [entry for _, entry in _entries() if entry.get("full")]
    assert [entry.get("row") or entry["says"] for entry in [*late, *said] if (entry in late) != (entry in said)] == []


def test_nothing_in_this_folder_imports_the_inside() -> None:
    """Not even what only helps the tests."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    assert {path.name: sorted(found) for path in files if (found := _internals(path))} == {}


def test_the_import_rule_sees_the_inside_wherever_it_is_imported(tmp_path: Path) -> None:
    """In a function, by a whole module, by a name that is no seam, and through another test module."""
    hidden = tmp_path / "hidden.py"
    hidden.write_text(
        "import bot.app\nfrom bot.domain.threads import ThreadState, thread_key\nfrom blocks import ids\n"
        "from tests.journeys.office import Office\nfrom tests.builders import NOW\n"
        "def late():\n    from handlers.routes import listen\n"
    )
    found = _internals(hidden)
    assert {"bot.app.", "bot.domain.threads.ThreadState", "handlers.routes.listen"} <= found
    assert not {"bot.domain.threads.thread_key", "blocks.ids"} & found
    assert "bot.intake.enqueue.MessageSorter" in found
