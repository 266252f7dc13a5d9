"""An agent keeps its own playbook: bounded, recorded, to the file as it is, and nobody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.agent.tools.base import Tool, ToolProblem
from bot.domain.playbook import parse
from bot.domain.playbook_entries import task_id, task_of_line
from bot.domain.tiers import Tier
from bot.heartbeat.run.beat_record import BeatView, PlaybookEdit
from bot.heartbeat.run.beat_tools import MAX_EDITS, BeatTools
from bot.heartbeat.run.probes import Probes
from tests.heartbeat.builders import PLAYBOOK, a_view
from tests.tables import each_row

TREE, DEPLOYS, COMMITS = (
    task_of_line(text).id
    for text in (
        "Working tree: `git status --porcelain`",
        "Deploys look healthy",
        "New commits: `git log --oneline -n 20`",
    )
)


class Desk:
    """A session's folder and the tools of one beat in it."""

    def __init__(self, folder: Path, text: str = PLAYBOOK) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "HEARTBEAT.md"
        self.path.write_bytes(text.encode())
        self.view: BeatView = a_view(folder, text=text, tier=Tier.DAILY)
        _, *edits = BeatTools(Probes({}), known_secrets=("hunter2hunter2",)).all(self.view)
        self.tools: dict[str, Tool] = {tool.name: tool for tool in edits}

    def use(self, name: str, **given: Any) -> str:
        tool = self.tools[name]
        assert tool.arguments is not None
        return tool.call(tool.arguments.model_validate(given))

    def refused(self, name: str, **given: Any) -> str:
        """Use a tool that must refuse; the file keeps every byte and nothing is recorded."""
        before, made = self.path.read_bytes(), list(self.view.edits)
        with pytest.raises(ToolProblem) as problem:
            self.use(name, **given)
        assert (self.path.read_bytes(), self.view.edits) == (before, made)
        return str(problem.value)

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "shop")


def test_every_edit_does_one_thing_and_is_recorded(desk: Desk) -> None:
    """With the tier, the words and the time."""
    desk.use("add_task", tier="hourly", text="- [ ] Queue length")
    desk.use("move_task", id=DEPLOYS, to="daily")
    desk.use("remove", id=COMMITS)
    desk.use("raise_flag", text="Certificate runs out on Friday")
    desk.use("note", text="Deploys are on Tuesdays")
    desk.use("check_task", id=TREE, ok=True)
    assert desk.view.edits == [
        PlaybookEdit("added", "hourly", "Queue length"),
        PlaybookEdit("moved", "daily", "Deploys look healthy", "quick"),
        PlaybookEdit("removed", "hourly", "New commits: `git log --oneline -n 20`"),
        PlaybookEdit("added", "urgent", "Certificate runs out on Friday"),
        PlaybookEdit("added", "notes", "Deploys are on Tuesdays"),
        PlaybookEdit("checked", "quick", "Working tree: `git status --porcelain`"),
    ]
    playbook = parse(desk.path.read_text())
    assert [[task.text for task in playbook.tasks(tier)] for tier in Tier] == [
        ["Working tree: `git status --porcelain`"],
        ["Queue length"],
        ["Stale branches", "Deploys look healthy"],
    ]
    assert [flag.text for flag in playbook.flags] == ["Certificate runs out on Friday"]
    assert [note.text for note in playbook.notes] == ["Deploys are on Tuesdays"]
    assert playbook.tasks(Tier.QUICK)[0].checked


def test_a_flag_and_a_note_go_as_they_came(desk: Desk) -> None:
    """By their ids; saying either twice is refused."""
    desk.use("raise_flag", text="disk full")
    desk.use("note", text="n")
    assert desk.refused("raise_flag", text="Disk full") == "Urgent Flags hold it already: disk full"
    assert desk.refused("note", text="N") == "Notes hold it already: n"
    desk.use("remove", id=task_id("disk full"))
    desk.use("remove", id=task_id("n"))
    playbook = parse(desk.path.read_text())
    assert (playbook.flags, playbook.notes) == ((), ())
    made = [(edit.what, edit.place) for edit in desk.view.edits]
    assert made == [("added", "urgent"), ("added", "notes"), ("removed", "urgent"), ("removed", "notes")]


