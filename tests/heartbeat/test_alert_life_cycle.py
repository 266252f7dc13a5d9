"""An alert's whole life, whatever happens to its check: what fails rings, and all is well only when that was seen."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model_run import RunFailed
from bot.domain.heartbeats.alerts import DuplicateCheck, OpenFinding, finding_digest
from bot.domain.heartbeats.allowed_commands import Argv, commands_in
from bot.domain.heartbeats.beats import BeatResult, Indicator, Wake
from bot.domain.heartbeats.checks import identity_of
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.playbook import parse
from bot.domain.playbooks.playbook_entries import PlaybookEntry, task_id
from bot.domain.severity import Severity
from bot.domain.tiers import Tier
from bot.errors import ProviderError, Unavailable
from bot.heartbeat.alerts.finding_responses import FindingResponses
from bot.heartbeat.run.offline_run import OfflineFullRun
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from tests.heartbeat.builders import AT
from tests.heartbeat.room import COST, BeatRoom, Scripted, report, screened
from tests.tables import each_row

CHECK = ("python3", "check.py")
STOCK = ("python3", "stock.py")
LINE = "Orders: `python3 check.py`"
BELOW = "Backends\n  - Orders: `python3 check.py`\n  - ! Stock: `python3 stock.py`"
FRAME = "# Shop\n\n## Timestamps\n\n{{stamps}}\n## Quick Tasks\n\n{tasks}\n\n## Notes\n"


@dataclass
class FakeProbes:
    """Answers of commands, as the test sets them; what has none was cut off."""

    answers: dict[Argv, ProbeResult] = field(default_factory=dict)

    def set(self, exit_code: int | None, output: str, argv: Argv = CHECK) -> None:
        problem = None if exit_code == 0 else f"`{' '.join(argv)}` failed: {output}"
        self.answers[argv] = ProbeResult(argv=argv, output=output, exit_code=exit_code, seconds=0.1, problem=problem)

    def run(self, _: Path, tasks: Sequence[PlaybookEntry], __: Any, **_known: Any) -> ProbeReport:
        wanted = [(task.id, argv) for task in tasks for argv in commands_in([task.text, *task.details])]
        named = list(dict.fromkeys(argv for _, argv in wanted))
        return ProbeReport(results=tuple(self.answers[argv] for argv in named), wanted=tuple(wanted))


class Watch:
    """A session with one check, and what its owner sees."""

    def __init__(self, folder: Path, *minds: Any, line: str = LINE, **beat: Any) -> None:
        self.probes = FakeProbes()
        self.probes.set(0, "fine")
        self.room = BeatRoom(folder, *(minds or (OfflineFullRun(),)), probes=self.probes, **beat)
        self.findings = FindingResponses(self.room.store, self.room.clock)
        self.says(line)

    def says(self, *lines: str) -> None:
        """Replace the playbook by hand."""
        self.room.write_playbook(FRAME.format(tasks="\n".join(f"- [ ] {line}" for line in lines)))

    def beat(self, exit_code: int | None = None, output: str = "", wake: Wake = Wake.INTERVAL) -> list[str]:
        """Have one beat, after the check took this result; return what rang."""
        if exit_code is not None:
            self.probes.set(exit_code, output)
        before = len(self.room.surface.sent)
        self.line = self.room.beat(wake)
        return self.room.surface.texts[before:]

    def acknowledge(self) -> None:
        """Acknowledge whatever is open."""
        for each in self.known:
            if each.is_open and not each.acknowledged_by:
                self.findings.acknowledge("shop", finding_digest(each.key), by="U0ANN")

    @property
    def known(self) -> list[OpenFinding]:
        return list(self.room.state.findings.values())

    @property
    def shown(self) -> OpenFinding:
        """What the card that was changed last shows."""
        finding = self.room.surface.updated[-1][1].finding
        assert finding is not None
        return finding


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_a_then_b_then_fixed_then_a_rings_again(watch: Watch) -> None:
    """Closing forgets every text that was ever sent, not the last one only."""
    assert len(watch.beat(1, "A")) == 1
    assert watch.beat(1, "B") == []
    assert watch.beat(0, "fine") == []
    assert watch.shown.resolved_at is not None
    assert len(watch.beat(1, "A")) == 1
    assert "- [x]" not in watch.room.playbook


def test_fixed_by_a_click_while_it_still_fails_rings_at_the_next_beat(watch: Watch) -> None:
    """That nothing changed since is no reason to call it well."""
    watch.beat(1, "A")
    [finding] = watch.known
    watch.findings.fix("shop", finding_digest(finding.key), by="U0ANN")
    assert len(watch.beat(1, "A")) == 1
    assert watch.line.result is BeatResult.SENT


def test_a_check_that_goes_on_failing_asks_no_model_until_it_fails_in_another_way(tmp_path: Path) -> None:
    """Times and ids in what it prints make no difference."""
    watch = Watch(tmp_path, report())
    runs = watch.room.full.views
    watch.beat(1, "02:00:01 timeout after 5003 ms (request 8f14e45fceea167a)")
    for number in range(3):
        assert watch.beat(1, f"02:{number}1:07 timeout after 501{number} ms (request 9c8a1b2c3d4e5f6{number})") == []
    assert (len(runs), watch.line.why) == (1, "probes: nothing changed")
    assert [each.is_open for each in watch.known] == [True]
    watch.beat(1, "02:50:01 disk full after 5003 ms (request 8f14e45fceea167a)")
    assert len(runs) == 2


@each_row("says", [report("Two PRs wait. HEARTBEAT_OK"), OfflineFullRun()])
def test_while_an_alert_is_open_nobody_is_told_that_all_is_well(tmp_path: Path, says: Any) -> None:
    """Where a line is asked for although there is nothing new; a remark of the model is for the morning brief."""
    watch = Watch(tmp_path, says, visibility={"show_ok": True})
    watch.beat(1, "A")
    watch.acknowledge()
    for output in ("B", "B"):
        assert watch.beat(1, output) == ["Nothing new in shop; 1 alert is still open."]
        assert watch.line.indicator is Indicator.ALERT
    assert watch.beat(0, "fine")[0].startswith(("Two PRs wait.", "OK: no problem found in shop."))
    assert watch.line.indicator is Indicator.OK


def test_an_all_clear_says_how_many_tasks_nobody_looked_at(tmp_path: Path) -> None:
    """Without a model, those without a command."""
    watch = Watch(tmp_path, line="Do the deploys look healthy?", visibility={"show_ok": True})
    assert watch.beat() == ["OK: no problem found in shop. 1 task was not looked at."]


def test_a_check_that_fails_as_it_did_at_the_last_good_beat_is_never_nothing_changed(watch: Watch) -> None:
    """Whatever became of its finding: the exit code of now decides."""
    watch.beat(1, "A")
    watch.room.store.save("shop", lambda state: state.evolve(findings={}, sent=DuplicateCheck()))
    assert len(watch.beat(1, "A")) == 1


@each_row("says", [report(), report(status="skipped")])
def test_a_model_that_calls_a_failing_check_well_is_not_believed(tmp_path: Path, says: Any) -> None:
    """Code reads the exit code: an alert, no ticked box, and no all-clear for what was open."""
    watch = Watch(tmp_path, says)
    assert "`python3 check.py` fails (exit code 1)" in watch.beat(1, "A")[0]
    assert "- [x]" not in watch.room.playbook
    assert watch.beat(1, "B") == []
    assert [each.is_open for each in watch.known] == [True]
    watch.beat(0, "fine")


def test_a_pre_screen_cannot_pass_over_a_check_that_fails(tmp_path: Path) -> None:
    """It is not asked."""
    screen = Scripted(screened("none"))
    watch = Watch(tmp_path, screen=screen)
    watch.beat(0, "fine")
    asked = len(screen.views)
    assert len(watch.beat(1, "A")) == 1
    assert len(screen.views) == asked


def test_a_model_that_is_away_silences_no_check_that_fails(tmp_path: Path) -> None:
    """The beat failed, and says so; what code saw rings once, closes nothing and stamps nothing."""
    watch = Watch(tmp_path, RunFailed("the provider is away", usage=COST))
    [said] = watch.beat(1, "prod is down")
    assert "`python3 check.py` fails (exit code 1)" in said
    assert watch.known[0].notes == ("No model looked at this: the provider is away",)
    assert (watch.line.result, watch.line.silent) == (BeatResult.FAILED, False)
    assert "(never)" in watch.room.playbook
    assert watch.beat(1, "prod is down") == watch.beat(0, "fine") == []
    assert watch.known[0].is_open


def test_a_model_that_calls_a_check_well_that_gave_no_answer_is_not_believed(tmp_path: Path) -> None:
    """What hangs, or is ended by a signal, has not said that all is well."""
    watch = Watch(tmp_path, report())
    assert watch.beat(0, "fine") == []
    [said] = watch.beat(-9, "")
    assert said.startswith("Orders: no answer: ")
    assert watch.beat(-9, "") == []
    assert "- [x]" not in watch.room.playbook
    watch.beat(0, "fine")
    assert watch.shown.resolved_at is not None


@each_row("named", ["slow", "event-deploy"])
def test_a_check_that_begins_to_fail_is_not_hidden_behind_what_a_model_says_of_it(tmp_path: Path, named: str) -> None:
    """Not by a finding that somebody acknowledged, nor by what merely happened."""
    watch = Watch(tmp_path, report(status="finding", finding=named, evidence="Slow since the deploy."))
    assert watch.beat(0, "fine") == ["Slow since the deploy."]
    watch.acknowledge()
    assert watch.beat(1, "A") == ["Orders: `python3 check.py` fails (exit code 1)\n- `A`"]
    assert watch.beat(1, "B") == []


def test_what_a_model_calls_a_failure_is_said_once(tmp_path: Path) -> None:
    """Under its name; code adds no alert of its own, whatever the model says later."""
    watch = Watch(tmp_path, report(status="finding", finding="api-down", evidence="The API is down."), report())
    assert len(watch.beat(1, "A")) == 1
    assert watch.beat(1, "B") == watch.beat(1, "A") == []
    watch.beat(0, "fine")
    assert watch.shown.resolved_at is not None


def test_two_checks_that_a_model_reports_in_the_same_words_ring_both(tmp_path: Path) -> None:
    """Each alert names its command."""
    watch = Watch(tmp_path, report(status="finding", finding="red", evidence="The check fails."))
    watch.says(LINE, "Stock: `python3 stock.py`")
    watch.probes.set(1, "empty", STOCK)
    first, second = watch.beat(1, "A")
    assert "`python3 check.py`" in first
    assert "`python3 stock.py`" in second


def test_a_check_that_two_tasks_make_rings_once_as_urgent_as_the_more_urgent(watch: Watch) -> None:
    """Among many, too, of which some come on a list."""
    many = [f"Check {n}: `python3 check.py {n}`" for n in range(8)]
    for number in range(8):
        watch.probes.set(1, "A", (*CHECK, str(number)))
    watch.says(LINE, *many, f"! Checkout: `{' '.join(CHECK)}`")
    rang = watch.beat(1, "A")
    assert sum(text.count("`python3 check.py` fails") for text in rang) == 1
    assert [each.severity for each in watch.known if each.key.endswith("/failing")].count(Severity.PAGE) == 1


def test_whoever_acknowledged_one_check_without_an_answer_hears_of_the_next(watch: Watch) -> None:
    """Each is a finding of its own, as urgent as its own task."""
    watch.says("Docs: `linkcheck docs`", f"! {LINE}")
    watch.probes.set(None, "", ("linkcheck", "docs"))
    assert len(watch.beat(0, "fine")) == 1
    watch.acknowledge()
    assert len(watch.beat(-9, "")) == 1
    assert [each.severity for each in watch.known if not each.acknowledged_by] == [Severity.PAGE]


def test_whoever_acknowledged_one_command_of_a_task_hears_of_the_next(tmp_path: Path) -> None:
    """Also where both stand in one list below it, or in a table; the line of each says how urgent it is."""
    for number, mind in enumerate([OfflineFullRun(), report()]):
        watch = Watch(make_folder(tmp_path / str(number)), mind, line=BELOW)
        watch.probes.set(0, "fine", STOCK)
        assert watch.beat(1, "empty") == ["Backends, Orders: `python3 check.py` fails (exit code 1)\n- `empty`"]
        watch.acknowledge()
        watch.probes.set(1, "empty", STOCK)
        assert watch.beat(0, "fine") == ["Backends, Stock: `python3 stock.py` fails (exit code 1)\n- `empty`"]
        assert [each.severity for each in watch.known] == [Severity.ACT, Severity.PAGE]


def test_each_command_of_a_task_that_fails_has_an_alert_of_its_own(tmp_path: Path) -> None:
    """It says nothing of the others, and is no more urgent for them."""
    for number, mind in enumerate([OfflineFullRun(), report()]):
        watch = Watch(make_folder(tmp_path / str(number)), mind, line=BELOW)
        watch.probes.set(1, "production is down", STOCK)
        orders, stock = watch.beat(1, "empty")
        assert orders == "Backends, Orders: `python3 check.py` fails (exit code 1)\n- `empty`"
        assert stock == "Backends, Stock: `python3 stock.py` fails (exit code 1)\n- `production is down`"
        assert [each.severity for each in watch.known] == [Severity.ACT, Severity.PAGE]


def list_watch(folder: Path, mind: Any) -> Watch:
    """Return a watch over BELOW, whose commands both answer."""
    watch = Watch(make_folder(folder), mind, line=BELOW)
    watch.probes.set(0, "fine", STOCK)
    return watch


@each_row("mind", [OfflineFullRun(), report()])
def test_the_first_command_of_a_list_that_was_well_rings_again_though_another_fails(tmp_path: Path, mind: Any) -> None:
    """Being the first of its list makes no difference."""
    watch = list_watch(tmp_path / "list", mind)
    watch.beat(1, "A")
    watch.acknowledge()
    watch.probes.set(1, "empty", STOCK)
    assert len(watch.beat(0, "fine")) == 1
    watch.acknowledge()
    assert watch.beat(1, "A") == ["Backends, Orders: `python3 check.py` fails (exit code 1)\n- `A`"]


@each_row("mind", [OfflineFullRun(), report()])
def test_an_acknowledgement_stays_with_its_command_when_a_list_is_reordered(tmp_path: Path, mind: Any) -> None:
    """In a list that is called something else now, too."""
    watch = list_watch(tmp_path / "list", mind)
    watch.beat(1, "A")
    watch.acknowledge()
    watch.says("What the shop needs\n  - ! Stock: `python3 stock.py`\n  - Orders: `python3 check.py`")
    assert watch.beat(1, "A") == []
    watch.probes.set(1, "empty", STOCK)
    assert watch.beat() == ["What the shop needs, Stock: `python3 stock.py` fails (exit code 1)\n- `empty`"]


@each_row("mind", [OfflineFullRun(), report()])
def test_a_command_taken_out_of_a_list_is_not_called_well(tmp_path: Path, mind: Any) -> None:
    """Whatever else the list says."""
    watch = list_watch(tmp_path / "list", mind)
    watch.probes.set(1, "empty", STOCK)
    watch.beat(0, "fine")
    watch.says("Backends\n  - Orders: `python3 check.py`")
    watch.beat(0, "fine")
    assert watch.shown.resolved_at is None
    assert watch.shown.removed is not None


def test_a_finding_of_a_further_command_of_an_older_version_keeps_what_was_said_of_it(tmp_path: Path) -> None:
    """Its key was that of the list's first command, with its own hash behind."""
    watch = list_watch(tmp_path / "list", OfflineFullRun())
    [task] = parse(watch.room.playbook).tasks(Tier.QUICK)
    key = f"shop/{identity_of(task)}/failing-{task_id(' '.join(STOCK))}"
    at = watch.room.clock.now()
    old = OpenFinding(key=key, task=identity_of(task), text="old", first_at=at, last_at=at, acknowledged_by="U0ANN")
    old = old.evolve(severity=Severity.PAGE)
    watch.room.store.save("shop", lambda state: state.with_findings(old))
    watch.probes.set(1, "empty", STOCK)
    assert watch.beat(0, "fine") == []
    watch.probes.set(0, "fine", STOCK)
    watch.beat(0, "fine")
    assert [each.resolved_at is not None for each in watch.known] == [True]


