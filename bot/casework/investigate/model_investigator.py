"""The investigator that asks a model: a prompt of delimited data in, a draft whose cited lines code prints out.

A cited file is printed at the commit at which the ledger says it was read. This process's secrets are removed from
every return.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from bot.agent.git.repositories import Repositories
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.agent.prompts.prompt_sections import PromptSection
from bot.agent.specialist import Specialist
from bot.agent.tools.base import Tool
from bot.casework.checks.addresses import print_evidence
from bot.casework.checks.sources import Sources
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.investigator_answer import InvestigatorAnswer
from bot.domain.returns import InvestigatorReturn
from bot.domain.secrets import redact_values
from bot.ports import NoteStore

ToolsFor = Callable[[Ledger], Sequence[Tool]]
"""Returns the tools of one run, which write down what they do in its ledger."""


class ModelInvestigator:
    """Port Investigator over a model."""

    def __init__(
        self,
        specialist: Specialist,
        tools_for: ToolsFor,
        repos: Repositories,
        *,
        notes: NoteStore | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._specialist, self._tools_for, self._repos = specialist, tools_for, repos
        self._notes, self._secrets = notes, secrets

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return the model's draft.

        Raises:
            RunFailed: there is no answer; it says why and carries the usage.
            ConfigError: the codebase has no commit.
            ProviderError: git cannot read what is cited.
            StoreError: the notes cannot be read.
        """
        ledger, heads = Ledger(), self._repos.heads()
        result = self._specialist.run(
            run_id,
            assignment.rubric,
            sections_of(assignment),
            self._tools_for(ledger),
            spent_usd=assignment.spent_usd,
            on_progress=on_progress,
            effort="high" if assignment.feedback else None,
        )
        assert isinstance(result.answer, InvestigatorAnswer)
        sources = Sources(repo=self._repos, ledger=ledger, notes=self._notes, known_secrets=self._secrets, heads=heads)
        return Investigation(
            ret=return_of(result.answer, assignment.round, sources),
            ledger=ledger,
            usage=result.usage,
            investigator=self._specialist.model,
            convergence_forced=result.convergence_forced,
        )


def sections_of(given: Assignment) -> Iterator[PromptSection]:
    """Yield the data of a brief, the question first; what is empty is left out."""
    yield PromptSection(name="question", text=given.question, sender=given.asked_by)
    yield from (
        PromptSection(name="thread_message", text=said.text, sender=said.sender) for said in given.thread_context
    )
    yield from (PromptSection(name="added_context", text=said.text, sender=said.sender) for said in given.human_context)
    for hit in given.memory_hits:
        cautioned = f"caution: {hit.caution}\n" if hit.caution else ""
        yield PromptSection(name="memory", text=f"{cautioned}{hit.title}\n{hit.excerpt}", sender=hit.ref)
    if given.codebases:
        yield PromptSection(name="codebases_of_channel", text=", ".join(given.codebases), sender="triage.yml")
    if given.trace_notes:
        yield PromptSection(name="stack_trace", text=given.trace_notes, sender="the index and git")
    if given.summaries:
        yield PromptSection(name="other_open_threads", text="\n".join(given.summaries))
    if given.feedback:
        yield PromptSection(name="feedback", text=given.feedback, sender="the checks and the validator")


def return_of(answer: InvestigatorAnswer, number: int, sources: Sources) -> InvestigatorReturn:
    """Return the answer of round `number` with the lines that it cites, and without any credential in any field.

    Raises as `print_evidence`.
    """
    ret = print_evidence(answer.as_return(number), sources)
    return InvestigatorReturn.model_validate(redact_values(ret.model_dump(), sources.known_secrets))
