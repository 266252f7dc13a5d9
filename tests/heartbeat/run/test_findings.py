"""Silence is earned: what exit codes, receipts, flags and the end of a run amount to, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.alerts import Severity
from bot.domain.heartbeats.alerts import FLAGS, MESSAGE, RECEIPTS, OpenFinding
from bot.domain.heartbeats.beats import BeatReport, BeatResult, Finding, Receipt, Reported
from bot.domain.playbook_entries import task_id
from bot.heartbeat.run.beat_record import BeatView
from bot.heartbeat.run.findings import Judgement, boxes, judge_report, seen_by_code, still_standing
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from tests.heartbeat.builders import AT, a_session, a_view
from tests.tables import each_row

FLAGGED = "## Urgent Flags\n\n- Certificates end on Friday\n- [x] Old one\n\n## Quick\n\n- [ ] Look\n"
LONG = "All is well, and here is why. " * 20
LISTS = "## Quick\n\n- [ ] Shop\n  - Look: `./check`\n  - ! Buy: `./buy`\n- [ ] ! Pay: `./pay`\n- [ ] Read: `./read`\n"


def reported(view: BeatView, message: str = "", status: Any = "ok", **more: Any) -> BeatReport:
    """Return a report with the same receipt for every due task."""
    given = {"result": "ok", **more}
    receipts = tuple(Receipt(task=task.id, **given) for task in view.tasks)
    return BeatReport(message=message, status=status, receipts=receipts, usage=None)


def judged(view: BeatView, message: str = "", status: Any = "ok", **more: Any) -> Judgement:
    return judge_report(view, reported(view, message, status, **more))


def found(**more: Any) -> dict[str, Any]:
    return {"result": "finding", "finding": Reported(**{"key": "red", "text": "Main is red.", **more})}


def a_view_of(cwd: Path, *failing: str, text: str = LISTS, exit_code: int = 1, **more: Any) -> BeatView:
    """Return a beat whose commands exit 0, but for `failing` ones."""
    view = a_view(cwd, text=text)
    results = [
        ProbeResult(argv=argv, output="no", exit_code=exit_code, seconds=0.1, problem="it failed")
        if argv[0] in failing
        else ProbeResult(argv=argv, output="yes", exit_code=0, seconds=0.1)
        for task in view.tasks
        for argv in task.commands
    ]
    return a_view(cwd, text=text, probes=ProbeReport(results=tuple(results)), **more)


@each_row(
    "status, message, has_receipts, tells, quiet, is_good, is_bare",
    [
        ("ok", "", True, "", "ok-empty", True, False),
        ("ok", "HEARTBEAT_OK", True, "", "ok-token", True, False),
        ("ok", "Two PRs wait.", True, "", "ok-token", True, False),
        ("ok", "Production is down.", True, "", "ok-token", True, False),
        ("ok", LONG, True, LONG.strip(), "ok-token", True, False),
        ("ok", "", False, "The heartbeat reported no result for 2 due tasks", "ok-empty", False, False),
        ("attention", "Look at main.", True, "Look at main.", "ok-token", True, False),
        ("attention", "", True, "The heartbeat asks for attention", "ok-empty", True, False),
        (None, "HEARTBEAT_OK", True, "", "ok-token", True, False),
        (None, "Build is red on main.", True, "Build is red on main.", "ok-token", True, False),
        (None, "HEARTBEAT_OK", False, "", "ok-token", False, True),
        (None, "", False, "", "ok-empty", False, True),
        (None, "Build is red on main.", False, "The heartbeat reported no result", "ok-token", False, False),
    ],
)
def test_how_a_run_ends(
    tmp_path: Path,
    status: Any,
    message: str,
    has_receipts: bool,
    tells: str,
    quiet: str,
    is_good: bool,
    is_bare: bool,
) -> None:
    """By its status; the text of one that ended without a report by the token."""
    view = a_view(tmp_path)
    report = reported(view, message, status)
    verdict = judge_report(view, report if has_receipts else report.evolve(receipts=()))
    assert [each.text[: len(tells)] for each in verdict.findings] == ([tells] if tells else [])
    assert (verdict.quiet, verdict.done is not None, verdict.is_bare) == (BeatResult(quiet), is_good, is_bare)


def test_the_third_bare_token_in_a_row_is_an_alert(tmp_path: Path) -> None:
    """That nobody reported anything; the next whole report closes it."""
    bare = BeatReport(message="HEARTBEAT_OK", receipts=(), usage=None)
    told = [len(judge_report(a_view(tmp_path, bare_tokens=before), bare).findings) for before in range(4)]
    assert told == [0, 0, 1, 1]
    [finding] = judge_report(a_view(tmp_path, bare_tokens=2), bare).findings
    assert finding.task == RECEIPTS
    assert RECEIPTS in judged(a_view(tmp_path)).checked


@each_row("status, message", [("ok", ""), ("ok", "All well."), (None, "HEARTBEAT_OK")])
def test_a_finding_is_told_whatever_stands_beside_it(tmp_path: Path, status: Any, message: str) -> None:
    """Also by a run that ended in text."""
    assert {each.text for each in judged(a_view(tmp_path), message, status, **found()).findings} == {"Main is red."}


@each_row("status, message", [("attention", "The disk is full."), ("ok", LONG.strip()), (None, "The disk is full.")])
def test_a_message_does_not_go_down_with_what_is_known_already(tmp_path: Path, status: Any, message: str) -> None:
    """A failure may be acknowledged; what a run wants read is read. Beside findings of its own it is their note."""
    new = a_view_of(tmp_path, "./read")
    [failure] = judged(new, message, status).findings
    known = OpenFinding(
        key=failure.key, task=failure.task or "", text=failure.text, first_at=AT, last_at=AT, acknowledged_by="U0ANA"
    )
    old = a_view_of(tmp_path, "./read", open_findings=(known,))
    assert [each.text for each in judged(old, message, status).findings] == [failure.text, message]
    assert judged(old, "", "attention").findings == (failure,)
    assert message not in {each.text for each in judged(old, message, status, **found()).findings}


def test_the_id_of_a_finding_outlives_its_wording(tmp_path: Path) -> None:
    """Without an id the text, less its times and markup, stands for it."""
    view = a_view(tmp_path)

    def keys(**more: Any) -> list[str]:
        return [each.key for each in judged(view, **{"result": "finding", **more}).findings]

    assert keys(**found()) == keys(**found(text="The build fails since 09:12."))
    assert keys(evidence="*Main* is red since 09:12") == keys(evidence="main is red since 10:30.")
    assert keys(evidence="PR 12 fails") != keys(evidence="PR 13 fails")


def test_a_finding_of_no_due_task_is_told_too(tmp_path: Path) -> None:
    """A model that mistook the id of a task saw something all the same."""
    view = a_view(tmp_path)
    stray = (Receipt(task="0badc0de", **found(key="ci")), Receipt(task="0badc0de", **found(key="disk", text="")))
    report = reported(view)
    verdict = judge_report(view, report.evolve(receipts=(*report.receipts, *stray)))
    told = [(each.task, each.text) for each in verdict.findings]
    assert told == [(MESSAGE, "Main is red."), (MESSAGE, "0badc0de: disk")]
    assert verdict.done is not None


def test_a_finding_without_words_says_which_task_it_is(tmp_path: Path) -> None:
    """An empty alert helps nobody."""
    texts = [each.text for each in judged(a_view(tmp_path), **found(text="")).findings]
    assert texts == ["Working tree: `git status --porcelain`", "Deploys look healthy"]


def test_a_flag_is_up_until_it_is_taken_down_or_ticked(tmp_path: Path) -> None:
    """Code looks, not the model."""
    [finding] = judged(a_view(tmp_path, text=FLAGGED)).findings
    assert (finding.task, finding.text) == (FLAGS, "Urgent flag: Certificates end on Friday")
    assert FLAGS in judged(a_view(tmp_path)).checked


def severities(view: BeatView, **more: Any) -> dict[str, Severity]:
    """Return how urgent each finding is, by the last words of its headline."""
    return {each.text.partition("`")[0].strip(": "): each.severity for each in judged(view, **more).findings}


@each_row("default", list(Severity))
def test_how_urgent_a_failing_command_is_says_its_line_or_the_session(tmp_path: Path, default: Severity) -> None:
    """The mark before a task counts for all of it, before a line of its list for that."""
    session = a_session(tmp_path, beat={"severity": default})
    view = a_view_of(tmp_path, "./check", "./buy", "./pay", session=session)
    assert severities(view) == {"Shop, Look": default, "Shop, Buy": Severity.PAGE, "Pay": Severity.PAGE}


def test_a_receipt_says_how_urgent_its_finding_is(tmp_path: Path) -> None:
    """Before the mark of the task, before the session; no word of it does."""
    session = a_session(tmp_path, beat={"severity": "know"})
    view = a_view(tmp_path, text="## Quick\n- [ ] ! Pay\n- [ ] Production is down?\n", session=session)
    assert [each.severity for each in judged(view, **found()).findings] == [Severity.PAGE, Severity.KNOW]
    assert {each.severity for each in judged(view, **found(severity="act")).findings} == {Severity.ACT}


@each_row("flag, severity", [("Look at PR 7", "act"), ("! Look at PR 7", "page"), ("prod is down", "act")])
def test_an_urgent_flag_wants_somebody_to_act_at_least(tmp_path: Path, flag: str, severity: str) -> None:
    """With the mark it pages; the mark itself is not shown."""
    session = a_session(tmp_path, beat={"severity": "know"})
    view = a_view(tmp_path, text=f"# Urgent Flags\n\n- {flag}\n\n# Quick\n", session=session)
    [finding] = judged(view).findings
    assert finding.severity == severity
    assert finding.text == f"Urgent flag: {flag.removeprefix('! ')}"


def receipts_of(view: BeatView, **named: Receipt | list[Receipt]) -> BeatReport:
    """Return a report that calls all well, but for the tasks that begin with these words."""
    receipts = []
    for task in view.tasks:
        own = named.get(task.text.strip("! ").partition(":")[0], Receipt(task=task.id, result="ok"))
        receipts += [one.evolve(task=task.id) for one in (own if isinstance(own, list) else [own])]
    return BeatReport(message="", status="ok", receipts=tuple(receipts), usage=None)


def keys(verdict: Judgement) -> list[str]:
    return [each.key.rpartition("/")[2] for each in verdict.findings]


def test_the_only_finding_of_a_task_of_which_one_command_fails_is_that_failure(tmp_path: Path) -> None:
    """Under the command's key, with the model's words and severity first."""
    view = a_view_of(tmp_path, "./read")
    red = Receipt(task="x", **found(severity="page"))
    verdict = judge_report(view, receipts_of(view, Read=red))
    [finding] = verdict.findings
    assert finding.key == f"shop/{task_id('./read')}/.-read"
    assert finding.text == "Main is red.\n\nRead: `./read` fails (exit code 1)\n- `no`"
    assert finding.severity is Severity.PAGE


def test_of_two_findings_or_two_failing_commands_each_stands_for_itself(tmp_path: Path) -> None:
    """But one that names the command by its id."""
    red, other = Receipt(task="x", **found()), Receipt(task="x", **found(key="release"))
    view = a_view_of(tmp_path, "./read")
    assert keys(judge_report(view, receipts_of(view, Read=[red, other]))) == ["red", "release", ".-read"]
    view = a_view_of(tmp_path, "./check", "./buy")
    assert keys(judge_report(view, receipts_of(view, Shop=red))) == ["red", ".-check", ".-buy"]
    named = Receipt(task="x", **found(key="./check"))
    verdict = judge_report(view, receipts_of(view, Shop=named))
    assert keys(verdict) == [".-check", ".-buy"]
    assert verdict.findings[0].text.startswith("Main is red.")


def test_what_a_beat_may_close(tmp_path: Path) -> None:
    """A good command its failure; a whole task whatever it found; a skipped or failing one nothing else."""
    view = a_view_of(tmp_path, "./check")
    checked = judged(view).checked
    assert f"shop/{task_id('./buy')}/.-buy" in checked
    assert not checked & {task_id("./check"), task_id("./buy")}
    assert {task_id("./pay"), task_id("./read"), FLAGS, RECEIPTS} <= checked
    skipped = judged(a_view_of(tmp_path), result="skipped")
    assert skipped.done is not None
    assert {each for each in skipped.checked if "/" not in each} == {FLAGS, RECEIPTS}


def test_a_box_is_ticked_if_nothing_of_its_task_is_wrong(tmp_path: Path) -> None:
    """Neither a command nor a receipt."""
    view = a_view_of(tmp_path, "./buy")
    report = receipts_of(view, Read=Receipt(task="x", result="skipped"))
    ticked = boxes(view, judge_report(view, report).findings, report.receipts)
    assert [ticked[task.id] for task in view.tasks] == [False, True, False]


def test_what_stands_is_said_again_by_a_beat_without_news(tmp_path: Path) -> None:
    """Findings of checks that are made, and flags; a message that was sent stands for itself, an unsent one is owed."""

    def known(key: str, task: str, **more: Any) -> OpenFinding:
        return OpenFinding(key=key, task=task, text=key, first_at=AT, last_at=AT, **more)

    before = (
        known("red", task_id("Look")),
        known("gone", "ci"),
        known("told", MESSAGE, sent_at=AT),
        known("owed", MESSAGE),
    )
    view = a_view(tmp_path, text=FLAGGED, open_findings=before)
    assert [each.key for each in still_standing(view)][:2] == ["red", "owed"]
    assert [each.task for each in still_standing(view)][2:] == [FLAGS]


def test_a_failing_command_says_what_it_prints_now_below_what_a_model_said(tmp_path: Path) -> None:
    """As long as it fails in the same way."""

    def seen(view: BeatView, said: str) -> Finding:
        known = OpenFinding(
            key=f"shop/{task_id('./read')}/.-read", task=task_id("./read"), text=said, first_at=AT, last_at=AT
        )
        return seen_by_code(a_view(tmp_path, text=LISTS, probes=view.probes, open_findings=(known,)))[0]

    view = a_view_of(tmp_path, "./read")
    now = "Read: `./read` fails (exit code 1)\n- `no`"
    assert seen(view, "It hangs.\n\nRead: `./read` fails (exit code 1)\n- `maybe`").text == f"It hangs.\n\n{now}"
    assert seen(view, "It hangs.\n\nRead: `./read` fails (exit code 2)").text == now
