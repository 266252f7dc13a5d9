"""From a proposed patch to a draft pull request: the card, the click, the code host."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import expect

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO, HELP, OPS
from tests.casework.hostile_patches import HOSTILE
from tests.code_host import TOKEN, CodeHost
from tests.gitrepo import commit_files, git, make_repo
from tests.hands import Control
from tests.journeys.browser import SlackPage
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import RETRIES, SHOP
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


def script_of(diff: str | None, path: Path, *, title: str = "Retry seven times", codebase: str = "") -> Path:
    """Write the script of a model that proposes a patch; `codebase` stands in front of the cited path."""
    patch = None if diff is None else {"title": title, "diff": diff, "rationale": "Somebody asked for seven."}
    answer = {
        "evidence_refs": [
            {"kind": "file", "ref": f"{codebase}shop/retry.py:3", "supports_claim": "The limit."},
        ],
        "claims": [
            {
                "text": "The gateway is tried 5 times: `MAX_ATTEMPTS = 5` in `shop/retry.py:3`.",
                "kind": "fact",
                "cites": [0],
            }
        ],
        "risk": "none" if patch is None else "code_change",
        "touches": "none",
        "proposed_patch": patch,
        "summary_for_orchestrator": "Five attempts; a patch raises it to seven.",
        "confidence_reason": "The line says so.",
        "confidence": "high",
    }
    verdict = {
        "verdict": "pass",
        "reasons": ["The line says so."],
        "cross_investigation_consistency": "no_overlap",
        "spot_check_ref": f"{codebase}shop/retry.py:3",
        "spot_check_result": "supports",
        "schema_check": "ok",
        "language_check": "match",
        "risk": "code_change",
        "touches": "none",
        "confidence_language_match": "match",
        "scope_drift": "none",
        "risk_gate_check": "passes",
        "tone_assessment": "matches",
    }
    given = {"path": f"{codebase}shop/retry.py"}
    look = {"calls": [{"name": "read_file", "input": given}]}
    open_it = {"calls": [{"name": "read_file", "input": {"address": f"{codebase}shop/retry.py:3"}}]}
    roles = {
        "investigator": {"match": "(?i)you investigate", "parts": [{"turns": [look, {"answer": answer}]}]},
        "validator": {"match": "(?i)break this draft", "parts": [{"turns": [open_it, {"answer": verdict}]}]},
    }
    path.write_text(yaml.safe_dump({"roles": roles}))
    return path


class FixOffice(Office):
    """The office whose bot has models and a code host."""

    def __init__(
        self, slack: LocalSlack, control: Control, home: Path, codebase: Path, variables: dict[str, str], **more: Any
    ) -> None:
        self.control, self.home = control, home
        environment = {**environment_of(slack, home), **variables}
        self.bot = App(
            load_settings(write_config(home, codebase, **more)), read_environment(environment), time_scale=HASTE
        )

    def ask_and_open(self, host: CodeHost, question: str = QUESTION) -> tuple[str, dict[str, Any]]:
        """Ask for a change and click Open draft PR; returns the question's ts and the card."""
        ts = self.ask(question)
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
            models = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
            variables = {**models, "TRIAGE_GITHUB_TOKEN": token}
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
    assert "passes" in pull["body"]
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
    store = office.bot.team.core.fixes
    for fix in store.all():
        store.change(fix.id, lambda now: now.evolve(looked_at=None))
    office.bot.team.questions.patches.updates.follow()


def test_without_a_token_the_patch_is_a_file_with_what_to_type(open_office: Open, host: CodeHost) -> None:
    """In the card's thread, where approvers are; nothing reaches the host."""
    office = open_office(token="")
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
    assert "Patch as a file" in str(card["blocks"])
    office.click(card, ids.OPEN_FIX)
    office.told(ANA.user_id, "the patch is a file in this card's thread")
    file = office.control.wait_for(lambda: files_below(office, card), "the file")[0]
    assert file["name"] == "triage.patch"
    assert host.branches() == {}


