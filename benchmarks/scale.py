"""More replicas over one PostgreSQL: questions a minute with 1, 2 and 4, takeovers; an approval, and taking a message.

Targets: 0.9 of linear; a duty is another's at most 2 s after its holder has ended in order; an approval with 100,000
closed threads at most 1.2 times one with 100; a message at most twice a bare insert and commit on the same disk. The
model is scripted and silent for a fixed time before each reply, so replicas wait more than they compute; two cores
carry four of them only while nothing else runs.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import psycopg

from benchmarks.approve import approve, waiting
from benchmarks.postgres import RECORD, server
from bot.adapters.clocks import SystemClock
from bot.adapters.storage.postgres.database import Database
from bot.adapters.storage.postgres.postgres_documents import as_json
from bot.adapters.storage.postgres.postgres_engine import PostgresStore
from bot.domain.jobs import ContinueThread
from bot.domain.threads import Resolution
from bot.ports.collections import REPLIES
from bot.ports.storage import SortedMessage
from bot.ports.threads import Threads
from demo.binary import cache_folder, ensure_binary
from demo.control import Control
from demo.slack_server import LocalSlack
from demo.workspace import CHLOE, DEMO
from tests.gitrepo import make_repo
from tests.model_server import ModelServer, load_script
from tests.model_server.script import Script
from tests.replicas.fleet import Fleet
from tests.replicas.test_kills import module_of, name_of

REPLICAS = (1, 2, 4)
EACH = 8
"""Questions for each replica; it works on two at a time."""
REPLY_S = 6.0
"""How long the model is silent before each of a question's five replies: more than twenty questions a minute do not go
through Slack's 50 updates of cards a minute, however many replicas work."""
LINEAR = 0.9
STOPS = 6
TAKEOVER_S = 2.0
DUTY = "duty.questions"
SIZES = (100, 100_000)
APPROVALS = 200
ARCHIVE = 1.2
MESSAGE = 2.0
PASS = Path(__file__).parents[1] / "tests" / "model_server" / "scripts" / "pass.yml"


def main(_: list[str] | None = None) -> int:
    """Print the figures and return 0 if all met their targets."""
    with server() as url:
        is_met = [_archive(url), _message(url)]
    binary = ensure_binary(cache_folder(os.environ))
    return 0 if all([*is_met, _replicas(binary), _takeovers(binary)]) else 1


def _archive(url: str) -> bool:
    with ExitStack() as stack:
        database = Database(url)
        stack.callback(database.close)
        stores = {}
        for size in SIZES:
            namespace = f"b{token_hex(8)}"
            stores[size] = PostgresStore(database, namespace, Path())
            _fill(database, namespace, size)
        times: dict[int, list[float]] = {size: [] for size in SIZES}
        for number in range(1, APPROVALS + 1):
            for size, store in stores.items():
                threads = Threads(store.documents)
                times[size].append(approve(threads, store.journal(REPLIES), threads.put(waiting(number))))
    medians = [statistics.median(times[size]) for size in SIZES]
    ratio = medians[1] / medians[0]
    print(f"an approval: {medians[0]:.2f} ms with 100 closed threads, {medians[1]:.2f} ms with 100,000")
    print(f"ratio {ratio:.2f} (target: at most {ARCHIVE})")
    return ratio <= ARCHIVE


def _fill(database: Database, namespace: str, count: int) -> None:
    closed = waiting(0).close(Resolution.APPROVED, at=waiting(0).started_at, why="approved by <@U0ANA>")
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO triage_archive (namespace, collection, id, archived_for, version, content, written_at) "
            "SELECT %s, 'threads', 'T0BENCH.C0OLD.1700000000.' || n, now() - make_interval(hours => n %% 8760), 5, "
            "%s::json, now() FROM generate_series(1, %s) AS n",
            [namespace, closed.model_dump_json(), count],
        )
        connection.execute("ANALYZE triage_archive")


