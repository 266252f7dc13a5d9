"""The terminal where several teams share a bot: each command looks into the right team's data directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.cli.arguments import Scope
from bot.cli.data_directory import settings_at
from bot.domain.threads import PendingReason, ThreadStatus
from bot.ports.threads import Threads
from tests.builders import in_status
from tests.gitrepo import make_repo

PAY, PLAT = "T1.C0PAY.1795165200.000100", "T1.C0PLAT.1795165200.000200"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two teams, each with a draft that waits and a session."""
    code = make_repo(tmp_path / "shop", {"README.md": "hello\n"})
    for name in ("till", "infra"):
        (tmp_path / name).mkdir()
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    teams = {
        "payments": {"ops_channel": "C0PAYOPS", "channels": [{"chat_id": "C0PAY"}], "baseline_reply_s": 60},
        "platform": {"ops_channel": "C0PLATOPS", "channels": [{"chat_id": "C0PLAT"}]},
    }
    sessions = {
        "till": {"cwd": str(tmp_path / "till"), "owner": "U0ANA1234", "team": "payments"},
        "infra": {"cwd": str(tmp_path / "infra"), "owner": "U0ANA1234", "team": "platform"},
    }
    (home / "triage.yml").write_text(yaml.safe_dump({"codebase": str(code), "teams": teams, "sessions": sessions}))
    for team, thread_id, question in (("payments", PAY, "why was it paid twice"), ("platform", PLAT, "why is it slow")):
        state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, thread_id=thread_id, question=question)
        Threads(FileDocuments(home / "teams" / team)).put(state.model_copy(update={"chat_id": thread_id.split(".")[1]}))
    monkeypatch.setenv("TRIAGE_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return home


@pytest.mark.parametrize("name", ["status", "open", "brief", "metrics", "heartbeat", "tiers", "pollinate"])
def test_a_report_is_of_every_team_under_its_name(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """With --team it is of that one, without a title."""
    assert main([name]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Team payments\n")
    assert "\nTeam platform\n" in said
    assert main([name, "--team", "platform"]) == 0
    one = capsys.readouterr().out
    assert "Team" not in one
    assert "paid twice" not in one
    assert "till" not in one


@pytest.mark.parametrize("command", ["status", "open", "metrics", "metrics --autonomy"])
def test_json_has_a_key_for_each_team(home: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    """And of one team it is what it always was."""
    main([*command.split(), "--json"])
    both = json.loads(capsys.readouterr().out)
    assert list(both) == ["payments", "platform"]
    main([*command.split(), "--json", "--team", "payments"])
    one = json.loads(capsys.readouterr().out)
    assert type(one) is type(both["payments"])
    assert "payments" not in one


@pytest.mark.parametrize("command", [["pause"], ["resume"], ["investigate", "Why?"], ["metrics", "--sample", "5"]])
def test_what_needs_one_team_names_those_there_are(
    home: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """And does nothing."""
    assert main(command) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "--team with one of payments, platform" in said
    assert not list(home.rglob("paused.json"))


def test_a_pause_is_of_one_team(home: Path) -> None:
    """The other's work goes on."""
    assert main(["pause", "--team", "platform"]) == 0
    assert [path.parent.name for path in home.rglob("paused.json")] == ["platform"]


@pytest.mark.parametrize(("thread", "team"), [(PAY, "payments"), (PLAT, "platform")])
def test_a_thread_says_whose_it_is(home: Path, capsys: pytest.CaptureFixture[str], thread: str, team: str) -> None:
    """`why` and `verify` look into every team; the JSON names the one."""
    assert main(["why", thread, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["team"] == team
    main(["verify", thread])
    assert thread in capsys.readouterr().out
    other = "platform" if team == "payments" else "payments"
    assert main(["why", thread, "--team", other]) == 1


def test_a_session_says_whose_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its wake lies where its team's bot finds it."""
    assert main(["heartbeat", "run", "infra"]) == 0
    assert [path.relative_to(home).parts[:2] for path in home.rglob("wakes/*")] == [("teams", "platform")]
    main(["tiers", "till", "due"])
    assert "till has no HEARTBEAT.md" in capsys.readouterr().err
    assert main(["heartbeat", "run", "nosuch"]) == 1


def test_the_first_of_several_may_still_have_the_old_data_directory(home: Path) -> None:
    """It is a link to the process's own, and that has the team's settings."""
    moved = home / "teams" / "old"
    (home / "teams" / "payments").rename(moved)
    (home / "teams" / "payments").symlink_to(home)
    assert Scope(home, None, None).teams()["payments"] == home
    assert settings_at(None, home).ops_channel == "C0PAYOPS"


def test_doctor_checks_every_team_and_the_process_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each check of a team under its name."""
    main(["doctor", "--json"])
    names = [check["name"] for check in json.loads(capsys.readouterr().out)["checks"]]
    assert names.count("tokens") == 1
    for team in ("payments", "platform"):
        assert {f"{team}: ops channel", f"{team}: sessions", f"{team}: disk"} <= set(names)
    assert "ops channel" not in names


def test_verify_without_a_thread_goes_through_every_team(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each under its name."""
    main(["verify"])
    said = capsys.readouterr().out
    assert said.index("Team payments") < said.index(PAY) < said.index("Team platform") < said.index(PLAT)
