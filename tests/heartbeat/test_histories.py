"""Histories of checks over the whole path, from the playbook and the exit code to what the owner is told and shown.

Each row runs without a model, with a model that calls all well, and with a restart before every beat: what rings, what
closes and what it says is the same, for a command that fails is one finding whatever it prints and whoever looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import OpenFinding, Place
from bot.domain.heartbeats.beats import Indicator, Wake
from bot.domain.playbook import parse
from bot.domain.playbook_entries import task_id
from bot.errors import Unavailable
from bot.heartbeat.run.findings import report_by_code
from tests.heartbeat.builders import AT
from tests.heartbeat.room import report
from tests.heartbeat.watch import BELOW, CHECK, DAILY, FRAME, LINE, STOCK, Watch
from tests.tables import each_row

FAILS: Final = "Orders: `python3 check.py` fails (exit code 1)"
STOCK_FAILS: Final = "Backends, Stock: `python3 stock.py` fails (exit code 1)"
DAY_S: Final = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something that happens, and then a beat: what must ring (how each begins), be shown, close and be remembered."""

    does: Callable[[Watch], object] = lambda _: None
    rings: tuple[str, ...] = ()
    shows: str = ""
    """What the newest alert or card says."""
    closes: str = ""
    """How the last card that was changed says it ended: `resolved`, `removed`, `file gone`, `not allowed`."""
    opens: int | None = None
    """How many findings are open afterwards."""


def exits(code: int | None, output: str = "A", argv: tuple[str, ...] = CHECK, **expected: Any) -> Step:
    """Have a command exit so, then a beat."""
    return Step(does=lambda watch: watch.probes.set(code, output, argv), **expected)


def says(*lines: str, frame: str = FRAME, **expected: Any) -> Step:
    """Edit the playbook by hand, then a beat."""
    return Step(does=lambda watch: watch.says(*lines, frame=frame), **expected)


def then(does: Callable[[Watch], object], **expected: Any) -> Step:
    return Step(does=does, **expected)


def later(seconds: float, **expected: Any) -> Step:
    return Step(does=lambda watch: watch.room.clock.advance(seconds), **expected)


def slack(*, away: bool, **expected: Any) -> Step:
    """Have Slack go or come back, then a beat."""

    def change(watch: Watch) -> None:
        watch.room.surface.refuses = Unavailable("Slack is away") if away else None

    return Step(does=change, **expected)


def dies_after_send(watch: Watch) -> None:
    """Have the process die once an alert is sent, before anybody writes that down."""
    was = watch.room.surface.send

    def send(to: str, alert: Any) -> list[Place]:
        watch.room.surface.send = was  # type: ignore[method-assign]  # the fake's: a crash in the middle of a call
        was(to, alert)
        raise KeyboardInterrupt

    watch.room.surface.send = send  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        watch.room.beat()


def marks_removed(watch: Watch) -> None:
    """Remove the check as `/triage tiers` does, which remembers who it was."""
    before = parse(watch.room.playbook)
    watch.says("Something else")
    after = parse(watch.room.playbook)
    watch.room.removals.note_removals("shop", before, after, by="U0ANA", at=watch.room.clock.now())


def remembers(name: str, task: str) -> Callable[[Watch], object]:
    """Leave in the state what an earlier version remembered of a failure whose alert it sent half an hour ago."""

    def change(watch: Watch) -> None:
        key, now = f"shop/{task}/{name}", watch.room.clock.now()
        old = OpenFinding(
            key=key, task=task, text="old", first_at=AT, last_at=AT, place="D-U0ANN", reference="ts1", sent_at=AT
        )
        state = watch.room.state.with_findings(old.evolve(stamps={"slack:U0ANN": now}))
        watch.room.store.save("shop", lambda _: state.evolve(keyed_by_command=False))
        watch.probes.set(1, "A")

    return change


