"""Each check of `triage doctor` finds its fault in a world that has it, and nothing in one that has not."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import responses
import yaml

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.doctor import code_checks, departures, machine_checks, service_checks
from bot.cli.doctor.command import run_checks
from bot.cli.doctor.context import DoctorContext, HealthCheck
from bot.cli.doctor.machine_checks import records_check
from bot.config.environment import read_environment
from bot.ports.collections import HOME, PRESENCE, SingleDocument
from tests.builders import NOW
from tests.crashes.test_disk import mounted
from tests.gitrepo import commit_files, git, make_repo
from tests.handlers.slack_stub import Answer, SlackStub, refusal, slack_stub
from tests.intake.test_presence import seen
from tests.tables import each_row

TOKENS = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}


@pytest.fixture
def slack() -> Iterator[SlackStub]:
    """A Slack that says yes."""
    with slack_stub() as stub:
        yield stub


def patient(
    home: Path, url: str = "http://127.0.0.1:9/api/", environ: dict[str, str] | None = None, **more: Any
) -> DoctorContext:
    """Return a data directory whose triage.yml holds `more`."""
    if not (home / "code").exists():
        make_repo(home / "code", {"a.py": "A = 1\n"})
    (home / "triage.yml").write_text(yaml.safe_dump({"codebase": str(home / "code"), "ops_channel": "C0OPS", **more}))
    given = read_environment({**TOKENS, "SLACK_API_URL": url, **(environ or {})})
    return DoctorContext(home=home, config=home / "triage.yml", environment=given, now=NOW)


def test_every_receiver_of_data_is_named(tmp_path: Path) -> None:
    """By its host; what listens on this machine is said to be here."""
    context = patient(
        tmp_path,
        environ={"ANTHROPIC_API_KEY": "local"},
        base_url="http://127.0.0.1:8000",
        mcp_servers={"logs": {"url": "https://mcp.example.com/x"}},
    )
    assert (
        departures.leaves(context).says == "Slack: this machine; models: this machine; MCP server logs: mcp.example.com"
    )


def test_tokens_are_those_of_the_workspace(tmp_path: Path, slack: SlackStub) -> None:
    """While no bot runs the app's token is tried too, for nothing else would."""
    slack.will("auth.test", Answer({"user": "triage", "team": "Acme"}))
    assert service_checks.check_tokens(patient(tmp_path, slack.url)) == HealthCheck(
        ok=True, says="triage in Acme; Socket Mode is on"
    )
    slack.will("apps.connections.open", refusal("not_allowed_token_type"))
    found = run_checks(patient(tmp_path, slack.url), {"tokens": service_checks.check_tokens}, limit_s=300)["tokens"]
    assert (found.ok, "are swapped" in found.says) == (False, True)


def test_a_chat_without_the_bot_is_named(tmp_path: Path, slack: SlackStub) -> None:
    """Also one that is not there, and one that is archived."""
    slack.will("conversations.info", Answer({"channel": {"is_member": True}}))
    one = [{"chat_id": "C0123HELP", "name": "help"}]
    assert service_checks.watched_chats(patient(tmp_path, slack.url, watched_chats=one)).ok
    for answer, words in (
        (Answer({"channel": {"is_member": False}}), "the bot is not in C0123HELP (help)"),
        (Answer({"channel": {"is_member": True, "is_archived": True}}), "C0123HELP (help) is archived"),
        (refusal("channel_not_found"), "C0123HELP (help): Slack could not look at the channel: channel_not_found"),
    ):
        slack.will("conversations.info", answer)
        found = service_checks.watched_chats(patient(tmp_path, slack.url, watched_chats=one))
        assert not found.ok
        assert found.says.startswith(words)
        assert "/invite" in found.fix


def test_the_codebase_must_be_a_checkout(tmp_path: Path) -> None:
    """With its commit named."""
    assert "code is at" in code_checks.git(patient(tmp_path)).says
    (tmp_path / "plain").mkdir()
    found = run_checks(patient(tmp_path, codebase=str(tmp_path / "plain")), {"git": code_checks.git}, limit_s=300)[
        "git"
    ]
    assert not found.ok


