"""A run that a person watches and stops, in a browser; this Slack has no streams, so its steps are one message."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import expect

from demo.workspace import ANA
from tests.journeys.browser import SlackPage
from tests.journeys.shop import SESSIONS
from tests.journeys.test_models import Open, open_office

__all__ = ["open_office"]

SLOW = """
roles:
  investigator:
    match: (?i)you investigate
    parts:
      - turns:
          - {calls: [{name: search_code, input: {query: "session cookies"}}]}
          - {calls: [{name: read_file, input: {path: shop/sessions.py, start: 1, end: 9}}]}
          - {thinking: "THOUGHTS", holds: true, calls: [{name: list_files, input: {}}]}
"""


def test_steps_are_seen_as_they_happen_and_stop_ends_the_run(
    open_office: Open, page: SlackPage, tmp_path: Path, pictures: Path
) -> None:
    """The thread of the card shows what is read; Stop keeps that, says what it cost, and the provider is left alone."""
    script = tmp_path / "slow.yml"
    script.write_text(SLOW.replace("THOUGHTS", "I look at sessions first. " * 60))
    office, server = open_office(script)
    page.act_as(ANA.real_name)
    ts = office.ask(SESSIONS)
    page.open_channel("triage-ops")
    card = page.message(SESSIONS)
    page.open_thread("Investigating")
    steps = page.thread_message("Reading shop/sessions.py")
    expect(steps).to_contain_text("Searching for session cookies")
    page.screenshot(pictures / "live.png")
    page.click(card, "Stop")
    begun = time.monotonic()
    expect(card).to_contain_text("stopped")
    expect(page.thread_message("Investigating: ")).to_contain_text("steps, stopped")
    assert time.monotonic() - begun < 30
    expect(card).to_contain_text("$")
    page.screenshot(pictures / "stopped.png")
    state = office.state(ts)
    assert (state["pending_reason"], len(server.requests)) == ("stopped", 3)
    assert state["usage"]["cost_usd"] > 0
