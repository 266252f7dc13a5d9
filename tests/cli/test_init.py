"""`triage init`: questions, then two files that the bot can use; or nothing at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.config.environment import read_environment, require_tokens
from bot.config.settings import load_settings
from tests.cli.typed import Said, typed
from tests.gitrepo import make_repo

ANSWERS = ["C0123HELP=help, C0123ENG", "C0123OPS", "code", "", "no"]
TOKENS = {"SLACK_BOT_TOKEN": "xoxb-1a", "SLACK_APP_TOKEN": "xapp-1a"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a checkout beside."""
    make_repo(tmp_path / "code", {"a.py": "A = 1\n"})
    return tmp_path


def init(place: Path, *argv: str, lines: Sequence[str] = (), **environ: str) -> Said:
    """Run it with these lines typed."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place), **environ}
    return typed(["init", *argv], place, env, "".join(f"{line}\n" for line in lines))


def written(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()} - {"code"}


def test_answers_become_files_the_bot_can_use(place: Path) -> None:
    """And the way on is printed: three steps, and none to make an app that is there."""
    done = init(place, lines=ANSWERS, **TOKENS)
    assert (done.returncode, done.stderr) == (0, "")
    settings = load_settings(place / "triage.yml")
    assert (settings.codebase, settings.ops_channel) == (place / "code", "C0123OPS")
    assert [(chat.chat_id, chat.name) for chat in settings.watched_chats] == [("C0123HELP", "help"), ("C0123ENG", None)]
    assert settings.approvers is None
    assert require_tokens(read_environment({}, dotenv=place / ".env")) == ("xoxb-1a", "xapp-1a")
    assert stat.S_IMODE((place / ".env").stat().st_mode) == 0o600
    assert (place / ".env").read_text() == "SLACK_BOT_TOKEN=xoxb-1a\nSLACK_APP_TOKEN=xapp-1a\n"
    assert "api.slack.com" not in done.stdout
    assert [line[:4] for line in done.stdout.splitlines()[-5:] if line[2:3].isdigit()] == ["  1.", "  2.", "  3."]
    assert written(place) == {"triage.yml", ".env"}


def test_a_dotenv_that_is_there_is_kept(place: Path) -> None:
    """It is not asked for what stands in it; triage.yml is written."""
    (place / ".env").write_text("SLACK_BOT_TOKEN=xoxb-7\n")
    done = init(place, lines=ANSWERS)
    assert done.returncode == 0, done.stderr
    assert (place / ".env").read_text() == "SLACK_BOT_TOKEN=xoxb-7\n"
    assert "Wrote triage.yml in" in done.stdout
    assert "put its two tokens into .env" in done.stdout


@pytest.mark.parametrize("count", range(len(ANSWERS)))
def test_an_input_that_ends_leaves_nothing(place: Path, count: int) -> None:
    """After whichever answer."""
    done = init(place, lines=ANSWERS[:count])
    assert done.returncode == 1
    assert "nothing was written" in done.stderr
    assert "Traceback" not in done.stderr
    assert written(place) == set()


def test_without_questions_all_comes_from_options_and_the_environment(place: Path) -> None:
    """Tokens from the environment only."""
    tokens = {"SLACK_BOT_TOKEN": "xoxb-2b", "SLACK_APP_TOKEN": "xapp-2b", "ANTHROPIC_API_KEY": "sk-ant-12345678"}
    (place / "there").mkdir()
    argv = ["--no-input", "--folder", "there", "--codebase", "code", "--ops-channel", "C0123OPS"]
    done = init(place, *argv, **tokens)
    assert done.returncode == 0, done.stderr
    environment = read_environment({}, dotenv=place / "there" / ".env")
    assert require_tokens(environment) == ("xoxb-2b", "xapp-2b")
    assert environment.anthropic_api_key is not None
    assert not any(value in done.stdout for value in tokens.values())
    assert f"cd {place / 'there'} && triage doctor" in done.stdout
    assert "Five questions" not in done.stdout


def test_ctrl_c_leaves_nothing(place: Path) -> None:
    """And says so, without a traceback."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    argv = [sys.executable, "-u", "-m", "bot", "init"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, cwd=place, env=env, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.read(4) == "Five"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    assert process.returncode == 130
    assert out.endswith("Nothing was written.\n")
    assert "Traceback" not in err
    assert written(place) == set()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--codebase", "code"], "--ops-channel is missing"),
        (["--codebase", "none", "--ops-channel", "C0123OPS"], "--codebase: "),
        (["--codebase", "code", "--ops-channel", "ops"], "--ops-channel: 'ops' is no channel id"),
        (["--codebase", "code", "--ops-channel", "C0123OPS", "--folder", "gone"], "is not a folder"),
    ],
)
def test_what_is_missing_or_wrong_is_said_and_nothing_written(place: Path, argv: list[str], words: str) -> None:
    """With exit code 1."""
    done = init(place, "--no-input", *argv)
    assert done.returncode == 1
    assert words in " ".join(done.stderr.split()) + " "
    assert written(place) == set()


