"""Heartbeats, end to end and without a model: the ordinary bot, a watched repository, a real workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, HELP, OPS
from tests.cli.typed import typed
from tests.gitrepo import git
from tests.hands import LIMIT_S, Control
from tests.journeys.beat_office import HELD_PY, BeatOffice, Wake, Watched, sessions_of, watched
from tests.journeys.home_files import Journal
from tests.journeys.office import write_config
from tests.journeys.shop import SESSIONS
from tests.journeys.slow_proxy import slow_proxy
from tests.journeys.test_crashes import running

Open = Callable[..., BeatOffice]


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Open]:
    """Opens an office that watches the given checkouts; closes it at the end."""
    with ExitStack() as stack:

        def opened(*places: Watched, sessions: dict[str, Any] | None = None, **beat: Any) -> BeatOffice:
            office = BeatOffice(
                slack, control, tmp_path / "home", shop, sessions=sessions or sessions_of(*places, **beat)
            )
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


def test_silence_means_that_all_is_well(open_office: Open, tmp_path: Path) -> None:
    """Nobody is written to; the record and the playbook say that a beat ran, the second one without any thought."""
    shop = watched(tmp_path, "shop")
    office = open_office(shop)
    first = office.beat(shop, result="ok-token")
    assert (first["reason"], first["tier"], first["silent"], first["indicator"]) == ("on_demand", "quick", True, "ok")
    assert "(never)" not in shop.playbook
    assert "- [x] The check" in shop.playbook
    again = office.beat(shop, Wake.INTERVAL, result="ok-empty")
    assert again["why"] == "probes: nothing changed"
    assert office.alerts() == []


def test_an_alert_is_acknowledged_said_once_and_resolved_once(open_office: Open, tmp_path: Path) -> None:
    """From the first sight of a fault to its end on one card; strangers may read its channel and change nothing."""
    shop = watched(tmp_path, "shop", state="bad")
    office = open_office(shop)
    sent = office.beat(shop, result="sent")
    assert sent["delivered"] == {"mode": "last", "channel": "slack", "to": ANA.user_id}
    card = office.alert("fails (exit code 1)")
    office.press(card, ids.ACKNOWLEDGE, user=CHLOE.user_id)
    office.answered(CHLOE.user_id, "Only the session's owner and approvers may do this.")
    assert find_element(office.alert(), ids.ACKNOWLEDGE)
    office.press(card, ids.ACKNOWLEDGE)
    assert f"<@{ANA.user_id}> acknowledged it" in shown_text(office.alert(lacking=ids.ACKNOWLEDGE))
    office.press(card, ids.ACKNOWLEDGE, user=BEN.user_id)
    office.answered(BEN.user_id, "already acknowledged this")
    shop.becomes("bad, still")
    again = office.beat(shop)
    assert (again["silent"], again["why"], again["indicator"]) == (True, "probes: nothing changed", "alert")
    assert [each["ts"] for each in office.alerts()] == [card["ts"]]
    shop.becomes("fine")
    office.beat(shop)
    assert "Resolved" in shown_text(office.alert(lacking=ids.FIXED))
    office.beat(shop)
    assert office.said_below(card) == [":white_check_mark: Resolved."]
    assert [each["ts"] for each in office.alerts()] == [card["ts"]]


def test_a_dozen_findings_at_once_are_five_messages(open_office: Open, tmp_path: Path) -> None:
    """Four cards and a list, on which the flags that are taken down are ticked off together."""
    shop = watched(tmp_path, "shop")
    path, playbook = shop.cwd / "HEARTBEAT.md", shop.playbook
    flags = "\n".join(f"- The disk of host {n} is full" for n in range(12))
    path.write_text(playbook.replace("## Quick Tasks", f"## Urgent Flags\n\n{flags}\n\n## Quick Tasks"))
    office = open_office(shop)
    office.beat(shop, result="sent")
    the_list = office.alert("8 findings on one list")
    assert len(office.alerts()) == 5
    shown = "\n".join(shown_text(alert) for alert in office.alerts())
    assert all(f"The disk of host {n} is full" in shown for n in range(12))
    office.beat(shop)
    assert len(office.alerts()) == 5
    path.write_text(playbook)
    office.beat(shop)
    assert "0 of 8 findings still open" in shown_text(office.alert("findings still open"))
    [said] = office.said_below(the_list)
    assert said.count("The disk of host") == 8


def test_a_snoozed_finding_is_quiet_and_one_said_to_be_fixed_that_comes_back_is_news(
    open_office: Open, tmp_path: Path
) -> None:
    """A snooze silences the finding, not the beats; Fixed closes the card until a beat knows better."""
    shop = watched(tmp_path, "shop", state="bad")
    office = open_office(shop, dedupe_window="1s")
    office.beat(shop, result="sent")
    card = office.alert()
    office.snooze(card, "1 h")
    office.answered(ANA.user_id, "Snoozed for 1 h")
    assert "snoozed until" in shown_text(office.alert())
    shop.becomes("bad again")
    assert office.beat(shop)["silent"]
    office.press(card, ids.FIXED)
    assert f"by <@{ANA.user_id}>" in shown_text(office.alert(lacking=ids.FIXED))
    office.press(card, ids.ACKNOWLEDGE)
    office.answered(ANA.user_id, "This alert is closed already")
    shop.becomes("bad once more")
    office.beat(shop, result="sent")
    assert len(office.alerts()) == 2


def test_a_production_alert_rings_again_after_it_was_fixed_and_is_closed_with_its_check(
    open_office: Open, tmp_path: Path
) -> None:
    """A, B, fixed, A: two alerts. Taken out by command it is closed, not called well; a deleted file is said once."""
    shop = watched(tmp_path, "shop", state="bad A")
    office = open_office(shop)
    office.beat(shop, result="sent")
    shop.becomes("bad B")
    office.beat(shop)
    shop.becomes("fine")
    office.beat(shop)
    shop.becomes("bad A")
    office.beat(shop, result="sent")
    first, second = office.alerts()
    assert office.said_below(first) == [":white_check_mark: Resolved."]
    office.control.command(ANA.user_id, OPS.channel_id, "tiers shop")
    office.control.wait_for((office.home / "listed.json").exists, "the list to be shown")
    office.control.command(ANA.user_id, OPS.channel_id, "tiers shop remove 1")
    office.control.wait_for(lambda: "check.py" not in shop.playbook, "the check to be removed")
    office.beat(shop)
    closed = f":heavy_minus_sign: Closed: its check was removed by <@{ANA.user_id}>; last result: failing."
    office.control.wait_for(lambda: office.said_below(second) == [closed], "the alert to be closed")
    (shop.cwd / "HEARTBEAT.md").unlink()
    assert office.beat(shop)["why"].startswith("empty playbook: HEARTBEAT.md was deleted")
    office.beat(shop)
    assert [shown_text(each).count("was deleted") for each in office.alerts()][2:] == [1]
    assert not (shop.cwd / "HEARTBEAT.md").exists()


def test_the_buttons_that_lead_further(open_office: Open, tmp_path: Path, control: Control) -> None:
    """Run now makes a beat, Open HEARTBEAT.md a dialogue, Investigate a thread in the ops channel with its own card."""
    shop = watched(tmp_path, "shop", state="bad")
    office = open_office(shop)
    office.beat(shop, result="sent")
    card = office.alert()
    office.press(card, ids.RUN_NOW)
    office.answered(ANA.user_id, "A check of shop is queued")
    assert office.envelope(shop, 2)["reason"] == "on_demand"
    office.press(card, ids.OPEN_PLAYBOOK)
    view = control.wait_for(control.modals.current, "the dialogue")
    assert "The check: `python3 check.py`" in shown_text(view)


def asked_about(control: Control) -> list[dict[str, Any]]:
    """Return the questions about alerts that stand in the ops channel."""
    return [m for m in control.messages(OPS.channel_id) if m["text"].startswith("A heartbeat of ")]


def test_an_alert_is_looked_into_in_its_own_checkout_and_asked_about_once(
    open_office: Open, tmp_path: Path, control: Control
) -> None:
    """Not in the team's code; a second click is told of the first. The draft is approved over lines of the checkout."""
    shop = watched(tmp_path, "watched")
    (shop.cwd / "check.py").write_text("import limits\n\nlimits.check()\n")
    (shop.cwd / "limits.py").write_text("def check():\n    raise ValueError('too many orders')\n")
    git(shop.cwd, "add", "check.py", "limits.py")
    git(shop.cwd, "commit", "--quiet", "--message", "Limit orders")
    office = open_office(shop)
    office.beat(shop, result="sent")
    card = office.alert()
    office.press(card, ids.INVESTIGATE)
    office.answered(ANA.user_id, f"Asked in <#{OPS.channel_id}>")
    office.press(card, ids.INVESTIGATE)
    office.answered(ANA.user_id, f"<@{ANA.user_id}> has already started an investigation of this.")
    question = control.wait_for(lambda: next(iter(asked_about(control)), None), "the question")
    draft = office.draft(question["ts"], channel=OPS.channel_id)
    assert "watched:limits.py:" in shown_text(draft)
    assert shown_text(question).count("fails (exit code 1)") == 1
    office.click(draft, ids.APPROVE)
    reply = office.reply(question["ts"], channel=OPS.channel_id)
    (logged,) = office.replies.records()
    assert {ref["ref"].partition(":")[0] for ref in logged["evidence_refs"]} == {"watched"}
    assert reply["thread_ts"] == question["ts"]
    assert len(asked_about(control)) == 1


