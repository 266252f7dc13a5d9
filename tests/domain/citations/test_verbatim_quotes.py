"""A quotation is whole: nothing that turns its sense is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.citations.prose_spans import spans_of
from bot.domain.citations.verbatim_quotes import Flaw, flaw_of, plain_text
from tests.tables import each_row, read_cases

LIMITS = "ERROR = \"payments are not retried here\"\nHINT = 'set the limit to zero only in tests'\n"
APP = 'url: http://localhost:9000/api\nhost: db-1.internal.example  # the old one\nworkers: 16\nschedule: "0 2 * * *"\n'
INI = "; legacy\nhost = db1.example.org\npool=shop-production\n"


@each_row(
    "path, text, quote, flaw",
    [
        ("a.py", LIMITS, "are not retried", Flaw.PARTIAL),
        ("a.py", LIMITS, "set the limit to zero", Flaw.PARTIAL),
        ("a.py", LIMITS, "payments are not retried here", None),
        ("a.py", LIMITS, '"payments are not retried here"', None),
        ("a.yml", APP, "url: http://localhost", Flaw.PARTIAL),
        ("a.yml", APP, "internal.example", Flaw.PARTIAL),
        ("a.yml", APP, 'schedule: "0 2', Flaw.PARTIAL),
        ("a.yml", APP, "url: http://localhost:9000/api", None),
        ("a.yml", APP, "host: db-1.internal.example", None),
        ("a.yml", APP, "workers: 16", None),
        ("a.ini", INI, "host = db1.example", Flaw.PARTIAL),
        ("a.ini", INI, "host = db1.example.org", None),
        ("a.ini", INI, "pool=shop-production", None),
        ("a.toml", 'names = ["alpha", "beta"]\n', 'names = ["alpha"', Flaw.PARTIAL),
        ("a.js", "/* Do not retry\n * a declined card. */\n", "a declined card.", Flaw.NEGATED),
        ("a.rb", "=begin\nIt is not allowed\nto call this in tests.\n=end\n", "to call this in tests.", Flaw.NEGATED),
        ("a.js", "/* Do not retry.\n * A declined card is final. */\n", "A declined card is final.", None),
        ("a.py", "# It is not so.\n# the limit is five\n", "# the limit is five", None),
    ],
)
def test_strings_values_and_sentences_are_quoted_whole(path: str, text: str, quote: str, flaw: Flaw | None) -> None:
    """Part of a string or of a setting's value says something else, and so does the end of a negated sentence."""
    lines = text.removesuffix("\n").split("\n")
    start = next((at for at, line in enumerate(lines, 1) if quote in line), 1)
    assert flaw_of(quote, lines, spans_of(path, plain_text(lines)), start=start, end=start) is flaw


QUOTES = read_cases(Path(__file__).with_name("quotes.yml"))


@each_row("file", QUOTES)
def test_a_part_that_an_operator_or_a_value_joins_to_the_rest_proves_nothing(file: dict[str, Any]) -> None:
    """In many languages, on one line and over several; the whole of it proves what it says."""
    lines = file["text"].removesuffix("\n").split("\n")
    spans = spans_of(file["path"], plain_text(lines))
    assert [quote for quote in file["parts"] if flaw_of(quote, lines, spans) in {None, Flaw.ABSENT, Flaw.SHORT}] == []
    assert {quote: flaw for quote in file["wholes"] if (flaw := flaw_of(quote, lines, spans))} == {}


def test_there_are_enough_quotes() -> None:
    """The table is not emptied unseen."""
    assert sum(len(file["parts"]) for file in QUOTES) >= 80
    assert sum(len(file["wholes"]) for file in QUOTES) >= 70
