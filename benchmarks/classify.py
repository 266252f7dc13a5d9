"""How fast is `triage classify`? Against one streaming jq program with the same table, whole commands.

    python benchmarks/classify.py [events] [rounds]

Both read the same generated events (seeded) and must agree on every field compared; the rounds alternate, and what
counts is processor time. There are two streams: one as a busy workspace makes it, in which bots and people repeat
themselves, and one in which every service has a name of its own, so that nearly only acknowledgements repeat. Exit
code 0 if triage has at least REQUIRED_RATIO times jq's throughput on both, 1 if not or if they disagree.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

REQUIRED_RATIO = 5.0
STREAMS = ("repeated", "seldom repeated")
BOT = "U0TRIAGE"
FIELDS = (
    "message_id",
    "is_bot_mention",
    "is_ack_or_emoji",
    "is_alarm",
    "mentions_thread_with_inflight",
    "classification",
)

# (share of the volume, texts); {x} is a service, {n} a number, {who} somebody.
MIX: tuple[tuple[int, tuple[str, ...]], ...] = (
    (
        46,
        (
            "Merged the {x} refactoring, it goes out with the next train on Tuesday.",
            "Yesterday: finished the {x} migration. Today: review queue, then on-call handover. No blockers.",
            "Deployed {x} v1.{n}.0 to production, all health checks green after 4 minutes",
            "FYI the dashboards moved to <https://grafana.example.com/d/{n}?orgId=1&from=now-6h|{x} overview>",
            "I pushed a fix, see https://github.com/acme/{x}/pull/{n}?w=1",
            "We agreed to keep retries at three and drop the old queue after the release.",
            "Lunch is at 12:30 today, the food truck is back",
            "```\nTraceback: {x} failed with code {n}\nwhy is this None?\n```\nlogs of the nightly job, for the record",
            "&gt; can we drop the flag?\nyes we did that last sprint in {x}, closing the ticket",
            "Heads-up: maintenance of the {x} cluster on Saturday 06:00-08:00 UTC",
            "`{x}?debug=1` prints the plan since build {n}",
            "Ticket {x}-{n} is done, moving it to review.",
            "Habe den Build von {x} repariert, lag am Cache.",
            "今日はリモートです。午後から{x}のレビューをします。",
        ),
    ),
    (
        24,
        (
            "thanks!",
            ":+1:",
            "lgtm :tada:",
            "ok",
            "👍",
            "got it, thanks",
            "thanks <@{who}>!",
            "will do",
            "sounds good",
            ":eyes:",
            "🎉🎉",
            "nice!",
            "danke",
            "gracias!",
            "了解です",
            "ok",
            "thank you!",
            "thx",
        ),
    ),
    (
        14,
        (
            "How do I rotate the {x} credentials on staging?",
            "Does anyone know which team owns {x} now",
            "Is the {x} deploy still blocked? :pray:",
            "any idea why the {x} build fails with exit {n}",
            'what does "retry_{n}" mean in {x}?',
            "why is {x} so slow since this morning?\n```\np99 {n} ms\n```",
            "alguien sabe dónde está la config de {x}",
            "{x}の設定方法を教えてください",
            "is there a way to replay the {x} events from last night",
        ),
    ),
    (
        4,
        (
            "<@U0TRIAGE> what changed in {x} between v1.{n} and today?",
            "<@U0TRIAGE> please look at ticket {x}-{n}",
        ),
    ),
    (
        3,
        (
            "prod is down since the {x} rollout",
            "we are getting 500s from {x} in eu-west-1, {n} so far",
            "api is down, {x} cannot reach it",
        ),
    ),
    (9, ("<@{who}> can you take a look at {x}-{n} when you are back", "<@{who}> your change to {x} is in review")),
)
SERVICES = ("billing", "ledger", "search", "gateway", "notifier", "indexer", "sessions", "exporter", "scheduler")


def main(events: int = 100_000, rounds: int = 5) -> int:
    """Generate, compare, measure and print; returns the exit code described above."""
    return max(_measure(name, list(generate(events, repeats=name == "repeated")), rounds) for name in STREAMS)


def _measure(name: str, events: list[dict[str, Any]], rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "events.ndjson"
        source.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
        commands = {"jq": jq_command(), "triage": triage_command()}
        outputs = {name: Path(folder) / f"{name}.ndjson" for name in commands}
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for command_name, command in commands.items():
                times[command_name].append(run(command, source, outputs[command_name]))
        differing = compare(outputs["jq"], outputs["triage"])
    distinct = len({event["content"] for event in events})
    print(f"{name}: {len(events):,} events, {distinct:,} distinct texts")
    return report(len(events), times, differing)


def jq_command() -> list[str]:
    """Return the yardstick."""
    return ["jq", "-cn", "--arg", "bot", BOT, "-f", str(Path(__file__).with_suffix(".jq"))]


def triage_command() -> list[str]:
    """Return the command measured."""
    return [sys.executable, "-m", "bot", "classify", "--bot-id", BOT]


def generate(count: int, *, repeats: bool = True) -> list[dict[str, Any]]:
    """Return events as a busy engineering workspace makes them; the same for every call.

    Without `repeats` each names a service of its own.
    """
    dice = random.Random(20_250_101)
    start = datetime(2025, 1, 1, 8, tzinfo=UTC)
    roots: list[str] = [f"{1_735_700_000}.000001"]
    return [
        _event(number, dice, start + timedelta(seconds=number), roots, suffix="" if repeats else f"-{number:x}")
        for number in range(count)
    ]


def _event(number: int, dice: random.Random, at: datetime, roots: list[str], *, suffix: str) -> dict[str, Any]:
    (_, texts), *_ = dice.choices(MIX, weights=[share for share, _ in MIX])
    who = f"U{dice.randrange(40):03d}"
    text = dice.choice(texts).replace("{x}", dice.choice(SERVICES) + suffix).replace("{n}", str(dice.randrange(2, 900)))
    content = text.replace("{who}", who)
    ts = f"{at.timestamp():.0f}.{number % 1_000_000:06d}"
    thread = dice.choice(roots[-50:]) if dice.random() < 0.2 else None
    if thread is None:
        roots.append(ts)
    kind = "edit" if dice.random() < 0.01 else "thread_reply" if thread else "text"
    mentions = [name for name in (who, BOT) if f"<@{name}>" in content]
    return {
        "platform": "slack", "team_id": "T0ACME", "chat_id": "C0ENG",
        "chat_name": "eng", "message_id": ts, "create_time": at.isoformat().replace("+00:00", "Z"), "msg_type": kind,
        "content": content, "thread_id": thread, "sender": {"id": f"U{dice.randrange(40):03d}", "type": "user"},
        "mentions": mentions, "event_id": f"Ev{number:09d}", "client_msg_id": f"{dice.getrandbits(64):016x}",
    }  # fmt: skip


def run(command: list[str], source: Path, sink: Path) -> float:
    """Run one whole command over the file and return the seconds of processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with source.open("rb") as stdin, sink.open("wb") as stdout:
        subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(one: Path, other: Path) -> list[str]:
    """Return the lines, from both files, on which they differ in a compared field."""
    pairs = zip(one.open(encoding="utf-8"), other.open(encoding="utf-8"), strict=True)
    rows = ((json.loads(left), json.loads(right)) for left, right in pairs)
    return [
        f"{left['content']!r}: {wrong}"
        for left, right in rows
        if (wrong := [(field, left[field], right[field]) for field in FIELDS if left[field] != right[field]])
    ]


def report(events: int, times: dict[str, list[float]], differing: list[str]) -> int:
    """Print what was measured and return the exit code."""
    for name, seconds in times.items():
        low, middle = min(seconds), statistics.median(seconds)
        print(f"{name:<7} min {low:6.2f} s   median {middle:6.2f} s   {events / middle:10,.0f} events/s")
    ratio = statistics.median(times["jq"]) / statistics.median(times["triage"])
    print(f"triage has {ratio:.1f} times jq's throughput (required: {REQUIRED_RATIO:.0f})")
    print(f"differing verdicts: {len(differing)} of {events:,}", *differing[:10], sep="\n  ")
    return 0 if ratio >= REQUIRED_RATIO and not differing else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
