"""What the bot does with the files of its data directory across a restart: it keeps, sets aside, removes or refuses."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from blocks import ids
from bot.errors import StoreError, TriageError
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import HELP, OPS
from tests.cli.typed import typed
from tests.hands import Control
from tests.journeys.home_files import list_files
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.promises.at_work import at_work


def told(control: Control, words: str) -> str:
    """Return what the ops channel is told with these words."""

    def found() -> str | None:
        texts = [shown_text(one) for one in control.messages(OPS.channel_id)]
        return next((text for text in texts if words in text), None)

    return control.wait_for(found, f"the ops channel to be told {words!r}", channel=OPS.channel_id)


def test_a_restart_keeps_what_it_does_not_know_and_sets_aside_what_it_cannot_read(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """A field of a later release is in the archive; a damaged record is rebuilt on its card, a foreign file stays."""
    home = tmp_path / "home"
    with at_work(slack, control, tmp_path) as office:
        kept, damaged = office.ask(SESSIONS), office.ask(RETRIES)
        office.draft(kept)
        office.draft(damaged)
    (file,) = list_files(home / "state", f"*{kept}.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "of_a_later_release": {"is": "kept"}}))
    (torn,) = list_files(home / "state", f"*{damaged}.json")
    torn.write_bytes(torn.read_bytes()[:40])
    (home / "notes of mine.txt").write_text("foreign")
    with at_work(slack, control, tmp_path) as office:
        told(control, "was set aside")
        assert list_files(home / "state", f"*{damaged}*.corrupt")
        office.click(office.draft(kept), ids.APPROVE)
        office.reply(kept)
        (archived,) = office.closed(kept)
        assert json.loads(archived.read_text())["of_a_later_release"] == {"is": "kept"}
        office.click(office.draft(damaged), ids.APPROVE)
        office.reply(damaged)
        assert len(office.cards(damaged)) == 1
    assert (home / "notes of mine.txt").read_text() == "foreign"


def test_a_record_of_a_later_schema_refuses_the_start_and_is_left_alone(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Nothing is half done with what nobody here understands."""
    home = tmp_path / "home"
    with at_work(slack, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
    (file,) = list_files(home / "state", f"*{ts}.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "schema_version": 99}))
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"schema 99"):
        Office(slack, control, home, shop).bot.start()
    assert file.read_bytes() == before


def test_records_of_runs_go_after_keep_runs_for_and_those_of_open_threads_stay(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """A young one stays, too."""
    home = tmp_path / "home"
    with at_work(slack, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
    open_run = next(path for path in (home / "runs").iterdir() if ts in path.name)
    old, young = home / "runs" / "beat-old-20260101T000000000000Z", home / "runs" / "beat-young-20260101T000000000000Z"
    for run in (old, young):
        run.mkdir()
        (run / "trace.json").write_text("{}")
    long_ago = (datetime.now(UTC) - timedelta(days=8)).timestamp()
    for run in (old, open_run):
        for path in (*run.rglob("*"), run):
            os.utime(path, (long_ago, long_ago))
    with at_work(slack, control, tmp_path, keep_runs_for="7d", time_scale=0.02):
        control.wait_for(lambda: not old.exists(), "the old record to go")
        assert young.exists()
        assert open_run.exists()


def test_feedback_and_acknowledge_decide_what_the_asker_sees(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """By default eyes, then a check mark and two buttons; switched off, the bare reply."""
    with at_work(slack, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        card = office.draft(ts)
        control.wait_for(lambda: control.reactions(HELP.channel_id, ts) == ["eyes"], "the eyes")
        office.click(card, ids.APPROVE)
        assert find_element(office.reply(ts), ids.HELPFUL)
        control.wait_for(lambda: control.reactions(HELP.channel_id, ts) == ["white_check_mark"], "the check mark")
    with at_work(slack, control, tmp_path, feedback=False, acknowledge="none") as office:
        ts = office.ask(TIMEOUTS)
        office.click(office.draft(ts), ids.APPROVE)
        assert find_element(office.reply(ts), ids.HELPFUL) is None
        assert control.reactions(HELP.channel_id, ts) == []


def test_a_second_bot_on_one_data_directory_is_refused_though_its_lock_was_deleted(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The directory itself is locked, too."""
    home = tmp_path / "home"
    with at_work(slack, control, tmp_path):
        (home / "lock").unlink()
        with pytest.raises(TriageError, match=r"runs|running|already"):
            Office(slack, control, home, shop).bot.start()


def test_files_can_be_led_back_to_an_earlier_schema_and_forth(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """`triage migrate --schema 1` rewrites them; the next start takes them up as they were."""
    home = tmp_path / "home"
    with at_work(slack, control, tmp_path) as office:
        ts = office.ask(SESSIONS)
        office.draft(ts)
    said = typed(["migrate", "--schema", "1", "--home", str(home)], home, {"PATH": "/usr/bin:/bin"})
    assert said.returncode == 0, said.stderr
    (file,) = list_files(home / "state", f"*{ts}.json")
    assert json.loads(file.read_text()).get("schema_version", 1) == 1
    with at_work(slack, control, tmp_path) as office:
        office.click(office.draft(ts), ids.APPROVE)
        office.reply(ts)


def test_another_harness_sees_no_token_of_slack(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """A question that takes long is given to it; its environment is written down here."""
    seen = tmp_path / "seen"
    program = f"import os, pathlib; pathlib.Path({str(seen)!r}).write_text(' '.join(os.environ))"
    with at_work(slack, control, tmp_path, escalation={"command": [sys.executable, "-c", program]}) as office:
        office.ask(f"Audit every place: {SESSIONS}")
        control.wait_for(lambda: seen.exists() and seen.read_text(), "the harness to begin")
    assert [name for name in seen.read_text().split() if name.startswith(("SLACK", "TRIAGE_DATABASE"))] == []
