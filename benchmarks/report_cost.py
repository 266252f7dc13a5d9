"""CPU seconds and memory of what the running bot shows: `report_cost.py HOME` asks each report CALLS times.

The reports of `/triage metrics` and `status`, and the page of App Home, are built over the files of HOME as
the bot builds them, without Slack. It prints JSON: `first_s` is the first call, `next_s` the median of the others,
`grown_mb` what the process has grown between the second call and the last.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from slack_sdk.models.blocks import Block

from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.views.answers import answer_blocks
from blocks.views.home_view import HomeData, home_view
from bot.adapters.clocks import SystemClock
from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.reports.answers import metrics_answer, status_answer
from bot.casework.reports.autonomy_metrics import read_case
from bot.casework.reports.journal_history import PastThreads
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import DAYS, MetricsReport, read_metrics
from bot.casework.reports.status_overview import count_today, overview
from bot.domain.questions.autonomy_record import AutonomyMode
from bot.domain.threads import ThreadState, ThreadStatus
from bot.ports.threads import Threads

CALLS = 20


def _reports(home: Path) -> dict[str, Callable[[], object]]:
    """Return what builds each report."""
    files, clock = FileStore(home), SystemClock()
    past, threads = PastThreads(files), Threads(files.documents)

    def measure() -> MetricsReport:
        return read_metrics(files, past, Window.last(DAYS, clock.now()), baseline_reply_s=None)

    def card(state: ThreadState) -> list[Block]:
        return card_blocks(state, CardFacts(link_to=lambda _: None))

    def page() -> object:
        now = clock.now()
        waiting = {one.thread_id: one for one in threads.open_threads() if one.status is ThreadStatus.PENDING_USER}
        seen, today = overview(files, now, ()), count_today(files, now)
        trust = read_case(files, past, now, AutonomyMode.SHADOW, None)
        data = HomeData(overview=seen, today=today, sessions=[], now=now, drafts=waiting, card=card, trust=trust)
        return home_view(data, user="U0ANA", may_approve=True)

    return {
        "/triage metrics": lambda: answer_blocks(metrics_answer(measure())),
        "/triage status": lambda: answer_blocks(
            status_answer(overview(files, clock.now(), ()), clock.now(), may_see_drafts=True)
        ),
        "App Home": page,
    }


def _cost(build: Callable[[], object]) -> dict[str, float]:
    times, sizes = [], []
    for _ in range(CALLS):
        start = time.process_time()
        build()
        times.append(time.process_time() - start)
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return {"first_s": times[0], "next_s": statistics.median(times[1:]), "grown_mb": sizes[-1] - sizes[1]}


if __name__ == "__main__":
    print(json.dumps({name: _cost(build) for name, build in _reports(Path(sys.argv[1])).items()}))