def test_a_command_that_is_well_again_is_called_so_while_another_of_its_task_fails(tmp_path: Path) -> None:
    """Whoever acknowledged it hears of it when it fails again."""
    for number, mind in enumerate([OfflineFullRun(), report()]):
        watch = Watch(make_folder(tmp_path / str(number)), mind, line=BELOW)
        watch.probes.set(1, "empty", STOCK)
        watch.beat(1, "A")
        watch.acknowledge()
        watch.probes.set(0, "fine", STOCK)
        assert watch.beat(1, "A") == []
        assert "python3 stock.py" in watch.shown.text
        assert sorted(each.is_open for each in watch.known) == [False, True]
        watch.probes.set(1, "empty", STOCK)
        assert len(watch.beat(1, "A")) == 1


def test_what_a_tool_tells_hides_no_check_of_the_same_task_that_fails(watch: Watch) -> None:
    """Each has its own alert."""
    merge = ("git", "merge-tree", "--write-tree", "main")
    watch.says(f"{LINE}, `{' '.join(merge)}`")
    watch.probes.set(1, "CONFLICT (content): a.py", merge)
    rang = watch.beat(1, "A")
    assert ["python3 check.py` fails" in text for text in rang] == [True, False]
    assert "1 merge conflict" in rang[1]


