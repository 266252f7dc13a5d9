"""Who may what with `/triage`: every command by everybody, and nothing secret to anybody who may not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileStore, NoteFiles
from bot.casework.approvers import Approvers
from bot.casework.pause import PauseSwitch
from bot.domain.answers import sentence
from bot.domain.command_specs import NOTHING, Who, manual
from bot.domain.heartbeats.beats import BeatResult, Envelope, Indicator, Wake
from bot.domain.threads import PendingReason, Resolution, ThreadState, ThreadStatus
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.session_controls import SessionControls
from bot.heartbeat.task_commands import TaskCommands
from bot.ports import Person
from bot.ports.collections import AUTONOMY, SingleDocument
from bot.ports.threads import Threads
from handlers.commands.dispatcher import NO_MEMBER, CommandDispatcher
from handlers.commands.topics import (
    CaseworkCommands,
    SessionCommand,
    metrics_command,
    notes_command,
    status_command,
)
from tests.blocks.limits import texts
from tests.builders import in_status
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.casework.office import Office
from tests.casework.past import metrics_of
from tests.fakes import MemorySingle
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.clockwork import START, Clockwork
from tests.heartbeat.garden import Garden, with_task
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, STRANGER, GUEST = "U2", "U0ANN", "U0EVE", "U0GUEST"
SECRET = "zq7"
CHANGES = [path for path, spec in manual().items() if spec.changes != NOTHING]
FILLED = {"<session>": "shop", "<tier>": "daily", "<task>": "Look", "<n>": "1", "<interval>": "15m", "<text>": "Look"}


class Lived(NamedTuple):
    """A team's four weeks, on disk in `sent` of a folder: with a reply sent by itself."""

    folder: Path
    sent: ThreadState


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """Written once; each test has a copy."""
    folder = tmp_path_factory.mktemp("lived")
    (folder / "office").mkdir()
    now, question = Office(folder / "office").clock.now(), f"why {SECRET}?"
    (sent, *_) = live_four_weeks(FileStore(folder / "sent"), now, {0: Resolution.AUTO}, question=question)
    return Lived(folder, sent)


