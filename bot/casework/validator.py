"""What a validation comes to, and the one thing a validator does: attack a draft before a human sees it.

The deterministic checks come first (bot/casework/code_validator.py); a model that judges after them is handed their
results and can only make a verdict stricter (bot/casework/verdict.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.agent.ledger import Ledger
from bot.agent.run import OnProgress
from bot.domain.returns import Check, Usage, ValidatorReturn
from bot.domain.threads import ThreadState


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """A verdict and the checks it rests on; `ret` is None where no verdict came about, and `problem` says why."""

    ret: ValidatorReturn | None
    checks: tuple[Check, ...]
    usage: Usage = field(default_factory=Usage)
    ledger: Ledger = field(default_factory=Ledger)
    problem: str | None = None
    convergence_forced: bool = False


class Validator(Protocol):
    """Judges the latest draft of a thread."""

    def validate(
        self,
        state: ThreadState,
        *,
        run_id: str,
        summaries: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> Validation:
        """Return the verdict on `state.investigator_return`; raises ProviderError when not even code can check it.

        `summaries` has one line for each other open thread.
        """
        ...
