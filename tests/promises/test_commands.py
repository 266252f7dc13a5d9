"""Promises that a command at the terminal keeps: no bot runs, and nothing but its output and its files is looked at."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from demo.slack_server import LocalSlack
from tests.gitrepo import commit_files, git, make_repo
from tests.journeys.office import environment_of
from tests.journeys.shop import RETRIES, SESSIONS, SHOP
from tests.model_server import ModelServer, load_script
from tests.model_server.script import Call, Part, Role, Script, Turn
from tests.promises.shell import Shell
from tests.promises.slack_end import slack_end

ROOT = Path(__file__).parents[2]
PASS = load_script(ROOT / "tests" / "model_server" / "scripts" / "pass.yml")
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"
TRACE = """Why does the export fail?
```
Traceback (most recent call last):
  File "/srv/shop/export.py", line 8, in export_orders
    return "\\n".join(f"{order['id']},{order['total']}" for order in orders)
KeyError: 'total'
```"""


def test_pricing_decides_what_a_run_costs(shell: Shell) -> None:
    """The price of the config is the one that is counted, not the built-in one."""
    prices = {"input": 400, "output": 2000, "cache_read": 20, "cache_write_5m": 500}
    dear_ones = {"pricing": {"claude-opus-5-5": prices}, "budget": {"per_thread_usd": None}}
    costs = []
    for more in ({}, dear_ones):
        with ModelServer(PASS) as models:
            shell.with_models(models.url, **more)
            costs.append(shell.json("investigate", SESSIONS)["usage"]["cost_usd"])
    built_in, dear = costs
    assert dear == pytest.approx(100 * built_in, rel=0.2)


def test_budget_stops_a_run_before_it_is_exceeded(shell: Shell) -> None:
    """A call that might cost more than is left is not made."""
    with ModelServer(PASS) as models:
        shell.with_models(models.url, budget={"per_thread_usd": 0.0001})
        said = shell.types("investigate", SESSIONS)
        assert (said.returncode, models.requests) == (1, [])
    assert "budget" in said.stderr or "spend" in said.stderr


def test_the_reading_tools_of_an_mcp_server_are_the_investigators(shell: Shell) -> None:
    """A tool is offered, called, and its answer can be cited as a log query; a server sees no key of ours."""
    server = {"command": [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"], "timeout_s": 300}
    call = Call(name="time__get_current_time", input={"timezone": "Asia/Tokyo"})
    answer = PASS.roles["investigator"].parts[0].turns[-1]
    script = Script(
        roles={
            "investigator": Role(match="(?i)you investigate", parts=(Part(turns=(Turn(calls=(call,)), answer)),)),
            "validator": PASS.roles["validator"],
        }
    )
    with ModelServer(script) as models:
        tools = ["get_current_time"]
        shell.with_models(models.url, mcp_servers={"time": {**server, "tools": tools}})
        shell.types("investigate", SESSIONS)
        sent = [json.dumps(request["body"]) for request in models.requests]
    assert any("Asia/Tokyo" in body and "is_dst" in body for body in sent[1:])


def test_a_provider_without_its_settings_is_named_before_anything_is_asked(shell: Shell) -> None:
    """`provider` chooses the cloud; what it lacks is one sentence."""
    shell.configure(provider="vertex")
    said = shell.types("investigate", SESSIONS)
    assert said.returncode == 2
    assert "vertex" in said.stderr.lower()
    assert "Traceback" not in said.stderr


def test_a_bare_repository_is_searched_and_cited_like_a_checkout(shell: Shell) -> None:
    """Its HEAD is what is read."""
    git(shell.folder, "clone", "--quiet", "--bare", str(shell.codebase), "bare.git")
    facts = shell.json("investigate", "--codebase", str(shell.folder / "bare.git"), RETRIES)
    (first, *_) = facts["investigator_return"]["evidence_refs"]
    assert first["ref"].startswith("shop/retry.py:")
    assert first["commit"] == git(shell.codebase, "rev-parse", "HEAD").strip()


def test_a_pointer_of_git_lfs_is_not_taken_for_the_file(shell: Shell) -> None:
    """Nothing is quoted from it, and the search says what it did not look at."""
    commit_files(shell.codebase, {"shop/model.py": POINTER})
    found = shell.types("search", "--codebase", str(shell.codebase), "git lfs spec version oid")
    assert "model.py:" not in found.stdout
    assert shell.json("search", "--codebase", str(shell.codebase), "git lfs spec version oid")["passages"] == []


def test_a_file_that_holds_secrets_by_name_exists_for_nobody(shell: Shell) -> None:
    """It is neither found nor quoted, whatever is asked."""
    commit_files(shell.codebase, {".env": "ZEBRAFISH_LIMIT=1234\n", "deploy/id_rsa": "zebrafish quagga\n"})
    assert shell.json("search", "--codebase", str(shell.codebase), "zebrafish quagga limit")["passages"] == []
    facts = shell.json("investigate", "What is ZEBRAFISH_LIMIT?")
    assert "1234" not in json.dumps(facts["investigator_return"])


def test_program_code_is_ranked_before_its_tests_and_docs(shell: Shell) -> None:
    """What a file is for counts, not how often it says the words."""
    text = "backoff delays of the payment gateway retries"
    files = {
        "tests/test_retry.py": f"def test_retry():\n    # {text}, {text}\n    pass\n",
        "docs/retry.md": f"{text}\n",
    }
    commit_files(shell.codebase, files)
    (first, *_) = shell.json("search", "--codebase", str(shell.codebase), text)["passages"]
    assert first["path"] == "shop/retry.py"


def test_a_stack_trace_leads_to_its_frame_and_to_the_commit_that_changed_it(shell: Shell) -> None:
    """The suspect change is named with its subject."""
    changed = SHOP["shop/export.py"].replace("{order['id']},{order['total']}", "{order['id']},{order['total']:.2f}")
    sha = commit_files(shell.codebase, {"shop/export.py": changed}, "Export totals with cents")
    found = shell.json("investigate", TRACE)["investigator_return"]
    assert found["evidence_refs"][0]["ref"].startswith("shop/export.py:")
    said = shell.types("investigate", TRACE).stdout
    assert sha[:7] in said
    assert "Export totals with cents" in said


def test_metrics_compare_replies_with_baseline_reply_s(shell: Shell) -> None:
    """The target is the configured one plus half a minute."""
    shell.configure(baseline_reply_s=600)
    assert "10.5 min" in shell.json("metrics")["criteria"]["AC-10"]["target"]


def test_status_check_fails_while_no_bot_hears_slack(shell: Shell) -> None:
    """A supervisor learns it by the exit code; without --check the same words are no failure."""
    assert shell.types("status", "--check").returncode == 1
    assert shell.types("status").returncode == 0


def test_a_connection_that_a_killed_bot_left_on_file_is_not_believed(shell: Shell) -> None:
    """The record is fresh and says "connected": it counts while its process lives, and no longer."""
    with subprocess.Popen(["sleep", "600"]) as process:
        now = datetime.now(UTC).isoformat()
        record = {"pid": process.pid, "host": socket.gethostname(), "started_at": now, "at": now}
        (shell.home / "slack").mkdir()
        (shell.home / "slack" / "connection.json").write_text(json.dumps({**record, "connected_since": now}))
        alive = shell.types("status", "--check")
        process.kill()
    killed = shell.types("status", "--check")
    assert (alive.returncode, killed.returncode) == (0, 1)
    assert "connected since" in alive.stdout
    assert "triage is not running" in killed.stdout


def test_doctor_names_each_scope_that_was_not_granted(shell: Shell, slack: LocalSlack) -> None:
    """And is content when all of the manifest's are there."""
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())["oauth_config"]["scopes"]["bot"]
    with slack_end(slack.api_url) as end:
        shell.env |= environment_of(end, shell.home)
        end.headers["X-OAuth-Scopes"] = ",".join(manifest)
        assert shell.doctor("scopes")["ok"]
        end.headers["X-OAuth-Scopes"] = ",".join(one for one in manifest if one != "chat:write")
        assert "chat:write" in shell.doctor("scopes")["says"]