def test_an_alert_that_is_refused_while_the_model_is_away_is_told_with_its_own_reason(tmp_path: Path) -> None:
    """Once."""
    watch = Watch(tmp_path, RunFailed("the provider is away", usage=COST))
    watch.beat(0, "fine")
    watch.room.surface.refuses = ProviderError("user_disabled")
    watch.beat(1, "A")
    watch.beat(1, "A")
    assert watch.room.ops == ["An alert of shop reached nobody: user_disabled. Each beat tries to send it again."]


@pytest.mark.parametrize("click", ["acknowledge", "snooze", "nobody"])
def test_what_becomes_more_urgent_rings_again_once_whoever_has_it(watch: Watch, click: str) -> None:
    """They said that they have a full disk, not that production is down."""
    watch.beat(1, "disk at 85 %")
    if click == "acknowledge":
        watch.acknowledge()
    elif click == "snooze":
        watch.findings.snooze("shop", finding_digest(watch.known[0].key), "24 h")
    [said] = watch.beat(1, "production is down")
    assert "production is down" in said
    assert (watch.known[0].severity, watch.known[0].acknowledged_by) == (Severity.PAGE, None)
    watch.acknowledge()
    assert watch.beat(1, "disk at 85 %") == watch.beat(1, "production is down") == []