CHECK_ID: Final = task_id(" ".join(CHECK))
STOCK_ID: Final = task_id(" ".join(STOCK))
WELL: Final = exits(0, "fine")
RED: Final = exits(1, "A", rings=(FAILS,), shows="- `A`", opens=1)

HISTORIES: Final[dict[str, tuple[Step, ...]]] = {
    "fails, goes on": (RED, exits(1), exits(1, opens=1)),
    "fails, prints something else": (RED, exits(1, "B", shows="- `B`", opens=1)),
    "fails, is killed, is not there": (
        RED,
        exits(-9, "", shows="no answer", opens=1),
        exits(None, "", shows="python3 is not installed", opens=1),
        exits(0, closes="resolved", opens=0),
    ),
    "fails, is well, fails": (RED, exits(0, closes="resolved", opens=0), RED),
    "fails otherwise, is well, fails as at first": (RED, exits(1, "B"), exits(0, closes="resolved"), RED),
    "is well and prints something else": (WELL, exits(0, "new"), exits(0, "prod is DOWN", opens=0)),
    "removed by hand": (RED, says("Something else", closes="removed", opens=0), Step()),
    "removed by a command": (RED, then(marks_removed, closes="removed by U0ANA", opens=0)),
    "removed, put back, still fails": (RED, says("Something else", closes="removed"), says(LINE, rings=(FAILS,))),
    "acknowledged, removed, put back": (
        RED,
        then(Watch.acknowledge, opens=1),
        says("Something else", closes="removed"),
        says(LINE, rings=(FAILS,), opens=1),
        exits(0, closes="resolved"),
        RED,
    ),
    "moved to another tier": (
        RED,
        says(LINE, frame=DAILY, opens=1),
        later(DAY_S, rings=(FAILS,), opens=1),
        exits(0, opens=1),
        later(DAY_S, closes="resolved"),
    ),
    "reworded": (RED, says("Are orders fine? `python3 check.py`", shows="Are orders fine?: `python3", opens=1)),
    "the bare command": (RED, says("`python3 check.py`", shows="`python3 check.py` fails", opens=1)),
    "snoozed": (RED, then(Watch.snooze, opens=1), later(DAY_S, rings=(FAILS,), opens=1)),
    "acknowledged, and a day later": (RED, then(Watch.acknowledge), later(2 * DAY_S, opens=1)),
    "nobody did anything for a day": (RED, later(DAY_S, rings=(FAILS,), opens=1)),
    "called fixed while it still fails": (RED, then(Watch.fix, rings=(FAILS,), opens=1)),
    "command renamed": (
        RED,
        then(
            lambda watch: (watch.probes.set(1, "A", STOCK), watch.says("Orders: `python3 stock.py`")),
            rings=("Orders: `python3 stock.py` fails",),
            closes="removed",
            opens=1,
        ),
    ),
    "the second command of a task fails": (
        then(lambda watch: (watch.probes.set(0, "", STOCK), watch.says(BELOW))),
        exits(1, rings=("Backends, Orders: `python3 check.py` fails",)),
        then(Watch.acknowledge, opens=1),
        exits(1, "", STOCK, rings=(STOCK_FAILS,), opens=2),
        exits(0, closes="resolved", opens=1),
        exits(1, rings=("Backends, Orders: `python3 check.py` fails",), opens=2),
    ),
    "a list is reordered": (
        then(lambda watch: (watch.probes.set(0, "", STOCK), watch.says(BELOW))),
        exits(1, rings=("Backends, Orders",)),
        says("Shop\n  - Stock: `python3 stock.py`\n  - Orders: `python3 check.py`", shows="Shop, Orders", opens=1),
    ),
    "one command in two tasks": (
        says(LINE, "! Checkout: `python3 check.py`"),
        exits(1, rings=("Checkout: `python3 check.py` fails",), opens=1),
    ),
    "file deleted, put back": (
        RED,
        then(Watch.acknowledge),
        then(
            lambda watch: (watch.room.cwd / "HEARTBEAT.md").unlink(),
            rings=("HEARTBEAT.md of shop was deleted",),
            closes="file gone",
            opens=0,
        ),
        Step(),
        says(LINE, rings=(FAILS,), opens=1),
    ),
    "playbook emptied": (RED, says(closes="removed", opens=0), Step(opens=0)),
    "marked !": (RED, says(f"! {LINE}", rings=(FAILS,), opens=1), Step()),
    "acknowledged, then marked !": (RED, then(Watch.acknowledge), says(f"! {LINE}", rings=(FAILS,), opens=1)),
    "killed between send and record": (
        then(lambda watch: (watch.probes.set(1, "A"), dies_after_send(watch)), rings=(FAILS, FAILS), opens=1),
        Step(),
    ),
    "Slack is away": (
        then(lambda watch: (watch.probes.set(1, "A"), slack(away=True).does(watch)), opens=1),
        slack(away=False, rings=(FAILS,)),
        Step(),
    ),
    "well again while Slack is away": (
        RED,
        then(lambda watch: (watch.probes.set(0, "fine"), slack(away=True).does(watch)), opens=0),
        slack(away=False, closes="resolved"),
    ),
    "no time left": (
        then(lambda watch: watch.probes.late.add(CHECK), rings=("Orders: no answer: no time was left",), opens=1),
        then(lambda watch: watch.probes.late.clear(), closes="resolved", opens=0),
    ),
    "not allowed": (then(lambda watch: watch.probes.refused.add(CHECK), opens=0),),
    "taken off the allowed commands, put back": (
        RED,
        then(Watch.acknowledge),
        then(lambda watch: watch.probes.refused.add(CHECK), closes="not allowed", opens=0),
        Step(opens=0),
        then(lambda watch: watch.probes.refused.clear(), rings=(FAILS,), opens=1),
        exits(0, closes="resolved", opens=0),
    ),
    "git fails": (
        then(lambda watch: (watch.probes.set(0, "", ("git", "fetch")), watch.says("Fetch: `git fetch`"))),
        exits(128, "fatal", ("git", "fetch"), rings=("Fetch: `git fetch` fails (exit code 128)",), opens=1),
        exits(0, "", ("git", "fetch"), closes="resolved"),
    ),
    "checks of a request run, then fail": (
        then(
            lambda watch: (watch.probes.set(8, "wait", ("gh", "pr", "checks")), watch.says("CI: `gh pr checks`")),
            opens=0,
        ),
        exits(1, "red", ("gh", "pr", "checks"), rings=("CI: `gh pr checks` fails",), opens=1),
        exits(8, "wait", ("gh", "pr", "checks"), opens=1),
        exits(0, "", ("gh", "pr", "checks"), closes="resolved"),
    ),
    "an older key: failing": (then(remembers("failing", CHECK_ID), shows=FAILS, opens=1), Step(opens=1)),
    "an older key: no answer": (then(remembers("no-answer", CHECK_ID), shows=FAILS, opens=1), Step(opens=1)),
    "an older key: in its list": (
        then(remembers(f"failing-{CHECK_ID}", STOCK_ID), shows=FAILS, opens=1),
        exits(0, closes="resolved", opens=0),
    ),
    "an older key: by its text": (then(remembers("failing", task_id(LINE)), shows=FAILS, opens=1), Step(opens=1)),
}


