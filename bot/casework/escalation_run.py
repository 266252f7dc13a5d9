"""The long run itself, in a process of its own: one request in, return.json and `.done` out.

Prints what it does, for whoever watches; the last line says how it ended. `.done` comes last whatever happens, so that
nobody waits for a run that is over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from bot.agent.run import Progress
from bot.casework.escalation_folder import ASKED, EscalationFolder, EscalationRequest
from bot.casework.investigator import Investigator
from bot.casework.progress import progress_line
from bot.casework.runs import RunRecorder
from bot.domain.secrets import redact
from bot.errors import InputError, TriageError

Hire = Callable[[EscalationRequest], tuple[Investigator, RunRecorder]]
"""Returns who carries a request out, and who records it."""
Say = Callable[[str], None]


def carry_out(folder: EscalationFolder, hire: Hire, say: Say, *, secrets: Collection[str] = ()) -> bool:
    """Work on a folder's request; returns whether there is an answer.

    Raises:
        InputError: there is no request, or another process has taken it; nothing was done.
    """
    request = folder.request()
    if request is None:
        raise InputError(f"{folder.path} holds no request for a long investigation")
    if not folder.claim():
        raise InputError(f"the long investigation in {folder.path} was begun already; nothing was done")

    def tell(line: str) -> None:
        say(redact(line, secrets))

    try:
        _answer(folder, request, hire, tell)
    except TriageError as error:
        tell(f"failed: {error}")
        return False
    finally:
        folder.finish()
    return True


def _answer(folder: EscalationFolder, request: EscalationRequest, hire: Hire, say: Say) -> None:
    asked = request.assignment
    say(ASKED + " ".join(asked.question.split()))
    investigator, recorder = hire(request)

    def report(progress: Progress) -> None:
        say(progress_line(progress))

    found = recorder.record(
        request.run_id,
        asked,
        lambda: investigator.investigate(asked, run_id=request.run_id, on_progress=report),
    )
    folder.put_return(found.ret)
    say(f"answered, confidence {found.ret.confidence}, {len(found.ret.evidence_refs)} citations")
