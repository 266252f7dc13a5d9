"""Watched repositories, their beats and the alerts they cause, in the words of the journeys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.app import App
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.domain.heartbeats.beats import Wake
from bot.domain.playbook import parse
from bot.domain.playbook_entries import PlaybookEntry
from bot.domain.tiers import Tier
from demo.headless import Element, find_element, find_replies, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, DEMO
from tests.gitrepo import make_repo
from tests.hands import Control, Json, find_option
from tests.journeys.hasty import HASTE
from tests.journeys.home_files import Journal
from tests.journeys.office import Office, environment_of, write_config

ALWAYS = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
CHECK = "python3 check.py"
CHECK_PY = "import sys, pathlib\ntext = pathlib.Path('state').read_text()\nprint(text)\nsys.exit('bad' in text)\n"

HELD_PY = "import pathlib, time\npathlib.Path('begun').touch()\nwhile pathlib.Path('hold').exists(): time.sleep(0.02)\n"
"""A check that says it has begun, and hangs while a file `hold` is there."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """One watched checkout: its `check.py` fails while the committed file `state` says `bad`."""

    id: str
    cwd: Path

    @property
    def playbook(self) -> str:
        return (self.cwd / "HEARTBEAT.md").read_text()

    @property
    def tasks(self) -> tuple[PlaybookEntry, ...]:
        """The quick tasks."""
        return parse(self.playbook).tasks(Tier.QUICK)

    def becomes(self, state: str) -> None:
        """Change what the check reads."""
        (self.cwd / "state").write_text(state)


def watched(folder: Path, name: str, *, state: str = "fine", tasks: str = f"- [ ] The check: `{CHECK}`") -> Watched:
    """Make a checkout with a playbook whose only tasks are quick ones, and whose daily tier is not due."""
    cwd = make_repo(folder / name, {"check.py": CHECK_PY, "state": state, ".gitignore": "HEARTBEAT.md\nstate\n"})
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    stamps = f"- Last quick: (never)\n- Last hourly: {now}\n- Last daily: {now}\n"
    (cwd / "HEARTBEAT.md").write_text(f"# {name}\n\n## Timestamps\n\n{stamps}\n## Quick Tasks\n\n{tasks}\n\n## Notes\n")
    return Watched(id=name, cwd=cwd)


def sessions_of(*places: Watched, **beat: Any) -> dict[str, Any]:
    """Return the part of triage.yml that watches these checkouts for Ana, round the clock, seldom by itself."""
    settings = {"every": "7d", "active_hours": ALWAYS, "commands": [CHECK], **beat}
    return {place.id: {"cwd": str(place.cwd), "owner": ANA.user_id, "heartbeat": settings} for place in places}


class BeatOffice(Office):
    """The office whose bot also keeps heartbeats; `variables` are added to the bot's environment."""

    def __init__(
        self,
        slack: LocalSlack,
        control: Control,
        home: Path,
        codebase: Path,
        *,
        variables: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        self.control, self.home = control, home
        environment = {**environment_of(slack, home), **(variables or {})}
        self.bot = App(
            load_settings(write_config(home, codebase, **more)), read_environment(environment), time_scale=HASTE
        )
        self.replies = Journal(home / "replies.ndjson")
        self.beats = self.bot.team.heartbeats

    def wake(self, place: Watched, wake: Wake = Wake.ON_DEMAND) -> str:
        """Ask for a beat; return what whoever asks is told."""
        return self.beats.scheduler.wake(place.id, wake)

    def beat(self, place: Watched, wake: Wake = Wake.ON_DEMAND, *, result: str | None = None) -> Json:
        """Have one beat, and return its line of heartbeats.ndjson."""
        before = len(self.envelopes(place))
        self.wake(place, wake)
        envelope = self.envelope(place, before + 1)
        self.control.wait_for(
            lambda: not self.bot.team.core.service.jobs.holds(place.id), f"the end of {place.id}'s beat"
        )
        assert result in (None, envelope["result"]), envelope
        return envelope

    def envelope(self, place: Watched, number: int) -> Json:
        """Return the line of the session's beat of this number, from 1, once it is written."""

        def written() -> Json | None:
            found = self.envelopes(place)
            return found[number - 1] if len(found) >= number else None

        return self.control.wait_for(written, f"beat {number} of {place.id}")

    def envelopes(self, place: Watched) -> list[Json]:
        """Return the session's lines of heartbeats.ndjson, oldest first."""
        journal = Journal(self.home / "heartbeats.ndjson")
        return [line for line in journal.records() if line["session_id"] == place.id]

    @property
    def dm(self) -> str:
        """The channel of Ana's direct messages, once the bot opened it."""
        return self.control.direct_messages(ANA.user_id) or ""

    def alerts(self) -> list[Json]:
        """Return what was sent to Ana, thread replies and private answers aside."""
        messages = self.control.messages(self.dm) if self.dm else []
        return [m for m in messages if m.get("subtype") != "ephemeral" and m.get("thread_ts") in (None, m["ts"])]

    def alert(self, showing: str = "", *, offering: str | None = None, lacking: str | None = None) -> Json:
        """Return Ana's newest alert that shows `showing`, offers one button and lacks another, once there is one."""

        def found() -> Json | None:
            for alert in reversed(self.alerts()):
                offers = offering is None or find_element(alert, offering) is not None
                lacks = lacking is None or find_element(alert, lacking) is None
                if showing in shown_text(alert) and offers and lacks:
                    return alert
            return None

        return self.control.wait_for(found, f"an alert that shows {showing!r}")

    def press(self, alert: Json, action: str, *, user: str = ANA.user_id) -> None:
        """Click a button of an alert."""
        self._act(alert, find_element(alert, action), user)

    def snooze(self, alert: Json, label: str, *, user: str = ANA.user_id) -> None:
        """Choose how long from the alert's list."""
        self._act(alert, find_option(alert, label), user)

    def _act(self, alert: Json, element: Element | None, user: str) -> None:
        assert element is not None, shown_text(alert)
        self.control.click(alert["channel"], alert["ts"], user, **element.click_fields())

    def answered(self, user: str, text: str) -> Json:
        """Return the private answer in Ana's direct messages that holds `text`."""

        def found() -> Json | None:
            private = [m for m in self.control.messages(self.dm) if m.get("ephemeral_to") == user]
            return next((m for m in private if text in m["text"]), None)

        return self.control.wait_for(found, f"{user} to be told {text!r}", channel=self.dm)

    def said_below(self, alert: Json) -> list[str]:
        """Return what the bot said in the thread of an alert."""
        return [m["text"] for m in find_replies(self.control.messages(alert["channel"]), alert["ts"], DEMO.bot_id)]
