"""What a question names, looked up in a real index."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.asked_definitions import asked_definitions, asked_history, best_definition
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.question_names import Named
from bot.domain.search.tokens import stem
from tests.gitrepo import make_repo
from tests.tables import each_row

FILES = {
    "src/client.py": (
        "class Client:\n    def send(self):\n        return 1\n\n\nclass AsyncClient:\n    def send(self): ...\n"
    ),
    "src/policy.py": "RETRY_LIMIT = 5\n\n\ndef retry_policy():\n    return RETRY_LIMIT\n",
    "tests/test_client.py": "class Client:\n    pass\n",
    "src/validate.py": "class Email:\n    pass\n",
    "src/fields.py": "class Email:\n    pass\n",
    "src/middleware/limits.py": "class TimeLimit:\n    pass\n",
    "src/brokers/redis.py": "class RedisBroker:\n    pass\n",
    "tests/conftest.py": "def redis_broker():\n    pass\n",
    "lint.yaml": "default: false\n",
    "src/errors.js": "const codes = {\n  ERR_BODY_TOO_LARGE: make('ERR_BODY_TOO_LARGE', 413),\n}\n",
}
ANSWERS = {
    "where is `Client` defined?": ["src/client.py:1"],
    "what does AsyncClient.send do?": ["src/client.py:7"],
    "where is the send method of AsyncClient?": ["src/client.py:7"],
    "what is the retry policy?": ["src/policy.py:4"],
    "what is retry_limit in policy.py?": ["src/policy.py:1"],
    "what does Client do?": ["src/client.py:1"],
    "where is the client class?": ["src/client.py:1"],
    "what is RETRY_LIMIT set to?": ["src/policy.py:1"],
    "where are `Client` and `retry_policy` defined?": ["src/client.py:1", "src/policy.py:4"],
    "where is the TimeLimit middleware?": ["src/middleware/limits.py:1"],
    "where is the redis broker?": ["src/brokers/redis.py:1"],
    "where is the Email validator?": ["src/validate.py:1"],
    "where is ERR_BODY_TOO_LARGE defined?": ["src/errors.js:2"],
}


@pytest.fixture
def index(tmp_path: Path) -> SqlitePassageIndex:
    """The index of two modules and a test."""
    index = SqlitePassageIndex(GitRepo(make_repo(tmp_path / "code", FILES)), tmp_path / "index.sqlite")
    index.refresh()
    return index


@each_row("question", ANSWERS)
def test_the_definition_is_the_answer(index: SqlitePassageIndex, question: str) -> None:
    """Each name's own definition, in the order of the question."""
    asked = asked_definitions(question, index)
    assert [f"{one.path}:{one.line}" for one in asked.definitions] == ANSWERS[question]
    assert asked.is_answer


def test_a_common_word_beside_an_unknown_name_names_nothing(index: SqlitePassageIndex) -> None:
    """The setting `default` of some file is not what is asked for."""
    assert not asked_definitions("what is the default keepAliveTimeout?", index)


def test_a_definition_may_answer_what_a_question_says_of_it(index: SqlitePassageIndex) -> None:
    """If its first lines say it; never where callers or reasons are asked for."""
    assert asked_definitions("which limits does TimeLimit support?", index).may_answer
    assert not asked_definitions("why does TimeLimit ignore limits?", index).may_answer


def test_a_definition_helps_a_question_about_something_else(index: SqlitePassageIndex) -> None:
    """It is known and is not the answer."""
    asked = asked_definitions("why does `retry_policy` give up so early?", index)
    assert [one.name for one in asked.definitions] == ["retry_policy"]
    assert not asked.is_answer


def test_a_follow_up_is_about_what_was_asked_before(index: SqlitePassageIndex) -> None:
    """Only where it names nothing itself."""
    asked = asked_definitions("and where is it defined?", index, subject="why does `retry_policy` give up?")
    assert [one.name for one in asked.definitions] == ["retry_policy"]
    assert asked.is_answer
    other = asked_definitions("and where is `Client` defined?", index, subject="why does `retry_policy` give up?")
    assert [one.name for one in other.definitions] == ["Client"]


def test_history_is_asked_of_names_files_folders_and_words(index: SqlitePassageIndex) -> None:
    """A plain word may be a file or a definition there."""
    assert asked_history("who last changed the policy?", index).places == ("src/policy.py",)
    assert asked_history("what changed in src lately?", index).places == ("src/",)
    assert [one.name for one in asked_history("who last changed the retry limit?", index).definitions] == [
        "RETRY_LIMIT"
    ]
    assert [one.name for one in asked_history("who last changed the retry policy?", index).definitions] == [
        "retry_policy"
    ]
    assert [one.path for one in asked_history("who last touched the Email validator?", index).definitions] == [
        "src/validate.py"
    ]
    assert [one.name for one in asked_history("who changed the redis broker last?", index).definitions] == [
        "RedisBroker"
    ]
    assert [one.name for one in asked_history("who changed it?", index, subject="what is `Client`?").definitions] == [
        "Client"
    ]


def defined(place: str, kind: DefinitionKind = DefinitionKind.FUNCTION) -> Definition:
    """Return a definition of `path:scope.name`."""
    path, _, dotted = place.partition(":")
    scope, _, name = dotted.rpartition(".")
    return Definition(name=name, scope=scope, path=path, line=1, end=1, kind=kind)


CASES = {
    "code is meant rather than its test": ("send", "", ["tests/test_a.py:send", "src/deep/er/a.py:send"], 1),
    "a test where it asks about tests": ("send", "which test has a", ["src/a.py:A.send", "tests/a.py:send"], 1),
    "a method of the class named before it": ("Client.send", "", ["a.py:send", "a.py:Client.send"], 1),
    "a module named before it": ("requests.get", "", ["x/sessions.py:Session.get", "requests/api.py:get"], 1),
    "the same capitals": ("client", "", ["a.py:Client", "b/b.py:client"], 1),
    "source rather than what was built of it": ("api", "", ["dist/a.js:api", "src/core/a.ts:api"], 1),
    "TypeScript rather than JavaScript of its name": ("api", "", ["a.js:api", "src/core/a.ts:api"], 1),
    "code rather than a declaration": ("api", "", ["a.d.ts:api", "lib/a.js:api"], 1),
    "what other words fit": ("send", "of the async client", ["a.py:Client.send", "b.py:AsyncClient.send"], 1),
    "the outermost": ("run", "", ["a.py:main.run", "b.py:run"], 1),
}


@each_row("case", CASES)
def test_the_best_is_meant(case: str) -> None:
    """Whatever order the index has them in."""
    written, words, places, right = CASES[case]
    *qualifiers, name = written.split(".")
    found = [defined(place) for place in places]
    stems = frozenset(stem(word) for word in words.split())
    named = Named(name, tuple(qualifiers))
    for each in (found, found[::-1]):
        assert best_definition(named, each, question=words, stems=stems) == found[right]


def test_a_plain_word_is_no_variable() -> None:
    """A word of a sentence is taken for a type or a function, for a value only if it is written like it."""
    named = Named("limit", is_code=False)
    assert best_definition(named, [defined("a.py:LIMIT", DefinitionKind.VALUE)], question="", stems=frozenset()) is None


def test_a_name_of_something_else_is_not_taken() -> None:
    """With two classes that define it, neither is the one named."""
    found = [defined("a.py:A.send"), defined("b.py:B.send")]
    assert best_definition(Named("send", ("Other",)), found, question="", stems=frozenset()) is None
    assert best_definition(Named("send", ("Other",)), found[:1], question="", stems=frozenset()) == found[0]