def test_an_answer_is_checked_as_it_is_typed(place: Path) -> None:
    """And asked for again, with what would be right."""
    lines = ["help", "C0123ENG, C0123ENG=eng", "C0123ENG", "", "ops", "C0123ENG", "C0123OPS", "nowhere"]
    lines += ["https://ann:hunter2x@git.example.com/a.git", "code", "alice", "", "maybe", "yes", "S0123ONCALL"]
    done = init(place, lines=lines)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in (
        "'help' is no channel id",
        "C0123ENG is named twice",
        "'ops' is no channel id",
        "C0123ENG is watched; drafts need a private channel",
        "nowhere is not a git checkout with a commit",
        "holds a password or token; take it out",
        "'alice' is no user",
        "'maybe' is no user",
        "nobody is told what they find",
        "put its two tokens into .env",
        "https://api.slack.com/apps?new_app=1&manifest_json=%7B",
    ):
        assert words in said
    assert "hunter2" not in done.stdout + done.stderr
    session = load_settings(place / "triage.yml").sessions["code"]
    assert (session.cwd, session.owner) == (place / "code", "S0123ONCALL")


def test_each_question_can_be_gone_back_to(place: Path) -> None:
    """What was answered there is proposed; before the first question there is none."""
    lines = [
        "<",
        "C0123HELP",
        "C0123OPS",
        "<",
        "<",
        "",
        "C0999OPS",
        "code",
        "U0123ANA",
        "<",
        "<",
        "",
        "U0123BEN",
        "yes",
    ]
    done = init(place, lines=lines)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[C0123HELP]" in done.stdout
    settings = load_settings(place / "triage.yml")
    assert [chat.chat_id for chat in settings.watched_chats] == ["C0123HELP"]
    assert (settings.ops_channel, settings.approvers) == ("C0999OPS", ("U0123BEN",))
    assert settings.sessions["code"].owner == "U0123BEN"


def test_every_key_has_a_comment_and_the_rest_is_said_where_it_goes(place: Path) -> None:
    """Several teams and repositories are an edit of the file."""
    assert init(place, lines=ANSWERS).returncode == 0
    blocks = (place / "triage.yml").read_text().split("\n\n")
    assert all(block.startswith("# ") for block in blocks)
    for word in ("# teams:", "# codebases:", "# sessions:", "# approvers:"):
        assert word in (place / "triage.yml").read_text()


def test_a_triage_yml_that_is_there_stays(place: Path) -> None:
    """It is edited; no question is asked first."""
    (place / "triage.yml").write_text("mine")
    done = init(place, lines=ANSWERS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "triage.yml is there; edit it" in " ".join(done.stderr.split())
    assert (place / "triage.yml").read_text() == "mine"
    assert written(place) == {"triage.yml"}


def test_an_address_is_a_codebase_of_its_name(place: Path) -> None:
    """It is cloned by the bot, so heartbeats have no folder there yet."""
    given = ["--no-input", "--codebase", "git@git.example.com:acme/Infra_2.git", "--ops-channel", "C0OPS"]
    refused = init(place, *given, "--sessions", "U0ANA")
    assert "--sessions: heartbeats need a checkout on this machine" in " ".join(refused.stderr.split())
    assert init(place, *given).returncode == 0
    settings = load_settings(place / "triage.yml")
    assert {name: one.url for name, one in settings.codebases.items()} == {
        "infra_2": "git@git.example.com:acme/Infra_2.git"
    }


def test_a_wrong_token_of_the_environment_is_not_repeated(place: Path) -> None:
    """Only named."""
    done = init(
        place, "--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", SLACK_BOT_TOKEN="hunter2hunter2"
    )
    assert "SLACK_BOT_TOKEN is no whole xoxb-" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout
