"""`triage init`: questions, then two files that the bot can use; or nothing at all."""

from __future__ import annotations

import json
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
from tests import fork_server
from tests.cli.typed import Said, typed
from tests.gitrepo import make_repo

ANSWERS = ["code", "", "C0123OPS", "C0123HELP=help, C0123ENG", "", "", "", "xoxb-1a", "xapp-1a", "", ""]


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


def test_the_channel_for_drafts_is_not_watched(place: Path) -> None:
    """What approvers say to each other there is no question to anybody."""
    argv = ["--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", "--watch", "C0123HELP,C0123OPS"]
    done = init(place, *argv)
    assert (done.returncode, "is the channel for drafts" in " ".join(done.stderr.split())) == (1, True)


def test_answers_become_files_the_bot_can_use(place: Path) -> None:
    """And the way on is printed: three steps, and none to make an app that is there."""
    done = init(place, lines=ANSWERS)
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
        "Pay, mobile",
        "",
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
    done = init(place, lines=[*wrong, "xapp-1a", "xoxb-1a", "", "sk ant", "", "it's", "~/my data #1"])
    assert done.returncode == 0, done.stderr
    for words in (
        "nowhere is not a folder",
        "is no name for a team",
        "'ops' is no channel id",
        "'alice' is no user",
        "two small letters",
    ):
        assert words in " ".join(done.stdout.split())
    assert "SLACK_BOT_TOKEN does not start with xoxb-" in done.stdout
    settings = load_settings(place / "triage.yml")
    assert (settings.approvers, settings.team_language) == (("U0123ALICE",), "de")
    assert read_environment({}, dotenv=place / ".env").home == place / "my data #1"
    assert "put its two tokens into .env" in done.stdout
    assert "https://api.slack.com/apps?new_app=1&manifest_json=%7B" in done.stdout


