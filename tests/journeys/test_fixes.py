"""From a proposed patch to a draft pull request: the card, the click, the code host."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from blocks import ids
from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from demo.control import Control
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import DEMO, HELP
from tests.code_host import TOKEN, CodeHost
from tests.gitrepo import git, make_repo
from tests.journeys.office import Office, environment_of, write_config
from tests.journeys.shop import SHOP
from tests.model_server import ModelServer, load_script

KEY = "sk-scripted-0123456789abcdef"
QUESTION = "How often do we retry the payment gateway? Please raise it to seven."
DIFF = """diff --git a/shop/retry.py b/shop/retry.py
--- a/shop/retry.py
+++ b/shop/retry.py
@@ -1,4 +1,4 @@
 \"\"\"Retries of the payment gateway.\"\"\"

-MAX_ATTEMPTS = 5
+MAX_ATTEMPTS = 7
 FIRST_DELAY_S = 0.5
--- /dev/null
+++ b/tests/test_retry.py
@@ -0,0 +1,3 @@
+from shop.retry import MAX_ATTEMPTS
+
+assert MAX_ATTEMPTS == 7
"""
CHECK = [
    "python3",
    "-c",
    "import sys; sys.path.insert(0, '.'); import pathlib\n"
    "for test in pathlib.Path('tests').glob('test_*.py'): exec(test.read_text())",
]


def script_of(diff: str | None, path: Path, *, title: str = "Retry seven times") -> Path:
    """Write the script of a model that proposes a patch."""
    patch = None if diff is None else {"title": title, "diff": diff, "rationale": "Somebody asked for seven."}
    answer = {
        "confidence": "high",
        "confidence_reason": "The line says so.",
        "summary_for_orchestrator": "Five attempts; a patch raises it to seven.",
        "draft_reply": "The gateway is tried 5 times: `MAX_ATTEMPTS = 5` in `shop/retry.py:3`.",
        "evidence_refs": [
            {"kind": "file", "ref": "shop/retry.py:3", "quote": "MAX_ATTEMPTS = 5", "supports_claim": "The limit."}
        ],
        "proposed_patch": patch,
    }
    verdict = {
        "verdict": "pass",
        "spot_check_ref": "shop/retry.py:3",
        "spot_check_result": "supports",
        "schema_check": "ok",
        "confidence_language_match": "match",
        "scope_drift": "none",
        "risk_gate_check": "passes",
        "tone_assessment": "matches",
    }
    look = {"calls": [{"name": "read_file", "input": {"path": "shop/retry.py"}}]}
    roles = {
        "investigator": {"match": "(?i)you investigate", "parts": [{"turns": [look, {"answer": answer}]}]},
        "validator": {"match": "(?i)break this draft", "parts": [{"turns": [look, {"answer": verdict}]}]},
    }
    path.write_text(yaml.safe_dump({"roles": roles}))
    return path


class FixOffice(Office):
    """The office whose bot has models and a code host."""

    def __init__(
        self, slack: LocalSlack, control: Control, home: Path, codebase: Path, variables: dict[str, str], **more: Any
    ) -> None:
        self.control, self.home = control, home
        environment = {**environment_of(slack, home), "ANTHROPIC_API_KEY": KEY, **variables}
        self.bot = App(load_settings(write_config(home, codebase, **more)), read_environment(environment))

    def ask_and_open(self, host: CodeHost) -> tuple[str, dict[str, Any]]:
        """Ask for a change and click Open draft PR; returns the question's ts and the card."""
        ts = self.ask(QUESTION)
        card = self.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
        self.click(card, ids.OPEN_FIX)
        return ts, card


Open = Callable[..., FixOffice]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CodeHost]:
    """A code host whose repository is the shop."""
    with CodeHost(tmp_path / "host") as host:
        host.publish(make_repo(tmp_path / "shop", SHOP))
        yield host


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, host: CodeHost) -> Iterator[Open]:
    """Opens an office whose model proposes a patch."""
    with ExitStack() as stack:

        def opened(diff: str | None = DIFF, *, token: str = TOKEN, **more: Any) -> FixOffice:
            server = stack.enter_context(ModelServer(load_script(script_of(diff, tmp_path / "script.yml"))))
            variables = {"ANTHROPIC_BASE_URL": server.url, "TRIAGE_GITHUB_TOKEN": token}
            settings = {"code_host": host.kind, "fixes": {"check": CHECK}, **more}
            office = FixOffice(slack, control, tmp_path / "home", tmp_path / "shop", variables, **settings)
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


def test_a_patch_becomes_a_draft_pull_request_and_is_merged(open_office: Open, host: CodeHost, tmp_path: Path) -> None:
    """One click: checked, pushed, opened; the card and the reply name it, and follow it to the merge."""
    office = open_office()
    ts, _ = office.ask_and_open(host)
    card = office.card(ts, "Draft PR <")
    assert "not isolated" not in shown_text(card)
    [pull] = host.pulls
    [(branch, commit)] = host.branches().items()
    assert (pull["base"], pull["draft"], pull["title"]) == ("main", True, "Retry seven times")
    assert branch.startswith(f"triage/{DEMO.team_id}.{HELP.channel_id}.{ts}-")
    message = git(host.bare, "log", "-1", "--format=%B", commit)
    assert "Co-authored-by: ana" in message
    assert "Triage-Evidence: shop/retry.py:3 at " in message
    assert "fails with the patch's tests alone, and passes with the whole patch" in pull["body"]
    assert f"{QUESTION}\n" in pull["body"]
    assert git(tmp_path / "shop", "status", "--porcelain") == ""
    assert git(tmp_path / "shop", "worktree", "list").count("\n") == 0
    assert not (office.home / "workshop").exists()
    card = office.card(ts, f"Draft PR: {host.origin}/acme/shop/pull/1", offering=ids.APPROVE)
    office.click(card, ids.APPROVE)
    reply = office.control.wait_for(lambda: office.posted(ts), "the reply")[0]
    assert f"{host.origin}/acme/shop/pull/1" in shown_text(reply)
    office.closed(ts)
    host.merge(1)
    look_again(office)
    office.card(ts, "is merged")
    record = json.loads((office.home / "replies.ndjson").read_text())
    assert record["edited"] is False


def look_again(office: FixOffice) -> None:
    """Have the code host asked at the next tick, as it is after five minutes."""
    store = office.bot.team.shared.fixes.store
    for fix in store.all():
        store.change(fix.id, lambda now: now.evolve(looked_at=None))
    office.bot.team.casework.fixes.updates.follow()
