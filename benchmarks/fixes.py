"""50 seeded bugs over real packages: patch → checked → draft pull request → merged in a bare repository.

    python -m benchmarks fixes [--bugs 50] [--json]

A bug is a constant of an installed package with another value; its patch puts the value back and brings a test. The
patches are scripted: what is measured is the way of a patch, not who found it.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import SecretStr

from bot.adapters.code_host import CodeHostApi
from bot.agent.git.git_repo import GitRepo
from bot.agent.git.patch_repo import Remote
from bot.casework.fix_opening import FixOpening
from bot.casework.patch_check import PatchChecks
from bot.config.codebase_settings import FixSettings
from bot.domain.citations.links import code_repository
from bot.domain.fixes import Fix
from bot.domain.returns import ProposedPatch
from bot.ports.feature_collections import FIXES
from tests.builders import NOW
from tests.code_host import TOKEN, CodeHost
from tests.fakes import in_memory
from tests.gitrepo import git, make_repo

PACKAGES: Final = (
    *("requests", "click", "yaml", "tinydb", "schedule", "pydantic", "httpx", "anyio", "urllib3", "h11"),
    *("slack_sdk", "slack_bolt", "hypothesis", "markdown_it", "websockets", "uvicorn", "dotenv", "mcp", "playwright"),
)
CHECK: Final = (
    sys.executable,
    "-c",
    "import pathlib, runpy; [runpy.run_path(str(one)) for one in pathlib.Path('tests').glob('test_*.py')]",
)
APART: Final = 10
"""Lines; a diff shows three on each side."""


class Bug(NamedTuple):
    """A constant of a module: its line, and the line with another value."""

    path: str
    number: int
    name: str
    right: str
    wrong: str


class Anybody:
    """Approvers among whom everybody is."""

    def allow(self, user_id: str, team_id: str) -> bool:
        """Whether somebody asked."""
        return bool(user_id and team_id)


def sources() -> dict[str, str]:
    """Return the modules of the packages that are installed here, by path."""
    found = {}
    for name in PACKAGES:
        spec = find_spec(name)
        root = Path(spec.origin).parent if spec and spec.origin else None
        for path in sorted(root.rglob("*.py")) if root else ():
            found[f"{name}/{path.relative_to(root or path).as_posix()}"] = path.read_text("utf-8", "replace")
    return found


def bugs(files: dict[str, str], count: int) -> list[Bug]:
    """Return so many bugs, spread over all modules."""
    every = [bug for path, text in files.items() for bug in _apart(_constants(path, text))]
    return every[:: max(1, len(every) // count)][:count]


def _apart(found: Iterator[Bug]) -> Iterator[Bug]:
    """Yield those so far from each other that no patch shows another one's line."""
    last = -APART
    for bug in found:
        if bug.number - last >= APART:
            last = bug.number
            yield bug


def _constants(path: str, text: str) -> Iterator[Bug]:
    lines = [line.rstrip() for line in text.splitlines()]
    for bug in _replaced(path, text, lines):
        if bug.wrong not in lines:  # else another bug of the file may be where its right line stands
            yield bug


def _replaced(path: str, text: str, lines: list[str]) -> Iterator[Bug]:
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        line = lines[node.lineno - 1]
        if lines.count(line) > 1:  # a test for it would pass without the patch
            continue
        value = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(value, bool | int) and line.endswith(f"= {value}"):
            other = not value if isinstance(value, bool) else value + 1
            yield Bug(path, node.lineno, node.targets[0].id, line, f"{line.removesuffix(str(value))}{other}")
        elif isinstance(value, str) and value and line.endswith(f'= "{value}"'):
            yield Bug(path, node.lineno, node.targets[0].id, line, line.removesuffix('"') + '_"')


def diff_of(bug: Bug, text: str, number: int) -> str:
    """Return the patch that mends a bug and brings a test."""
    right = text.splitlines(keepends=True)
    right[bug.number - 1] = f"{bug.right}\n"
    change = difflib.unified_diff(text.splitlines(keepends=True), right, f"a/{bug.path}", f"b/{bug.path}")
    told = f"{bug.right.strip()!r} in pathlib.Path({bug.path!r}).read_text().splitlines()"
    test = ["import pathlib", "", f"assert {told}"]
    added = "".join(f"+{line}\n" for line in test)
    return f"{''.join(change)}--- /dev/null\n+++ b/tests/test_bug_{number}.py\n@@ -0,0 +1,{len(test)} @@\n{added}"


def run(count: int) -> dict[str, Any]:
    """Return how many patches came how far, and how long each took."""
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), sources()
        seeded = bugs(files, count)
        for bug in seeded:
            lines = files[bug.path].splitlines(keepends=True)
            lines[bug.number - 1] = f"{bug.wrong}\n"
            files[bug.path] = "".join(lines)
        codebase = make_repo(folder / "code", files)  # type: ignore[arg-type]
        with CodeHost(folder / "host") as host:
            host.publish(codebase)
            return _work(folder, codebase, host, seeded, files)


def _work(folder: Path, codebase: Path, host: CodeHost, seeded: list[Bug], files: dict[str, str]) -> dict[str, Any]:
    opening, store = _opening(folder, codebase, host)
    commit, took = git(codebase, "rev-parse", "HEAD"), []
    for number, bug in enumerate(seeded):
        diff = diff_of(bug, files[bug.path], number)
        fix = Fix(
            thread_id=f"T1.C1.{number}.1",
            patch=ProposedPatch(title=f"Put {bug.name} back", diff=diff, rationale="It has a wrong value."),
            commit=commit,
            question=f"Why is {bug.name} wrong?",
            asked_by="U1",
            asked_by_name="ana",
            asked_in_team="T1",
            asked_at=NOW,
        )
        store.add(fix.id, fix)
        started = time.perf_counter()
        request = opening.carry_out(fix)
        took.append(time.perf_counter() - started)
        host.merge(request.number)
    main = git(host.bare, "rev-parse", "main")
    mended = sum(bug.right in git(host.bare, "show", f"{main}:{bug.path}").splitlines() for bug in seeded)
    return {
        "bugs": len(seeded),
        "packages": len({bug.path.partition("/")[0] for bug in seeded}),
        "files": len(files),
        "opened": len(host.pulls),
        "merged": sum(pull["state"] == "merged" for pull in host.pulls),
        "mended_on_main": mended,
        "median_s": round(sorted(took)[len(took) // 2], 2) if took else None,
        "checkout_untouched": git(codebase, "status", "--porcelain") == "",
    }


def _opening(folder: Path, codebase: Path, host: CodeHost) -> tuple[FixOpening, Any]:
    found = code_repository(host.url, "github")
    assert found is not None
    store, repo = in_memory(FIXES), GitRepo(codebase)
    checks = PatchChecks(repo, FixSettings(check=CHECK), folder / "workshop", hidden=[], stop=threading.Event())
    client = CodeHostApi(found, SecretStr(TOKEN))
    remote = Remote(host.url, TOKEN)
    return FixOpening(store, checks, client, remote, Anybody(), base=None, link_to=lambda _: None), store  # type: ignore[arg-type]


def main(arguments: Sequence[str] = ()) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fixes")
    parser.add_argument("--bugs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    figures = run(given.bugs)
    print(json.dumps(figures) if given.json else "\n".join(f"{name:<24} {value}" for name, value in figures.items()))
    return 0 if figures["merged"] == figures["mended_on_main"] == figures["bugs"] else 1
