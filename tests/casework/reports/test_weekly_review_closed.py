"""The review from rows says what whole records say, and reads only those that it shows."""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.journal_history import count_past
from bot.casework.reports.measures import Window
from bot.casework.reports.rollups import Rollups
from bot.casework.reports.thread_facts import objections_to
from bot.casework.reports.weekly_review import MAX_LINES, ClosedWeek, build_review
from bot.domain.citations.citation_lines import codebase_of
from bot.domain.returns import Check, EvidenceKind, EvidenceRef, Verdict
from bot.domain.threads import QuestionType, Resolution, ThreadState
from bot.ports import Store
from bot.ports.collections import THREADS, Collection
from bot.ports.threads import Threads
from tests.builders import NOW
from tests.casework.past import GOOD, TONE, a_round, decided
from tests.tables import each_row

CODEBASES = ("shop", "infra", "docs", "mail")
WEEK = Window.last(7, NOW)
TITLES = {
    Resolution.DISMISSED: "Dismissed",
    Resolution.EDITED: "Edited before it was posted",
    Resolution.AUTO: "Sent automatically",
}


def generate(store: Store, seed: int, *, threads: int = 60) -> None:
    """Close threads in the last nine days, of every kind, asked and answered about some of the codebases."""
    dice, kept = random.Random(seed), Threads(store.documents)
    for number in range(threads):
        verdict = dice.choice((Verdict.PASS, Verdict.BOUNCE, None))
        ref = dice.choice(("infra:main.tf:3-9", "src/x.py:3-9", "src/y.py:1-2"))
        refs = [EvidenceRef(kind=EvidenceKind.FILE, ref=ref)]
        checks = dice.choice(((GOOD,), (TONE,), (TONE, Check(name="ref[0].resolves", ok=False, reason="gone"))))
        first = a_round(1, verdict, checks, evidence_refs=refs)
        closed_at = NOW - timedelta(minutes=dice.randrange(9 * 24 * 60), seconds=number % 60)
        known: dict[str, Any] = {
            "started_at": closed_at - timedelta(minutes=9),
            "closed_at": closed_at,
            "question": f"Where does {dice.choice(('the Shop', 'the cart', 'a shopper'))} set limit {number}?",
            "question_type": dice.choice([*QuestionType]),
            "permalink": dice.choice((None, f"https://acme.slack.com/archives/C1/p{number}")),
            "dismiss_reason": dice.choice((None, "it is another limit")),
        }
        state = decided(number, dice.choice([*TITLES, Resolution.APPROVED]), first, a_round(2), **known)
        kept.put(state)
        kept.archive(state.thread_id)


def whole(store: Store) -> list[ThreadState]:
    """Return the records of the week, the newest first, all of them read."""
    threads = Collection(store.documents, THREADS)
    named = [one for one in store.documents.archived(THREADS.name) if WEEK.holds(one.at)]
    documents = [store.documents.read_archived(THREADS.name, one) for one in named]
    return [state for document in documents if document and (state := threads.parse(document))]


def is_about(state: ThreadState, name: str) -> bool:
    refs = [ref.ref for each in state.rounds for ref in each.investigator_return.evidence_refs]
    return bool(re.search(rf"\b{name}\b", state.question, re.IGNORECASE)) or name in map(codebase_of, refs)


@each_row("seed", range(5))
def test_it_says_what_the_whole_records_say(tmp_path: Path, seed: int) -> None:
    """Counts, links, their order, what is most often the reason, and which codebases nobody asked about."""
    store = FileStore(tmp_path)
    generate(store, seed)
    records = whole(store)
    groups = {title: [one for one in records if one.resolution is ended] for ended, title in TITLES.items()}
    groups["Bounced in round 1"] = [one for one in records if objections_to(one)]
    unasked = [name for name in CODEBASES if not any(is_about(one, name) for one in records)]
    review = build_review(store, Rollups(store), NOW, CODEBASES)
    parts = {part.title: part for part in review.parts}
    assert {title: parts[title].count for title in groups} == {title: len(of) for title, of in groups.items()}
    for title, of in groups.items():
        expected = [one.permalink or one.thread_id for one in of[:MAX_LINES]]
        assert [line.link for line in parts[title].lines] == expected, title
    why = Counter(reason for one in groups["Bounced in round 1"] for reason in objections_to(one))
    kinds = Counter(str(one.question_type) for one in groups["Edited before it was posted"])
    for counted, title in ((why, "Bounced in round 1"), (kinds, "Edited before it was posted")):
        most = ", ".join(f"{name} ({count})" for name, count in counted.most_common(3))
        assert parts[title].todo.startswith(f"most often: {most};")
    assert [line.text for line in parts["Codebases nobody asked about"].lines] == unasked == ["docs", "mail"]
    assert review.unread == 0


def test_a_thread_that_cannot_be_read_is_counted_as_unread(tmp_path: Path) -> None:
    """And is in no part; one that is gone after it was counted is only not shown."""
    store = FileStore(tmp_path)
    generate(store, 1)
    damaged, gone = (one.name for one in store.documents.archived(THREADS.name)[:2])
    (path,) = tmp_path.rglob(damaged.rpartition("/")[2])
    path.write_text("{")
    review = build_review(store, Rollups(store), NOW)
    assert review.unread == 1
    past = count_past(store, Rollups(store), WEEK.start, NOW)
    week = ClosedWeek(store, past.threads, WEEK)
    (path,) = tmp_path.rglob(gone.rpartition("/")[2])
    path.unlink()
    assert len(list(week.read(week.threads))) == len(week.threads) - 1


def test_only_what_is_shown_is_read_once_threads_are_counted(tmp_path: Path) -> None:
    """Of the others the row is enough, whatever became of the record."""
    store = FileStore(tmp_path)
    generate(store, 2, threads=120)
    rollups = Rollups(store)
    seen = build_review(store, rollups, NOW)
    shown = {line.link for part in seen.parts for line in part.lines}
    for state in whole(store):
        if (state.permalink or state.thread_id) not in shown:
            (path,) = tmp_path.rglob(f"{state.thread_id}.*.json")
            path.write_text("{")
    assert len(whole(store)) <= 4 * MAX_LINES
    assert build_review(FileStore(tmp_path), rollups, NOW) == seen
