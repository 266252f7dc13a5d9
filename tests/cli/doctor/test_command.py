"""`triage doctor`: each check finds its fault, says what to do, and stops no other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.cli.doctor.command import BOT, CHECKS, render, run_checks
from bot.cli.doctor.context import DoctorContext, HealthCheck
from bot.cli.doctor.machine_checks import connection_check, journal_check, process_check
from bot.config.environment import read_environment
from bot.errors import ProviderError
from bot.ports.collections import PRESENCE, SingleDocument
from tests.builders import NOW, an_event
from tests.gitrepo import make_repo
from tests.handlers.slack_stub import Answer, SlackStub, slack_stub
from tests.intake.test_presence import gone, seen
from tests.tables import each_row


def patient(home: Path, *, api_url: str = "http://127.0.0.1:9/api/") -> DoctorContext:
    """Return a data directory with a config and tokens."""
    home.mkdir(exist_ok=True)
    make_repo(home, {"a.py": "A = 1\n"})
    (home / "triage.yml").write_text(f"codebase: {home}\nops_channel: C0OPS\n")
    environ = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": api_url}
    return DoctorContext(home=home, config=home / "triage.yml", environment=read_environment(environ), now=NOW)


def too_wide(text: str) -> list[str]:
    """Return the lines over 80 columns, but for those with a path: it is never broken."""
    return [line for line in text.splitlines() if len(line) > 80 and "/" not in line]


def test_a_bot_at_work_is_well(tmp_path: Path) -> None:
    """Process and connection are named with their age."""
    SingleDocument(FileDocuments(tmp_path), PRESENCE).update(seen().model_dump(mode="json"))
    assert process_check(FileStore(tmp_path), NOW).says.endswith("started 1 h ago")
    assert connection_check(FileStore(tmp_path), NOW) == HealthCheck(
        ok=True, says="last event 4 s ago · connected since 2026-11-20 08:52 UTC"
    )


def test_a_dead_and_a_deaf_bot_are_told_apart(tmp_path: Path) -> None:
    """Each with its own remedy."""
    assert not process_check(FileStore(tmp_path), NOW).ok
    SingleDocument(FileDocuments(tmp_path), PRESENCE).update(seen(pid=gone()).model_dump(mode="json"))
    assert "triage run" in process_check(FileStore(tmp_path), NOW).fix
    assert "is not running" in connection_check(FileStore(tmp_path), NOW).says
    deaf = seen(connected_since=None, down_since=NOW - timedelta(minutes=3))
    SingleDocument(FileDocuments(tmp_path), PRESENCE).update(deaf.model_dump(mode="json"))
    assert process_check(FileStore(tmp_path), NOW).ok
    assert "SLACK_APP_TOKEN" in connection_check(FileStore(tmp_path), NOW).fix
    assert "kill" in process_check(FileStore(tmp_path), NOW + timedelta(minutes=5)).fix


def test_messages_that_are_not_sorted_are_noticed(tmp_path: Path) -> None:
    """A minute is given; an empty journal is a new bot."""
    assert journal_check(FileStore(tmp_path), NOW).ok
    record = an_event(ts=f"{NOW.timestamp():.6f}").model_dump(mode="json")
    NdjsonJournal(tmp_path / "events.ndjson").append(record)
    assert journal_check(FileStore(tmp_path), NOW + timedelta(seconds=30)).ok
    late = journal_check(FileStore(tmp_path), NOW + timedelta(minutes=2))
    assert (late.ok, late.says) == (False, "last message written 2 min ago, and it was not classified")
    classified = NdjsonJournal(tmp_path / "events-classified.ndjson")
    classified.append({"chat_id": ["what somebody wrote by hand"]})
    classified.append({**record, "classified_at": NOW.isoformat()})
    assert journal_check(FileStore(tmp_path), NOW + timedelta(minutes=2)) == HealthCheck(
        ok=True, says="last message written 2 min ago, last classified 2 min ago"
    )


@each_row("private, ok", [(True, True), (False, False)])
def test_the_ops_channel_has_to_be_private(tmp_path: Path, private: bool, ok: bool) -> None:
    """Slack is asked."""
    with slack_stub() as slack:
        slack.will("conversations.info", Answer({"channel": {"is_private": private}}))
        found = run_checks(patient(tmp_path, api_url=slack.url), limit_s=300)["ops channel"]
    assert found.ok is ok
    assert bool(found.fix) is not ok


def test_in_http_mode_no_app_token_is_asked_for(tmp_path: Path) -> None:
    """But the signing secret is."""
    with slack_stub() as slack:
        slack.will("conversations.info", Answer({"channel": {"is_private": True}}))
        environ = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_API_URL": slack.url}
        given = patient(tmp_path, api_url=slack.url)
        (tmp_path / "triage.yml").write_text(f"codebase: {tmp_path}\nops_channel: C0OPS\nslack: {{mode: http}}\n")
        without = run_checks(replace(given, environment=read_environment(environ)), limit_s=300)["tokens"]
        secret = {"SLACK_SIGNING_SECRET": "0123456789abcdef" * 2}
        found = run_checks(replace(given, environment=read_environment(environ | secret)), limit_s=300)["ops channel"]
    assert "SLACK_SIGNING_SECRET" in without.says + str(without.fix)
    assert found.ok


def test_a_check_that_fails_stops_no_other(tmp_path: Path) -> None:
    """Its error is its finding, with something to do."""

    def broken(_: DoctorContext) -> HealthCheck:
        raise ProviderError("Slack could not be reached")

    found = run_checks(
        patient(tmp_path), {"first": broken, "second": lambda _: HealthCheck(ok=True, says="fine")}, limit_s=300
    )
    assert [(name, each.ok, bool(each.fix)) for name, each in found.items()] == [
        ("first", False, True),
        ("second", True, False),
    ]
    assert render(found).splitlines()[0] == "  ✗ first        Slack could not be reached"
    assert render(found).endswith("1 of 2 checks found something wrong")


def test_what_could_not_be_looked_at_is_one_line_and_no_fault_of_its_own(tmp_path: Path) -> None:
    """Without a config, one thing is wrong, not twelve."""
    said = render(
        run_checks(replace(patient(tmp_path), config=tmp_path / "none.yml"), {**CHECKS, BOT: _well}, limit_s=300)
    )
    assert said.count("triage.yml cannot be used") == 1
    assert "`triage init` writes one" in " ".join(said.split())
    assert "ops channel, chats" in said
    assert too_wide(said) == []
    assert said.splitlines()[-1].startswith(f"2 of {len(CHECKS)} checks found something wrong, ")


def _well(_: DoctorContext) -> HealthCheck:
    return HealthCheck(ok=True, says="fine")


def examined(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    """Return exit code and output of the doctor; asked again where a busy machine left a check too little time."""
    while True:
        code, out = main(["doctor", *argv]), capsys.readouterr().out
        if "no answer within" not in out:
            return code, out


def test_exit_code_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 where something is wrong, and every check by name."""
    slack: SlackStub
    with slack_stub() as slack:
        slack.will("conversations.info", Answer({"channel": {"is_private": True}}))
        given = patient(tmp_path)
        for name, value in {**given.environment.variables, "SLACK_API_URL": slack.url}.items():
            monkeypatch.setenv(name, value)
        argv = ["--home", str(tmp_path), "--config", str(given.config), "--json"]
        code, out = examined(capsys, *argv)
        said = json.loads(out)
        assert code == 1
        assert [check["name"] for check in said["checks"]] == list(CHECKS)
        assert {check["name"] for check in said["checks"] if not check["ok"]} == {"bot", "connection"}
        now = datetime.now(UTC)
        SingleDocument(FileDocuments(tmp_path), PRESENCE).update(
            seen(at=now, started_at=now, connected_since=now).model_dump(mode="json")
        )
        code, out = examined(capsys, *argv[:-1])
        assert code == 0
        assert out.endswith("all checks passed\n")
        assert too_wide(out) == []