def test_doctor_says_how_far_the_clock_is_off(shell: Shell, slack: LocalSlack) -> None:
    """Slack's own Date header is what it is compared with."""
    with slack_end(slack.api_url) as end:
        shell.env |= environment_of(end, shell.home)
        assert shell.doctor("clock")["ok"]
        earlier = datetime.now(UTC) - timedelta(minutes=5)
        end.headers["Date"] = earlier.strftime("%a, %d %b %Y %H:%M:%S GMT")
        found = shell.doctor("clock")
    assert not found["ok"]
    assert "ahead of Slack's" in found["says"]


def test_init_prints_a_link_that_makes_the_app_from_the_manifest(shell: Shell) -> None:
    """Whoever opens it has every scope filled in."""
    words = ["init", "--no-input", "--codebase", str(shell.codebase), "--ops-channel", "C0123OPS", "--folder", "there"]
    (shell.folder / "there").mkdir()
    said = shell.types(*words)
    assert said.returncode == 0, said.stderr
    link = next(word for word in said.stdout.split() if word.startswith("https://api.slack.com/apps?"))
    told = json.loads(parse_qs(urlsplit(link).query)["manifest_json"][0])
    assert told["oauth_config"] == yaml.safe_load((ROOT / "manifest.yml").read_text())["oauth_config"]


