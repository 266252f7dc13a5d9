"""`triage metrics`: one screen from a data directory; samples, and marks that count."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.threads import Threads
from tests.builders import an_event, in_status


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with twenty messages, one thread and a hostile text, all of today."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    now = datetime.now(UTC)
    journal = NdjsonJournal(tmp_path / "events-classified.ndjson")
    for number in range(20):
        at = now - timedelta(minutes=number + 1)
        event = an_event(f"note \x1b[31m{number}\u202e", ts=f"{at.timestamp():.6f}").model_dump(mode="json")
        classification = "actionable" if number < 5 else "ambient"
        journal.append({**event, "classification": classification, "classified_at": at.isoformat()})
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, started_at=now, last_event_at=now)
    Threads(FileDocuments(tmp_path)).put(state)
    return tmp_path


def test_the_report_fits_a_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """80 columns, one screen, no colour, and honest about a young bot."""
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    assert "actionable messages" in out
    assert re.search(r"actionable messages +25 % .* 20 ", out)
    assert "not enough data: 0.0 of 7 days were recorded" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert len(out.splitlines()) <= 40


def test_json_has_every_criterion(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With value, n and verdict apart."""
    assert main(["metrics", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert list(said["criteria"]) == [f"AC-{number:02}" for number in range(1, 12)]
    assert said["criteria"]["AC-01"]["value"] == 0.25
    assert said["criteria"]["AC-01"]["ok"] is None
    assert said["counts"]["verdicts"] == {"pass": 1, "bounce": 0, "escalate": 0}


def test_marks_of_a_file_count(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sample filled in: judged messages are not drawn again, and AC-11 has them; what is left null is not judged."""
    assert main(["metrics", "--sample", "5", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["classification"] for line in lines] == ["ambient"] * 3 + ["actionable"] * 2
    for line, right in zip(lines, (True, False, None, True, False), strict=True):
        line["right"] = right
    filled = home / "filled.ndjson"
    filled.write_text("\n".join(map(json.dumps, lines)))
    assert main(["metrics", "--marks", str(filled)]) == 0
    assert "4 marks recorded, 2 of them wrong" in capsys.readouterr().out
    assert main(["metrics", "--sample", "20"]) == 0
    assert capsys.readouterr().out.count("ambient, C1") == 13
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"wrongly ignored +50 % .* 2 ", out)
    assert "50 % of 2 judged messages taken for work deserved none" in " ".join(out.split())


def test_a_broken_file_records_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole or not at all, and the line is named."""
    filled = home / "filled.ndjson"
    good = '{"chat_id": "C1", "message_id": "1.1", "classification": "ack", "right": true}'
    for bad in ("nonsense", "[]", '{"right": "maybe"}'):
        filled.write_text(f"{good}\n{bad}\n")
        assert main(["metrics", "--marks", str(filled)]) == 1
        assert "line 2" in " ".join(capsys.readouterr().err.split())  # wrapped where the path ends
    assert main(["metrics", "--marks", str(home / "none")]) == 1
    assert not (home / "judgements.ndjson").exists()