def files_below(office: FixOffice, card: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files in a card's thread."""
    below = [m for m in office.control.messages(OPS.channel_id) if m.get("thread_ts") == card["ts"]]
    return [file for message in below for file in message.get("files") or []]


def test_a_failed_check_is_a_sentence_and_a_file_and_may_be_tried_again(open_office: Open, host: CodeHost) -> None:
    """The patch's own test fails with it: nothing is pushed."""
    office = open_office(DIFF.replace("= 7", "= 8", 1))
    ts, _ = office.ask_and_open(host)
    card = office.card(ts, "No draft PR", offering=ids.OPEN_FIX)
    assert "did not pass: it ended with exit code 1" in shown_text(card)
    assert office.control.wait_for(lambda: files_below(office, card), "the log")[0]["name"] == "check.log"
    assert (host.branches(), host.pulls) == ({}, [])


def test_a_patch_that_is_out_of_date_offers_another_investigation(
    open_office: Open, host: CodeHost, tmp_path: Path
) -> None:
    """The line changed on the host since the draft was made."""
    office = open_office()
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(host.bare), str(other))
    commit_files(other, {"shop/retry.py": "MAX_ATTEMPTS = 6\n"})
    git(other, "push", "--quiet", "origin", "main")
    office.click(card, ids.OPEN_FIX)
    card = office.card(ts, "does not apply any more", offering=ids.REINVESTIGATE)
    assert host.branches() == {}


@pytest.mark.parametrize(
    "name",
    [
        "a path with ..",
        *(
            pytest.param(name, marks=pytest.mark.full)
            for name in ("a hook", "a workflow", "a symbolic link", "a submodule")
        ),
    ],
)
def test_a_patch_that_a_message_smuggled_in_is_refused_on_the_card(
    open_office: Open, host: CodeHost, name: str
) -> None:
    """A model that obeyed it gets no further than a sentence."""
    office = open_office(HOSTILE[name])
    ts, _ = office.ask_and_open(host)
    assert "No draft PR" in shown_text(office.card(ts, "No draft PR"))
    assert (host.branches(), host.pulls) == ({}, [])


def test_the_diff_is_shown_to_approvers_only(open_office: Open, host: CodeHost) -> None:
    """In a dialogue that opens empty."""
    office = open_office()
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.VIEW_DIFF)
    office.click(card, ids.VIEW_DIFF)
    view = office.control.wait_for(lambda: shown_in(office, "MAX_ATTEMPTS = 7"), "the diff in the dialogue")
    assert "tests/test_retry.py" in str(view)
    assert host.branches() == {}


def shown_in(office: FixOffice, words: str) -> Any:
    """Return the open dialogue once it shows these words."""
    view = office.control.modals.current()
    return view if view and words in str(view) else None


def test_offline_there_is_no_patch_and_nothing_pretends_there_is(
    slack: LocalSlack, control: Control, tmp_path: Path, host: CodeHost
) -> None:
    """With a token, and without a model."""
    variables = {"TRIAGE_GITHUB_TOKEN": TOKEN}
    office = FixOffice(slack, control, tmp_path / "home", tmp_path / "shop", variables, code_host="github")
    office.bot.start()
    control.wait_for(control.modals.is_bot_connected, "the bot to connect")
    try:
        card = office.draft(office.ask(RETRIES))
        assert "patch" not in shown_text(card).lower()
        assert find_element(card, ids.OPEN_FIX) is None
    finally:
        office.bot.stop()


@pytest.mark.full
def test_a_fix_in_the_browser(open_office: Open, host: CodeHost, page: SlackPage, pictures: Path) -> None:
    """Ana reads the card, then the diff; the draft pull request stands on the card."""
    office = open_office()
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
    page.act_as(ANA.real_name)
    page.open_channel("triage-ops")
    shown = page.message("Proposed patch")
    expect(shown).to_contain_text("Open draft PR")
    page.screenshot(pictures / "fix-card.png")
    page.click(shown, "View diff")
    expect(page.modal).to_contain_text("MAX_ATTEMPTS = 7")
    page.screenshot(pictures / "fix-diff.png", page.modal)
    office.click(card, ids.OPEN_FIX)
    office.card(ts, "Draft PR <")
    expect(page.message("Draft PR #1")).to_contain_text("opened by")
    page.screenshot(pictures / "fix-open.png", page.message("Draft PR #1"))
