"""Frames in an installed package are ours where a manifest of the codebase has the package's name."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import trace_places
from tests.gitrepo import make_repo

CODE = "".join(f"step_{number}()\n" for number in range(20))
FILES = {
    "package.json": '{\n  "name": "shop-router",\n  "version": "1.0.0"\n}\n',
    "lib/route.js": CODE,
    "packages/ui/package.json": '{\n  "name": "@acme/ui"\n}\n',
    "packages/ui/lib/button.js": CODE,
    "composer.json": '{\n    "name": "acme/tax",\n    "type": "library"\n}\n',
    "src/Tax.php": CODE,
    "go.mod": "module github.com/acme/queue\n\ngo 1.22\n",
    "consumer.go": CODE,
    "ruby/ledger.gemspec": "Gem::Specification.new\n",
    "ruby/lib/ledger/post.rb": CODE,
    "crates/audit/Cargo.toml": '[package]\nname = "audit"\n',
    "crates/audit/src/write.rs": CODE,
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, SqlitePassageIndex]:
    """All these packages in one repository, indexed."""
    folder = tmp_path_factory.mktemp("packages")
    made = GitRepo(make_repo(folder / "code", FILES))
    index = SqlitePassageIndex(made, folder / "index.sqlite")
    index.refresh()
    return made, index


class CountingRepo(GitRepo):
    """A repository that notes which files were read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read: list[str] = []

    def lines_at(self, commit: str, path: str) -> list[str] | None:
        self.read.append(path)
        return super().lines_at(commit, path)


def test_each_manifest_is_read_once_for_a_whole_trace(repo: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """A trace of forty packages in a codebase of many manifests took a git process for each pair."""
    made, index = CountingRepo(repo[0].root), repo[1]
    trace = "\n".join(f"    at add (/app/node_modules/package-{number}/lib/route.js:9:3)" for number in range(40))
    assert trace_places(trace, made, index) == []
    assert sorted(made.read) == ["package.json", "packages/ui/package.json"]
