"""The demo's own question: its first quote answers it."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.threads import QuestionType
from demo.questions import question_for
from tests.gitrepo import make_repo

CODE = '''\
class Transport:
    """Sends requests to the gateway."""

    def deliver(self, request):
        return send_request(request)


def send_request(
    request,
):
    """Send a request to the gateway. It is tried once.

    More of it.
    """
    return request


'''
STATUS = '''\
"""Transport codes: transport, Transport, deliver of the Transport, send_request of the Transport."""

TRANSPORT_CODES = ["transport", "deliver", "send_request", "send request", "transport defined", "return"]
'''


def asked_of(folder: Path, files: dict[str, str]) -> tuple[str | None, OfflineInvestigator]:
    """Return the question about a codebase, and who answers it."""
    repo = GitRepo(make_repo(folder / "code", files))
    index = SqlitePassageIndex(repo, folder / "index.sqlite")
    return question_for(repo, index), OfflineInvestigator(repo, index)


def test_the_question_is_answered_by_its_first_quote(tmp_path: Path) -> None:
    """About what the program mentions most, however often another file speaks of it."""
    question, offline = asked_of(tmp_path, {"src/transport.py": CODE, "src/codes.py": STATUS})
    assert question == "where is `send_request` defined, and what does it do?"
    assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
    first = offline.investigate(assignment, run_id="r1").ret.evidence_refs[0]
    assert first.quote.startswith("def send_request")
