"""Runs a program that stands in a test: `python -m tests.program TEXT ARGUMENTS` is `python -c TEXT ARGUMENTS`."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    text = sys.argv.pop(1)
    exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
