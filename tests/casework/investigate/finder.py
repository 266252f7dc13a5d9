"""A small codebase with a history, and whoever answers questions about it without a model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, FollowUp, Investigation, ThreadMessage
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import EvidenceKind, InvestigatorReturn, ref_marks
from bot.domain.search.passages import MemoryHit
from bot.domain.threads import QuestionType
from tests.gitrepo import commit_files, make_repo

NOW = datetime(2026, 1, 7, 12, tzinfo=UTC)

CLIENT = '''"""Talks to the shop."""

import socket

DEFAULT_PORT = 8443


class Client:
    """One connection to the shop."""

    def __init__(self, host, read_timeout=30, pool_size=5):
        self.host = host

    def send(self, request):
        """Send a request; a lost connection is opened again once."""
        if self.closed:
            raise ConnectionError("the connection was closed by the shop")
        return self.transport.write(request)

    def close(self):
        self.closed = True


class OrderService:
    """Takes orders."""

    def place(self, order):
        client = Client(order.host)
        return client.send(order)
'''
FILES: Mapping[str, str] = {
    "shop/client.py": CLIENT,
    "shop/cart.py": (
        "from shop.client import Client\n\n\ndef checkout(cart):\n"
        "    # a cart without items is refused before anything is charged\n    if not cart.items:\n"
        "        raise ValueError('empty cart')\n    return Client(cart.host).send(cart)\n"
    ),
    "shop/listen.py": "def listen(port):\n    return port\n",
    "config/shop.yml": "server:\n  idle_timeout: 90\n  workers: 4\n",
    "tests/test_client.py": "from shop.client import Client\n\n\ndef test_send():\n    assert Client('a').send(1)\n",
    "docs/guide.md": "# Guide\n\nOpen a client and send your orders.\n",
    "db/seed.sql": "CREATE TABLE port (value INT);\nINSERT INTO port VALUES (80);\n",
}


def make_shop(path: Path) -> Path:
    """Make the codebase, with four commits."""
    old = {**FILES, "shop/client.py": CLIENT.replace("read_timeout=30", "read_timeout=10")}
    code = make_repo(path, {**old, "shop/legacy.py": "def fax(order):\n    return order\n"})
    (code / "shop/legacy.py").unlink()
    commit_files(code, {}, "Remove the fax support\n\nNobody has sent an order by fax\nfor two years.")
    commit_files(code, FILES, "Raise the read timeout")
    commit_files(code, {"docs/guide.md": "# Guide\n\nOpen a client, then send your orders.\n"}, "Mend the guide")
    return code


def searched(code: Path) -> OfflineInvestigator:
    """Return whoever searches a codebase, at a fixed time."""
    repo = GitRepo(code)
    return OfflineInvestigator(repo, SqlitePassageIndex(repo, code.parent / "index.sqlite"), lambda: NOW)


def ask(
    code: Path,
    question: str,
    *,
    earlier: tuple[str, ...] = (),
    follow_ups: tuple[FollowUp, ...] = (),
    added: tuple[str, ...] = (),
    notes: tuple[MemoryHit, ...] = (),
    feedback: str | None = None,
) -> Investigation:
    """Ask, and see that every citation and every check of the draft holds."""
    assignment = Assignment(
        question=question,
        question_type=QuestionType.OTHER,
        rubric="",
        round=1,
        earlier=earlier,
        follow_ups=follow_ups,
        human_context=tuple(ThreadMessage("U2", text) for text in added),
        memory_hits=notes,
        feedback=feedback,
    )
    found = searched(code).investigate(assignment, run_id="r1")
    if found.ret.draft_reply and not notes:
        said = "\n".join((question, *added, *(one.text for one in follow_ups)))
        checks = check_return(found.ret, repo=code, ledger=found.ledger, question=said)
        assert not [check.reason for check in checks if check.ok is False], found.ret.draft_reply
        kinds = [ref.kind for ref in found.ret.evidence_refs]
        marks = ref_marks(checks, len(kinds))
        assert all(mark is True for mark, kind in zip(marks, kinds, strict=True) if kind is not EvidenceKind.MEMORY)
    return found


def places(ret: InvestigatorReturn) -> list[str]:
    """Return what a draft cites and what is offered besides, each as a path or the first line of a commit."""
    refs = (*ret.evidence_refs, *ret.candidates)
    return [
        one.quote.partition("\n")[0] if one.kind is EvidenceKind.GIT_COMMIT else one.ref.rpartition(":")[0]
        for one in refs
    ]
