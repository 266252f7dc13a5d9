"""What became of planted errors, counted: judged by code, then by a model that is scripted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.validation import Validation
from bot.casework.evaluation.planted_errors import IN_CITATION
from bot.casework.evaluation.planted_scores import Outcome, PlantedScores
from bot.casework.evaluation.question_scores import Hits
from bot.domain.returns import EvidenceKind, EvidenceRef, Verdict
from bot.domain.threads import Round, ThreadState
from tests.builders import a_return, a_thread, a_verdict
from tests.gitrepo import git, make_repo

CODE = "LIMIT = 5\nPAUSE_S = 30\n"


@dataclass
class Scripted:
    """Port Validator: its verdicts in turn, the last one again and again; None is no verdict."""

    verdicts: Sequence[Verdict | None]
    asked: list[str] = field(default_factory=list)

    def validate(self, state: ThreadState, *, run_id: str) -> Validation:
        assert state.investigator_return is not None
        self.asked.append(state.investigator_return.draft_reply)
        verdict = self.verdicts[min(len(self.asked), len(self.verdicts)) - 1]
        return Validation(ret=a_verdict(verdict) if verdict else None, checks=(), problem=None if verdict else "down")


def drafted(folder: Path) -> tuple[ThreadState, GitRepo]:
    """Return a true draft that cites the first of two lines, and where they are."""
    path = make_repo(folder / "shop", {"limits.py": CODE})
    commit = git(path, "rev-parse", "HEAD")
    proof = EvidenceRef(kind=EvidenceKind.FILE, ref="limits.py:1", commit=commit, quote="LIMIT = 5")
    ret = a_return("Here:", evidence_refs=(proof,))
    return a_thread(investigator_return=ret, rounds=(Round(round=1, investigator_return=ret),)), GitRepo(path)


def test_a_model_is_asked_about_what_code_lets_through(tmp_path: Path) -> None:
    """What it refuses is its own catch; what code refuses it does not see."""
    code, model = Scripted([Verdict.PASS, Verdict.BOUNCE, Verdict.PASS]), Scripted([Verdict.PASS, Verdict.BOUNCE])
    found = PlantedScores(code=code, model=model)
    found.judge_with_errors(*drafted(tmp_path))
    (first, *others) = [one for one in found.judged if one.kind in IN_CITATION]
    assert first.outcome is Outcome.CHECKS
    assert {one.outcome for one in others} == {Outcome.VALIDATOR}
    assert len(code.asked) == len(model.asked) + 1
    assert (found.caught, found.unharmed) == (Hits(len(others) + 1, len(others) + 1), Hits(1, 2))
