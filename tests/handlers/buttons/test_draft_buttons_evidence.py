"""The evidence dialogue over a real repository and a stub of Slack."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.addresses import EvidenceReader
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.threads import PendingReason, ThreadStatus
from bot.errors import InputError
from handlers.buttons.draft_buttons import draft_evidence
from tests.builders import THREAD_ID, a_return, in_status
from tests.fakes import MemoryThreads
from tests.gitrepo import make_repo
from tests.handlers.slack_stub import SlackStub


class Desk:
    """A thread that cites a file of a real repository, and Slack."""

    def __init__(self, folder: Path, slack: SlackStub) -> None:
        self.slack, self.client = slack, WebClient(base_url=slack.url)
        repo = GitRepo(make_repo(folder, {"app/retry.py": "import time\n\nlimit = 5\n"}))
        ref = EvidenceRef(kind=EvidenceKind.FILE, ref="app/retry.py:3", commit=repo.head(), quote="limit = 5")
        ret = a_return(evidence_refs=(ref,) * 14)
        store = MemoryThreads()
        store.put(in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret))
        self.evidence = partial(draft_evidence, store, EvidenceReader(repo=repo), lambda _: "https://code.acme.io/x")

    def updates(self) -> list[dict[str, Any]]:
        return self.slack.of("views.update")


@pytest.fixture
def desk(tmp_path: Path, slack: SlackStub) -> Desk:
    """What a click finds."""
    return Desk(tmp_path, slack)


def test_it_is_filled_with_the_lines(desk: Desk) -> None:
    """The cited line, the link, and how many citations there was no room for."""
    shown = json.dumps(desk.evidence(THREAD_ID).to_dict())
    assert "3  limit = 5" in shown
    assert "https://code.acme.io/x" in shown
    assert "2 more are not shown here" in shown


def test_a_thread_that_is_gone_is_said(desk: Desk) -> None:
    """Its listener says it in the dialogue that stands open."""
    with pytest.raises(InputError, match="no longer stored"):
        desk.evidence("T1.C1.9.9")
