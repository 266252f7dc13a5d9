"""Commands over a data directory that has grown: 500 and 52,000 closed threads, 5,000 and 520,000 lines in journals.

Each command runs in a process of its own; what counts is its CPU time (user and system) less that of the same command
over an empty directory, and its peak memory. Target: at most 0.5 s, and memory at most 1.5 times that of the small
directory. Everything happened within a year: 1,000 closed threads a week in the large directory, and reports read one
week of it. One message beside 600 open threads: at most 1.3 times what it costs beside 10.

`--tree DIR` measures another checkout on the same directories, beside this one. `--make DIR` only fills a directory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.returns import Check, Usage
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus
from bot.ports.threads import Threads
from tests.builders import a_return, a_verdict

TARGET_S: Final = 0.5
MEMORY_AT_MOST: Final = 1.5
GROWN_MB: Final = 10.0
"""What a process may grow by in eighteen calls of one report."""
WEEKS: Final = timedelta(weeks=52)
LOOKS: Final = 300
FACTOR_AT_MOST: Final = 1.3
"""What a message may cost beside 600 open threads, against 10."""
PER_MESSAGE: Final = ("ambient", "question")


class Size(NamedTuple):
    """How much a data directory holds."""

    name: str
    closed: int
    lines: int
    open: int


SMALL: Final = Size("small", 500, 5_000, 10)
LARGE: Final = Size("large", 52_000, 520_000, 10)
CROWDED: Final = Size("crowded", 200, 2_000, 600)
COMMANDS: Final = (
    ("metrics",),
    ("status",),
    ("why", "{thread}"),
    ("doctor",),
    ("brief",),
)


class Cost(NamedTuple):
    """What a command took."""

    cpu_s: float
    peak_mb: float


def fill(home: Path, size: Size, now: datetime) -> str:
    """Fill a data directory up to a moment and return the id of one of its closed threads."""
    one = _closed(now)
    text, old_id, old_ts = one.model_dump_json(), one.thread_id, one.original_message_id
    for number in range(size.closed):
        at = now - WEEKS * (size.closed - number) / size.closed
        ts, start = f"{at.timestamp():.6f}", at - timedelta(minutes=10)
        thread_id = f"T1.C1.{ts}"
        known = json.loads(text.replace(old_id, thread_id).replace(old_ts, ts))
        known |= {
            "version": 1,
            "started_at": start.isoformat(),
            "closed_at": at.isoformat(),
            "user_approved_at": at.isoformat(),
        }
        folder = home / "closed" / f"{at:%Y-%m}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{thread_id}.{at:%Y-%m-%dT%H:%M:%SZ}.json").write_text(json.dumps(known, indent=1))
    _journals(home, size, now)
    threads = Threads(FileStore(home).documents)
    for number in range(size.open):
        threads.put(_open(number, now))
    return thread_id


def _closed(now: datetime) -> ThreadState:
    """Return a thread with two rounds, as large as such threads are."""
    checks = tuple(Check(name=f"ref[{n}].quote", ok=True, reason="the quote stands there") for n in range(8))
    rounds = tuple(
        Round(round=n, investigator_return=a_return(), checks=checks, validator_return=a_verdict()) for n in (1, 2)
    )
    state = _open(0, now).evolve(rounds=rounds, orchestrator_tokens=1_200, usage=Usage(input_tokens=9_000))
    return state.close(Resolution.APPROVED, at=now, why="approved by <@U0ANA>")


def _open(number: int, now: datetime) -> ThreadState:
    ts = f"{int(now.timestamp())}.{number:06d}"
    state = ThreadState(
        thread_id=f"T1.C1.{ts}",
        team_id="T1",
        chat_id="C1",
        original_message_id=ts,
        original_sender_id="U0CHLOE",
        question=f"how are session cookies signed in release {number}?",
        rubric="what an answer must hold " * 20,
        started_at=now,
        last_event_at=now,
        investigator_return=a_return(),
    )
    state = state.transition(ThreadStatus.AWAITING_VALIDATION, at=now, why="draft of round 1")
    return state.with_draft("They are signed in `sessions.py:300-320`. " * 20).transition(
        ThreadStatus.PENDING_USER, at=now, why="validated", reason=PendingReason.APPROVAL
    )


def _journals(home: Path, size: Size, now: datetime) -> None:
    """Write messages, replies, spending and beats; of ten lines seven are messages."""
    names = ("events-classified", "replies", "spend", "heartbeats")
    files = {name: (home / f"{name}.ndjson").open("w") for name in names}
    for number in range(size.lines):
        at = now - WEEKS * (size.lines - number) / size.lines
        text, ts = at.isoformat(), f"{at.timestamp():.6f}"
        name = names[max(0, number % 10 - 6)]
        message = {"chat_id": "C1", "message_id": ts, "msg_type": "text", "content": "how does that work? " * 15}
        line = {
            "events-classified": {
                **message,
                "team_id": "T1",
                "create_time": text,
                "classified_at": text,
                "classification": "actionable" if number % 5 == 0 else "ambient",
                "is_bot_mention": number % 50 == 0,
            },
            "replies": {
                "posted_at": text,
                "thread_id": f"T1.C1.{ts}",
                "chat_id": "C1",
                "reply_to_message_id": ts,
                "posted_message_id": ts,
                "reply_text": "It does. " * 40,
            },
            "spend": {"at": text, "run_id": f"T1.C1.{ts}-r1", "model": "m", "cost_usd": 0.01},
            "heartbeats": {"ts": text, "session_id": "shop", "result": "ok-token", "preview": "fine", "trace_id": ts},
        }[name]
        files[name].write(json.dumps(line) + "\n")
    for file in files.values():
        file.close()


def _run(tree: Path, arguments: Sequence[str]) -> Cost:
    """Run `triage` of a checkout and return what it took."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
    )
    command = [_python(tree), "-m", "bot", *arguments]
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=tree, capture_output=True, text=True, check=True)
    if done.stderr.strip():
        print(f"{' '.join(arguments)}: {done.stderr.strip()}", file=sys.stderr)
    cpu_s, peak_mb = map(float, done.stdout.split())
    return Cost(cpu_s, peak_mb)


