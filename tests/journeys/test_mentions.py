"""What becomes of `@triage …` that is no question of its own, over a real local-slack."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from blocks import ids
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, HELP, OPS
from tests.hands import Control
from tests.journeys.home_files import Journal, list_files
from tests.journeys.office import Office
from tests.journeys.shop import RETRIES, SESSIONS
from tests.tables import each_row

AT_TRIAGE = f"<@{DEMO.bot_id}>"
UNASKED = "session cookies are signed and verified in the gateway, I think"


def told(office: Office, user: str, text: str, *, channel: str = HELP.channel_id) -> str:
    """Return what a user alone is told, once it holds `text`."""

    def found() -> str | None:
        private = [m for m in office.control.messages(channel) if m.get("ephemeral_to") == user]
        return next((m["text"] for m in private if text in m["text"]), None)

    return office.control.wait_for(found, f"{user} to be told {text!r}", channel=channel)


def all_classified(office: Office, ts: str) -> None:
    """Wait until a message was sorted."""
    journal = Journal(office.home / "events-classified.ndjson")
    office.control.wait_for(
        lambda: any(record["message_id"] == ts for record in journal.records()), "the message to be sorted"
    )


class Later:
    """The machine's clock, put forward."""

    ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def test_look_into_this_investigates_what_the_thread_asked(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Ben points to Chloe's words: they are on the card, in her name, and one reply goes to the thread."""
    clock = Later()
    office = Office(slack, control, tmp_path / "home", shop, clock=clock)
    office.bot.start()
    try:
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        look_into_this_and_again(office, clock)
    finally:
        office.bot.stop()


def look_into_this_and_again(office: Office, clock: Later) -> None:
    """Have a thread looked into, approve its draft, and have it looked into once more."""
    root = office.ask(UNASKED)
    office.ask(f"{AT_TRIAGE} can you look into this please?", user=BEN.user_id, thread=root)
    card = office.draft(root)
    assert UNASKED in shown_text(card)
    assert f"<@{CHLOE.user_id}>" in json.dumps(card)
    assert "look into this" not in shown_text(card)
    (file,) = list_files(office.home / "state", "*.json")
    state = json.loads(file.read_text())
    assert (state["original_message_id"], state["original_sender_id"]) == (root, CHLOE.user_id)
    assert state["stale_reasons"] == []
    office.click(card, ids.APPROVE)
    office.reply(root)
    assert len(office.cards(root)) == 1
    office.card(root, "approved")
    clock.ahead = timedelta(seconds=10)  # so long might the first card, not found as this one's, be on its way
    office.ask(f"{AT_TRIAGE} look again please", user=BEN.user_id, thread=root)
    office.control.wait_for(lambda: len(office.cards(root)) == 2, "a card of its own")


def test_the_name_alone_points_to_a_question_in_a_channel_that_nobody_watches(office: Office) -> None:
    """Its root was asked where no rule looks; the mention is heard all the same."""
    root = office.ask(RETRIES, channel=OPS.channel_id, user=BEN.user_id)
    office.ask(AT_TRIAGE, channel=OPS.channel_id, user=ANA.user_id, thread=root)
    seen = shown_text(office.draft(root, channel=OPS.channel_id))
    assert "retry.py" in seen
    assert RETRIES[:30] in seen


def test_in_a_channel_the_message_above_is_meant(office: Office) -> None:
    """It is worked on in its own thread."""
    above = office.ask(UNASKED, user=ANA.user_id)
    office.ask(f"{AT_TRIAGE} look into this")
    assert UNASKED[:30] in shown_text(office.draft(above))


def test_a_thread_that_begins_with_a_notice_is_about_its_last_question(office: Office) -> None:
    """A root that asks nothing; the name of the bot alone points, too."""
    root = office.ask("Deploys of this week, in this thread")
    asked = office.ask(SESSIONS, user=ANA.user_id, thread=root)
    office.draft(root)
    (file,) = list_files(office.home / "state", "*.json")
    assert json.loads(file.read_text())["original_message_id"] == asked


@each_row(
    "words, says",
    [
        ("status", "Type it as a command: /triage status"),
        ("pause", "Type it as a command: /triage pause"),
        ("", "Ask in your own words"),
        ("look into this", "Look into what?"),
        ("approve", "with the buttons"),
    ],
)
def test_an_instruction_that_is_no_question_is_answered_to_one_and_changes_nothing(
    office: Office, control: Control, words: str, says: str
) -> None:
    """How to type it; no card, no pause, and nothing in the channel that others see."""
    ts = office.ask(f"{AT_TRIAGE} {words}".strip())
    told(office, CHLOE.user_id, says)
    assert office.cards(ts) == []
    assert not office.bot.team.core.pausing.is_paused
    assert office.posted(ts) == []


def test_thanks_to_the_bot_opens_nothing(office: Office, control: Control) -> None:
    """Under its answer, and where no thread is open."""
    ts = office.ask(f"thanks {AT_TRIAGE}!")
    all_classified(office, ts)
    fresh = office.ask(SESSIONS)
    office.draft(fresh)  # the queue is first-in first-out
    assert office.cards(ts) == []


def test_a_word_under_a_card_is_context_from_an_approver_and_nothing_from_others(office: Office) -> None:
    """Ana adds to Chloe's question in the ops channel; the draft is made anew with it, on the same card."""
    root = office.ask(SESSIONS)
    card = office.draft(root)
    office.ask(
        f"{AT_TRIAGE} hm, also check the retry path", user=CHLOE.user_id, channel=OPS.channel_id, thread=card["ts"]
    )
    told(office, CHLOE.user_id, "Only approvers", channel=OPS.channel_id)
    office.ask(f"{AT_TRIAGE} also check {RETRIES}", user=ANA.user_id, channel=OPS.channel_id, thread=card["ts"])
    told(office, ANA.user_id, "Noted", channel=OPS.channel_id)
    assert "retry.py" in shown_text(office.card(root, "retry.py", offering=ids.APPROVE))
    (file,) = list_files(office.home / "state", "*.json")
    state = json.loads(file.read_text())
    assert [(note["by"], note["text"]) for note in state["human_context"]] == [(ANA.user_id, f"also check {RETRIES}")]
    assert len(state["rounds"]) == 2
    office.ask(f"{AT_TRIAGE} approve", user=ANA.user_id, channel=OPS.channel_id, thread=card["ts"])
    told(office, ANA.user_id, "with the buttons", channel=OPS.channel_id)
    assert office.posted(root) == []
    assert len(office.cards(root)) == 1


def test_look_again_under_a_card_investigates_again(office: Office, control: Control) -> None:
    """The same as the button, for an approver."""
    root = office.ask(SESSIONS)
    card = office.draft(root)
    office.ask(f"{AT_TRIAGE} look again please", user=BEN.user_id, channel=OPS.channel_id, thread=card["ts"])
    told(office, BEN.user_id, "Investigating again", channel=OPS.channel_id)
    (file,) = list_files(office.home / "state", f"*{root}.json")
    control.wait_for(lambda: len(json.loads(file.read_text())["rounds"]) == 2, "a second round")
    office.draft(root)


def test_a_mention_inside_a_sentence_is_a_question_with_its_own_words(office: Office) -> None:
    """In a thread of somebody else's, too: it is what was asked last."""
    root = office.ask("deploying the new build to staging now")
    office.ask(f"I wonder, {AT_TRIAGE}, {RETRIES}", user=BEN.user_id, thread=root)
    assert "retry.py" in shown_text(office.draft(root))
