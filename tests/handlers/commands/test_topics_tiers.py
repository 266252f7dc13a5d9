"""`/triage tiers …`: listed for and changed by who may, and a number never means another task than was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.casework.approvers import Approvers
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.task_commands import NO_TASKS_OF_YOURS, TaskCommands
from bot.ports import Person
from handlers.commands.dispatcher import NO_MEMBER, CommandDispatcher
from handlers.commands.topics import SessionCommand
from tests.blocks.limits import texts
from tests.fakes import MemorySingle
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.clockwork import Clockwork
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, OTHER = "U2", "U0ANN", "U0EVE"
PLAYBOOK = """# Heartbeat
## Timestamps
- Last quick: 2026-11-21T11:50:00Z
- Last hourly: 2026-11-21T11:40:00Z
- Last daily: (never)
## Quick
- [x] Tree: `git status --porcelain`
- [ ] Deploys <!channel> & <@U1>
## Hourly
- [ ] Disk: `df -h`
  - over 90 % is bad
## Daily
- [ ] Stale branches
"""


class Edge:
    """The command over a clockwork with one session; and what it answers."""

    def __init__(self, folder: Path) -> None:
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        self.works = works = Clockwork(folder, "shop", "tooling", every="30m", active_hours=hours)
        self.file = folder / "shop" / "HEARTBEAT.md"
        self.file.write_text(PLAYBOOK)
        works.workspace.groups["C0OPS"] = frozenset({APPROVER})
        self.approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=works.workspace)
        self.approvers.refresh()
        self.stored = MemorySingle()
        self.start()

    def start(self) -> None:
        """Start a process on what is on disk."""
        works = self.works
        tasks = TaskCommands(works.sessions, works.store, works.clock, self.stored, Removals(MemorySingle()))
        self.tiers = SessionCommand(tasks.answer, OWNERS, self.approvers)

    def types(self, text: str, by: str = APPROVER, team: str = "T1") -> str:
        """Type a command and return what it says."""
        answers: list[dict[str, Any]] = []
        body = {**payload("slash_command"), "text": f"tiers {text}", "user_id": by, "team_id": team}
        CommandDispatcher({"tiers": self.tiers}, self.approvers, patience_s=600)(
            lambda **given: answers.append(given), body, lambda **given: answers.append(given)
        )  # type: ignore[arg-type]
        given = answers[-1]
        assert given["response_type"] == "ephemeral"
        said = list(texts(given["blocks"]))
        assert all(len(words) <= 3_000 for words in said)
        return "\n".join(said)

    @property
    def text(self) -> str:
        return self.file.read_text()


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    """A shop with four tasks."""
    return Edge(tmp_path)


def test_the_list_is_numbered_and_says_what_is_due_and_what_may_not_run(edge: Edge) -> None:
    """On one screen; nothing in a task notifies anybody. A playbook is not for everybody's eyes."""
    seen = edge.types("shop", OWNER)
    assert "· last ran 10 min ago\n" in seen
    assert "1\nquick\nTree: `git status --porcelain`\n2\nquick\nDeploys" in seen
    assert "3\nhourly\nDisk: `df -h` (+1 lines)\n4\ndaily\nStale branches" in seen
    assert "Not among the commands of triage.yml, so never run*\ndf -h (task 3)" in seen
    assert "<!channel>" not in seen
    assert "<@U1>" not in seen
    other = edge.types("shop", OTHER)
    assert other == f"{NO_TASKS_OF_YOURS} What is due: /triage tiers shop due"


def test_a_task_is_added_and_the_undo_undoes_it(edge: Edge) -> None:
    """The answer names the number that the new list gave it; what may not run is said at once."""
    said = edge.types("shop add hourly Certificates:  `openssl x509 -in a`", OWNER)
    assert "Added to the hourly tasks of shop as number 4: Certificates" in said
    assert "openssl x509 -in a (task" in said
    assert "To undo: /triage tiers shop remove 4" in said
    assert "  - over 90 % is bad\n- [ ] Certificates:  `openssl x509 -in a`\n" in edge.text
    edge.types("shop remove 4", OWNER)
    assert edge.text == PLAYBOOK


