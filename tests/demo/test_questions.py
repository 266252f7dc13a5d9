"""The demo's own questions: each one's first quote answers it."""

import re
from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.threads import QuestionType
from demo.questions import questions_for
from tests.gitrepo import make_repo

CODE = '''\
class Transport:
    """Sends requests."""

    def deliver(self, request):
        return send_request(request)


def send_request(request):
    """Send a request."""
    return request
'''
STATUS = '''\
"""Transport codes: transport, Transport, deliver of the Transport, send_request of the Transport."""

TRANSPORT_CODES = ["transport", "deliver", "send_request", "send request", "transport defined", "return"]
'''


def test_each_question_is_answered_by_its_first_quote(tmp_path: Path) -> None:
    """Types, functions and headings, each where it stands, however often another file speaks of it."""
    files = {"src/transport.py": CODE, "src/codes.py": STATUS, "README.md": "# Delivery of requests\n\nSent once.\n"}
    repo = GitRepo(make_repo(tmp_path / "code", files))
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    questions = questions_for(repo, index)
    assert {"what does `Transport` do?", "what do we say about Delivery of requests?"} < set(questions)
    assert "where is `send_request` defined and what does it return?" in questions
    for question in questions:
        assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
        first = OfflineInvestigator(repo, index).investigate(assignment, run_id="r1").ret.evidence_refs[0]
        name = re.search(r"`(\w+)`|about (.+)\?", question)
        assert name is not None
        assert (name[1] or name[2]) in first.quote.split("\n")[0]


def test_what_cannot_be_quoted_is_not_asked(tmp_path: Path) -> None:
    """Its definition would end the fence around it, so no quote could hold it."""
    files = {"src/a.py": "class Announcer:  # ```\n    pass\n\n\ndef helper_of_it():\n    return Announcer()\n"}
    repo = GitRepo(make_repo(tmp_path / "code", files))
    questions = questions_for(repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite"))
    assert questions == ["where is `helper_of_it` defined and what does it return?"]


def test_a_codebase_in_which_nothing_is_named_is_asked_about_its_commits(tmp_path: Path) -> None:
    """Two scripts and no README; git knows what changed them."""
    repo = GitRepo(make_repo(tmp_path / "code", {"go.py": "print(1)\n", "run.sh": "cp a b\n"}))
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    questions = questions_for(repo, index)
    assert questions == ["what changed recently?"]
    assignment = Assignment(question=questions[0], question_type=QuestionType.OTHER, rubric="", round=1)
    assert OfflineInvestigator(repo, index).investigate(assignment, run_id="r1").ret.evidence_refs