def test_a_model_without_a_price_is_named_with_what_to_write(tmp_path: Path) -> None:
    """It counts at the dearest known price, so a limit is met early and a first look by it spares nothing."""
    (tmp_path / "shop").mkdir()
    key = {"ANTHROPIC_API_KEY": "sk-1"}

    def found(
        environ: dict[str, str] | None = key, *, pricing: Any = None, investigator: Any = None, **beat: Any
    ) -> HealthCheck:
        session = {"cwd": str(tmp_path / "shop"), "heartbeat": {"heartbeat_model": "new-model-1", **beat}}
        more = {"sessions": {"shop": session}, "pricing": pricing or {}, "investigator": investigator or {}}
        return service_checks.prices(patient(tmp_path, environ=environ, **more))

    assert found() == HealthCheck(
        ok=False,
        says="shop: heartbeat_model new-model-1 is as dear as claude-opus-5-5; "
        "no price is known for new-model-1; counted as claude-fable-5, the dearest known model"
        " ($10 in, $50 out per million tokens)",
        fix='name a cheaper heartbeat_model, or "" for none; '
        "under `pricing` in triage.yml: new-model-1: {input: 1, output: 5, cache_read: 0.1}"
        ", in USD per million tokens",
    )
    assert "for new-model-2, new-model-1;" in found(investigator={"model": "new-model-2"}).says
    written = {"new-model-1": yaml.safe_load(service_checks.PRICE_FORM.replace("{", "{ "))}
    assert found(pricing=written).ok
    assert found(heartbeat_model="").ok
    assert found(enabled=False).ok
    assert found(None).says == "not needed: offline"


@each_row(
    "shared, own, named",
    [
        ("claude-haiku-5-5", {}, []),
        ("claude-opus-5-5", {}, ["shop"]),
        ("claude-opus-5-5", {"heartbeat_model": ""}, []),
        ("claude-sonnet-5-5", {"model": "claude-sonnet-5"}, ["shop"]),
        ("claude-opus-5-5", {"enabled": False}, []),
        ("", {"heartbeat_model": "claude-fable-5"}, ["shop"]),
    ],
)
def test_a_first_look_as_dear_as_the_full_run_is_named(
    tmp_path: Path, shared: str, own: dict[str, Any], named: list[str]
) -> None:
    """For each session with its own values."""
    sessions = {name: {"cwd": str(tmp_path / name), "heartbeat": beat} for name, beat in (("shop", own), ("api", {}))}
    sessions["api"]["heartbeat"] = {"heartbeat_model": ""}
    context = patient(
        tmp_path, environ={"ANTHROPIC_API_KEY": "sk-1"}, sessions=sessions, heartbeat={"heartbeat_model": shared}
    )
    found = service_checks.prices(context)
    assert found.ok is not bool(named)
    assert [part.partition(":")[0] for part in found.says.split("; ") if "is as dear as" in part] == named


def test_the_disk_is_named_with_its_room(tmp_path: Path) -> None:
    """Also of a data directory that is not there yet; nothing is created."""
    found = machine_checks.disk(replace(patient(tmp_path), home=tmp_path / "not" / "yet"))
    assert f"free at {tmp_path}" in found.says
    assert not (tmp_path / "not").exists()
    assert "GiB free at" in machine_checks.disk(patient(tmp_path)).says


def test_sessions_need_a_playbook_with_tasks(tmp_path: Path) -> None:
    """A missing one will be written; an empty one looks at nothing."""
    given = patient(tmp_path, sessions={"shop": {"cwd": str(tmp_path / "code"), "owner": "U0123ANA"}})
    assert machine_checks.sessions(given).says == "1 session; the first check writes a playbook for shop"
    (tmp_path / "code" / "HEARTBEAT.md").write_text("## Quick Tasks\n- [ ]\n")
    assert "has no tasks" in machine_checks.sessions(given).says
    (tmp_path / "code" / "HEARTBEAT.md").write_text("## Quick Tasks\n- [ ] look at `git status --porcelain`\n")
    assert machine_checks.sessions(given) == HealthCheck(ok=True, says="1 session")
    (tmp_path / "code" / "HEARTBEAT.md").write_text("## Quick Tasks\n- [ ] look\n## Weekly\n- [ ] prune\n")
    assert "tasks in HEARTBEAT.md never run" in machine_checks.sessions(given).says