def ending_of(finding: OpenFinding) -> str:
    """Return how a card says that its finding ended."""
    if finding.removed is not None:
        by = f" by {finding.removed.by}" if finding.removed.by else ""
        if "taken off" in finding.removed.what:
            return "not allowed"
        return "file gone" if "deleted" in finding.removed.what else f"removed{by}"
    return "resolved" if finding.resolved_at else ""


def newest_text(watch: Watch) -> str:
    """Return what the newest card says: sent, or changed since."""
    texts = [alert.text for _, alert in watch.room.surface.updated] or [""]
    return f"{watch.room.surface.texts[-1:]} {texts[-1]}"


def take(watch: Watch, step: Step) -> None:
    """Take one step and ask what must hold."""
    before, changed = len(watch.room.surface.sent), len(watch.room.surface.updated)
    step.does(watch)
    watch.beat()
    rang = watch.room.surface.texts[before:]
    assert len(rang) == len(step.rings), rang
    assert all(text.startswith(begin) for text, begin in zip(rang, step.rings, strict=True)), rang
    assert step.shows in newest_text(watch)
    ended = [ending_of(alert.finding) for _, alert in watch.room.surface.updated[changed:] if alert.finding]
    assert [each for each in ended if each] == ([step.closes] if step.closes else [])
    count = sum(each.is_open for each in watch.known)
    if step.opens is not None:
        assert count == step.opens
    if watch.line.tier is not None and watch.room.surface.refuses is None:
        assert watch.line.indicator is (Indicator.ALERT if count else Indicator.OK)


