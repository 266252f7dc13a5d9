"""An alert's whole life, whatever happens to its check: what fails rings, and all is well only when that was seen."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model_run import RunFailed
from bot.domain.heartbeats.alerts import finding_digest
from bot.domain.heartbeats.beats import BeatResult, Indicator, Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind
from bot.domain.playbook_entries import task_id
from bot.domain.tiers import Tier
from bot.errors import ProviderError, Unavailable
from bot.heartbeat.run.findings import report_by_code
from tests.heartbeat.builders import AT
from tests.heartbeat.room import COST, Scripted, report, screened
from tests.heartbeat.watch import CHECK, FRAME, LINE, STOCK, Watch
from tests.tables import each_row

FAILS = "Orders: `python3 check.py` fails (exit code 1)"
KEY = f"shop/{task_id(' '.join(CHECK))}/python3-check.py"


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_a_check_that_goes_on_failing_asks_no_model_until_it_fails_in_another_way(tmp_path: Path) -> None:
    """Another exit code is another way."""
    watch = Watch(tmp_path, report())
    runs = watch.room.full.views
    watch.beat(1, "A")
    assert watch.beat(1, "A") == watch.beat(1, "A") == []
    assert (len(runs), watch.line.why) == (1, "probes: nothing changed")
    assert (watch.line.result, watch.line.indicator) == (BeatResult.OK_EMPTY, Indicator.ALERT)
    watch.beat(2, "A")
    assert len(runs) == 2


def test_what_a_model_said_of_a_check_that_was_well_hides_no_failure(tmp_path: Path) -> None:
    """That it fails is another finding; the model's words lead it."""
    slow = {"key": "slow", "text": "Slow since the deploy."}
    watch = Watch(tmp_path, report(result="finding", finding=slow))
    assert watch.beat(0, "fine") == ["Slow since the deploy."]
    watch.acknowledge()
    assert watch.beat(1, "A") == [f"Slow since the deploy.\n\n{FAILS}\n- `A`"]
    assert watch.beat(1, "B") == []


def test_a_model_that_is_away_silences_no_check_and_keeps_none_open(tmp_path: Path) -> None:
    """The beat failed, and says so; what code saw rings once and closes, and nothing is stamped."""
    watch = Watch(tmp_path, RunFailed("the provider is away", usage=COST))
    assert watch.beat(1, "A") == [f"{FAILS}\n- `A`"]
    assert watch.known[0].notes == ("No model looked at this: the provider is away",)
    assert (watch.line.result, watch.line.silent) == (BeatResult.FAILED, False)
    assert "(never)" in watch.room.playbook
    assert watch.beat(1, "A") == watch.beat(0, "fine") == []
    assert watch.known[0].resolved_at is not None


@each_row("says", [report("Two PRs wait. HEARTBEAT_OK"), report_by_code])
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


def test_a_playbook_emptied_while_something_is_open_is_skipped_from_the_first_beat_on(watch: Watch) -> None:
    """The first one closes what no check stands for any more, and the next one shows it where Slack was away."""
    watch.beat(1, "A")
    watch.says()
    for away in (Unavailable("Slack is away"), None):
        watch.room.surface.refuses = away
        assert watch.beat() == []
        assert (watch.line.result, watch.line.indicator) == (BeatResult.SKIPPED, Indicator.NONE)
        assert (watch.line.why or "").startswith("empty playbook: HEARTBEAT.md has no tasks")
    assert [each.is_open for each in watch.known] == [False]
    assert watch.shown.removed is not None


def test_a_check_that_fails_as_it_did_at_the_last_good_beat_is_never_nothing_changed(watch: Watch) -> None:
    """Whatever became of its finding: the exit code of now decides."""
    watch.beat(1, "A")
    watch.room.store.save("shop", lambda state: state.evolve(findings={}))
    assert len(watch.beat(1, "A")) == 1


@each_row("says", [report(), report(result="skipped")])
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


def test_two_checks_that_a_model_reports_in_the_same_words_ring_both(tmp_path: Path) -> None:
    """Each alert names its command."""
    watch = Watch(tmp_path, report(result="finding", finding="red", evidence="The check fails."))
    watch.says(LINE, "Stock: `python3 stock.py`")
    watch.probes.set(1, "empty", STOCK)
    first, second = watch.beat(1, "A")
    assert "`python3 check.py`" in first
    assert "`python3 stock.py`" in second


