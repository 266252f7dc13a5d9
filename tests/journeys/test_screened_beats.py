"""Beats with models, end to end: a cheap one screens, a capable one works, a scripted provider plays both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from tests.hands import Control
from tests.journeys.beat_office import BeatOffice, Wake, Watched, sessions_of, watched
from tests.journeys.shop import SESSIONS
from tests.model_server import ModelServer, Script, Turn, load_script
from tests.model_server.script import Call, Part, Role

SCRIPTS = Path(__file__).parents[1] / "model_server" / "scripts"
KEY = "sk-scripted-0123456789abcdef"
SCREENED = {"heartbeat_model": "claude-haiku-4-5", "model": "claude-opus-5-5"}

Open = Callable[..., tuple[BeatOffice, ModelServer]]


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Open]:
    """Opens an office whose provider plays what is given for pre-screens and full runs; closes both at the end."""
    with ExitStack() as stack:

        def opened(
            *places: Watched, screen: dict[str, Turn], full: dict[str, Turn], **beat: Any
        ) -> tuple[BeatOffice, ModelServer]:
            server = stack.enter_context(ModelServer(script(screen, full)))
            office = BeatOffice(
                slack,
                control,
                tmp_path / "home",
                shop,
                variables={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url},
                sessions=sessions_of(*places, **{**SCREENED, **beat}),
            )
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office, server

        yield opened


def script(screen: dict[str, Turn], full: dict[str, Turn]) -> Script:
    """Return a script that tells sessions apart by the word their task begins with; casework passes as ever."""
    roles = {
        "screen": Role(match="You decide whether a heartbeat", parts=parts(screen)),
        "beat": Role(match="You keep watch over a code base", parts=parts(full)),
    }
    return Script(roles={**load_script(SCRIPTS / "pass.yml").roles, **roles})


def parts(turns: dict[str, Turn]) -> tuple[Part, ...]:
    return tuple(Part(when=when, turns=(turn,)) for when, turn in (turns or {"": Turn(text="?")}).items())


def asking(folder: Path, name: str) -> Watched:
    """Return a checkout whose one task only a model can answer."""
    return watched(folder, name, tasks=f"- [ ] {name}-case: do the deploys look healthy?")


def receipts(place: Watched, **more: Any) -> list[dict[str, Any]]:
    return [{"task": task.id, "result": "ok", "evidence": "looked", **more} for task in place.tasks]


def finish(place: Watched, message: str = "", status: str = "ok", **more: Any) -> Turn:
    """Return a full run that ends at once, with the same receipt for every task."""
    given = {"receipts": receipts(place, **more), "message": message, "status": status}
    return Turn(calls=(Call(name="finish_beat", input=given),))


def decision(action: str, place: Watched) -> str:
    return json.dumps({"action": action, "reason": f"for {place.id}", "receipts": receipts(place)})


def fine(*places: Watched) -> dict[str, Turn]:
    """Return full runs in which all is well."""
    return {f"{place.id}-case": finish(place, "All well.") for place in places}


def test_whatever_the_cheap_model_does_no_beat_is_silently_skipped(open_office: Open, tmp_path: Path) -> None:
    """None and handle end the beat; escalation, nonsense, a missing receipt and a refusal lead to the full run."""
    names = ("none", "handle", "escalate", "garbage", "twice", "unproved", "refused")
    places = {name: asking(tmp_path, name) for name in names}
    screen = {
        "none-case": Turn(text=f"```json\n{decision('none', places['none'])}\n```"),
        "handle-case": Turn(text="Done. " + decision("handle", places["handle"])),
        "escalate-case": Turn(text=decision("escalate", places["escalate"])),
        "garbage-case": Turn(text="All {quiet} here, I should think."),
        "twice-case": Turn(text=decision("none", places["twice"]) + decision("handle", places["twice"])),
        "unproved-case": Turn(text='{"action": "none", "reason": "trust me"}'),
        "refused-case": Turn(status=400, error="invalid_request_error"),
    }
    office, server = open_office(*places.values(), screen=screen, full=fine(*places.values()))
    for place in places.values():
        office.wake(place, Wake.INTERVAL)
    ended = {name: office.envelope(place, 1) for name, place in places.items()}
    shown = {name: (each["prescreen"], each["result"]) for name, each in ended.items()}
    escalated = ("escalate", "ok-token")
    assert shown == {
        "none": ("none", "ok-empty"),
        "handle": ("handle", "ok-empty"),
        **dict.fromkeys(names[2:], escalated),
    }
    assert ended["none"]["why"] == "pre-screen: for none"
    assert ended["none"]["usage"]["input_tokens"] is None
    assert all(each["usage"]["triage_usage"] for each in ended.values())
    assert all("(never)" not in place.playbook for place in places.values())
    worked = [entry for entry in server.requests if entry["role"] == "beat"]
    assert {entry["body"]["model"] for entry in worked} == {"claude-opus-5-5"}
    screened = [entry["body"] for entry in server.requests if entry["role"] == "screen"]
    assert {(body["output_config"]["effort"], body["thinking"]["type"]) for body in screened} == {("low", "disabled")}
    assert len(worked) == 5
    assert office.alerts() == []


def test_a_finding_of_the_run_reaches_the_owner_reworded_or_not_once(open_office: Open, tmp_path: Path) -> None:
    """Found, found again in other words, gone: one card from first to last."""
    shop = asking(tmp_path, "shop")

    def red(text: str) -> dict[str, Turn]:
        finding = {"key": "ci-main-red", "severity": "page", "text": text}
        return {"shop-case": finish(shop, status="attention", result="finding", evidence=text, finding=finding)}

    office, server = open_office(shop, screen={}, full=red("Main is red since 09:12."), heartbeat_model="")
    assert office.beat(shop, Wake.INTERVAL, result="sent")["prescreen"] is None
    card = office.alert("Main is red since 09:12.", offering=ids.ACKNOWLEDGE)
    server.script = script({}, red("The build of main still fails."))
    assert office.beat(shop)["silent"]
    office.alert("The build of main still fails.")
    server.script = script({}, fine(shop))
    office.beat(shop)
    assert [each["ts"] for each in office.alerts()] == [card["ts"]]
    assert find_element(office.alert("Resolved"), ids.FIXED) is None


def test_a_run_that_ends_in_text_is_asked_once_and_read_then(open_office: Open, tmp_path: Path) -> None:
    """A call after all is a report; the bare token stamps nothing."""
    late, bare = asking(tmp_path, "late"), asking(tmp_path, "bare")
    office, server = open_office(late, bare, screen={}, full={"": Turn(text="HEARTBEAT_OK")}, heartbeat_model="")
    told = Role(match="You keep watch", parts=(Part(turns=(Turn(text="All well."), *fine(late).values())),))
    server.script = Script(roles={"beat": told})
    assert office.beat(late)["result"] == "ok-token"
    assert "(never)" not in late.playbook
    server.script = script({}, {"bare-case": Turn(text="HEARTBEAT_OK")})
    office.beat(bare)
    assert "Last quick: (never)" in bare.playbook
    asked = [len(entry["body"]["messages"]) for entry in server.requests]
    assert asked == [1, 3, 1, 3]


def test_a_cancel_during_the_pre_screen_stays_one(open_office: Open, tmp_path: Path) -> None:
    """No full run follows, nothing is stamped, nobody is told."""
    shop = asking(tmp_path, "shop")
    office, server = open_office(
        shop, screen={"shop-case": Turn(text=decision("none", shop), holds=True)}, full=fine(shop)
    )
    office.wake(shop, Wake.INTERVAL)
    office.control.wait_for(lambda: server.requests, "the pre-screen to begin")
    assert office.beats.worker.cancel(shop.id)
    ended = office.envelope(shop, 1)
    assert (ended["result"], ended["why"], ended["silent"]) == ("skipped", "cancelled", True)
    assert {entry["role"] for entry in server.requests} == {"screen"}
    assert "Last quick: (never)" in shop.playbook


def test_a_question_asked_during_a_long_beat_is_answered_at_once(open_office: Open, tmp_path: Path) -> None:
    """The beat holds its own slot and no other; it is cancelled in the end."""
    shop = asking(tmp_path, "shop")
    office, server = open_office(
        shop, screen={}, full={"shop-case": Turn(text="hm " * 20, holds=True)}, heartbeat_model=""
    )
    office.wake(shop)
    office.control.wait_for(lambda: server.requests, "the beat to begin")
    ts = office.ask(SESSIONS)
    assert "✓ Checked by a second model" in shown_text(office.draft(ts))
    assert office.envelopes(shop) == []
    assert office.beats.worker.cancel(shop.id)
    assert office.envelope(shop, 1)["why"] == "cancelled"


def test_five_failures_pause_the_session_and_one_message_says_so(open_office: Open, tmp_path: Path) -> None:
    """A person's wake is tried all the same; the clock's is refused with the reason."""
    shop = asking(tmp_path, "shop")
    away = Turn(status=400, error="invalid_request_error", message="no such model")
    office, server = open_office(shop, screen={"": away}, full={"": away})
    ended = [office.beat(shop, Wake.INTERVAL, result="failed") for _ in range(5)]
    assert {each["indicator"] for each in ended} == {"error"}
    assert all(each["error"] for each in ended)
    office.alert("failed 5 times in a row and pauses")
    refused = office.beat(shop, Wake.INTERVAL, result="skipped")
    assert refused["why"].startswith("paused: 5 failures in a row")
    assert len(office.alerts()) == 1
    server.script = script({}, fine(shop))
    assert office.beat(shop)["result"] == "ok-token"
    assert office.beat(shop, Wake.INTERVAL)["result"] != "skipped"
    assert len(office.alerts()) == 1
