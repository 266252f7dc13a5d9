"""`make bench`: every benchmark in turn, or those named; exit code 1 if one misses its target."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

BENCHMARKS = (
    "classify",
    "classifier_accuracy",
    "alerts",
    "acknowledge",
    "approve",
    "first_index",
    "index_scale",
    "startup",
    "finder_answers",
    "bug_reports",
    "model_loop",
    "orchestrator_tokens",
    "heartbeat_week",
    "heartbeat_scheduler",
    "walk",
    "growth",
    "fixes",
    "planted",
    "codebases",
    "postgres",
    "scale",
    "size",
)
ON_REQUEST = ("defects",)
"""Run only when named: it takes hours."""


def main(argv: list[str]) -> int:
    """Run the benchmarks and return 0 if all met their targets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = (*BENCHMARKS, *ON_REQUEST)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(known))
    end = next((at for at, one in enumerate(argv) if at and one.startswith("-")), len(argv))
    options = argv[end:]
    names = parser.parse_args(argv[:end]).names
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no benchmark is called {unknown[0]}; there are {', '.join(known)}")
    if options and len(names) == 1:  # the benchmark's own, such as `defects --only NAME`
        return int(import_module(f"benchmarks.{names[0]}").main(options))
    if options:
        parser.error(f"{options[0]} goes with the name of one benchmark")
    missed = []
    for name in names or BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        if import_module(f"benchmarks.{name}").main():
            missed.append(name)
    print(f"\nmissed: {', '.join(missed)}" if missed else "\nall targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