@each_row("name", HISTORIES)
def test_a_history_rings_shows_and_closes_the_same_whoever_looks(tmp_path: Path, name: str) -> None:
    """Without a model, with one that calls all well, and with a restart before every step."""
    minds: dict[str, Callable[[], Any]] = {"offline": lambda: report_by_code, "model": report}
    for mind in minds:
        for restarts in (False, True):
            folder = tmp_path / f"{mind}-{restarts}"
            folder.mkdir()
            watch = Watch(folder, minds[mind]())
            watch.beat()
            for number, step in enumerate(HISTORIES[name]):
                if restarts:
                    watch.room.restart()
                try:
                    take(watch, step)
                except AssertionError as error:
                    error.add_note(f"{mind}, restarts: {restarts}, step {number}")
                    raise


def a_report(severity: str | None = None, key: str = "api-down", text: str = "The API is down.") -> Any:
    """Return a run that finds one thing for every due task."""
    found = {"key": key, "severity": severity, "text": text}
    return report(result="finding", evidence="", finding=found)


def test_what_a_model_says_of_the_one_command_that_fails_leads_its_alert(tmp_path: Path) -> None:
    """It is one finding before, with and after the model's words, and closes with the command."""
    watch = Watch(tmp_path, report(), a_report("page"), report())
    watch.beat()
    assert watch.beat(1, "A") == [f"The API is down.\n\n{FAILS}\n- `A`"]
    assert [each.severity for each in watch.known] == [Severity.PAGE]
    assert watch.beat(1, "B") == []
    assert watch.shown.text == f"The API is down.\n\n{FAILS}\n- `B`"
    watch.beat(0, "fine")
    assert [ending_of(each) for each in watch.known] == ["resolved"]


def test_what_one_command_of_two_tasks_prints_is_said_once(tmp_path: Path) -> None:
    """Under the first title, and under a new one as soon as it is reworded."""
    watch = Watch(tmp_path)
    watch.says("All Orders: `python3 check.py`", "Checkout: `python3 check.py`")
    watch.beat()
    assert watch.beat(1, "A") == ["All Orders: `python3 check.py` fails (exit code 1)\n- `A`"]
    watch.says(LINE)
    assert watch.beat(1, "B") == []
    assert watch.shown.text == f"{FAILS}\n- `B`"


def test_a_finding_of_a_task_in_words_belongs_to_its_words(tmp_path: Path) -> None:
    """Its id outlives another text; another title is another task, and the old one's check is gone."""
    watch = Watch(tmp_path, a_report(), line="Is the API up?")
    assert watch.beat() == ["The API is down."]
    watch.room.full.steps = [a_report(text="Still down.")]
    assert watch.beat() == []
    assert watch.shown.text == "Still down."
    watch.says("How is the API?")
    assert watch.beat(wake=Wake.ON_DEMAND) == ["Still down."]
    assert sorted(map(ending_of, watch.known)) == ["", "removed"]
