"""`triage init`: questions, then two files that the bot can use; or nothing at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config.environment import read_environment, require_tokens
from bot.config.settings import load_settings
from tests.gitrepo import make_repo

ANSWERS = ["code", "C0123OPS", "C0123HELP=help, C0123ENG", "", "", "", "xoxb-1a", "xapp-1a", "", ""]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a checkout beside."""
    make_repo(tmp_path / "code", {"a.py": "A = 1\n"})
    return tmp_path


def init(place: Path, *argv: str, typed: list[str] | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run it with these lines typed."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place), **environ}
    text = "".join(f"{line}\n" for line in typed or [])
    return subprocess.run(
        [sys.executable, "-m", "bot", "init", *argv],
        cwd=place,
        env=env,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )


def written(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()} - {"code"}


def test_the_channel_for_drafts_is_not_watched(place: Path) -> None:
    """What approvers say to each other there is no question to anybody."""
    argv = ["--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", "--watch", "C0123HELP,C0123OPS"]
    done = init(place, *argv)
    assert (done.returncode, "is the channel for drafts" in " ".join(done.stderr.split())) == (1, True)


def test_answers_become_files_the_bot_can_use(place: Path) -> None:
    """And the way on is printed: three steps, and none to make an app that is there."""
    done = init(place, typed=ANSWERS)
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


def test_an_answer_is_checked_as_it_is_typed(place: Path) -> None:
    """And asked for again, with what would be right."""
    wrong = [
        "",
        "nowhere",
        "code",
        "ops",
        "C0123OPS",
        "help",
        "C0123ENG, C0123ENG=eng",
        "",
        "alice",
        "U0123ALICE",
        "german",
        "de",
        "",
    ]
    done = init(place, typed=[*wrong, "xapp-1a", "xoxb-1a", "", "sk ant", "", "it's", "~/my data #1"])
    assert done.returncode == 0, done.stderr
    for words in ("is not a git checkout", "'ops' is no channel id", "'alice' is no user", "two small letters"):
        assert words in " ".join(done.stdout.split())
    assert "SLACK_BOT_TOKEN does not start with xoxb-" in done.stdout
    settings = load_settings(place / "triage.yml")
    assert (settings.approvers, settings.team_language) == (("U0123ALICE",), "de")
    assert read_environment({}, dotenv=place / ".env").home == place / "my data #1"
    assert "put its two tokens into .env" in done.stdout
    assert "https://api.slack.com/apps?new_app=1&manifest_json=%7B" in done.stdout


def test_nothing_is_overwritten(place: Path) -> None:
    """Neither file, and no question is asked first."""
    for name in ("triage.yml", ".env"):
        (place / name).write_text("mine")
        done = init(place, typed=ANSWERS)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{name} of {place} would be overwritten" in " ".join(done.stderr.split())
        assert (place / name).read_text() == "mine"
        (place / name).unlink()
    assert written(place) == set()


@pytest.mark.parametrize("count", range(len(ANSWERS)))
def test_an_input_that_ends_leaves_nothing(place: Path, count: int) -> None:
    """After whichever answer."""
    done = init(place, typed=ANSWERS[:count])
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
    assert "9 questions" not in done.stdout


def test_ctrl_c_leaves_nothing(place: Path) -> None:
    """And says so, without a traceback."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    argv = [sys.executable, "-u", "-m", "bot", "init"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, cwd=place, env=env, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.read(4) == "11 q"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
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


def test_a_wrong_token_of_the_environment_is_not_repeated(place: Path) -> None:
    """Only named."""
    done = init(
        place, "--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", SLACK_BOT_TOKEN="hunter2hunter2"
    )
    assert "SLACK_BOT_TOKEN does not start with" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout


def test_a_folder_that_takes_no_files_keeps_none(place: Path) -> None:
    """One of the two names is taken by a folder in the last moment; the other file does not stay."""
    from bot.cli.init_files import write_files
    from bot.errors import InputError

    (place / ".env").mkdir()
    with pytest.raises(InputError, match="nothing written"):
        write_files(place, {"codebase": str(place / "code"), "ops_channel": "C0123OPS"}, {})
    assert written(place) == {".env"}


def test_sessions_and_their_owners_are_asked_for(place: Path) -> None:
    """Each wrong answer is met with what would be right; one owner may have all."""
    for name in ("src/shop", "src/Tool Box", "more/shop"):
        (place / name).mkdir(parents=True)
    wrong = ["src/none", "src/shop, more/shop", "src/shop, x=src/shop", "A=src/shop"]
    owners = ["", "ana", "shop=U0123ANA", "shop=U0123ANA, other=U0123BEN", "shop=U0123ANA, S0123OPS"]
    typed = ["code", "C0123OPS", "", "", "", *wrong, "src/shop, src/Tool Box", *owners, "", "", "", ""]
    done = init(place, typed=typed)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    for words in (
        "is not a folder",
        "two sessions 'shop'",
        "is named twice",
        "small letters, digits",
        "'ana' is no user",
    ):
        assert words in said
    for words in ("nobody is told of shop", "nobody is told of tool-box", "no session 'other'"):
        assert words in said
    sessions = load_settings(place / "triage.yml").sessions
    assert {name: (one.cwd, one.owner) for name, one in sessions.items()} == {
        "shop": (place / "src/shop", "U0123ANA"),
        "tool-box": (place / "src/Tool Box", "S0123OPS"),
    }


def test_sessions_can_be_given_as_options(place: Path) -> None:
    """And are refused where nobody is told, or an owner has none."""
    given = ["--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", "--sessions", "shop=code"]
    refused = init(place, *given)
    assert refused.returncode == 1
    assert "--owner: nobody is told of shop" in " ".join(refused.stderr.split())
    assert init(place, *given[:5], "--owner", "shop=U0123ANA").returncode == 1
    assert written(place) == set()
    assert init(place, *given, "--owner", "U0123ANA").returncode == 0
    assert load_settings(place / "triage.yml").sessions["shop"].owner == "U0123ANA"
