"""Whether the walks that a page describes are the ones that are traced: its files in order, among the traced files.

A part between `<!-- walk: question -->` and `<!-- /walk -->` names files in the order in which they are first passed;
of files with "or" between them one is enough. The trace is that of `python -m benchmarks walk`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parents[1]
LIMIT_S: Final = 180
_WALK: Final = re.compile(r"<!-- walk: (?P<name>\w+) -->\n(?P<text>.*?)<!-- /walk -->", re.DOTALL)
_FILE: Final = re.compile(r"`(?P<file>[\w/]+\.py)`")


def wrong_walks(pages: Sequence[Path], root: Path) -> Iterator[str]:
    """Yield a line for each described stop that the trace does not pass at that place."""
    for page in pages:
        for walk in _WALK.finditer(page.read_text(encoding="utf-8")):
            where, name = page.relative_to(root).as_posix(), walk["name"]
            traced = traced_stops().get(name)
            if traced is None:
                yield f"{where}: there is no walk {name!r}; there are {', '.join(traced_stops())}"
            else:
                yield from (f"{where}: the {name} {problem}" for problem in differing_stops(walk["text"], traced))


def differing_stops(text: str, traced: Sequence[str]) -> Iterator[str]:
    """Yield what a described walk has that the traced one does not pass, or passes earlier.

    >>> list(differing_stops("`a.py` with `c.py`, then `x.py` or `b.py`, then `d.py`", ["a.py", "b.py", "c.py"]))
    ['passes b.py before c.py', 'does not pass d.py']
    """
    last = -1
    for stop in described_stops(text):
        passed = [traced.index(file) for file in stop if file in traced]
        if not passed:
            yield f"does not pass {' or '.join(stop)}"
        elif max(passed) < last:
            yield f"passes {traced[max(passed)]} before {traced[last]}"
        else:
            last = max(passed)


def described_stops(text: str) -> list[list[str]]:
    """Return the files that a text names, in order; those with "or" between them are one stop.

    >>> described_stops("1. `a.py`: first. 2. `b.py` or `c.py`.")
    [['a.py'], ['b.py', 'c.py']]
    """
    stops: list[list[str]] = []
    end = 0
    for found in _FILE.finditer(text):
        if stops and text[end : found.start()].split() == ["or"]:
            stops[-1].append(found["file"])
        else:
            stops.append([found["file"]])
        end = found.end()
    return stops


@cache
def traced_stops() -> Mapping[str, Sequence[str]]:
    """Return the files that a question and a beat pass, each in the order of the first call; takes some seconds.

    Raises:
        RuntimeError: the walk did not end, or failed before it printed anything.
    """
    argv = [sys.executable, "-m", "benchmarks", "walk", "--json"]
    done = subprocess.run(argv, cwd=HERE, capture_output=True, text=True, timeout=LIMIT_S, check=False)  # noqa: S603
    if not done.stdout.startswith("{"):  # the exit code says whether the aims are met, which is not asked here
        raise RuntimeError(f"python -m benchmarks walk: {done.stderr.strip()[-500:]}")
    return {name: figures["stops"] for name, figures in json.loads(done.stdout).items()}