def test_a_tool_that_works_again_is_no_all_clear_for_another(watch: Watch) -> None:
    """One card names all that do not work; it says "resolved" once none is left."""
    runs, requests = ("gh", "run", "list"), ("gh", "pr", "status")
    watch.says("A: `gh run list`", "B: `gh pr status`")
    for argv in (runs, requests):
        watch.probes.set(1, "not logged in", argv)
    assert len(watch.beat()) == 1
    watch.probes.set(0, "", runs)
    assert watch.beat() == []
    assert watch.shown.is_open
    assert "gh run list" not in watch.shown.text
    watch.probes.set(0, "", requests)
    watch.beat()
    assert watch.shown.resolved_at is not None


@each_row("later", [OfflineFullRun().run, report()])
def test_an_assignment_nobody_looked_into_stays_open_until_a_person_closes_it(tmp_path: Path, later: Any) -> None:
    """Daily beats look at all there is in the playbook, and an assignment is not there."""
    watch = Watch(tmp_path, OfflineFullRun().run, later)
    asked = InboxMessage(at=AT, from_="@ana", to="shop", kind=MessageKind.ASSIGNMENT, text="Why 5xx?")
    watch.room.store.send(asked)
    assert watch.beat(0, "fine", wake=Wake.ASSIGNMENT) == [
        "1 assignment not handled: no model is configured\n- @ana: Why 5xx?"
    ]
    for _ in range(2):
        watch.room.write_playbook(FRAME.format(tasks=f"- [ ] {LINE}"), daily_due=True)
        assert watch.beat(0, "fine") == []
        assert watch.line.tier is Tier.DAILY
    [finding] = watch.known
    assert finding.is_open
    assert watch.findings.fix("shop", finding_digest(finding.key), by="U0ANN").fixed_by == "U0ANN"


