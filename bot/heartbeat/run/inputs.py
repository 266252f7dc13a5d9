"""What a beat sees before anybody thinks: the playbook, the due tasks, what the free commands print, the inbox.

What a beat has to do with other sessions: workers report to the master, the master sends suggestions.

What is done stands in the playbook: without its line "Report to the master session" a worker reports nothing, without
"Cross-pollinate" the master sends nothing. Reports and suggestions wake nobody. A model decides with tools: the
master's chooses among offers, a worker's on what it was offered. Ids are all it can name; to whom a suggestion goes,
what task it carries and whose playbook changes is settled by code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final

from pydantic import Field

from bot.agent.tools.base import Arguments, Tool, ToolProblem
from bot.domain.heartbeats.alerts import OpenFinding, finding_key
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND
from bot.domain.heartbeats.beats import Receipt, Reported
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState
from bot.domain.playbook import Playbook
from bot.domain.playbook_entries import PlaybookEntry, task_id
from bot.domain.suggestions import SUGGESTION_ID, DecidedBy, SuggestionStatus
from bot.domain.text.sanitize import one_line
from bot.domain.tiers import TierMove, due_tier, includes, suggested_moves
from bot.errors import InputError, StoreError
from bot.heartbeat.playbook_file import Removals, playbook_of, stamps_of
from bot.heartbeat.run.beat_record import Beat, BeatStart, BeatView, PeerData, PlaybookEdit
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.session_registry import Session, SessionMemory
from bot.heartbeat.suggestion_desk import SuggestionDesk
from bot.ports import Clock

MAX_CHARS: Final = 1_500
LINE_CHARS: Final = 160
OFFERS: Final = 20

SILENT_AFTER: Final = timedelta(hours=36)
"""A daily report may wait for the morning; after this long it is missing."""

_REPORT: Final = "to the master"
_SILENCE: Final = "no daily report"
_POLLINATE: Final = "cross-pollinat"
"""What the lines of the templates say that code carries out."""

_SEND: Final = "Send one of `suggestions_to_send` to its session, by its id, and nothing else; say why."
_DECIDE: Final = (
    "Accept one of `suggestions_for_you`, its task is added to your own HEARTBEAT.md, or not, for good; say why."
)


def daily_report(beat: Beat, changes: Sequence[str]) -> str:
    """Return the report of a beat that carried out its tasks: what it found first."""
    receipts = beat.report.receipts if beat.report else ()
    head = f"Daily report of {beat.begun.session.id}: {beat.result}, {len(receipts)} tasks."
    told = [f"{one.result}: {one.evidence}" for one in receipts if one.evidence.strip()]
    told += [f"new: {change}" for change in changes]
    return "\n".join([head, *(one_line(text, LINE_CHARS) for text in sorted(told))])[:MAX_CHARS]


class Choice(Arguments):
    """Arguments of `send_message`."""

    suggestion: Annotated[str, Field(pattern=SUGGESTION_ID.pattern)]
    reason: Annotated[str, Field(min_length=1, max_length=300)]


class Decision(Choice):
    """Arguments of `decide_suggestion`."""

    accept: bool


class PeerSessions:
    """What a beat gets from other sessions and what it gives them."""

    def __init__(self, desk: SuggestionDesk) -> None:
        self._desk = desk

    def collect(self, session: Session, tasks: Sequence[PlaybookEntry], now: datetime) -> PeerData:
        """Return what a beat of the session, with these tasks due, has to do with others."""
        for_code = (_POLLINATE, _SILENCE) if session.is_master else (_REPORT,)
        due = {words: task.id for words in for_code if (task := _due(tasks, words))}
        receipts = {task: Receipt(task=task, result="ok", evidence="code does this") for task in due.values()}
        silent = self._silent(now) if _SILENCE in due else []
        if silent:
            late, hours = due[_SILENCE], SILENT_AFTER // timedelta(hours=1)
            found = Reported(key="silent", text=f"No daily report for more than {hours} hours: {', '.join(silent)}")
            receipts[late] = Receipt(task=late, result="finding", evidence=found.text, finding=found)
        offers = self._desk.offers()[:OFFERS] if _POLLINATE in due else ()
        known = self._desk.suggestions.where("to", session.id)
        offered = tuple(one for one in known if one.status is SuggestionStatus.OPEN)
        return PeerData(offers=tuple(offers), silent=tuple(silent), offered=offered, receipts=receipts)

    def report_to_master(self, beat: Beat, changes: Sequence[str], now: datetime) -> None:
        """Send what a good daily beat sends; where a model chose among the offers, only what it could not choose.

        `changes` is what commands printed anew in the day before it.

        Raises:
            StoreError: the disk refuses it.
        """
        session, master = beat.begun.session, self._desk.master
        tasks = beat.view.tasks if beat.view else ()
        if master and not session.is_master and _due(tasks, _REPORT):
            text = daily_report(beat, changes)
            report = InboxMessage(at=now, from_=session.id, to=master.id, kind=MessageKind.REPORT, text=text)
            self._desk.states.send(report)
            self._desk.states.evolve(session.id, report_awaited_since=now)
        if session.is_master and _due(tasks, _POLLINATE):
            self._desk.run(was_chosen=beat.report is not None and beat.report.usage is not None)

    def tools(self, view: BeatView) -> list[Tool]:
        """Return the tools a beat has a use for."""
        offers = {one.id: one for one in view.exchange.offers}
        by = DecidedBy(f"session:{view.session.id}", f"the model of {view.session.id}")

        def send(given: Choice) -> None:
            if given.suggestion not in offers:
                raise InputError("no suggestion to send has that id")
            self._desk.send(offers[given.suggestion])

        def decide(given: Decision) -> None:
            status = SuggestionStatus.ACCEPTED if given.accept else SuggestionStatus.REJECTED
            one = self._desk.decide(given.suggestion, status, by, given.reason)
            if given.accept:
                view.edits.append(
                    PlaybookEdit("moved" if one.moves_from else "added", one.tier, one.task, one.moves_from)
                )

        sends = Tool(name="send_message", description=_SEND, arguments=Choice, call=partial(_call, send))
        decides = Tool(name="decide_suggestion", description=_DECIDE, arguments=Decision, call=partial(_call, decide))
        return [tool for tool, is_of_use in ((sends, offers), (decides, view.exchange.offered)) if is_of_use]

    def _silent(self, now: datetime) -> list[str]:
        """Return the workers without a report for too long; the first look only begins the wait."""
        since = {each.id: self._desk.states.load(each.id).report_awaited_since for each in self._desk.workers}
        for session_id in [each for each, at in since.items() if at is None]:
            self._desk.states.evolve(session_id, report_awaited_since=now)
        return [session_id for session_id, at in since.items() if at and now - at > SILENT_AFTER]


def _call(act: Callable[[Any], None], given: Choice) -> str:
    try:
        act(given)
    except (InputError, StoreError) as error:
        raise ToolProblem(str(error)) from error
    return "Done."


def _due(tasks: Sequence[PlaybookEntry], words: str) -> PlaybookEntry | None:
    return next((task for task in tasks if words in task.text.casefold()), None)


class InputCollector:
    """Looks around in a session's workspace."""

    def __init__(
        self, store: SessionMemory, probes: Probes, clock: Clock, removals: Removals, peers: PeerSessions
    ) -> None:
        self._store, self._probes, self._clock, self._removals, self._peers = store, probes, clock, removals, peers

    def collect(self, begun: BeatStart) -> BeatView:
        """Return what one beat is about; raises StoreError if the playbook cannot be read or created."""
        session, paid = begun.session, begun.paid
        playbook = playbook_of(session).read()
        state = self._known(session, playbook)
        tier = paid.tier if paid else due_tier(stamps_of(playbook, state), begun.started_at)
        due = (task for each in includes(tier) for task in playbook.tasks(each))
        tasks = tuple(task for task in due if paid is None or task.id in paid.due)
        report = self._probe(session, playbook, tasks)
        return BeatView(
            **vars(begun),
            tier=tier,
            playbook=playbook,
            tasks=tasks,
            probes=report,
            changed=report.changed(state.probes),
            earlier=state.probes,
            inbox=tuple(self._store.inbox(session.id)[: paid.inbox if paid else None]),
            open_findings=tuple(each for each in state.findings.values() if each.is_open),
            moves=_moves(state, playbook),
            spent_usd=state.spent.on(begun.started_at),
            exchange=self._peers.collect(session, tasks, begun.started_at),
            removals=self._removals.load(session.id),
            bare_tokens=state.bare_tokens,
        )

    def _probe(self, session: Session, playbook: Playbook, tasks: Sequence[PlaybookEntry]) -> ProbeReport:
        """Run the commands of tasks; code itself answers for the urgent flags that are up."""
        text = "\n".join(flag.text for flag in playbook.flags)
        flags = {FLAGS_COMMAND: ProbeResult(argv=FLAGS_COMMAND, output=text, exit_code=0)}
        return self._probes.run(session.cwd, tasks, session.beat.commands, at=self._clock.now(), ready=flags)

    def _known(self, session: Session, playbook: Playbook) -> SessionState:
        """Return what is remembered of the checks that stand in the playbook now, under the names they have now.

        Of a command that is named no more nothing is compared: put back, it is seen for the first time.
        """
        named = {" ".join(argv) for task in playbook.all_tasks for argv in task.commands}

        def change(now: SessionState) -> SessionState:
            return _carried_over(now, playbook).comparing(named).evolve(had_playbook=True, playbook_gone_told=False)

        return self._store.save(session.id, change)


