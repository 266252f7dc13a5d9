"""A quotation is whole: nothing that turns its sense is cut off."""

from __future__ import annotations

import pytest

from bot.domain.citations.prose_spans import spans_of
from bot.domain.citations.verbatim_quotes import Flaw, flaw_of, plain_text

LIMITS = "ERROR = \"payments are not retried here\"\nHINT = 'set the limit to zero only in tests'\n"
APP = 'url: http://localhost:9000/api\nhost: db-1.internal.example  # the old one\nworkers: 16\nschedule: "0 2 * * *"\n'
INI = "; legacy\nhost = db1.example.org\npool=shop-production\n"


@pytest.mark.parametrize(
    ("path", "text", "quote", "flaw"),
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
