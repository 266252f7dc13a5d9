"""Killed at every named step of *I have it* and *Hand to…*: one has it, who is told once, and the card says so."""

from __future__ import annotations

from typing import Any

import pytest

from blocks import ids
from demo.headless import Element, find_element, shown_text
from demo.workspace import ANA, BEN, OPS
from tests.crashes.life import Life
from tests.crashes.moments import after, before
from tests.crashes.steps import SAVED, Step, met
from tests.hands import Json
from tests.journeys.shop import SESSIONS

DOWN = f"prod is down!! {SESSIONS}"
TAKEN = SAVED + f'"assignee": "{ANA.user_id}"'
GIVEN, KNOWN = SAVED + r'"handed": \{.*"is_told": false', SAVED + r'"handed": \{.*"is_told": true'
SHOWN, TOLD = f"update {OPS.channel_id} .* has it", r"post \S+ .*triage_handed:"
TAKING = (
    Step(name="taken: before it is on file", kill=before(TAKEN)),
    Step(name="taken: on file", kill=after(TAKEN)),
    Step(name="taken: shown, not answered", withheld=SHOWN),
)
HANDING = (
    Step(name="handed: before it is on file", kill=before(GIVEN)),
    Step(name="handed: on file", kill=after(GIVEN)),
    Step(name="handed: shown, not answered", withheld=SHOWN),
    Step(name="handed: before the message", kill=before(TOLD)),
    Step(name="handed: told, not answered", withheld=TOLD),
    Step(name="handed: told, not on file", kill=before(KNOWN)),
    Step(name="handed: told, on file", kill=after(KNOWN)),
    Step(name="recovery: told again, not on file", kill=after(GIVEN), then=before(KNOWN)),
)
SAMPLE = ("handed: told, not answered",)


def offered(life: Life, action: str) -> tuple[Json, Element] | None:
    """Return the card of an alarm with a button, once it offers that beside its draft."""
    card = life.offer()
    found = find_element(card, action) if card else None
    return (card, found) if card and found else None


def press(life: Life, action: str) -> None:
    """Have Ana take the thread, or hand it to Ben."""
    card, found = life.control.wait_for(lambda: offered(life, action), "the buttons of an alarm")
    life.control.click(OPS.channel_id, card["ts"], ANA.user_id, **found.click_fields())
    if action == ids.HAND_TO:
        life.control.wait_for(life.control.modals.current, "the dialogue")
        chosen = {"type": "users_select", "selected_user": BEN.user_id}
        life.control.modals.submit(ANA.user_id, {ids.PERSON: {ids.INPUT: chosen}})


def state_of(life: Life) -> dict[str, Any]:
    """Return what is on file of the thread."""
    return dict(life.kept.document("threads", life.thread_id))


def told(life: Life) -> list[Json]:
    """Return what Ben was told in private of having it."""
    there = life.control.direct_messages(BEN.user_id)
    said = life.control.messages(there) if there else []
    return [m for m in said if any("triage_handed:" in str(b.get("block_id")) for b in m.get("blocks") or [])]


@pytest.mark.parametrize(
    ("engine", "step"), met((*TAKING, *HANDING), *SAMPLE) + met((*TAKING, *HANDING), engine="postgres")
)
def test_a_thread_is_handed_over_once_wherever_the_bot_dies(
    life: Life, engine: str, step: Step, record_property: Any
) -> None:
    """Only a click that nobody wrote down has to be made again; it rings no more, and goes on to its reply."""
    record_property("crash_step", f"{engine}: {step.name}")
    action, who = (ids.HAVE_IT, ANA) if step in TAKING else (ids.HAND_TO, BEN)
    life.start(step.kill, step.withheld)
    life.ask(DOWN)
    press(life, action)
    life.dies(step.name, decision="none")
    if step.then is not None:
        life.start(step.then)
        life.dies(f"{step.name}, again", decision="none")
    life.start()
    if state_of(life)["assignee"] is None:
        press(life, action)
    life.control.wait_for(
        lambda: (now := state_of(life))["assignee"] and now.get("handed", {"is_told": True})["is_told"],
        "it to be on file who has it, and that Ben was told",
    )
    life.control.wait_for(lambda: "has it" in "".join(map(shown_text, life.cards())), "the card to say who has it")
    state = state_of(life)
    assert (state["assignee"], state["paging"]["acknowledged_by"]) == (who.user_id, ANA.user_id)
    life.carry_on(life.is_settled, "the reply", decision="approve")
    life.stop()
    assert len(told(life)) == int(who is BEN)
    left = life.left()
    assert (left["cards"], left["replies"], left["jobs"], left["corrupt"]) == (1, 1, 0, [])