def _message(url: str) -> bool:
    """Time how a question is stored: its event once, its class, its job."""
    with ExitStack() as stack:
        database, namespace = Database(url), f"b{token_hex(8)}"
        stack.callback(database.close)
        store, at = PostgresStore(database, namespace, Path()), SystemClock().now()
        bare = stack.enter_context(psycopg.connect(url))
        bare.execute("CREATE TABLE IF NOT EXISTS triage_benchmark (id bigserial PRIMARY KEY, record json NOT NULL)")
        bare.commit()
        ours, plain = list[float](), list[float]()
        for number in range(APPROVALS):
            begun = time.perf_counter()
            work = ContinueThread(thread_id=f"T1.C1.{number}")
            names = [("C0HELP", str(number))]
            store.take(
                SortedMessage(thread_id=work.key, event=RECORD, names=names, classified=RECORD, work=work, at=at),
                is_in_flight=False,
            )
            ours.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            bare.execute("INSERT INTO triage_benchmark (record) VALUES (%s::json)", [as_json(RECORD)])
            bare.commit()
            plain.append(time.perf_counter() - begun)
        bare.execute("DROP TABLE triage_benchmark")
        bare.commit()
    taken, base = statistics.median(ours) * 1000, statistics.median(plain) * 1000
    print(f"a question taken: {taken:.2f} ms; a bare insert and commit: {base:.2f} ms")
    print(f"ratio {taken / base:.2f} (target: at most {MESSAGE})")
    return taken / base <= MESSAGE


def _replicas(binary: Path) -> bool:
    rates = {count: _questions_a_minute(binary, count) for count in REPLICAS}
    for count, rate in rates.items():
        print(f"{count} replicas: {rate:.1f} questions a minute, {rate / rates[1] / count:.2f} of linear")
    return all(rate / rates[1] / count >= LINEAR for count, rate in rates.items())


def _questions_a_minute(binary: Path, count: int) -> float:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        slack = stack.enter_context(LocalSlack(binary, DEMO, env=os.environ))
        control = stack.enter_context(Control(slack.url))
        model = stack.enter_context(ModelServer(_slowed(load_script(PASS))))
        files = {f"shop/{name_of(number)}.py": module_of(number) for number in range(count * EACH)}
        fleet = Fleet(slack, control, folder, make_repo(folder / "shop", files))
        stack.callback(fleet.end)
        key = {"ANTHROPIC_API_KEY": "sk-scripted-0123456789abcdef", "ANTHROPIC_BASE_URL": model.url}
        fleet.start(*range(count), environment=key)
        begun = time.monotonic()
        asked = [fleet.ask(f"Where is `pack_{name_of(one)}` defined?", CHLOE.user_id) for one in range(count * EACH)]
        for ts in asked:
            control.wait_for(lambda ts=ts: fleet.can_approve(ts), "a draft", timeout_s=300)  # type: ignore[misc]
        return len(asked) * 60 / (time.monotonic() - begun)


def _takeovers(binary: Path) -> bool:
    """Time how long a duty is nobody's after its holder has ended in order, again and again."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        slack = stack.enter_context(LocalSlack(binary, DEMO, env=os.environ))
        control = stack.enter_context(Control(slack.url))
        fleet = Fleet(slack, control, folder, make_repo(folder / "shop", {"shop/one.py": module_of(1)}))
        stack.callback(fleet.end)
        fleet.start(0, 1)
        times = []
        for _ in range(STOPS):
            holder = fleet.holder_of(DUTY)
            assert holder is not None
            fleet.kill(holder, signal.SIGTERM)
            ended_at = time.monotonic()
            while fleet.holder_of(DUTY) is None:
                time.sleep(0.02)
            times.append(time.monotonic() - ended_at)
            fleet.start(holder)
    print(f"a duty is another's {statistics.median(times):.2f} s after an orderly stop, at most {max(times):.2f} s")
    return max(times) <= TAKEOVER_S


def _slowed(script: Script) -> Script:
    """Return a script whose every reply is kept back for a while."""
    roles = {
        name: role.model_copy(
            update={
                "parts": tuple(
                    part.model_copy(
                        update={
                            "turns": tuple(turn.model_copy(update={"silent_start_s": REPLY_S}) for turn in part.turns)
                        }
                    )
                    for part in role.parts
                )
            }
        )
        for name, role in script.roles.items()
    }
    return script.model_copy(update={"roles": roles})


if __name__ == "__main__":
    sys.exit(main())
