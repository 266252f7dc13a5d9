"""Long investigations: a real tmux, a bot that is killed, a run that does not mind, a draft on the card."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS
from tests import fork_server
from tests.fork_server import ForkedProcess
from tests.hands import LIMIT_S, Control, Json, find_option, text_value
from tests.journeys.home_files import Journal
from tests.journeys.office import environment_of, write_config
from tests.journeys.shop import SESSIONS
from tests.model_server import ModelServer, Turn, load_script

AUDIT = f"Audit every place: {SESSIONS} `$(touch pwned)` #{{session_name}}; 'kill-server';"
KEY = "sk-scripted-0123456789abcdef"
SCRIPT = Path(__file__).parents[1] / "model_server" / "scripts" / "long.yml"

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Place:
    """One data directory and the people around it; the bot comes and goes."""

    def __init__(self, slack: LocalSlack, control: Control, home: Path, codebase: Path, url: str) -> None:
        self.slack, self.control, self.home, self.url = slack, control, home, url
        self.codebase, self.more = codebase, dict[str, str]()

    @contextmanager
    def bot(self, **settings: Any) -> Iterator[ForkedProcess]:
        """Run `triage run`; killed without warning at the end."""
        config = write_config(self.home, self.codebase, **settings)
        model = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url} if self.url else {}
        env = {**os.environ, **environment_of(self.slack, self.home), **model, **self.more}
        process = fork_server.start("tests.journeys.hasty", "run", "--config", str(config), env=env)
        try:
            self.control.wait_for(self.control.modals.is_bot_connected, "the bot to connect")
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.control.wait_for(lambda: not self.control.modals.is_bot_connected(), "the bot's socket to close")

    def ask(self, text: str) -> str:
        return self.control.say(HELP.channel_id, CHLOE.user_id, text)

    def thread(self, ts: str) -> str:
        return f"{DEMO.team_id}.{HELP.channel_id}.{ts}"

    def state(self, ts: str) -> dict[str, Any]:
        path = self.home / "state" / f"{self.thread(ts)}.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def folder(self, ts: str) -> Path:
        return self.home / "escalations" / self.thread(ts)

    def card(self, ts: str, showing: str = "", offering: str | None = None) -> Json:
        marker = ids.card_block_id(self.thread(ts))

        def found() -> Json | None:
            for message in self.control.messages(OPS.channel_id):
                is_card = any(block.get("block_id") == marker for block in message.get("blocks") or [])
                if is_card and showing in shown_text(message) and (not offering or find_element(message, offering)):
                    return message
            return None

        return self.control.wait_for(found, f"a card with {showing!r}", channel=OPS.channel_id)

    def wait(self, probe: Any, what: str) -> Any:
        return self.control.wait_for(probe, what, channel=OPS.channel_id)

    def tmux(self, *args: str) -> subprocess.CompletedProcess[str]:
        argv = ["tmux", "-S", str(self.home / "tmux.sock"), *args]
        return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider whose long run thinks until it is released."""
    with ModelServer(load_script(SCRIPT)) as server:
        yield server


@pytest.fixture
def place(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, server: ModelServer) -> Iterator[Place]:
    """A workspace, a codebase, a provider; what is left of tmux is ended."""
    place = Place(slack, control, tmp_path / "home", shop, server.url)
    yield place
    if shutil.which("tmux"):
        place.tmux("kill-server")


def watch_line(card: Json) -> list[str]:
    """Return the command a card shows for watching the run."""
    [text] = [e["text"] for b in card["blocks"] for e in b.get("elements", []) if "To watch it" in str(e.get("text"))]
    return shlex.split(text.partition("`")[2].partition("`")[0])