def test_the_published_schema_knows_every_key_of_the_example(shell: Shell) -> None:
    """An editor that reads docs/triage.schema.json marks a key that is misspelt and no other."""
    schema = json.loads((ROOT / "docs" / "triage.schema.json").read_text())
    example = yaml.safe_load((ROOT / "triage.example.yml").read_text())
    assert set(example) <= set(schema["properties"])
    assert schema["additionalProperties"] is False


def test_files_of_a_later_schema_refuse_the_command_that_would_change_them(shell: Shell) -> None:
    """Both versions are named, and the file stays byte for byte."""
    state = shell.home / "state"
    state.mkdir()
    kept = state / "T0DEMO.C0HELP.1795885910.000100.json"
    kept.write_text(json.dumps({"thread_id": "T0DEMO.C0HELP.1795885910.000100", "schema_version": 99, "version": 1}))
    before = kept.read_bytes()
    said = shell.types("migrate", "--schema", "1")
    assert said.returncode == 1
    assert "99" in said.stderr + said.stdout
    assert kept.read_bytes() == before
    assert [path.name for path in state.iterdir()] == [kept.name]


def test_a_token_in_triage_yml_is_refused_without_being_repeated(shell: Shell) -> None:
    """It belongs in .env."""
    shell.configure(bot_token="xoxb-1234567890-planted")
    said = shell.types("investigate", SESSIONS)
    assert said.returncode
    assert "bot_token" in said.stderr
    assert "planted" not in said.stdout + said.stderr


def test_the_data_directory_is_for_its_owner_alone(shell: Shell) -> None:
    """Whatever makes it: mode 0700."""
    shell.env["TRIAGE_HOME"] = str(shell.folder / "fresh")
    shell.types("pause")
    assert (shell.folder / "fresh").stat().st_mode & 0o777 == 0o700


def test_a_codebase_with_an_address_is_not_cloned_by_a_command(shell: Shell) -> None:
    """Doctor asks the remote and says how it stands; nothing is written."""
    git(shell.folder, "clone", "--quiet", "--bare", str(shell.codebase), "remote.git")
    shell.configure(codebases={"shop": {"url": f"file://{shell.folder}/remote.git"}})
    shell.types("doctor")
    assert not (shell.home / "codebases").exists() or not list((shell.home / "codebases").glob("*/HEAD"))


def test_one_question_and_one_repository_need_no_config(shell: Shell, tmp_path: Path) -> None:
    """`triage investigate --codebase` answers in any checkout."""
    other = make_repo(tmp_path / "other", {"limits.py": "MAX_UPLOAD_MB = 25\n"})
    (shell.folder / "triage.yml").unlink()
    facts = shell.json("investigate", "--codebase", str(other), "What is MAX_UPLOAD_MB?")
    assert facts["investigator_return"]["evidence_refs"][0]["ref"].startswith("limits.py:1")


def test_without_a_key_no_model_is_asked(shell: Shell) -> None:
    """An address alone sends nothing: the search over the code answers."""
    with ModelServer(PASS) as models:
        shell.configure(base_url=models.url)
        facts = shell.json("investigate", SESSIONS)
        assert (facts["investigator"], models.requests) == ("offline", [])