def test_a_check_that_could_not_be_run_is_no_all_clear(watch: Watch) -> None:
    """Killed at its limit, it said neither yes nor no."""
    watch.beat(1, "A")
    watch.beat(-9, "")
    [failing] = [each for each in watch.known if each.key.endswith("/failing")]
    assert failing.is_open


def test_a_send_that_failed_and_a_check_that_is_well_by_then_ring_nobody(watch: Watch) -> None:
    """What was seen at a beat that told nobody is no measure of what changed."""
    watch.beat(0, "fine")
    watch.room.surface.refuses = Unavailable("Slack is away")
    watch.beat(1, "A")
    watch.room.surface.refuses = None
    assert watch.beat(0, "fine") == []
    assert [each.resolved_at is not None for each in watch.known] == [True]


def test_a_check_that_is_well_again_while_slack_is_away_is_called_so_once_slack_is_back(watch: Watch) -> None:
    """Once, by the next beat, which finds nothing new; until then the card shows a trouble that is over."""
    watch.beat(1, "A")
    watch.room.surface.refuses = Unavailable("Slack is away")
    watch.beat(0, "fine")
    watch.room.surface.refuses = None
    assert watch.beat() == []
    assert watch.shown.resolved_at is not None
    watch.beat()
    assert len(watch.room.surface.updated) == 1