def test_a_playbook_that_git_tracks_is_named(tmp_path: Path) -> None:
    """By the session it is of, with what to do; unless the team allows it."""
    session = {"cwd": str(tmp_path / "code"), "owner": "U0123ANA"}
    given = patient(tmp_path, sessions={"shop": session})
    commit_files(tmp_path / "code", {"HEARTBEAT.md": "## Quick Tasks\n- [ ] `git status --porcelain`\n"})
    found = machine_checks.sessions(given)
    assert not found.ok
    assert found.says.startswith("shop: git tracks HEARTBEAT.md")
    assert "git rm --cached HEARTBEAT.md" in found.says
    allowed = {**session, "heartbeat": {"allow_tracked_playbook": True}}
    assert machine_checks.sessions(patient(tmp_path, sessions={"shop": allowed})).ok
    git(tmp_path / "code", "rm", "-q", "--cached", "HEARTBEAT.md")
    assert machine_checks.sessions(given).ok


@responses.activate
@each_row(
    "status, ok, words",
    [(200, True, "has claude"), (401, False, "refuses the API key"), (404, True, "does not say"), (503, False, "503")],
)
def test_a_model_is_asked_for_without_paying(tmp_path: Path, status: int, ok: bool, words: str) -> None:
    """At the configured address; the key is in no finding."""
    given = patient(tmp_path, base_url="https://models.test", environ={"ANTHROPIC_API_KEY": "sk-very-secret"})
    responses.get("https://models.test/v1/models/claude-opus-5-5", status=status)
    found = service_checks.model(given)
    assert (found.ok, words in found.says) == (ok, True)
    assert "secret" not in found.says + found.fix


def test_a_check_that_hangs_costs_its_line_and_no_more(tmp_path: Path) -> None:
    """The others run meanwhile."""
    release = threading.Event()

    def hangs(_: DoctorContext) -> HealthCheck:
        release.wait(600)
        return HealthCheck(ok=True, says="late")

    checks = {"slow": hangs, "fast": lambda _: HealthCheck(ok=True, says="fine")}
    found = run_checks(patient(tmp_path), checks, limit_s=1)
    release.set()
    assert (found["slow"].ok, found["slow"].says) == (False, "no answer within 1 s")
    assert found["fast"].ok


@each_row("text", ["", "{", "[]", '{"status": 5}'])
def test_a_record_that_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, text: str) -> None:
    """A thread's, by what it must hold, too; nothing is touched, and what a start set aside is named as well."""
    assert records_check(FileStore(tmp_path, is_reader=True)).ok
    thread, brief = tmp_path / "state" / "T1.C1.9.9.json", tmp_path / "brief.json"
    thread.parent.mkdir()
    thread.write_text(text)
    brief.write_bytes(b"\xff")
    found = records_check(FileStore(tmp_path, is_reader=True))
    assert (found.ok, found.says) == (False, f"cannot be read: {thread}, {brief}")
    assert "at its next start" in found.fix
    thread.rename(f"{thread}.corrupt")
    brief.unlink()
    found = records_check(FileStore(tmp_path, is_reader=True))
    assert (found.ok, found.says) == (True, "set aside earlier: T1.C1.9.9.json.corrupt")


def test_a_disk_that_takes_no_file_is_told_by_what_it_lacks(tmp_path: Path) -> None:
    """Bytes are free in both cases; whoever owns the directory could not write there either."""
    with mounted(tmp_path / "disk", 2**31) as disk:
        world = patient(disk.path)
        system = os.statvfs(disk.path)
        assert "no inode" not in machine_checks.disk(world).says
        disk.remount(f"rw,nr_inodes={system.f_files - system.f_ffree}")
        assert machine_checks.disk(world).says == f"no inode is free at {disk.path}: no file can be made"
        disk.remount("ro")
        assert machine_checks.disk(world).says == f"the file system of {disk.path} is read-only"


