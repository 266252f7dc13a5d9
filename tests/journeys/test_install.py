"""docs/install.md, followed to the letter in an empty HOME: from the first file to the approved reply and a clean stop.

What is typed is read off the page, so a step that is renamed there and not here fails. `pip install .` is left out: the
`triage` of the environment the tests run in is used.
"""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from blocks import ids
from demo.headless import find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, ENG, HELP, OPS
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import LIMIT_S, Control, Json
from tests.journeys.home_files import Journal
from tests.journeys.shop import SESSIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
READY = "all other checks passed, but the bot is not running: see above"


def step(title: str) -> str:
    """Return a numbered step of the page by its bold title."""
    found = re.search(rf"^\d+\. \*\*{re.escape(title)}.*?(?=^\d+\. \*\*|^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"docs/install.md has no step {title!r}"
    return found[0]


def commands(text: str, program: str) -> list[list[str]]:
    """Return what the page has one type, by its first word, in order."""
    typed = [shlex.split(words) for words in re.findall(r"`([^`\n]+)`", text)]
    return [words for words in typed if words[:1] == [program] and len(words) > 1]


def fenced(language: str, words: str) -> str:
    """Return the fenced block of a language that holds some words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return next(block for block in blocks if words in block)


class Place:
    """A folder with what a clone brings, an empty HOME, and the page's commands typed there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "triage", folder / "home"
        self.out, self.err = folder / "out", folder / "err"
        self.folder.mkdir()
        self.home.mkdir()
        for name in (".env.example", "triage.example.yml", "manifest.yml"):
            shutil.copy(ROOT / name, self.folder)
        path = f"{Path(sys.executable).parent}:{os.defpath}"
        self.env: Mapping[str, str] = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8"}

    def type(self, words: list[str], answers: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command; `triage` from what is installed where it has answers, else forked from a loaded one."""
        if words[0] == "triage" and not answers:
            return fork_server.run("bot", *words[1:], env=self.env, cwd=self.folder)
        return subprocess.run(
            words, cwd=self.folder, env=self.env, input=answers, capture_output=True, text=True, timeout=LIMIT_S
        )

    @contextmanager
    def running(self, words: list[str]) -> Iterator[ForkedProcess]:
        """Run `triage run` meanwhile; what it says is appended to `out` and `err`."""
        assert words[0] == "triage"
        with self.out.open("a") as out, self.err.open("a") as err:
            process = fork_server.start(
                "tests.journeys.hasty", *words[1:], env=self.env, cwd=self.folder, stdout=out, stderr=err
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where triage is installed."""
    return Place(tmp_path)


def by_questions(place: Place, shop: Path) -> None:
    """Step "Configure", typed: every question is answered, the optional ones with Enter; then the tokens go in."""
    chats = f"{HELP.channel_id}=help, {ENG.channel_id}=eng"
    answers = [chats, OPS.channel_id, str(shop), "", ""]
    (words,) = commands(step("Configure."), "triage")
    done = place.type(words, "".join(f"{answer}\n" for answer in answers))
    assert done.returncode == 0, done.stderr
    assert "/invite @triage" in done.stdout
    fill_in_tokens(place)


def by_hand(place: Place, shop: Path) -> None:
    """Step "Configure", "By hand": copy both examples, put in the tokens and the keys that the page names."""
    text = step("Configure.")
    for words in [*commands(text, "cp"), *commands(text, "chmod")]:
        assert place.type(words).returncode == 0, words
    keys = re.search(r"then set (.*?)\.", re.sub(r"\([^)]*\)", "", text), re.DOTALL)
    assert keys
    chats = [{"chat_id": chat.channel_id, "name": chat.name} for chat in (HELP, ENG)]
    values = {"codebase": str(shop), "ops_channel": OPS.channel_id, "watched_chats": chats}
    assert re.findall(r"`(\w+)`", keys[1]) == list(values)
    settings = place.folder / "triage.yml"
    assert set(yaml.safe_load(settings.read_text())) == set(values)
    settings.write_text(yaml.safe_dump(values))
    fill_in_tokens(place)


def fill_in_tokens(place: Place) -> None:
    """Paste both tokens into .env."""
    env = place.folder / ".env"
    filled = env.read_text().replace("xoxb-your-token", DEMO.bot_token).replace("xapp-your-token", DEMO.app_token)
    env.write_text(filled)


@pytest.mark.parametrize("configure", [by_questions, by_hand])
def test_the_page_leads_from_an_empty_folder_to_a_reply(
    slack: LocalSlack, control: Control, place: Place, shop: Path, configure: object
) -> None:
    """Doctor, run, question, Approve, reply, status, stop; nothing else is needed, and nothing is said to be wrong."""
    assert callable(configure)
    configure(place, shop)
    with (place.folder / ".env").open("a") as env:
        env.write(f"SLACK_API_URL={slack.api_url}\n")
    doctor, run = commands(step("Run."), "triage")
    control.wait_for(lambda: ends(place, doctor) == (1, READY), "doctor to find nothing but the bot missing")
    with place.running(run) as bot:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        reply = approved(control, SESSIONS)
        assert "hmac" in reply["text"]
        control.wait_for(lambda: place.type(["triage", "status", "--check"]).returncode == 0, "the status to be well")
        control.wait_for(lambda: ends(place, doctor) == (0, "all checks passed"), "every check to pass")
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(LIMIT_S) == 0
    assert place.out.read_text().splitlines()[-1] == "stopped; nothing was lost."
    assert "ERROR" not in place.err.read_text()
    (record,) = Journal(place.home / ".triage" / "replies.ndjson").records()
    assert record["posted_message_id"] == reply["ts"]


def ends(place: Place, doctor: list[str]) -> tuple[int, str]:
    """Return exit code and last line of the doctor; on a busy machine a check may have had too little time."""
    done = place.type(doctor)
    return done.returncode, done.stdout.splitlines()[-1]


def approved(control: Control, question: str) -> Json:
    """Ask in a watched channel, click Approve on the card, and return the reply that stands in the thread."""
    ts = control.say(HELP.channel_id, CHLOE.user_id, question)

    def card() -> Json | None:
        cards = [m for m in control.messages(OPS.channel_id) if question in shown_text(m)]
        return next((m for m in cards if find_element(m, ids.APPROVE)), None)

    found = control.wait_for(card, "the card", channel=OPS.channel_id)
    button = find_element(found, ids.APPROVE)
    assert button
    control.click(OPS.channel_id, found["ts"], ANA.user_id, **button.click_fields())

    def reply() -> Json | None:
        return next(iter(find_replies(control.messages(HELP.channel_id), ts, DEMO.bot_id)), None)

    return control.wait_for(reply, "the reply", channel=HELP.channel_id)


def test_the_unit_starts_what_the_page_installs() -> None:
    """The clone, its venv and its `.env` are those of the commands above the unit."""
    clone = re.search(r"git clone <this repository> (\S+)", PAGE)
    assert clone
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(fenced("ini", "[Service]"))
    service = unit["Service"]
    assert service["WorkingDirectory"] == clone[1]
    assert service["EnvironmentFile"] == f"{clone[1]}/.env"
    (venv,) = re.findall(r"^ *python3 -m venv (\S+)$", PAGE, re.MULTILINE)
    assert [service["ExecStart"].split()] == [
        [f"{clone[1]}/{venv}/bin/triage", *commands(step("Run."), "triage")[1][1:]]
    ]
    assert f"useradd --create-home {service['User']}\n" in PAGE


def test_the_container_finds_what_the_page_mounts() -> None:
    """The image's data directory is the volume, and triage.yml lies where the bot is started."""
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    service = yaml.safe_load(fenced("yaml", "services:"))["services"]["triage"]
    targets = [volume.split(":")[1] for volume in service["volumes"]]
    assert f"{re.findall(r'^WORKDIR (.+)$', image, re.MULTILINE)[-1]}/triage.yml" in targets
    home = re.search(r"TRIAGE_HOME=(\S+)", image)
    assert home
    assert home[1] in targets
