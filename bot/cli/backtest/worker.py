"""Investigates past questions, in processes of their own where there are many; each has its own copies of the code.

Nothing is read or written of the bot's data directory: runs, spend and indexes lie in a folder that ends with the run,
and no note or reply of today is searched for a question of then.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final, NamedTuple

from bot.adapters.search.note_index import WordNoteIndex
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebase, CodebaseLinks, Codebases
from bot.agent.model_run import SpendLimitReached
from bot.casework.checks.sources import stale_citations
from bot.casework.investigate.assignment import ThreadMessage
from bot.casework.known_answers import Cite, FixHistory, PastDraft, known_places, standing_of
from bot.casework.past_threads import OwnRecord, PastCode, PastQuestion
from bot.cli.arguments import Scope
from bot.cli.local_investigation import open_any_sources, question_runner, without_model
from bot.composition.codebases import TeamCode
from bot.composition.investigators import CaseworkModels, InvestigationInputs
from bot.composition.storage_engine import open_store
from bot.domain.secrets import redact
from bot.errors import ProviderError, TriageError
from bot.ports.collections import REPLIES

FEW: Final = 12
"""So many questions are not worth another process, which builds an index of its own first."""

MAX_JOBS: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How questions are investigated; `model` None: by search and code checks. `max_usd` is for all of them."""

    scope: Scope
    codebase: Path | None
    model: str | None
    max_usd: float | None

    def sources(self) -> InvestigationInputs:
        """Return codebases and settings; raises as `open_any_sources` does."""
        found = open_any_sources(self.scope, self.codebase)
        if self.model is None:
            return without_model(found)
        own, chosen = found.settings, {"model": self.model}
        changes = {
            "investigator": own.investigator.model_copy(update=chosen),
            "validator": own.validator.model_copy(update=chosen),
            # so that whatever limit is reached, the money is spent
            "budget": own.budget.model_copy(update={"per_day_usd": self.max_usd, "per_thread_usd": None}),
        }
        return replace(found, settings=own.model_copy(update=changes))


class Task(NamedTuple):
    """A question, what people made of the bot's own draft, and the key of its row."""

    key: str
    question: PastQuestion
    own: OwnRecord | None


class Worker:
    """Investigates one question after another over copies of the codebases in `folder`, which is made."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        sources = plan.sources()
        host = sources.settings.code_host
        self._link_to = CodebaseLinks(sources.code.codebases, lambda _: host) if plan.codebase else sources.code.link_to
        self._code: list[tuple[Codebase, PastCode, FixHistory]] = []
        for number, one in enumerate(sources.code.codebases):
            past = PastCode(one.repo, folder / f"code-{number}")
            index = SqlitePassageIndex(past.repo, folder / f"{number}.sqlite", sources.environment.secrets())
            codebase = replace(one, repo=past.repo, index=index)
            self._code.append((codebase, past, FixHistory(past.repo, past.head)))
        self._codebases = Codebases(one for one, *_ in self._code)
        code = TeamCode(codebases=self._codebases, ids=set(), link_to=self._link_to)
        environment = sources.environment.model_copy(update={"home": folder, "database_url": None})
        storage = open_store(environment)
        memory = WordNoteIndex(storage.notes, storage.journal(REPLIES), partial(stale_citations, self._codebases))
        own = replace(sources, environment=environment, code=code, storage=storage, memory=memory)
        self._runner = question_runner(CaseworkModels(own), own)

    def investigate(self, task: Task) -> PastDraft:
        """Return what comes of a question at its time; a failure stands in it."""
        asked, began = task.question, monotonic()
        row = PastDraft(key=task.key, thread_id=asked.thread_id, message_id=asked.event.message_id)
        try:
            return self._investigated(row, task).evolve(seconds=round(monotonic() - began, 2))
        except SpendLimitReached as error:
            return row.evolve(problem=str(error), is_spent=True, cost_usd=error.usage.cost_usd)
        except TriageError as error:
            return row.evolve(problem=str(error))

    def _investigated(self, row: PastDraft, task: Task) -> PastDraft:
        question, commits = task.question, self._move_to(task.question)
        if not commits:
            return row.evolve(problem="the codebase has no commit that old")
        earlier = [ThreadMessage(one.sender.id, one.content) for one in question.earlier]
        run = self._runner.run(redact(question.event.content), say=lambda _: None, earlier=earlier)
        ret, verdict = run.found.ret, run.validation.ret
        own = task.own.refs if task.own else ()
        known = known_places(question, [(one, fixes) for one, _, fixes in self._code if one.id in commits], own)
        return row.evolve(
            commits=commits,
            draft=ret.draft_reply,
            confidence=ret.confidence,
            cites=tuple(Cite(ref=one.ref, link=self._link_to(one)) for one in ret.evidence_refs),
            passed=run.validation.passed,
            reasons=verdict.reasons if verdict else (),
            standing=standing_of(ret, known),
            known=tuple((one.address, one.because) for one in known),
            cost_usd=run.usage.cost_usd,
        )

    def _move_to(self, question: PastQuestion) -> dict[str, str]:
        """Bring the codebases to their last commit before the question; those that are younger are left out."""
        found, members = dict[str, str](), []
        for one, past, _ in self._code:
            commit = past.commit_before(question.event.create_time)
            if commit is not None:
                past.move_to(commit)
                one.index.refresh()
                found[one.id] = commit
                members.append(one)
        self._codebases.replace(Codebases(members))
        return found


def investigate_all(plan: Plan, tasks: Sequence[Task]) -> Iterator[PastDraft]:
    """Yield the row of each task, in their order, which should be that of their times.

    Raises:
        TriageError: as `Plan.sources` and `PastCode` do, or a process ended.
    """
    jobs = max(1, min(os.cpu_count() or 1, MAX_JOBS, len(tasks) // FEW))
    with TemporaryDirectory(prefix="triage-backtest-") as folder:
        if jobs == 1:
            worker = Worker(plan, Path(folder, "all"))
            yield from map(worker.investigate, tasks)
            return
        part = replace(plan, max_usd=plan.max_usd and plan.max_usd / jobs)
        try:
            with ProcessPoolExecutor(jobs, get_context("spawn"), _open_worker, (part, folder)) as pool:
                yield from pool.map(_investigate, tasks)
        except BrokenProcessPool as error:
            raise ProviderError("a process of the backtest ended; free memory or disk, and run it again") from error


_WORKERS: Final[list[Worker]] = []
"""The one of a process of its own."""


def _open_worker(plan: Plan, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _WORKERS.append(Worker(plan, Path(folder, str(os.getpid()))))


def _end_with_parent() -> None:
    """End this process once the one that started it has ended, however that was."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _investigate(task: Task) -> PastDraft:
    return _WORKERS[0].investigate(task)
