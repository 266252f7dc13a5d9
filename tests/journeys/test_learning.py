"""A note is what a human read and saved; the next question meets it, and hears when the lines behind it change."""

from __future__ import annotations

import json
from pathlib import Path

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, OPS
from tests.gitrepo import commit_files
from tests.hands import Control, text_value
from tests.journeys.home_files import list_files
from tests.journeys.office import Office
from tests.journeys.shop import SESSIONS
from tests.journeys.test_models import SCRIPTS, ModelOffice
from tests.model_server import ModelServer, load_script

SIMILAR = "Where are session cookies signed, and how are they verified?"
NOTE = "# Where are session cookies signed?\n\nSessions moved to the gateway, ask Zoe. See `shop/sessions.py:3-5`."


def dismissed(office: Office, control: Control, question: str, reason: str) -> str:
    """Have a draft dismissed for a reason; returns the question's ts."""
    ts = office.ask(question)
    office.click(office.draft(ts), ids.DISMISS)
    control.wait_for(control.modals.current, "the dialogue")
    control.modals.submit(ANA.user_id, {ids.REASON: {ids.INPUT: text_value(reason)}})
    office.card(ts, reason)
    return ts


def shown_note(control: Control) -> str:
    """Return what the dialogue about a note shows."""
    view = control.wait_for(control.modals.current, "the dialogue")
    [field] = [one for one in view["blocks"] if one.get("block_id") == ids.NOTE]
    return str(field["element"].get("initial_value"))


def remembered(office: Office, control: Control, ts: str, words: str | None = None) -> Path:
    """Remember a thread from the menu of its card, in other words if given; returns the note's file."""
    office.choose(office.card(ts, offering=ids.MORE), "Remember this")
    control.wait_for(control.modals.current, "the dialogue")
    assert control.modals.submit(ANA.user_id, {ids.NOTE: {ids.INPUT: text_value(words)}} if words else {}) == {}
    office.told(ANA.user_id, "Saved as memory/")
    [path] = list_files(office.home / "memory", "*.md")
    return path


def test_a_dismissal_is_remembered_and_met_by_the_next_question(office: Office, control: Control) -> None:
    """Nothing is kept before the dialogue is submitted; then the next card shows the reason."""
    ts = dismissed(office, control, SESSIONS, "sessions moved to the gateway, ask the platform team")
    assert not list_files(office.home / "memory", "*.md")
    path = remembered(office, control, ts)
    assert "sessions moved to the gateway" in path.read_text()
    card = office.draft(office.ask(SIMILAR))
    assert "sessions moved to the gateway" in shown_text(card)
    assert path.name in shown_text(card)


def test_the_words_that_were_submitted_are_kept_and_proved(office: Office, control: Control, shop: Path) -> None:
    """The addresses in them are looked up; once the lines change, the next card says so beside the note."""
    ts = office.ask(SESSIONS)
    office.choose(office.draft(ts), "Remember this")
    assert SESSIONS in shown_note(control)
    control.modals.submit(ANA.user_id, {ids.NOTE: {ids.INPUT: text_value(f"{NOTE} And gone.py:7.")}})
    office.told(ANA.user_id, "It rests on shop/sessions.py:3-5. Not proved: there is no file 'gone.py'")
    [path] = list_files(office.home / "memory", "*.md")
    assert path.read_text().endswith(f"\n\n{NOTE} And gone.py:7.\n")
    office.card(ts, f"note saved as `memory/{path.name}")
    code = (shop / "shop" / "sessions.py").read_text()
    commit_files(
        shop, {"shop/sessions.py": code.replace("import hashlib", "import hashlib  # of the standard library")}
    )
    office.card(office.ask("Where are session cookies signed?"), "the cited lines changed since")


def test_notes_are_listed_shown_and_retired_by_command(office: Office, control: Control) -> None:
    """Approvers read and retire, others hear how many there are; what was retired is met by no question."""
    (office.home / "memory").mkdir(exist_ok=True)
    (office.home / "memory" / "sessions.md").write_text(f"{NOTE}\n")

    def answer(user: str, text: str, says: str) -> None:
        control.command(user, OPS.channel_id, text)
        private = lambda: [m for m in control.messages(OPS.channel_id) if m.get("ephemeral_to") == user]  # noqa: E731
        control.wait_for(lambda: any(says in shown_text(m) for m in private()), f"{text!r} to say {says!r}")

    answer(CHLOE.user_id, "notes", "1 note, for approvers to read")
    answer(CHLOE.user_id, "notes retire sessions", "Only approvers may do that")
    answer(ANA.user_id, "notes", "sessions · Where are session cookies signed?")
    answer(ANA.user_id, "notes show sessions", "ask Zoe")
    assert (office.home / "memory" / "sessions.md").exists()
    answer(ANA.user_id, "notes retire session", "Did you mean sessions?")
    answer(ANA.user_id, "notes retire sessions", "no search finds it")
    assert "ask Zoe" not in shown_text(office.draft(office.ask(SIMILAR)))


def test_strangers_neither_see_nor_keep_a_note(office: Office, control: Control) -> None:
    """Chloe may not approve, so she sees no draft either."""
    other = dismissed(office, control, SESSIONS, "wrong gateway")
    office.choose(office.card(other, offering=ids.MORE), "Remember this", user=CHLOE.user_id)
    office.told(CHLOE.user_id, "Only approvers may save notes")
    assert control.modals.current() is None
    assert not list_files(office.home / "memory", "*.md")


def test_a_model_meets_the_note_in_its_brief(slack: LocalSlack, control: Control, shop: Path, tmp_path: Path) -> None:
    """Among the data, in the words that were saved."""
    with ModelServer(load_script(SCRIPTS / "pass.yml")) as server:
        office = ModelOffice(slack, control, tmp_path / "home", shop, server.url)
        office.bot.start()
        try:
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            remembered(office, control, dismissed(office, control, SESSIONS, "sessions moved to the gateway"))
            office.draft(office.ask(SIMILAR))
        finally:
            office.bot.stop()
        briefs = [json.dumps(entry["body"]["messages"][0]) for entry in server.requests]
    assert {brief for brief in briefs if "sessions moved to the gateway" in brief}