def _python(tree: Path) -> str:
    """Return a checkout's own Python, else this one."""
    python = tree / ".venv" / "bin" / "python"
    return str(python if python.exists() else sys.executable)


def _best(tree: Path, arguments: Sequence[str], base_s: float) -> Cost:
    """Return the least of three runs, less what starting takes."""
    runs = [_run(tree, arguments) for _ in range(3)]
    return Cost(max(0.0, min(run.cpu_s for run in runs) - base_s), min(run.peak_mb for run in runs))


def _measure(tree: Path, places: dict[str, tuple[Path, str]]) -> list[tuple[str, Cost, Cost]]:
    rows = []
    for command in COMMANDS:
        costs = []
        with tempfile.TemporaryDirectory() as empty:
            words = [word.format(home=empty, thread="T1.C1.1.1") for word in command]
            base_s = min(_run(tree, [*words, "--home", empty]).cpu_s for _ in range(3))
        for home, thread in places.values():
            words = [word.format(home=home, thread=thread) for word in command]
            costs.append(_best(tree, [*words, "--home", str(home)], base_s))
        rows.append((" ".join(command).split(" {")[0], costs[0], costs[1]))
    return rows


def _looks(tree: Path, home: Path) -> float:
    """Return the milliseconds of one message's looks at the store: a thread by its id, a change, the open ones."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from bot.adapters.storage.files.file_engine import FileStore\n"
        "from bot.ports.threads import Threads\n"
        "store = Threads(FileStore(Path(sys.argv[1])).documents)\n"
        "one = store.open_threads()[0].thread_id\n"
        "times = []\n"
        f"for _ in range({LOOKS}):\n"
        "    start = time.process_time()\n"
        "    for _ in range(10): store.get(one)\n"
        "    times.append(time.process_time() - start)\n"
        "print(sorted(times)[len(times) // 2] * 100)\n"
    )
    command = [_python(tree), "-c", code, str(home)]
    return float(subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout)


def _messages(tree: Path, open_threads: int) -> dict[str, float]:
    """Return the milliseconds of CPU of a message and of the ticks, the least of three runs (message_cost.py)."""
    script = Path(__file__).with_name("message_cost.py")
    runs = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as home:
            command = [_python(tree), str(script), home, str(open_threads)]
            runs.append(json.loads(subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout))
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _report_messages(tree: Path) -> list[str]:
    """Print what messages cost beside few and many open threads, and return those that cost too much more."""
    few, many = _messages(tree, SMALL.open), _messages(tree, CROWDED.open)
    print(f"\nCPU with {SMALL.open} and {CROWDED.open} open threads")
    for name in few:
        print(f"{name:<20}{few[name]:>9.2f} ms{many[name]:>9.2f} ms")
    return [name for name in PER_MESSAGE if many[name] > FACTOR_AT_MOST * few[name]]


def _report_bot(tree: Path, places: dict[str, tuple[Path, str]]) -> list[str]:
    """Print what the running bot's reports cost (report_cost.py), and return those that cost too much."""
    script = Path(__file__).with_name("report_cost.py")
    small, large = (
        json.loads(subprocess.run([_python(tree), str(script), str(home)], cwd=tree, capture_output=True).stdout)
        for home, _ in places.values()
    )
    print(f"\n{'in the bot':<20}{'small':>9}{'large':>9}   grown by")
    for name, cost in large.items():
        print(f"{name:<20}{small[name]['next_s']:>7.3f} s{cost['next_s']:>7.3f} s   {cost['grown_mb']:.1f} MB")
    return [name for name, cost in large.items() if cost["next_s"] > TARGET_S or cost["grown_mb"] > GROWN_MB]