class Everything:
    """All commands over one data directory in which every text of a person or a model holds SECRET."""

    def __init__(self, folder: Path, lived: Lived) -> None:
        hours = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
        (folder / "garden").mkdir()
        self.works = works = Clockwork(folder, "shop", every="30m", active_hours=hours)
        self.playbook = folder / "shop" / "HEARTBEAT.md"
        self.playbook.write_text(f"## Quick\n- {SECRET} tree\n## Hourly\n## Daily\n")
        self.garden = Garden(
            folder / "garden", shop=with_task("hourly", f"{SECRET}: `df -h`"), api=with_task("quick", "x")
        )
        (self.suggestion, *_) = self.garden.desk.run()
        self.home = folder / "threads"
        Threads(FileDocuments(self.home)).put(
            in_status(
                ThreadStatus.PENDING_USER,
                PendingReason.APPROVAL,
                question=f"why {SECRET}?",
                permalink=f"https://acme.slack.com/{SECRET}",
                draft_pending=f"because {SECRET}",
            )
        )
        beat = {"ts": START, "session_id": "shop", "workspace_dir": "/x", "reason": Wake.INTERVAL, "preview": SECRET}
        works.record.append(Envelope(**beat, result=BeatResult.SENT, indicator=Indicator.ALERT))
        screened = {"prescreen": "none", "why": f"pre-screen: {SECRET} is quiet again"}
        works.record.append(Envelope(**beat, **screened, result=BeatResult.OK_EMPTY, indicator=Indicator.OK))
        works.workspace.groups["C0OPS"] = frozenset({APPROVER, GUEST})
        works.workspace.people[GUEST] = Person(user_id=GUEST, name="guest", is_guest=True)
        self.approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=works.workspace)
        self.approvers.refresh()
        self.pausing = PauseSwitch(FileDocuments(self.home), works.clock)
        self.asked: list[str] = []
        office = Office(folder / "garden", autonomy="on", working_hours=AT_WORK)
        shutil.copytree(lived.folder / "sent", folder / "garden" / "home", dirs_exist_ok=True)
        office.record_sent(lived.sent)
        self.arming, self.switch = office.arming, SingleDocument(office.past.documents, AUTONOMY)
        self.notes = NoteFiles(folder / "memory")
        self.notes.create("retries", f"# {SECRET}\n\nFive {SECRET}.\n")
        self.commands = CommandDispatcher(self._table(), self.approvers, patience_s=600)

    def _table(self) -> dict[str, Any]:
        works = self.works
        casework = CaseworkCommands(
            store=FileStore(self.home),
            approvers=self.approvers,
            pausing=self.pausing,
            show_cards=lambda: None,
            explain=lambda asked: sentence(f"what became of {asked}"),
            ask=lambda question, _: self.asked.append(question) or "",
            clock=works.clock,
        )
        heartbeat = SessionControls(
            sessions=works.sessions,
            store=works.store,
            overrides=works.overrides,
            wake=works.scheduler.wake,
            wakes=works.box,
            cancel=lambda _: False,
            record=works.record,
            zones=works.zones,
            clock=works.clock,
        )
        tiers = TaskCommands(works.sessions, works.store, works.clock, MemorySingle(), Removals(MemorySingle()))
        sessions = {"heartbeat": heartbeat.answer, "tiers": tiers.answer, "pollinate": self.garden.desk.answer}
        return {
            "status": status_command(FileStore(self.home), self.approvers, works.clock, ()),
            "metrics": metrics_command(lambda: metrics_of(self.home), self.arming, self.approvers),
            **casework.table(),
            **{name: SessionCommand(one, OWNERS, self.approvers) for name, one in sessions.items()},
            "notes": notes_command(self.notes, self.approvers),
        }

    def type(self, text: str, *, by: str, team: str = "T1") -> str:
        """Type a command and return all that is answered, ephemerally and within Slack's limits."""
        answers: list[dict[str, Any]] = []
        body = {**payload("slash_command"), "text": text, "user_id": by, "team_id": team}
        self.commands(lambda **given: answers.append(given), body, lambda **given: answers.append(given))  # type: ignore[arg-type]
        assert all(given["response_type"] == "ephemeral" for given in answers if given)
        said = [words for given in answers for words in texts(given.get("blocks") or [])]
        assert all(len(words) <= 3_000 for words in said)
        assert all(len(given.get("blocks") or []) <= 50 for given in answers)
        return "\n".join(said)

    def standing(self) -> str:
        """Return everything a command could have changed."""
        return json.dumps(
            [
                self.playbook.read_text(),
                sorted(self.works.overrides.by_id()),
                sorted(self.works.jobs.waiting),
                self.works.store.inbox("shop"),
                self.pausing.is_paused,
                self.asked,
                dict(self.switch.read()),
                [one.status for one in self.garden.suggestions.all()],
                [one.ref for one in self.notes.all()],
            ],
            default=str,
        )


@pytest.fixture
def everything(tmp_path: Path, lived: Lived) -> Everything:
    return Everything(tmp_path, lived)


def line_of(everything: Everything, path: str) -> str:
    """Return a line that a command's form allows."""
    form = manual()[path].form.replace("…", "").replace("[why]", "no").replace("[command]", "")
    for name, word in {
        **FILLED,
        "<id>": everything.suggestion.id,
        "<note>": "retries",
        "<question>": "Why five?",
        "<thread>": "T1.C1.1795165200.000100",
    }.items():
        form = form.replace(name, word)
    return form.strip()