def test_a_triage_yml_that_cannot_be_used_stays(place: Path) -> None:
    """And no question is asked first."""
    (place / "triage.yml").write_text("mine")
    done = init(place, lines=ANSWERS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "triage.yml is there and cannot be used" in " ".join(done.stderr.split())
    assert (place / "triage.yml").read_text() == "mine"
    assert written(place) == {"triage.yml"}


def test_a_dotenv_that_is_there_is_kept(place: Path) -> None:
    """It is not asked for what stands in it; triage.yml is written."""
    (place / ".env").write_text("SLACK_BOT_TOKEN=xoxb-7\n")
    done = init(place, lines=ANSWERS[:-4])
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
    assert "9 questions" not in done.stdout


def test_ctrl_c_leaves_nothing(place: Path) -> None:
    """And says so, without a traceback."""
    env = {"PATH": os.environ["PATH"], "HOME": str(place)}
    argv = [sys.executable, "-u", "-m", "bot", "init"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, cwd=place, env=env, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.read(4) == "A fe"
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


def test_a_wrong_token_of_the_environment_is_not_repeated(place: Path) -> None:
    """Only named."""
    done = init(
        place, "--no-input", "--codebase", "code", "--ops-channel", "C0123OPS", SLACK_BOT_TOKEN="hunter2hunter2"
    )
    assert "SLACK_BOT_TOKEN does not start with" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout


def test_a_folder_that_takes_no_files_keeps_none(place: Path) -> None:
    """One of the two names is taken by a folder in the last moment; the other file does not stay."""
    from bot.cli.init.files import write_files
    from bot.errors import InputError

    (place / ".env").mkdir()
    with pytest.raises(InputError, match="nothing written"):
        write_files(place, {".env": "A=1\n"}, {})
    assert written(place) == {".env"}


def test_sessions_and_their_owners_are_asked_for(place: Path) -> None:
    """Each wrong answer is met with what would be right; one owner may have all."""
    for name in ("src/shop", "src/Tool Box", "more/shop"):
        (place / name).mkdir(parents=True)
    wrong = ["src/none", "src/shop, more/shop", "src/shop, x=src/shop", "A=src/shop"]
    owners = ["", "ana", "shop=U0123ANA", "shop=U0123ANA, other=U0123BEN", "shop=U0123ANA, S0123OPS"]
    typed = ["code", "", "C0123OPS", "", "", "", *wrong, "src/shop, src/Tool Box", *owners, "", "", "", ""]
    done = init(place, lines=typed)
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


TEAMS = [
    ["C0PAYOPS", "S0PAY", "C0PAY=payments", "shop", "de"],
    ["C0PAY", "C0PLATOPS", "", "C0PAY, C0HELP", "C0HELP=help", "web", "", ""],
]
"""What is typed for payments; for platform, with three answers that do not go with those of payments."""


@pytest.fixture
def company(place: Path) -> Path:
    """A folder with a checkout and the remote of another repository beside."""
    make_repo(place / "remotes" / "infra.git", {"a.tf": "a = 1\n"})
    return place


def test_several_teams_over_several_codebases_are_asked_for(company: Path) -> None:
    """What does not go with another team's answers is said at once; the file reads back as it was answered."""
    code = f"shop=code, file://{company}/remotes/infra.git"
    typed = [code, "payments, platform", "en", *TEAMS[0], *TEAMS[1], "code", "payments", "U0ANA", "", "", "", ""]
    done = init(company, lines=typed)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    for words in (
        "C0PAY is watched by payments; drafts need a private channel",
        "C0PAY is watched by payments too; a channel has one team",
        "there is no codebase 'web'; there is shop, infra",
        "Invite the bot to C0PAYOPS, C0PLATOPS",
    ):
        assert words in said
    settings = load_settings(company / "triage.yml")
    teams = settings.by_team()
    assert {name: one.path or one.url for name, one in settings.codebases.items()} == {
        "shop": company / "code",
        "infra": f"file://{company}/remotes/infra.git",
    }
    assert [(one.ops_channel, one.approvers, one.team_language, list(one.codebases)) for one in teams.values()] == [
        ("C0PAYOPS", ("S0PAY",), "de", ["shop"]),
        ("C0PLATOPS", None, "en", ["shop", "infra"]),
    ]
    assert (settings.sessions["code"].team, settings.sessions["code"].owner) == ("payments", "U0ANA")
    env = {"PATH": os.environ["PATH"], "HOME": str(company)}
    while "no answer within" in (doctor := fork_server.run("bot", "doctor", "--json", cwd=company, env=env)).stdout:
        pass  # on a busy machine a check may have too little time
    found = {one["name"]: one for one in json.loads(doctor.stdout)["checks"]}
    assert found["config"]["says"].endswith("triage.yml: 2 teams, 2 watched chats, 1 session")
    assert found["git"]["says"].endswith("infra: it is not cloned yet; `triage run` clones it")
    assert found["payments: sessions"]["says"] != found["platform: sessions"]["says"]
    wrong = {name for name, one in found.items() if not one["ok"] and "not checked" not in one["says"]}
    assert wrong - {"gh", "tmux"} == {"tokens", "bot", "connection"}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--codebase", "a=code,b=nowhere"], "nowhere is not a folder"),
        (["--codebase", "a=code,b=remotes"], "remotes is not a git checkout with a commit"),
        (["--codebase", "file:///nowhere/a.git"], "git cannot read it: '/nowhere/a.git' does not appear to be a git"),
        (["--codebase", "https://ann:hunter2x@git.example.com/a.git"], "holds a password or token; take it out"),
        (["--codebase", "code,other/code"], "two codebases 'code'; in a list each needs a name"),
        (["--team", "Pay"], "is no name for a team"),
        (["--team", "pay opps=C1"], "'opps=C1' is not understood; say it once, as in --team 'payments ops="),
        (["--team", "pay", "--ops-channel", "C0OPS"], "with several teams say it of each, as in --team"),
        (["--team", "pay"], "--team pay: ops is missing"),
        (["--team", "pay ops=C0A", "--team", "web ops=C0A approvers=U0B"], "C0A is pay's too, with other approvers"),
        (["--team", "pay ops=C0A codebases=web"], "no codebase 'web'"),
    ],
)
def test_an_option_that_cannot_be_used_says_what_to_type(company: Path, argv: list[str], words: str) -> None:
    """And nothing is written, no secret of it repeated."""
    code = [] if "--codebase" in argv else ["--codebase", "code"]
    done = init(company, "--no-input", *code, *argv)
    assert done.returncode == 1
    assert words in " ".join(done.stderr.split())
    assert "hunter2" not in done.stderr + done.stdout
    assert written(company) == {"remotes"}