def main(argv: Sequence[str] = ()) -> int:
    """Print a table for each checkout, and return 0 if this one meets its targets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--tree", type=Path, help="another checkout, measured beside this one")
    parser.add_argument("--make", type=Path, metavar="DIR", help="fill DIR as the large directory, measure nothing")
    asked = parser.parse_args(argv)
    now = datetime.now(UTC)
    if asked.make:
        print(fill(asked.make, LARGE, now))
        return 0
    here, missed = Path.cwd(), []
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for size in (SMALL, LARGE):
            home = Path(folder) / size.name
            places[size.name] = home, fill(home, size, now)
        crowded = Path(folder) / CROWDED.name
        fill(crowded, CROWDED, now)
        os.sync()
        for tree in filter(None, (asked.tree, here)):
            print(f"\n{tree}\n{'command':<20}{'small':>9}{'large':>9}   {'small':>7}{'large':>9}")
            for name, small, large in _measure(tree.resolve(), places):
                cpu = f"{small.cpu_s:>7.2f} s{large.cpu_s:>7.2f} s"
                print(f"{name:<20}{cpu}   {small.peak_mb:>4.0f} MB{large.peak_mb:>6.0f} MB")
                if tree == here and (large.cpu_s > TARGET_S or large.peak_mb > MEMORY_AT_MOST * small.peak_mb):
                    missed.append(name)
            few, many = _looks(tree.resolve(), places["small"][0]), _looks(tree.resolve(), crowded)
            too_much = [*_report_bot(tree.resolve(), places), *_report_messages(tree.resolve())]
            missed += too_much if tree == here else []
            print(f"a look at one of {SMALL.open} and of {CROWDED.open} open threads: {few:.4f} and {many:.4f} ms")
    print(f"missed: {', '.join(missed)}" if missed else "target met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