@each_row("name, mode, fix", [(".env", 0o640, "go-rwx"), ("triage.yml", 0o664, "go-w"), ("home", 0o750, "go-rwx")])
def test_what_a_group_or_others_may_read_or_change_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int, fix: str
) -> None:
    """Tokens and state are for the owner's eyes; triage.yml names programs that are started."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / ".env").touch(mode=0o600)
    given = replace(patient(tmp_path), home=tmp_path / "home", config=tmp_path / "triage.yml")
    assert machine_checks.modes(given).ok
    (tmp_path / name).chmod(mode)
    found = machine_checks.modes(given)
    assert (found.ok, found.fix.partition(f" {fix} ")[0]) == (False, "chmod")
    assert found.fix.endswith(name)


def test_the_process_that_holds_the_lock_is_named(tmp_path: Path) -> None:
    """A bot that works holds it; of another process nothing is known but its id."""
    given = patient(tmp_path)
    assert machine_checks.lock(given) == HealthCheck(ok=True, says="free")
    lease = FileLeases(tmp_path).take(HOME)
    found = machine_checks.lock(given)
    assert (found.ok, found.says) == (False, f"held by process {os.getpid()}, which does not work as a bot")
    SingleDocument(FileDocuments(tmp_path), PRESENCE).update(seen().model_dump(mode="json"))
    assert machine_checks.lock(given).ok
    lease.release()


MANIFEST = yaml.safe_load(Path("manifest.yml").read_text())["oauth_config"]["scopes"]["bot"]


def test_missing_scopes_are_named(tmp_path: Path, slack: SlackStub) -> None:
    """As granted, not as asked for; a server that names none is not held to it."""
    slack.will("auth.test", Answer(x_oauth_scopes=",".join(MANIFEST)))
    assert service_checks.scopes(patient(tmp_path, slack.url)).ok
    slack.will("auth.test", Answer(X_OAuth_Scopes=",".join(s for s in MANIFEST if s != "files:write") + ",pins:read"))
    found = service_checks.scopes(patient(tmp_path, slack.url))
    assert (found.ok, found.says) == (False, "not granted: files:write")
    assert "Reinstall" in found.fix
    slack.will("auth.test", Answer(x_oauth_scopes=",".join(s for s in MANIFEST if s != "reactions:write")))
    assert "askers see no reaction" in service_checks.scopes(patient(tmp_path, slack.url)).says
    assert service_checks.scopes(patient(tmp_path, slack.url, acknowledge="none")).ok
    slack.will("auth.test", Answer(x_oauth_scopes=",".join(s for s in MANIFEST if s != "files:read")))
    assert service_checks.scopes(patient(tmp_path, slack.url)).says.endswith("; without files:read no image is read")
    slack.will("auth.test", Answer())
    assert service_checks.scopes(patient(tmp_path, slack.url)).says == "not compared: Slack did not list them"


def test_a_clock_that_is_off_is_told_by_how_much(tmp_path: Path, slack: SlackStub) -> None:
    """Against the header of a real answer, and by hand."""
    assert service_checks.clock(patient(tmp_path, slack.url)).ok
    date = "Fri, 20 Nov 2026 09:00:00 GMT"
    assert service_checks.skew(date, NOW + timedelta(seconds=59)).ok
    assert service_checks.skew(date, NOW + timedelta(minutes=3)).says == "180 s ahead of Slack's"
    assert service_checks.skew(date, NOW - timedelta(minutes=3)).says == "180 s behind Slack's"
    assert "has no time" in service_checks.skew("soon", NOW).says


def test_files_of_the_codebase_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A clone without blobs answers from what is there; the gap is said, and how to close it."""
    given = patient(tmp_path)
    code = given.settings().codebase
    commit_files(code, {"lost.py": "a = 1\n"})
    blob = git(code, "rev-parse", "HEAD:lost.py")
    (code / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = code_checks.git(given)
    assert not found.ok
    assert "1 of its files cannot be read, such as lost.py" in found.says
    assert f"git -C {code} fsck --full" in found.fix
    git(code, "config", "remote.origin.promisor", "true")
    assert f"git -C {code} fetch --refetch --no-filter origin" in code_checks.git(given).fix


def test_a_damaged_codebase_is_named_with_what_to_type(tmp_path: Path) -> None:
    """It has commits, and git cannot read the one that HEAD names."""
    given = patient(tmp_path)
    code = given.settings().codebase
    head = git(code, "rev-parse", "HEAD")
    (code / ".git" / "objects" / head[:2] / head[2:]).unlink()
    found = code_checks.git(given)
    assert not found.ok
    assert "is damaged" in found.says
    assert f"git -C {code} fsck --full" in found.fix


def test_a_shallow_clone_is_named_with_what_fetches_its_history(tmp_path: Path) -> None:
    """It can be searched; only who changed what before is not known."""
    code = patient(tmp_path).settings().codebase
    commit_files(code, {"a.py": "A = 2\n"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{code}", "shallow")
    found = code_checks.git(patient(tmp_path, codebase=str(tmp_path / "shallow")))
    assert found.ok
    assert "fetch --unshallow" in found.says