def test_an_address_can_be_written_unasked(company: Path) -> None:
    """With --offline, as on a machine that has no credentials yet; its name is that of the repository."""
    given = ["--no-input", "--offline", "--codebase", "git@git.example.com:acme/Infra_2.git", "--ops-channel", "C0OPS"]
    assert init(company, *given).returncode == 0
    settings = load_settings(company / "triage.yml")
    assert {name: one.url for name, one in settings.codebases.items()} == {
        "infra_2": "git@git.example.com:acme/Infra_2.git"
    }


def test_a_second_run_proposes_what_is_there(company: Path) -> None:
    """Enter everywhere changes nothing; what is new stands in a file of its own, with all the rest."""
    config = """\
codebase: code            # a comment
ops_channel: C0OPS
watched_chats: [{chat_id: C0HELP, name: help}]
budget: {per_day_usd: 20}
sessions: {shop: {cwd: code}}
"""
    (company / "triage.yml").write_text(config)
    (company / ".env").write_text("SLACK_BOT_TOKEN=xoxb-1\nSLACK_APP_TOKEN=xapp-1\n")
    again = init(company, lines=[""] * 7)
    assert again.returncode == 0, again.stderr
    assert f"[{company / 'code'}]" in again.stdout
    assert "Nothing was written." in again.stdout
    done = init(company, lines=["", "", "", "-", "U0ANN", "de", ""])
    assert done.returncode == 0, done.stderr
    assert "mv triage.yml.new triage.yml" in done.stdout
    assert (company / "triage.yml").read_text() == config
    before, after = load_settings(company / "triage.yml"), load_settings(company / "triage.yml.new")
    changed = {"approvers": ("U0ANN",), "team_language": "de", "watched_chats": ()}
    assert after == before.model_copy(update=changed)
    third = init(company, lines=[""] * 7)
    assert (third.returncode, "triage.yml.new is there from an earlier run" in " ".join(third.stderr.split())) == (
        1,
        True,
    )


def test_a_session_without_an_owner_gets_its_team_as_any_other(company: Path) -> None:
    """What is written can be loaded, whether one team becomes several or several one."""
    sessions = "sessions: {shop: {cwd: code}}\n"
    (company / "triage.yml").write_text(f"codebase: code\nops_channel: C0OPS\n{sessions}")
    teams = ("--no-input", "--team", "pay", "--team", "web ops=C0WEB")
    assert init(company, *teams, TRIAGE_HOME="").returncode == 0
    written = company / "triage.yml.new"
    first = load_settings(written).sessions["shop"]
    written.unlink()
    assert init(company, *teams, "--session-teams", "shop=web", TRIAGE_HOME="").returncode == 0
    chosen = load_settings(written).sessions["shop"]
    assert (first.team, chosen.team, first.owner) == ("pay", "web", chosen.owner)
    written.replace(company / "triage.yml")
    done = init(company, lines=["", "-", "C0OPS", "", "", "", ""])
    assert done.returncode == 0, done.stderr
    after = load_settings(written)
    assert (after.sessions["shop"].team, after.sessions["shop"].owner) == (None, first.owner)


def test_one_team_becomes_the_first_of_several(company: Path) -> None:
    """Its channel, approvers and channels are proposed for the first one, and its budget is inherited."""
    config = (
        "codebase: code\nops_channel: C0OPS\napprovers: []\nbudget: {per_day_usd: 9}\nwatched_chats: [{chat_id: C0A}]\n"
    )
    (company / "triage.yml").write_text(config)
    done = init(company, "--no-input", "--team", "pay", "--team", "web ops=C0WEB", TRIAGE_HOME="")
    assert done.returncode == 0, done.stderr
    teams = load_settings(company / "triage.yml.new").by_team()
    assert [(name, one.ops_channel, one.approvers, one.budget.per_day_usd) for name, one in teams.items()] == [
        ("pay", "C0OPS", (), 9),
        ("web", "C0WEB", None, 9),
    ]
    assert [chat.chat_id for chat in teams["pay"].watched_chats] == ["C0A"]
    (company / "triage.yml.new").replace(company / "triage.yml")
    assert init(company, "--no-input", "--team", "ops ops=C0PAGE").returncode == 0
    assert list(load_settings(company / "triage.yml.new").teams) == ["pay", "web", "ops"]