def test_a_page_ends_when_whoever_was_rung_writes_below_it(open_office: Open, tmp_path: Path, control: Control) -> None:
    """In whatever words, on an earlier card of it too; the card says who, and it is no question."""
    shop = watched(tmp_path, "shop", state="bad")
    office = open_office(shop, severity="page", again_after="2s")
    office.beat(shop, result="sent")
    first = office.alert()
    rung = office.alert("rings for the")
    assert rung["ts"] != first["ts"]
    said = control.say(first["channel"], ANA.user_id, "isn't that the deploy?", first["ts"])
    control.wait_for(
        lambda: f"<@{ANA.user_id}> acknowledged it" in shown_text(office.alerts()[-1]), "the card to say so"
    )
    known = [event["message_id"] for event in Journal(office.home / "events.ndjson").records()]
    assert known == [said]
    assert office.bot.team.core.service.store.open_threads() == []
    before = len(office.alerts())
    shop.becomes("bad, still")
    office.beat(shop)
    assert len(office.alerts()) == before


def test_at_night_only_a_person_wakes_it(open_office: Open, tmp_path: Path) -> None:
    """A slot outside the hours leaves a line with the reason; Run now and its like run."""
    shop = watched(tmp_path, "shop")
    hour = datetime.now(UTC).hour
    night = {"start": f"{(hour + 12) % 24:02}:00", "end": f"{(hour + 13) % 24:02}:00", "timezone": "UTC"}
    office = open_office(shop, active_hours=night)
    refused = office.beat(shop, Wake.INTERVAL, result="skipped")
    assert refused["why"].startswith("outside hours: ")
    assert "outside hours" in office.wake(shop, Wake.INTERVAL)
    assert office.beat(shop)["result"] == "ok-token"