def test_no_link_leads_out_of_the_checkout_and_no_setting_of_a_repository_runs(shell: Shell) -> None:
    """A committed link is not followed; a monitor that the repository's config names is never started."""
    (shell.folder / "outside.py").write_text("OUTSIDE_SECRET_LIMIT = 4711\n")
    (shell.codebase / "linked.py").symlink_to(shell.folder / "outside.py")
    git(shell.codebase, "add", "-A")
    git(shell.codebase, "commit", "--quiet", "-m", "Link")
    monitor = shell.folder / "monitor.sh"
    monitor.write_text(f"#!/bin/sh\ntouch {shell.folder}/it-ran\n")
    monitor.chmod(0o755)
    git(shell.codebase, "config", "core.fsmonitor", str(monitor))
    facts = shell.json("investigate", "What is OUTSIDE_SECRET_LIMIT?")
    assert "4711" not in json.dumps(facts["investigator_return"])
    shell.json("investigate", "Who changed shop/retry.py last?")
    assert not (shell.folder / "it-ran").exists()


def test_git_for_the_codebase_sees_no_secret_of_the_environment(shell: Shell) -> None:
    """A git that writes down its environment finds no token in it."""
    real = shutil.which("git")
    folder = shell.folder / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nenv >> {shell.folder}/seen\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    shell.env |= {"PATH": f"{folder}:{shell.env['PATH']}", "SLACK_BOT_TOKEN": "xoxb-planted-0000"}
    shell.types("investigate", RETRIES)
    seen = (shell.folder / "seen").read_text()
    assert "PATH=" in seen
    assert "planted" not in seen
    assert "TRIAGE_HOME" not in seen


def test_a_role_without_a_database_is_refused(shell: Shell) -> None:
    """`run --only edge` says what it wants."""
    shell.env |= {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": "http://127.0.0.1:9/api/"}
    for role in ("edge", "work"):
        said = shell.types("run", "--only", role)
        assert said.returncode
        assert "TRIAGE_DATABASE_URL" in said.stderr


def test_an_address_of_a_database_that_leads_nowhere_is_one_sentence_and_not_repeated(shell: Shell) -> None:
    """Neither password nor host is printed."""
    shell.env["TRIAGE_DATABASE_URL"] = "postgresql://triage:planted-pw@127.0.0.1:9/nowhere-db"
    found = shell.doctor("database")
    assert not found["ok"]
    assert "planted-pw" not in json.dumps(found)
    assert "nowhere-db" not in json.dumps(found)
    assert "Traceback" not in shell.types("status").stderr


def test_an_mcp_server_sees_the_variables_it_names_and_no_secret(shell: Shell) -> None:
    """Neither the chat's tokens nor the model's key."""
    seen = shell.folder / "seen"
    program = f"import os, pathlib; pathlib.Path({str(seen)!r}).write_text(' '.join(os.environ))"
    shell.env |= {"WANTED": "1", "SLACK_BOT_TOKEN": "xoxb-planted-0000"}
    spy = {"command": [sys.executable, "-c", program], "env": ["WANTED"]}
    with ModelServer(PASS) as models:
        shell.with_models(models.url, mcp_servers={"spy": spy})
        shell.types("investigate", SESSIONS)
    names = seen.read_text().split()
    assert "WANTED" in names
    assert not [name for name in names if name.startswith(("SLACK", "ANTHROPIC", "TRIAGE"))]


def test_git_that_asks_a_remote_sees_no_token_of_ours(shell: Shell) -> None:
    """What it needs to log in is there, no more."""
    real = shutil.which("git")
    folder = shell.folder / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nenv >> {shell.folder}/seen\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    shell.env |= {"PATH": f"{folder}:{shell.env['PATH']}", "SLACK_BOT_TOKEN": "xoxb-planted-0000"}
    shell.configure(codebases={"shop": {"url": "https://127.0.0.1:9/shop.git"}})
    shell.types("doctor")
    seen = (shell.folder / "seen").read_text()
    assert "HOME=" in seen
    assert "planted" not in seen
