"""`triage replay`: past events through today's rules, counted by hand; nothing is posted and no Slack client built."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.domain.events import Sender
from tests.builders import an_event
from tests.cli.typed import typed
from tests.gitrepo import make_repo
from tests.samples import RETRY


def line(number: int, content: str, recorded: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return an event, classified if that was recorded."""
    event = an_event(content, ts=f"{1_795_165_200 + number}.000100", **changes).model_dump(mode="json")
    old = {"classification": recorded, "classifier_version": "0", "mentions_thread_with_inflight": False}
    return {**event, **(old if recorded else {})}


LINES = [
    line(0, "How often do we retry?", "ambient"),
    line(1, "thanks!", "ack"),
    line(2, "lunch at noon", "actionable"),
    line(3, "deploying now \x1b[31m", "actionable"),
    line(4, "is it?", "actionable", sender=Sender(id="B1", type="bot")),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory without a config."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path))
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def journal(path: Path, lines: list[dict[str, Any]]) -> str:
    for each in lines:
        NdjsonJournal(path).append(each)
    return str(path)


def test_what_changed_is_counted_and_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One way and the other; a bot's line is counted and no more; nothing hostile reaches the terminal."""
    path = journal(home / "events-classified.ndjson", LINES)
    with Path(path).open("a") as file:
        file.write("nonsense\n[]\n{}\n")
    assert main(["replay"]) == 0
    default = capsys.readouterr().out
    assert main(["replay", path]) == 0
    out = capsys.readouterr().out
    assert out == default
    assert "5 events, 1 from bots or edits ignored, 3 unreadable" in out
    assert "1 actionable (25 %; target at most 40 %), 1 ack, 2 ambient" in out
    assert "1 question would open a thread" in out
    assert "3 of 4 would be classified differently than recorded (rules 0)" in out
    assert "  ambient → actionable: 1\n    C1 1795165200.000100 How often do we retry?" in out
    assert "  actionable → ambient: 2" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_shadow_drafts_are_made_offline_and_nothing_is_posted(home: Path) -> None:
    """With a key in the environment too, at an address where nobody answers."""
    code = make_repo(home / "code", {"app/retry.py": RETRY})
    (home / "triage.yml").write_text(f"codebase: {code}\nops_channel: C0OPS\n")
    path = journal(home / "events.ndjson", [line(0, "What is MAX_ATTEMPTS in send_with_retry?"), line(1, "why not?")])
    env = {**os.environ, "ANTHROPIC_API_KEY": "sk-ant-never-used", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = typed(["replay", path, "--shadow", "1"], home, env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("drafting 1 of 1 …\n")
    assert "would be shown" in done.stdout
    assert "app/retry.py:" in done.stdout
    assert "MAX_ATTEMPTS" in done.stdout
    assert not (home / "state").exists()
    assert not (home / "replies.ndjson").exists()


def test_a_slack_export_is_read(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Messages of people in listed channels; joins, bots, nonsense and paths that lead out are not."""
    export = home / "export"
    (export / "help").mkdir(parents=True)
    (export / "channels.json").write_text('[{"id": "C0HELP", "name": "help"}, {"id": "C0X", "name": "../../etc"}]')
    ask = {"type": "message", "user": "U1", "text": "why is it slow?", "ts": "1795165200.000100"}
    messages: list[Any] = [
        ask,
        {**ask, "text": "and why now?", "ts": "1795165209.000100", "thread_ts": "1795165200.000100"},
        {**ask, "subtype": "channel_join", "ts": "1795165201.000100"},
        {**ask, "subtype": "bot_message", "bot_id": "B1", "ts": "1795165202.000100"},
        {**ask, "ts": "soon"},
        "nonsense",
    ]
    (export / "help" / "2026-11-20.json").write_text(json.dumps(messages))
    (export / "help" / "2026-11-21.json").write_text("{")
    assert main(["replay", str(export)]) == 0
    out = capsys.readouterr().out
    assert "3 events, 1 from bots or edits ignored, 2 unreadable" in out
    assert "2 actionable" in out
    assert "1 question would open a thread" in out
