"""The demo's own questions: each one's first quote answers it."""

from __future__ import annotations

import re
from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.threads import QuestionType
from demo.questions import description, questions_for
from tests.gitrepo import make_repo
from tests.tables import each_row

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


class Bare:
    pass


def bare_function():
    """See above."""


def _hidden_function():
    """Nobody is meant to know of this one."""


def go():
    """Go to where the gateway stands."""
'''
STATUS = '''\
"""Transport codes: transport, Transport, deliver of the Transport, send_request of the Transport."""

TRANSPORT_CODES = ["transport", "deliver", "send_request", "send request", "transport defined", "return"]
'''
TABLES = "-- Every order of the last two years.\nCREATE TABLE orders (id INT);\n"


def asked_of(folder: Path, files: dict[str, str]) -> tuple[list[str], OfflineInvestigator]:
    """Return the questions about a codebase, and who answers them."""
    repo = GitRepo(make_repo(folder / "code", files))
    index = SqlitePassageIndex(repo, folder / "index.sqlite")
    return questions_for(repo, index), OfflineInvestigator(repo, index)


def test_each_question_is_answered_by_its_first_quote(tmp_path: Path) -> None:
    """A type and a function that say what they are, however often another file speaks of them."""
    questions, offline = asked_of(tmp_path, {"src/transport.py": CODE, "src/codes.py": STATUS})
    assert questions == ["what does `Transport` do?", "where is `send_request` defined and what does it return?"]
    for question in questions:
        assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
        first = offline.investigate(assignment, run_id="r1").ret.evidence_refs[0]
        name = re.search(r"`(\w+)`", question)
        assert name is not None
        assert name[1] in first.quote.split("\n")[0]


@each_row(
    "path, text",
    [
        ("tests/test_transport.py", CODE),
        ("docs/transport.py", CODE),
        ("examples/transport.py", CODE),
        ("src/tables.sql", TABLES),
        ("README.md", "# Delivery of requests\n\nRequests are sent once.\n"),
        ("src/a.go", "// sendAll sends what is left to the gateway.\nfunc sendAll() {}\n"),
        ("src/a.py", 'class Announcer:  # ```\n    """Tells everybody who wants to know."""\n'),
        ("src/b.py", "# noqa: E501\ndef bare_function():\n    return 1\n"),
    ],
)
def test_nothing_else_is_asked_about(path: str, text: str, tmp_path: Path) -> None:
    """No tests, documents, examples or tables; nothing hidden or without words, nor what cannot be quoted."""
    assert asked_of(tmp_path, {path: text})[0] == []


@each_row(
    "lines, said",
    [
        (["/**", " * Sends it.", " */", "class Post {}"], "Sends it."),
        (["def post(", "    to,", "):", '    """Send it.', "", '    Now."""', "    return 1"], "Send it. Now."),
        (["@cached", "def post():", "    return 1"], ""),
        (["# Sends it.", "", "def post():", "    return 1"], ""),
    ],
)
def test_a_description_is_the_comment_above_or_the_docstring(lines: list[str], said: str) -> None:
    """Not what stands apart, and no decorator."""
    at = next(number for number, line in enumerate(lines, 1) if line.startswith(("class", "def")))
    assert description(lines, at) == said
