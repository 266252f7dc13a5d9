"""Frames in an installed package are ours where a manifest of the codebase has the package's name."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import trace_places
from tests.gitrepo import make_repo
from tests.tables import each_row

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


@each_row(
    "frame, path",
    [
        ("at add (/app/node_modules/shop-router/lib/route.js:9:3)", "lib/route.js"),
        ("at add (/app/node_modules/express/lib/route.js:9:3)", None),
        ("at draw (/app/node_modules/shop-router/node_modules/express/lib/route.js:9:3)", None),
        ("at add (/app/node_modules/express/node_modules/shop-router/lib/route.js:9:3)", "lib/route.js"),
        ("at draw (/app/node_modules/@acme/ui/lib/button.js:9:3)", "packages/ui/lib/button.js"),
        ("at draw (/app/node_modules/@other/ui/lib/button.js:9:3)", None),
        ("#0 /var/www/vendor/acme/tax/src/Tax.php(9): add()", "src/Tax.php"),
        ("#0 /var/www/vendor/other/tax/src/Tax.php(9): add()", None),
        ("/go/pkg/mod/github.com/acme/queue@v1.4.0/consumer.go:9 +0x1c", "consumer.go"),
        ("/go/pkg/mod/github.com/other/queue@v1.4.0/consumer.go:9 +0x1c", None),
        ("from /usr/local/bundle/gems/ledger-2.1.0/lib/ledger/post.rb:9:in `add'", "ruby/lib/ledger/post.rb"),
        ("from /usr/local/bundle/gems/book-2.1.0/lib/book/post.rb:9:in `add'", None),
        ("at /root/.cargo/registry/src/index.crates.io-6f17/audit-0.3.1/src/write.rs:9:5", "crates/audit/src/write.rs"),
        ("at /root/.cargo/registry/src/index.crates.io-6f17/serde-1.0.1/src/write.rs:9:5", None),
    ],
)
def test_an_installed_package_is_ours_by_its_name(
    repo: tuple[GitRepo, SqlitePassageIndex], frame: str, path: str | None
) -> None:
    """Another package with a file of the same name is somebody else's."""
    assert [one.path for one in trace_places(frame, *repo)] == ([path] if path else [])


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