@each_row("by, team", [(STRANGER, "T1"), (GUEST, "T1"), (APPROVER, "T9"), (OWNER, "T9"), ("", "")])
def test_who_may_not_learns_nothing_and_changes_nothing(everything: Everything, by: str, team: str) -> None:
    """Every command as the manual writes it: by a stranger, a guest of the ops channel, and other workspaces.

    A guest sees no counts either, and not which sessions there are.
    """
    before = everything.standing()
    for path, spec in manual().items():
        seen = everything.type(line_of(everything, path), by=by, team=team)
        assert seen, path
        assert SECRET not in seen, path
        assert everything.standing() == before, path
        if team != "T1" or by == GUEST:
            assert seen.startswith(NO_MEMBER), path
        elif spec.changes != NOTHING and spec.who is not Who.EVERYBODY:
            assert "nly approvers" in seen, path


def test_an_approver_sees_all_and_is_told_what_next(everything: Everything) -> None:
    """Each line of the manual that changes nothing."""
    for path in sorted(set(manual()) - set(CHANGES)):
        seen = everything.type(line_of(everything, path), by=APPROVER)
        assert "nly approvers" not in seen, path
        assert "There is no" not in seen, path


@pytest.mark.parametrize("path", CHANGES)
def test_an_approver_may_all_and_is_told_what_next(everything: Everything, path: str) -> None:
    """Each line of the manual that changes something does what it says there, for them."""
    if path in ("tiers remove", "tiers move"):
        everything.type("tiers shop", by=APPROVER)
    before = everything.standing()
    seen = everything.type(line_of(everything, path), by=APPROVER)
    assert "nly approvers" not in seen
    assert "There is no" not in seen
    is_change = manual()[path].changes != NOTHING and " " in manual()[path].form.replace("…", "").strip()
    if is_change and path not in ("tiers", "heartbeat on", "pollinate run", "investigate"):
        assert everything.standing() != before
    if path in ("pause", "investigate"):
        assert everything.standing() != before


@pytest.mark.parametrize("verb", ["add daily Look", "remove 1", "move 1 daily"])
def test_an_owner_may_change_their_own_session_and_nothing_of_casework(everything: Everything, verb: str) -> None:
    """The session's owner, who is no approver."""
    assert SECRET in everything.type("tiers shop", by=OWNER)
    before = everything.standing()
    assert "Only approvers" in everything.type("pause", by=OWNER)
    assert everything.standing() == before
    everything.type(f"tiers shop {verb}", by=OWNER)
    assert everything.standing() != before
    for seen in (everything.type(text, by=OWNER) for text in ("open", "status", "brief")):
        assert f"why {SECRET}" not in seen


STEERING = {word for path in manual() for word in path.split()}
ARGUMENTS = {"shop", "api", "1", "9", "-1", "quick", "hourly", "15m", "default", "help", "/triage"}
ODD = {
    "`",
    "“",
    "\u00a0",
    "<@U0ANN|ann>",
    "<#C1|shop>",
    "<!channel>",
    ":tada:",
    "🎉",
    "x" * 300,
    "\ud800",
    "\u202e",
    "```",
}
WORDS = st.sampled_from(sorted(STEERING | ARGUMENTS | ODD))


@given(
    words=st.lists(WORDS, max_size=6),
    by=st.sampled_from([STRANGER, GUEST, ""]),
    glue=st.sampled_from([" ", "\u00a0", "  \t"]),
)
def test_whatever_a_stranger_types_is_answered_and_tells_and_changes_nothing(
    everything: Everything, words: list[str], by: str, glue: str
) -> None:
    """Any words in any order."""
    before = everything.standing()
    seen = everything.type(glue.join(words), by=by)
    assert seen
    assert SECRET not in seen
    assert "<!channel" not in seen
    assert everything.standing() == before


@each_row(
    "text",
    ["pause shop", "resume now", "heartbeat off shop docs", "tiers shop remove 1 2", "pollinate run twice", "puase"],
)
def test_what_is_not_quite_a_command_is_not_done(everything: Everything, text: str) -> None:
    """More words than it takes, or not its word: refused with what was meant, and nothing happens by guess."""
    everything.type("tiers shop", by=APPROVER)
    before = everything.standing()
    seen = everything.type(text, by=APPROVER)
    assert "othing was" in seen
    assert "/triage" in seen
    assert everything.standing() == before