def _moves(state: SessionState, playbook: Playbook) -> tuple[TierMove, ...]:
    """Return what was measured to stand in a wrong tier and still stands there."""
    standing = {(task.tier, task.id) for task in playbook.all_tasks}
    return tuple(move for move in suggested_moves(state.measured) if (move.from_tier, move.task_id) in standing)


_OLD_NAMES: Final = ("failing", "no-answer")
"""How earlier versions called the finding that a command fails."""


def _carried_over(state: SessionState, playbook: Playbook) -> SessionState:
    """Return the state with the findings of earlier versions under the keys they have now; done once for a session.

    They went by the first command of their task, by their own, or by the text of the task.
    """
    if state.keyed_by_command:
        return state
    commands = {task_id(command): command for task in playbook.all_tasks for command in map(" ".join, task.commands)}
    by_text = {task_id(task.text): task.id for task in playbook.all_tasks}
    findings = dict(state.findings)
    for old in state.findings.values():
        new = _with_its_key(old, commands, by_text)
        if old.is_open and new.key not in findings:
            findings[new.key] = findings.pop(old.key).evolve(key=new.key, task=new.task)
    return state.evolve(findings=findings, keyed_by_command=True)


def _with_its_key(old: OpenFinding, commands: Mapping[str, str], by_text: Mapping[str, str]) -> OpenFinding:
    session_id, name, task = old.key.partition("/")[0], old.name, by_text.get(old.task, old.task)
    kind, _, check = name.rpartition("-")
    if name in _OLD_NAMES:
        kind, check = name, task
    if kind in _OLD_NAMES and check in commands:
        return old.evolve(key=finding_key(session_id, check, "", commands[check]), task=check)
    return old.evolve(key=f"{session_id}/{task}/{name}", task=task)
