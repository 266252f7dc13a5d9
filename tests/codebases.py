"""Two real repositories with their indexes, as a team that has several codebases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from tests.gitrepo import make_repo

Files = Mapping[str, str | bytes]

CART = "def add_to_cart(cart, item):\n    cart.items.append(item)\n    return cart.total()\n"
QUEUE = "def scale_workers(queue):\n    return max(2, queue.depth // 100)\n"
SHOP: Files = {"src/cart.py": CART, "src/both.py": "LIMIT = 5\n", "README.md": "# The shop\n"}
INFRA: Files = {"deploy/queue.py": QUEUE, "src/both.py": "LIMIT = 7\n", "README.md": "# Machines\n"}


def make_codebases(folder: Path, docs: Collection[str] = (), **repositories: Files) -> Codebases:
    """Return the codebases `shop` and `infra`, or those given, below a folder, none of them indexed yet.

    `docs` are the ids of those that are handbooks.
    """
    members = []
    for name, files in (repositories or {"shop": SHOP, "infra": INFRA}).items():
        repo = GitRepo(make_repo(folder / name, files))
        members.append((name, repo, SqlitePassageIndex(repo, folder / "index" / f"{name}.sqlite")))
    return Codebases.named(members, docs)