def test_a_question_waits_for_no_command_of_a_beat(open_office: Open, tmp_path: Path) -> None:
    """A check that hangs does not hold up whoever asks in a channel meanwhile."""
    place = watched(tmp_path, "one")
    (place.cwd / "check.py").write_text(HELD_PY)
    (place.cwd / "hold").touch()
    office = open_office(place)
    office.wake(place)
    office.control.wait_for((place.cwd / "begun").exists, "the check to run")
    ts = office.ask(SESSIONS)
    office.draft(ts)
    ended = office.envelopes(place)
    (place.cwd / "hold").unlink()
    assert (ended, office.envelope(place, 1)["result"]) == ([], "ok-token")
    assert office.posted(ts, channel=HELP.channel_id) == []


def lines(home: Path) -> list[dict[str, Any]]:
    """Return heartbeats.ndjson."""
    return list(Journal(home / "heartbeats.ndjson").records())


def direct_messages(control: Control) -> list[dict[str, Any]]:
    channel = control.direct_messages(ANA.user_id)
    return control.messages(channel) if channel else []


def leave_wake(home: Path, config: Path, place: Watched) -> None:
    """Ask for a beat in the terminal while no bot runs."""
    said = typed(["heartbeat", "run", place.id, "--config", str(config)], home, {"TRIAGE_HOME": str(home)})
    assert said.returncode == 0, said.stderr


def test_what_the_owner_writes_below_a_page_while_the_bot_is_down_ends_it_at_the_next_start(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """Direct messages are read back, too, while a page stands there that nobody has."""
    place, home = watched(tmp_path, "watched", state="bad"), tmp_path / "home"
    config = write_config(home, shop, sessions=sessions_of(place, severity="page"))
    leave_wake(home, config, place)
    with running(slack, control, home, config) as process:
        control.wait_for(lambda: lines(home), "the beat's line")
        process.kill()
        process.wait()
    (page,) = direct_messages(control)
    control.say(page["channel"], ANA.user_id, "isn't that the deploy?", page["ts"])
    with running(slack, control, home, config):
        has_it = f"<@{ANA.user_id}> acknowledged it"
        control.wait_for(lambda: any(has_it in shown_text(one) for one in direct_messages(control)), "the card")


def test_a_bot_killed_while_its_question_is_being_posted_asks_no_second_one(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path
) -> None:
    """The question stands and nobody noted that; the next start finds it, and its card follows."""
    place, home = watched(tmp_path, "watched", state="bad"), tmp_path / "home"
    config = write_config(home, shop, sessions=sessions_of(place))
    leave_wake(home, config, place)
    with (
        slow_proxy(slack.api_url, method="chat.postMessage", marker="triage_asked") as proxy,
        running(slack, control, home, config, SLACK_API_URL=proxy.url) as process,
    ):
        control.wait_for(lambda: direct_messages(control), "the alert")
        (alert,) = direct_messages(control)
        element = find_element(alert, ids.INVESTIGATE)
        assert element is not None
        control.click(alert["channel"], alert["ts"], ANA.user_id, **element.click_fields())
        assert proxy.held.wait(LIMIT_S)
        process.kill()
        process.wait()
        proxy.release.set()
    control.wait_for(lambda: asked_about(control), "the question to stand")
    with running(slack, control, home, config):
        asked = "A heartbeat of watched reports"
        control.wait_for(
            lambda: [m for m in control.messages(OPS.channel_id) if asked in shown_text(m)][1:], "its card"
        )
        assert len(asked_about(control)) == 1
