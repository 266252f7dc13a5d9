"""Which of several definitions a question means."""

import pytest

from bot.domain.search.definition_choice import best_definition
from bot.domain.search.definitions import Definition, DefinitionKind
from bot.domain.search.question_names import Named
from bot.domain.search.tokens import stem


def defined(place: str, kind: DefinitionKind = DefinitionKind.FUNCTION) -> Definition:
    """Return a definition of `path:scope.name`."""
    path, _, dotted = place.partition(":")
    scope, _, name = dotted.rpartition(".")
    return Definition(name=name, scope=scope, path=path, line=1, kind=kind)


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


@pytest.mark.parametrize("case", CASES)
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