@needs_tmux
def test_a_long_run_outlives_the_bot(place: Place, server: ModelServer, tmp_path: Path) -> None:
    """Started by the wording, attached to, its bot killed; it ends alone, and the next start validates its draft.

    Neither its environment nor its tmux server's holds a token of the chat; no command line or file holds a secret.
    """
    with place.bot():
        ts = place.ask(AUDIT)
        card = place.card(ts, "To watch it")
        session = place.state(ts)["escalation_tmux_session"]
        assert watch_line(card) == ["tmux", "-S", str(place.home / "tmux.sock"), "attach", "-t", session]
        assert place.tmux("has-session", "-t", f"={session}").returncode == 0
        place.wait(lambda: "thinking: " in place.tmux("capture-pane", "-p", "-t", f"={session}:").stdout, "thoughts")
        shown = place.tmux("show-environment", "-g").stdout + place.tmux("show-environment", "-t", session).stdout
        [pid] = place.tmux("list-panes", "-t", f"={session}", "-F", "#{pane_pid}").stdout.split()
        environ = Path(f"/proc/{pid}/environ").read_text() + shown
        lines = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert KEY in environ
        assert not any(token in environ for token in (DEMO.bot_token, DEMO.app_token))
        assert not any(secret in lines for secret in (KEY, DEMO.bot_token, DEMO.app_token))
    assert place.tmux("has-session", "-t", f"={session}").returncode == 0
    folder = place.folder(ts)
    server.released.set()
    place.wait((folder / ".done").exists, "the end of the run")
    assert json.loads((folder / "return.json").read_text())["draft_reply"].startswith("After a long look")
    assert (folder.stat().st_mode & 0o777, (folder / "transcript.log").stat().st_mode & 0o777) == (0o700, 0o600)
    with place.bot():
        card = place.card(ts, "After a long look", ids.APPROVE)
        assert "✓ Checked by a second model" in shown_text(card)
        element = find_element(card, ids.APPROVE)
        assert element is not None
        place.control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
        [record] = place.wait(lambda: list(Journal(place.home / "replies.ndjson").records()), "the record")
    assert (record["was_escalated"], record["validator_verdict"]) == (True, "pass")
    place.wait(lambda: place.tmux("has-session", "-t", f"={session}").returncode != 0, "the end of the session")
    assert list(tmp_path.rglob("pwned*")) == []
    files = [path for path in place.home.rglob("*") if path.is_file()]
    secrets = [secret.encode() for secret in (KEY, DEMO.bot_token, DEMO.app_token)]
    assert [path for path in files if any(secret in path.read_bytes() for secret in secrets)] == []


@pytest.mark.full
def test_without_tmux_a_long_run_outlives_the_bot_as_well(place: Place, server: ModelServer, tmp_path: Path) -> None:
    """A plain process; the card says how to follow it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "git")
    place.more = {"PATH": str(tmp_path / "bin")}
    with place.bot():
        ts = place.ask(AUDIT)
        card = place.card(ts, "To watch it")
        assert watch_line(card) == ["tail", "-f", str(place.folder(ts) / "transcript.log")]
        assert place.state(ts)["escalation_tmux_session"] is None
    assert not (place.folder(ts) / ".done").exists()
    server.released.set()
    place.wait((place.folder(ts) / ".done").exists, "the end of the run")
    assert "thinking: " in (place.folder(ts) / "transcript.log").read_text()
    with place.bot():
        assert "✓ Checked by a second model" in shown_text(place.card(ts, "After a long look", ids.APPROVE))


@pytest.mark.full
def test_a_long_run_waits_for_its_provider_by_itself(place: Place, server: ModelServer) -> None:
    """It holds nobody's place, so it asks on within its own limit of time."""
    server.refusing = Turn(status=529, error="overloaded_error", retry_after="0.1")
    with place.bot():
        ts = place.ask(AUDIT)
        place.wait(lambda: server.refused > 6, "the run to be refused more often than a short one asks")
        server.refusing = None
        server.released.set()
        assert "✓ Checked by a second model" in shown_text(place.card(ts, "After a long look", ids.APPROVE))


@needs_tmux
def test_an_investigator_that_asks_for_more_time_gets_it_and_a_dismissal_calls_it_off(place: Place) -> None:
    """The short run's notes reach the long one; a click ends the session and keeps its folder."""
    with place.bot():
        ts = place.ask(SESSIONS)
        card = place.card(ts, "the investigator asked for more time: every caller has to be read")
        card = place.card(ts, "To watch it")
        session = place.state(ts)["escalation_tmux_session"]
        request = json.loads((place.folder(ts) / "request.json").read_text())
        assert "The search shows many callers." in request["assignment"]["feedback"]
        element = find_element(card, ids.DISMISS)
        assert element is not None
        place.control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
        place.wait(place.control.modals.current, "the dialogue")
        place.control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value("answered in person")}})
        place.card(ts, "Closed")
    with place.bot():
        assert place.tmux("has-session", "-t", f"={session}").returncode != 0
        assert (place.folder(ts) / "request.json").exists()


def test_offline_nobody_is_offered_what_needs_a_model(place: Place) -> None:
    """No model, no long investigation."""
    place.url = ""
    with place.bot():
        card = place.card(place.ask(AUDIT), "", ids.EDIT)
        assert find_option(card, "Re-investigate") is not None
        assert find_option(card, "Escalate") is None