def test_a_check_that_was_removed_is_closed_and_never_called_well(watch: Watch) -> None:
    """With who did it; and once."""
    watch.beat(1, "A")
    before = parse(watch.room.playbook)
    watch.says("Something else: `git status`")
    watch.probes.set(0, "", ("git", "status"))
    watch.room.removals.note_removals("shop", before, parse(watch.room.playbook), by="U0ANA", at=watch.room.clock.now())
    assert watch.beat() == []
    assert watch.shown.removed is not None
    assert (watch.shown.removed.by, watch.shown.resolved_at, watch.shown.is_open) == ("U0ANA", None, False)
    updates = len(watch.room.surface.updated)
    watch.beat()
    assert len(watch.room.surface.updated) == updates


def test_an_emptied_playbook_still_closes_what_it_left_open(watch: Watch) -> None:
    """Afterwards it is skipped as any empty one."""
    watch.beat(1, "A")
    watch.says()
    watch.beat()
    assert watch.shown.removed is not None
    watch.beat()
    assert (watch.line.result, str(watch.line.why)[:14]) == (BeatResult.SKIPPED, "empty playbook")


def test_a_deleted_playbook_is_not_made_anew_and_its_owner_hears_it_once(watch: Watch) -> None:
    """A snoozed finding rings under no other name, whoever wakes the session."""
    watch.beat(1, "A")
    [finding] = watch.known
    watch.findings.snooze("shop", finding_digest(finding.key), "24 h")
    (watch.room.cwd / "HEARTBEAT.md").unlink()
    [said] = watch.beat(wake=Wake.ON_DEMAND)
    assert "HEARTBEAT.md of shop was deleted" in said
    assert "last result: failing" in said
    assert watch.shown.removed is not None
    assert watch.shown.removed.is_file_gone
    assert watch.beat(wake=Wake.ON_DEMAND) == watch.beat() == []
    assert "HEARTBEAT.md was deleted" in str(watch.line.why)
    assert not (watch.room.cwd / "HEARTBEAT.md").exists()
    watch.says(LINE)
    assert watch.beat(1, "A") == []
    [finding] = watch.known
    assert finding.is_open
    assert finding.snoozed_until is not None