def test_a_task_is_moved_and_the_undo_undoes_it(edge: Edge) -> None:
    """With its details and its box; numbers count in the list of the last answer."""
    edge.types("shop")
    said = edge.types("shop move 1 daily")
    assert "Moved from quick to daily in shop, now number 4: Tree" in said
    assert "To undo: /triage tiers shop move 4 quick" in said
    edge.types("shop move 4 quick")
    assert sorted(edge.text.splitlines()) == sorted(PLAYBOOK.splitlines())


def test_numbers_of_a_list_that_changed_are_refused_with_the_new_one(edge: Edge) -> None:
    """A human wrote a task above it meanwhile; after the new list the number counts, in another process too."""
    edge.types("shop")
    edge.file.write_text(PLAYBOOK.replace("## Quick\n", "## Quick\n- [ ] Mine\n"))
    before = edge.text
    said = edge.types("shop remove 1")
    assert "This is not the list you saw last, so nothing was changed" in said
    assert "1\nquick\nMine" in said
    assert edge.text == before
    edge.start()
    assert "Removed from the quick tasks of shop: Mine" in edge.types("shop remove 1")


@each_row(
    "text, says",
    [
        ("", "Which session? shop, tooling\nNext: `/triage tiers shop`"),
        ("shopp", "did you mean shop?"),
        ("shop remvoe 1", "Did you mean `/triage tiers shop remove` or `/triage tiers shop move`?"),
        ("shop add hourli x", "did you mean hourly?"),
        ("shop add", "Name a tier"),
        ("shop add daily", "between 1 and 300 characters"),
        ("shop add daily # Notes", "no heading"),
        ("shop add daily <!-- x", "HTML comment"),
        ("shop add daily Stale branches", "hold it already: Stale branches"),
        ("shop remove", "Name a task by its number"),
        ("shop remove x", "Name a task by its number"),
        ("shop remove 9", "there are 4"),
        ("shop remove ٣", "Name a task by its number"),
        ("shop move 1", "Name a tier"),
        ("shop move 1 quick", "already"),
        ("shop edit quick", "There is no `/triage tiers shop edit`, and nothing was done"),
    ],
)
def test_what_cannot_be_done_says_what_to_type(edge: Edge, text: str, says: str) -> None:
    """And nothing is changed."""
    edge.types("shop")
    assert says in edge.types(text)
    assert edge.text == PLAYBOOK


def test_what_no_command_brings_back_is_shown_and_no_undo_is_promised(edge: Edge) -> None:
    """A task with bytes that are no text, and one that `add` would refuse."""
    edge.file.write_bytes(b"## Quick\n- [ ] caf\xe9\n- [ ] see `<!-- x`\n")
    edge.types("shop")
    said = edge.types("shop remove 2")
    assert "`add` cannot restore the lines shown here" in said
    assert "To undo" not in said
    assert "caf?" in edge.types("shop remove 1")
    assert edge.file.read_bytes() == b"## Quick\n"


@each_row("text", ["add hourly x", "remove 1", "move 1 daily"])
@each_row("by, team", [(OTHER, "T1"), (OWNER, "T0OTHER"), (APPROVER, "T0OTHER")])
def test_who_may_not_changes_nothing(edge: Edge, text: str, by: str, team: str) -> None:
    """Told why, and what they may do."""
    edge.types("shop", by, team)
    assert (NO_TASKS_OF_YOURS if team == "T1" else NO_MEMBER) in edge.types(f"shop {text}", by, team)
    assert edge.text == PLAYBOOK


def test_an_owner_who_became_a_guest_changes_nothing(edge: Edge) -> None:
    """The right to a session ends with that to anything."""
    edge.works.workspace.people[OWNER] = Person(user_id=OWNER, name="o", team_id="T1", is_guest=True)
    assert NO_MEMBER in edge.types("shop add daily x", OWNER)
    assert edge.text == PLAYBOOK