def test_a_task_that_stands_there_already_is_refused_with_what_stands_there(desk: Desk) -> None:
    """In whatever tier, however it is spelt."""
    said = desk.refused("add_task", tier="quick", text="STALE   branches")
    assert said == "Daily Tasks hold it already: Stale branches"


@each_row(
    "name, given",
    [
        ("remove", {"id": "00000000"}),
        ("move_task", {"id": "00000000", "to": "daily"}),
        ("check_task", {"id": "00000000", "ok": True}),
        ("remove", {"id": "00000000"}),
        ("remove", {"id": "00000000"}),
        ("remove", {"id": TREE, "place": "daily"}),
        ("move_task", {"id": TREE, "to": "quick"}),
        ("add_task", {"tier": "quick", "text": "## Daily Tasks"}),
        ("add_task", {"tier": "quick", "text": "a\n## Urgent"}),
        ("add_task", {"tier": "quick", "text": "a <!--"}),
        ("note", {"text": "```"}),
        ("raise_flag", {"text": "(none)"}),
        ("note", {"text": "the password is hunter2hunter2"}),
        ("add_task", {"tier": "quick", "text": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}),
        ("raise_flag", {"text": "AKIAIOSFODNN7EXAMPLE leaked"}),
    ],
)
def test_what_is_not_there_not_plain_or_secret_is_refused(desk: Desk, name: str, given: dict[str, Any]) -> None:
    """And nothing is changed."""
    assert desk.refused(name, **given)


def test_a_task_in_two_tiers_is_named_with_its_tier(tmp_path: Path) -> None:
    """People copy lines; the agent says which one it means."""
    desk = Desk(tmp_path / "shop", "## Quick\n- a\n## Daily\n- A\n")
    assert "quick, daily" in desk.refused("remove", id=task_id("a"))
    desk.use("remove", id=task_id("a"), place="daily")
    assert desk.lines() == ["## Quick", "- a", "## Daily"]


def test_one_beat_makes_so_many_edits_and_no_more(desk: Desk) -> None:
    """Ticking boxes is free."""
    for number in range(MAX_EDITS):
        desk.use("note", text=f"note {number}")
        desk.use("check_task", id=TREE, ok=bool(number % 2))
    assert "enough" in desk.refused("note", text="one more")
    assert "enough" in desk.refused("remove", id=TREE)
    assert desk.use("check_task", id=TREE, ok=True) == "Done."


@each_row(
    "text, name, given",
    [
        ("## Quick\n" + "".join(f"- t{n}\n" for n in range(30)), "add_task", {"tier": "quick", "text": "x"}),
        (
            "## Daily\n- d\n## Quick\n" + "".join(f"- t{n}\n" for n in range(30)),
            "move_task",
            {"id": task_id("d"), "to": "quick"},
        ),
        ("## Urgent Flags\n" + "".join(f"- f{n}\n" for n in range(10)), "raise_flag", {"text": "x"}),
        ("## Notes\n" + "".join(f"- n{n}\n" for n in range(40)), "note", {"text": "x"}),
    ],
)
def test_a_list_that_is_long_enough_takes_no_more(tmp_path: Path, text: str, name: str, given: dict[str, Any]) -> None:
    """The agent has to prune first."""
    assert Desk(tmp_path / "shop", text).refused(name, **given)


def test_a_command_that_is_not_allowed_is_added_with_the_line_that_allows_it(desk: Desk) -> None:
    """The agent hears it; the owner reads it in triage.yml's own words."""
    said = desk.use("add_task", tier="hourly", text="Disk: `df -h`, tree: `git status --porcelain`")
    assert '`- "df -h"`' in said
    assert "git status" not in said
    assert desk.use("add_task", tier="daily", text="Read the day's diff") == "Done."


def test_the_edit_of_a_human_in_between_stands(desk: Desk, tmp_path: Path) -> None:
    """The agent saw an older file: its edit is made to the newer one, or dropped where its entry is gone."""
    human = PLAYBOOK.replace("- [ ] Deploys look healthy\n", "- [ ] Deploys, by hand\n- [ ] Backups\n")
    desk.path.write_text(human)
    desk.use("add_task", tier="quick", text="Queue length")
    assert desk.path.read_text() == human.replace("- [ ] Backups\n", "- [ ] Backups\n- [ ] Queue length\n")
    assert "somebody may have changed" in desk.refused("remove", id=DEPLOYS)