@pytest.mark.parametrize("line", ["Are orders well? `python3 check.py`", "`python3 check.py`"])
def test_an_acknowledged_finding_keeps_its_name_through_a_new_wording_and_a_removal(watch: Watch, line: str) -> None:
    """Reworded, taken out, put back: acknowledged it stays, until the check was seen well."""
    watch.beat(1, "A")
    [finding] = watch.known
    watch.findings.acknowledge("shop", finding_digest(finding.key), by="U0ANN")
    watch.says(line)
    assert watch.beat(1, "B") == []
    watch.says("Something else: `git status`")
    watch.probes.set(0, "", ("git", "status"))
    watch.beat()
    watch.says(line)
    assert watch.beat(1, "C") == []
    [finding] = watch.known
    assert (finding.is_open, finding.acknowledged_by, finding.text.count("C")) == (True, "U0ANN", 1)
    watch.beat(0, "fine")
    assert len(watch.beat(1, "A")) == 1


def test_a_finding_of_an_older_version_is_found_again_under_its_check(watch: Watch) -> None:
    """It went by the hash of the task's text."""
    task = parse(watch.room.playbook).entries[-1]
    at = watch.room.clock.now()
    old = OpenFinding(
        key=f"shop/{task.id}/failing", task=task.id, text="old", first_at=at, last_at=at, acknowledged_by="U0ANN"
    )
    watch.room.store.save("shop", lambda state: state.with_findings(old))
    assert watch.beat(1, "A") == []
    assert [each.acknowledged_by for each in watch.known] == ["U0ANN"]


def test_the_first_sight_of_a_check_that_was_put_back_is_a_baseline(watch: Watch) -> None:
    """What it printed before it was taken out is compared with nothing."""
    watch.beat(0, "one")
    watch.says("Something else: `git status`")
    watch.probes.set(0, "", ("git", "status"))
    watch.beat()
    watch.says(LINE)
    assert watch.beat(0, "config/production.json: fine") == []
    assert "prints something different" in watch.beat(0, "config/production.json: odd")[0]


def test_a_change_from_bad_to_good_is_no_alarm(watch: Watch) -> None:
    """By the exit code, and by the words where that is 0 either way."""
    watch.beat(1, "bad")
    assert watch.beat(0, "fine") == []
    assert "prints something different" in watch.beat(0, "queue is DOWN")[0]
    assert watch.beat(0, "queue is up") == []


@pytest.mark.parametrize("first", ["queue is up", None], ids=["known good", "never good"])
def test_new_trouble_in_words_after_a_failure_rings(watch: Watch, first: str | None) -> None:
    """What a failed command printed is no measure: not of trouble of the same words, and not of what is well."""
    if first is not None:
        watch.beat(0, first)
    assert "fails" in watch.beat(1, "queue is DOWN")[0]
    assert "prints something different" in watch.beat(0, "queue is DOWN")[0]


@pytest.mark.parametrize("count", [1, 500], ids=["short", "cut"])
def test_a_check_that_prints_what_it_did_before_it_failed_is_well(watch: Watch, count: int) -> None:
    """Whatever it printed in between, and whatever its usual words are."""
    usual = "0 errors, 3 DOWN by plan\n" * count
    watch.beat(0, usual)
    watch.beat(1, "Traceback")
    assert watch.beat(0, usual) == []


