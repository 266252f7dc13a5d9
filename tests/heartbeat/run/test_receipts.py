"""What a beat says about itself: what it changed, what may not run and how to let it, what stands in a wrong tier."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.domain.heartbeats.allowed_commands import not_run_notice
from bot.domain.heartbeats.beats import BeatResult, BeatStep, Wake
from bot.domain.heartbeats.session_state import SessionState
from bot.domain.playbook import parse
from bot.domain.playbooks.playbook_entries import id_of_task
from bot.domain.tiers import TaskHistory, Tier, TierMove
from bot.heartbeat.run.beat_record import BeatEnd, BeatRecorder, BeatStart
from bot.heartbeat.run.beat_view import EditKind, PlaybookEdit, PlaybookEditLog, measured_after
from bot.heartbeat.run.model_steps import build_sections
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.run.receipts import remarks
from bot.heartbeat.sessions.session_registry import BeatLog, SessionMemory
from tests.fakes import MemoryJournal, MemoryStore
from tests.heartbeat.builders import AT, PLAYBOOK, a_session, a_view, input_collector

STATUS = ("git", "status", "--porcelain")
TREE = "Working tree: `git status --porcelain`"
SLOW = TaskHistory(text=TREE, tier=Tier.QUICK, seconds=(12.0, 14.0, 13.0))
MOVE = TierMove(task_id=id_of_task(TREE), text=TREE, from_tier=Tier.QUICK, to_tier=Tier.HOURLY, why="took 12 s")


def test_a_beat_without_anything_of_note_says_nothing(tmp_path: Path) -> None:
    """Boxes are no news."""
    ticked = PlaybookEditLog([PlaybookEdit(what=EditKind.CHECK_TASK, text="x", at=AT)])
    assert list(remarks(a_view(tmp_path, edits=ticked))) == []
    assert ticked.counted() == ""


def test_many_edits_are_told_in_few_words(tmp_path: Path) -> None:
    """The rest is counted; the trace has them all."""
    edits = PlaybookEditLog(
        [PlaybookEdit(what=EditKind.NOTE, text=f"note {number} {'x' * 200}", at=AT) for number in range(5)]
    )
    (said,) = remarks(a_view(tmp_path, edits=edits))
    assert said.startswith("Changed in HEARTBEAT.md: noted “note 0 xxx")
    assert said.endswith("…”; and 2 more")
    assert len(said) < 400
    assert edits.counted() == "5 edits to HEARTBEAT.md"


def test_a_command_that_may_not_run_comes_with_the_line_that_allows_it(tmp_path: Path) -> None:
    """Once, whether the list held it before or the beat added it; a shell is never allowed."""
    added = PlaybookEditLog([PlaybookEdit(what=EditKind.ADD_TASK, text="Disk: `df -h`", at=AT, tier=Tier.QUICK)])
    view = a_view(tmp_path, edits=added, probes=ProbeReport(refused=(("df", "-h"), ("bash", "-c", "ls"))))
    _, disk, shell, built_in = remarks(view)
    assert disk == 'not run: `df -h`; to allow it add this line to `commands` of the session in triage.yml: `- "df -h"`'
    assert shell.startswith("not run: `bash -c ls`; it cannot be allowed: 'bash' runs a shell")
    assert not_run_notice(("df", "-h")) == disk
    assert "it cannot be allowed: only a shell" in not_run_notice(("./check", "all", "|", "grep", "down"))
    assert "replaces the built-in one" in built_in
    own = replace(view, session=a_session(tmp_path, beat={"commands": ["git status --porcelain"]}))
    assert list(remarks(own))[1:] == [disk, shell]


def test_commands_there_was_no_time_for_are_said_and_left_to_the_model(tmp_path: Path) -> None:
    """It may run them itself."""
    view = a_view(tmp_path, probes=ProbeReport(late=(("df", "-h"), ("git", "fsck"))))
    assert list(remarks(view)) == ["no time was left for 2 commands of HEARTBEAT.md, from `df -h` on"]
    assert [each.text for each in build_sections(view, only_changed=True) if "no_time" in each.name] == [
        "df -h\ngit fsck"
    ]


def test_what_a_beat_changed_is_on_record_however_it_ended(tmp_path: Path) -> None:
    """A run that was cancelled or failed may have edited its list before; a refusal leaves no folder."""
    store, journal = SessionMemory(MemoryStore()), MemoryJournal()
    record = BeatRecorder(FileRunFolders(tmp_path), store, BeatLog(journal))
    edit = PlaybookEdit(what=EditKind.NOTE, text="n", at=AT)
    for name, made, result in [
        ("cancelled", [edit], BeatResult.SKIPPED),
        ("failed", [edit], BeatResult.FAILED),
        ("refused", [], BeatResult.SKIPPED),
    ]:
        begun = BeatStart(run_id=name, wake=Wake.INTERVAL, stamp_at=AT, started_at=AT, edits=PlaybookEditLog(made))
        error = "no answer" if result is BeatResult.FAILED else None
        record.close(a_session(tmp_path), begun, BeatEnd(result=result, step=BeatStep.CANCELLED, error=error), now=AT)
    for name in ("cancelled", "failed"):
        trace = json.loads((tmp_path / "runs" / name / "trace.json").read_text())
        assert trace["edits"] == [{"what": "note", "tier": None, "text": "n", "at": AT.isoformat()}]
    assert not (tmp_path / "runs" / "refused").exists()
    assert [line["trace_id"] for line in journal.records()] == ["cancelled", "failed", None]


def test_a_task_in_a_wrong_tier_is_proposed_to_the_owner_and_to_the_agent(tmp_path: Path) -> None:
    """On an alert, and in the brief of a full run; a pre-screen moves nothing."""
    view = a_view(tmp_path, moves=(MOVE,))
    assert list(remarks(view)) == [f"“{TREE}” took 12 s: move it to hourly?"]
    (measured,) = [each.text for each in build_sections(view, only_changed=False) if each.name == "measured"]
    assert measured == f"[{id_of_task(TREE)}] quick -> hourly: took 12 s"
    assert "measured" not in [each.name for each in build_sections(view, only_changed=True)]


def test_the_brief_names_what_the_tools_ask_for(tmp_path: Path) -> None:
    """Ids and tiers of the tasks, ids of flags and notes."""
    text = PLAYBOOK.replace("## Notes\n", "## Urgent Flags\n- disk full\n## Notes\n- n\n")
    told = {each.name: each.text for each in build_sections(a_view(tmp_path, text=text), only_changed=False)}
    assert f"[{id_of_task(TREE)}] quick: {TREE}" in told["due_tasks"]
    assert told["urgent_flags"] == f"[{id_of_task('disk full')}] disk full"
    assert told["notes"] == f"[{id_of_task('n')}] n"


def test_a_beat_remembers_how_long_the_commands_of_a_task_took(tmp_path: Path) -> None:
    """By task; one that left the playbook is forgotten."""
    task = next(task for _, task in parse(PLAYBOOK).all_tasks if task.text == TREE)
    result = ProbeResult(argv=STATUS, output="", exit_code=0, seconds=11.5)
    probes = ProbeReport(results=(result,), wanted=((task.id, STATUS),))
    after = measured_after({"gone": SLOW}, a_view(tmp_path, tier=Tier.DAILY, probes=probes))
    assert after[task.id].seconds == (11.5,)
    assert "gone" not in after


def test_a_proposal_is_gone_once_the_task_was_moved(tmp_path: Path) -> None:
    """By whomever; before its new tier was measured once."""
    state = SessionState(measured={id_of_task(TREE): SLOW})
    session = a_session(tmp_path, beat={"commands": ["df -h"]})
    begun = BeatStart(run_id="beat-1", wake=Wake.INTERVAL, stamp_at=AT, started_at=AT)
    store, cancel = SessionMemory(MemoryStore()), a_view(tmp_path).cancel
    store.save(session.id, lambda _: state)
    look = input_collector(Probes({}), store)
    (tmp_path / "HEARTBEAT.md").write_text(PLAYBOOK)
    (move,) = look.collect(session, begun, cancel).moves
    assert replace(move, why="took 12 s") == MOVE
    (tmp_path / "HEARTBEAT.md").write_text(PLAYBOOK.replace(f"- [ ] {TREE}\n", "") + f"## Hourly\n- [ ] {TREE}\n")
    assert look.collect(session, begun, cancel).moves == ()