def test_an_alert_that_is_refused_while_the_model_is_away_is_told_with_its_own_reason(tmp_path: Path) -> None:
    """Once."""
    watch = Watch(tmp_path, RunFailed("the provider is away", usage=COST))
    watch.beat(0, "fine")
    watch.room.surface.refuses = ProviderError("user_disabled")
    watch.beat(1, "A")
    watch.beat(1, "A")
    assert watch.room.ops == ["An alert of shop reached nobody: user_disabled. Each check tries to send it again."]


@each_row("later", [report_by_code, report()])
def test_an_assignment_nobody_looked_into_stays_open_until_a_person_closes_it(tmp_path: Path, later: Any) -> None:
    """Daily beats look at all there is in the playbook, and an assignment is not there."""
    watch = Watch(tmp_path, report_by_code, later)
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


@each_row(
    "found, looked, said, result, closes",
    [
        ("quick", "hourly", "", "ok", True),
        ("quick", "daily", "Two PRs wait. HEARTBEAT_OK", "ok", True),
        ("daily", "hourly", "", "ok", False),
        ("quick", "hourly", "The queue grows.", "ok", None),
        ("quick", "hourly", "", "skipped", False),
    ],
)
def test_what_a_message_said_is_over_once_a_run_looked_at_as_much_and_wants_nobody(
    tmp_path: Path, found: str, looked: str, said: str, result: str, closes: bool | None
) -> None:
    """A lower tier does not look at what a higher one said, nor does a run that leaves a task out; None: it rings."""
    minds = [report(f"Build is red. {'So it is. ' * 40}"), report(said * (40 if closes is None else 1), result=result)]
    watch = Watch(tmp_path, *minds)
    for tier, output in ((found, "A"), (looked, "B")):
        watch.room.write_playbook(FRAME.format(tasks=f"- [ ] {LINE}"), daily_due=tier == "daily")
        rang = watch.beat(0, output)
        assert watch.line.tier == tier
    assert bool(rang) is (closes is None)
    assert watch.known[0].is_open is not bool(closes)


def test_a_send_that_failed_and_a_check_that_is_well_by_then_ring_nobody(watch: Watch) -> None:
    """What was seen at a beat that told nobody is no measure of what changed."""
    watch.beat(0, "fine")
    watch.room.surface.refuses = Unavailable("Slack is away")
    watch.beat(1, "A")
    watch.room.surface.refuses = None
    assert watch.beat(0, "fine") == []
    assert [each.resolved_at is not None for each in watch.known] == [True]


def test_a_deleted_playbook_is_not_made_anew_and_its_owner_hears_it_once(watch: Watch) -> None:
    """Whoever wakes the session; what is found once it is put back is new."""
    watch.beat(1, "A")
    [finding] = watch.known
    watch.findings.snooze("shop", finding_digest(finding.key), "24 h")
    (watch.room.cwd / "HEARTBEAT.md").unlink()
    [said] = watch.beat(wake=Wake.ON_DEMAND)
    assert "HEARTBEAT.md of shop was deleted" in said
    assert "last result failing: 1 alert" in said
    assert watch.shown.removed is not None
    assert watch.shown.removed.what == "HEARTBEAT.md was deleted"
    assert watch.beat(wake=Wake.ON_DEMAND) == watch.beat() == []
    assert "HEARTBEAT.md was deleted" in str(watch.line.why)
    assert not (watch.room.cwd / "HEARTBEAT.md").exists()
    watch.says(LINE)
    assert len(watch.beat(1, "A")) == 1
    [finding] = watch.known
    assert finding.is_open


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
        minds = {"offline": report_by_code, "away": RunFailed("the provider is away", usage=COST)}
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
        stands, failing = "check.py" in watch.room.playbook, watch.probes.answers[CHECK].exit_code != 0
        was_open = any(each.key == KEY and each.is_open for each in watch.known)
        updates, began = len(watch.room.surface.updated), watch.room.clock.now()
        rang = watch.beat(wake=wake)
        if watch.line.result is BeatResult.SKIPPED and watch.line.tier is None:
            return
        if stands and failing and not was_open and watch.room.surface.refuses is None:
            assert any(text.startswith(("Orders: ", "Reworded: ")) for text in rang)
        if stands and failing:
            assert any(each.key == KEY and each.is_open for each in watch.known)
            assert "- [x]" not in watch.room.playbook or watch.line.result is BeatResult.FAILED
        for _, alert in watch.room.surface.updated[updates:]:
            if alert.finding is not None and alert.finding.resolved_at == began:
                assert stands
                assert watch.probes.answers[CHECK].exit_code == 0
