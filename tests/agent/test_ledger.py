"""The ledger of a run: which lines count as read, and which questions as answered."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.ledger import MAX_RESULT_CHARS, OWN_TOOLS, Ledger
from tests.agent.tools.toolbox import Toolbox

COMMIT, OTHER = "a" * 40, "b" * 40
RANGES = st.tuples(st.integers(1, 30), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def test_an_empty_ledger_covers_nothing() -> None:
    """Nothing was read, so no line counts as read."""
    assert not Ledger().covers("a.py", 1, 1)


def test_two_overlapping_reads_cover_what_lies_across_them() -> None:
    """Lines shown in several reads count together."""
    ledger = (
        Ledger().record_read("a.py", 1, 5, commit=COMMIT, text="…").record_read("a.py", 4, 9, commit=COMMIT, text="…")
    )
    assert ledger.covers("a.py", 2, 8)


def test_a_gap_between_reads_is_not_covered() -> None:
    """One unread line in the middle is enough to say no."""
    ledger = (
        Ledger().record_read("a.py", 1, 3, commit=COMMIT, text="…").record_read("a.py", 5, 6, commit=COMMIT, text="…")
    )
    assert not ledger.covers("a.py", 1, 6)


def test_another_file_is_not_covered() -> None:
    """A read counts for its own path only."""
    assert not Ledger().record_read("a.py", 1, 9, commit=COMMIT, text="…").covers("b.py", 1, 1)


def test_a_read_at_another_commit_counts_only_when_no_commit_is_asked_for() -> None:
    """Lines may have moved between commits."""
    ledger = Ledger().record_read("a.py", 1, 9, commit=COMMIT, text="…")
    assert ledger.covers("a.py", 1, 9)
    assert ledger.covers("a.py", 1, 9, commit=COMMIT)
    assert not ledger.covers("a.py", 1, 9, commit=OTHER)


def test_a_read_keeps_the_digest_of_its_text_and_not_the_text() -> None:
    """The ledger proves what was shown without holding it."""
    read = Ledger().record_read("a.py", 1, 1, commit=COMMIT, text="größe").reads[0]
    assert read.content_hash == hashlib.sha256("größe".encode()).hexdigest()
    assert "größe" not in read.model_dump_json()


def test_a_query_is_known_by_its_exact_text() -> None:
    """White space at the ends aside, only the very query that was made counts."""
    ledger = Ledger().record_query("logs", "rate(errors[5m])\n")
    assert ledger.asked_servers(" rate(errors[5m])")
    assert not ledger.asked_servers("rate(errors[1m])")


def test_calls_are_numbered_from_one_and_what_they_brought_up_is_not() -> None:
    """A failed call has a number as well; a result too long to be shown is kept as far as it was."""
    ledger = Ledger().record_query("git_log", "{}", "one").record_shown("git_show", COMMIT)
    assert ledger.record_call("logs", "x", is_answered=False) == 2
    assert ledger.record_call("logs", "y", "z" * 50_000) == 3
    assert (ledger.answer_of(1) or ledger.queries[-1]).result == "one"
    assert ledger.answer_of(2) is None
    assert ledger.answer_of(4) is None
    assert len(ledger.queries[-1].result or "") == MAX_RESULT_CHARS
    assert ledger.was_shown(COMMIT)


def test_a_ledger_of_an_earlier_release_is_read() -> None:
    """Its calls have no numbers, so none of them can be cited by one; what it shows holds as before."""
    old = {
        "reads": [{"path": "a.py", "start": 1, "end": 9, "commit": COMMIT, "content_hash": "0" * 64}],
        "queries": [
            {"tool": "git_show", "query": COMMIT, "result": None},
            {"tool": "search_memory", "query": "memory/limits.md", "result": None},
            {"tool": "grafana__query", "query": "up", "result": "1"},
        ],
    }
    ledger = Ledger.model_validate(old)
    assert ledger.model_dump() == old
    assert ledger.covers("a.py", 1, 9, commit=COMMIT)
    assert ledger.was_shown(COMMIT)
    assert ledger.came_up("memory/limits.md")
    assert [entry.result for entry in ledger.asked_servers("up")] == ["1"]
    assert ledger.answer_of(1) is None
    assert ledger.record_call("logs", "x", "y") == 1


def test_a_query_is_found_among_the_arguments_of_its_call() -> None:
    """Drafts that cite a query by its text go on doing so."""
    ledger = Ledger().record_query("grafana__query", '{"expr":"rate(errors[5m])","step":60}', "1")
    assert ledger.asked_servers("rate(errors[5m])")
    assert not ledger.asked_servers("errors")
    assert not ledger.asked_servers("60")


def test_a_ledger_survives_its_trace() -> None:
    """Saved as JSON and read back it is the same."""
    ledger = Ledger().record_read("größe.py", 1, 2, commit=COMMIT, text="x").record_query("git_log", "--since")
    assert Ledger.model_validate_json(ledger.model_dump_json()) == ledger


def test_two_ledgers_share_nothing() -> None:
    """The empty lists of a new ledger are its own."""
    Ledger().record_query("logs", "x")
    assert Ledger().queries == []


@given(st.lists(RANGES, max_size=8), RANGES)
def test_covered_means_every_single_line_was_read(reads: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    """Coverage of a range is coverage of each of its lines."""
    ledger = Ledger()
    for start, end in reads:
        ledger.record_read("a.py", start, end, commit=COMMIT, text="")
    each = all(any(start <= line <= end for start, end in reads) for line in range(asked[0], asked[1] + 1))
    assert ledger.covers("a.py", *asked) is each


def test_a_query_without_an_answer_proves_nothing() -> None:
    """A failed call is on record, and no citation can rest on it."""
    ledger = Ledger().record_query("git_show", "abc1234", is_answered=False).record_query("grafana__query", "up")
    for each in (ledger, Ledger.model_validate_json(ledger.model_dump_json())):
        assert [entry.query for entry in each.answered()] == ["up"]


def test_a_failed_query_of_an_older_record_proves_nothing_either() -> None:
    """Its words say that it failed, and no field does."""
    old = Ledger.model_validate({"queries": [{"tool": "git_show", "query": "failed: abc1234"}]})
    assert old.answered() == []


def test_the_ledger_knows_the_names_of_all_tools_over_the_codebase(tmp_path: Path) -> None:
    """A new tool that is not named there would pass for an MCP server's."""
    assert set(Toolbox(tmp_path, {"a.py": "x\n"}).tools) == OWN_TOOLS


def test_a_citation_of_a_billion_lines_is_answered_at_once() -> None:
    """The numbers come from a model; nothing of their size is built for them."""
    ledger = Ledger().record_read("README.md", 1, 40, commit=COMMIT, text="…")
    assert not ledger.covers("README.md", 1, 999_999_999_999)
    assert ledger.record_read("README.md", 41, 999_999_999_999, commit=COMMIT, text="…").covers(
        "README.md", 1, 999_999_999_999
    )


def test_a_file_that_is_read_is_cited_by_its_path() -> None:
    """Its text is shown as it is, and is not kept a second time; a search is kept, for its lines may be cited."""
    ledger = Ledger()
    assert ledger.note_answer("read_file", "{}", "1| LIMIT = 5") == "1| LIMIT = 5"
    assert ledger.note_answer("search_code", "{}", "LIMIT = 5").endswith("\n1: LIMIT = 5")
    read, search = ledger.queries
    assert (read.call, read.result, search.call, search.result) == (1, None, 2, "LIMIT = 5")