def test_a_playbook_that_was_removed_during_the_beat_stays_removed(desk: Desk) -> None:
    """No edit makes it anew; the next beat tells its owner."""
    desk.path.unlink()
    with pytest.raises(ToolProblem, match="somebody deleted it"):
        desk.use("note", text="n")
    assert not desk.path.exists()


FREEFORM = "Watch the shop.\r\n\r\n* CI of main\r\n* mails from the provider"


def test_a_file_from_elsewhere_is_kept_as_its_author_wrote_it(tmp_path: Path) -> None:
    """No sections, CRLF, no final newline: its tasks are quick ones, and only the lines meant change."""
    desk = Desk(tmp_path / "shop", FREEFORM)
    assert "no tiers" in desk.refused("add_task", tier="daily", text="x")
    assert "no tiers" in desk.refused("move_task", id=task_id("CI of main"), to="hourly")
    desk.use("add_task", tier="quick", text="backups")
    assert desk.path.read_bytes() == (FREEFORM + "\r\n- [ ] backups").encode()
    desk.use("remove", id=task_id("backups"))
    desk.use("remove", id=task_id("CI of main"))
    assert desk.path.read_bytes() == FREEFORM.replace("* CI of main\r\n", "").encode() + b"\r\n"


def test_no_tool_names_a_file_or_a_session(desk: Desk) -> None:
    """Neither by an argument nor by one more than there are."""
    for tool in desk.tools.values():
        assert tool.arguments is not None
        assert set(tool.arguments.model_fields) <= {"tier", "to", "text", "id", "place", "ok"}
        for extra in ("path", "session", "file", "cwd"):
            with pytest.raises(ValidationError) as wrong:
                tool.arguments.model_validate({extra: "../other/HEARTBEAT.md"})
            assert [error["type"] for error in wrong.value.errors() if error["loc"] == (extra,)] == ["extra_forbidden"]


def test_another_sessions_playbook_keeps_every_byte_whatever_is_tried(desk: Desk, tmp_path: Path) -> None:
    """Paths in the text are words; a link in place of the own file is refused."""
    other = Desk(tmp_path / "other", "## Quick\n- [ ] theirs\n")
    desk.use("add_task", tier="quick", text="../other/HEARTBEAT.md")
    desk.use("note", text=f"{other.path}: - [ ] mine")
    assert "Nothing there has that id" in desk.refused("remove", id=task_id("theirs"))
    desk.path.unlink()
    desk.path.symlink_to(other.path)
    for name, given in [
        ("add_task", {"tier": "quick", "text": "mine"}),
        ("remove", {"id": task_id("theirs")}),
        ("raise_flag", {"text": "mine"}),
    ]:
        assert "is a link" in desk.refused(name, **given)
    assert other.path.read_text() == "## Quick\n- [ ] theirs\n"


def test_a_pre_screen_only_ticks_and_notes(desk: Desk, tmp_path: Path) -> None:
    """Beside the commands it may run."""
    tools = BeatTools(Probes({}))
    assert [tool.name for tool in tools.small(desk.view)] == ["run_command", "check_task", "note"]
    assert {tool.name for tool in tools.all(desk.view)} >= {"run_command", *desk.tools}


@each_row("end", ["\n", "\r\n"])
def test_edits_of_a_long_file_take_a_moment_and_touch_one_line(tmp_path: Path, end: str) -> None:
    """5,000 lines of somebody's, most of them no tasks of ours."""
    prose = [f"line {number} of the handbook" for number in range(5_000)]
    text = end.join(["## Handbook", *prose, "## Quick", "- [ ] a", "## Notes", "- n"])
    desk = Desk(tmp_path / "shop", text)
    desk.use("add_task", tier="quick", text="b")
    desk.use("note", text="m")
    desk.use("move_task", id=task_id("a"), to="daily")
    after = desk.path.read_bytes().decode()
    assert after.split(end)[:5_002] == text.split(end)[:5_002]
    assert after.split(end)[5_002:] == ["- [ ] b", "## Notes", "- n", "- m", "", "## Daily Tasks", "- [ ] a"]