@pytest.mark.parametrize("width", [20, 400], ids=["short", "cut"])
def test_after_a_git_log_that_failed_only_what_came_since_is_new(watch: Watch, width: int) -> None:
    """It is compared with the last one that was answered, as far as that is kept."""
    argv = ("git", "log", "--oneline", "-n", "20")
    commits = [f"{number:07x} {'x' * width}" for number in range(40)]
    watch.says(f"Commits: `{' '.join(argv)}`")
    watch.probes.set(0, "\n".join(commits[10:30]), argv)
    watch.beat()
    watch.probes.set(128, "fatal: bad object HEAD", argv)
    watch.beat()
    watch.probes.set(0, "\n".join(commits[8:28]), argv)
    [said] = watch.beat()
    assert "2 new commits" in said
    watch.probes.set(0, "\n".join(commits[7:27]), argv)
    assert "1 new commit\n" in watch.beat()[0]


STEPS = st.one_of(
    st.tuples(st.just("result"), st.sampled_from([0, 0, 1, 2, -9]), st.sampled_from("ABC")),
    st.tuples(st.just("beat"), st.sampled_from([Wake.INTERVAL, Wake.ON_DEMAND])),
    st.tuples(st.just("beat"), st.just(Wake.INTERVAL)),
    st.tuples(st.just("fix")),
    st.tuples(st.just("says"), st.sampled_from([LINE, "Reworded: `python3 check.py`", "Other: `git status`"])),
    st.tuples(st.just("clock"), st.sampled_from([-7200, 60, 90_000])),
    st.tuples(st.just("slack"), st.booleans()),
)


@given(steps=st.lists(STEPS, min_size=3, max_size=14), mind=st.sampled_from(["offline", "model", "screened", "away"]))
def test_whatever_happens_a_failure_after_an_all_clear_rings_and_well_is_said_of_what_was_seen_well(
    steps: list[tuple[Any, ...]], mind: str
) -> None:
    """Over histories of results, fixes, removals, clock steps and refusals; a model says ok, is away, or is none."""
    with tempfile.TemporaryDirectory() as folder:
        screen = Scripted(screened("none")) if mind == "screened" else None
        minds = {"offline": OfflineFullRun(), "away": RunFailed("the provider is away", usage=COST)}
        watch = Watch(Path(folder), minds.get(mind, report()), screen=screen)
        watch.probes.set(0, "", ("git", "status"))
        for step in steps:
            History(watch).take(step)


@dataclass
class History:
    """Takes one step, and after a beat asks what must hold."""

    watch: Watch

    def take(self, step: tuple[Any, ...]) -> None:
        watch, (verb, *given_) = self.watch, step
        match verb:
            case "result":
                watch.probes.set(*given_)
            case "says":
                watch.says(*given_)
            case "clock":
                watch.room.clock.advance(given_[0])
            case "slack":
                watch.room.surface.refuses = Unavailable("away") if given_[0] else None
            case "fix":
                for each in [each for each in watch.known if each.is_open]:
                    watch.findings.fix("shop", finding_digest(each.key), by="U0ANN")
            case "beat":
                self.beat(given_[0])

    def beat(self, wake: Wake) -> None:
        watch = self.watch
        stands, failing = "check.py" in watch.room.playbook, (watch.probes.answers[CHECK].exit_code or 0) > 0
        was_open = any(each.key.endswith("/failing") and each.is_open for each in watch.known)
        updates, began = len(watch.room.surface.updated), watch.room.clock.now()
        rang = watch.beat(wake=wake)
        if watch.line.result is BeatResult.SKIPPED and watch.line.tier is None:
            return
        if stands and failing and not was_open and watch.room.surface.refuses is None:
            assert any("fails" in text for text in rang)
        if stands and failing:
            assert any(each.key.endswith("/failing") and each.is_open for each in watch.known)
            assert "- [x]" not in watch.room.playbook or watch.line.result is BeatResult.FAILED
        for _, alert in watch.room.surface.updated[updates:]:
            if alert.finding is not None and alert.finding.resolved_at == began:
                assert stands
                assert watch.probes.answers[CHECK].exit_code == 0
