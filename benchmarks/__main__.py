"""`make bench`: every benchmark in turn, or those named; exit code 1 if one misses its target."""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = (
    "classify",
    "acknowledge",
    "approve",
    "first_index",
    "startup",
    "offline_answers",
    "model_loop",
    "orchestrator_tokens",
    "heartbeat_week",
    "heartbeat_scheduler",
)


def main(names: list[str]) -> int:
    """Run the benchmarks and return 0 if all met their targets."""
    missed = []
    for name in names or BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        if import_module(f"benchmarks.{name}").main():
            missed.append(name)
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nall targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
