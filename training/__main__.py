"""`python -m training`: train the shipped weights of the classifier, and print what they are worth.

    python -m training [--dialogues FILE] [--conversations FOLDER] [--write]

FILE holds labelled dialogues of developer chats (form: training/examples.py), FOLDER conversations of public Slacks
(form: training/conversations.py); they are not part of the repository. Without FILE only the messages written for this
project are used, without FOLDER the start that training/start.json holds. `--write` replaces the shipped weights and,
with FOLDER, the start.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.domain.languages.packs import LANGUAGES
from bot.intake.classifier.scorer import SHIPPED, Weights
from training.conversations import read_conversations
from training.evaluation import DIVISIONS, Accuracy, Scored, accuracy, reliability
from training.examples import (
    Dialogue,
    first_of_each_group,
    held_out_messages,
    held_out_reports,
    read_dialogues,
)
from training.fitting import (
    START,
    THRESHOLD,
    add_languages,
    cross_validate,
    fit_english,
    fit_start,
    score,
    shipped_start,
)


def main(argv: Sequence[str]) -> int:
    """Train, print and perhaps write; exit code 0."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--dialogues", type=Path, metavar="FILE")
    parser.add_argument("--conversations", type=Path, metavar="FOLDER")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args(argv)
    dialogues = read_dialogues(args.dialogues) if args.dialogues else []
    start = fit_start(read_conversations(args.conversations)) if args.conversations else shipped_start()
    weights = add_languages(fit_english(first_of_each_group(dialogues), start))
    size = len(weights.to_json().encode())
    print(f"{len(weights.table):,} n-grams, {size // 1000} kB, version {weights.version}")
    print_languages(weights)
    if dialogues:
        print_dialogues(dialogues, start)
    if args.write:
        START.write_text(start.to_json(), encoding="utf-8")
        SHIPPED.write_text(weights.to_json(), encoding="utf-8")
        print(f"wrote {SHIPPED}")
    return 0


def print_languages(weights: Weights) -> list[Accuracy]:
    """Print and return how well each language is heard, on messages that were not trained on."""
    found = []
    for language in LANGUAGES:
        rows = score(held_out_messages(language), weights)
        found.append(accuracy(rows, weights.threshold))
        print(f"held out, {language}: {_shown(found[-1])} of {len(rows)} messages")
    reports = [row for language in LANGUAGES for row in score(held_out_reports(language), weights)]
    print(f"reports of what is broken: {_shown(accuracy(reports, weights.threshold))} of {len(reports)} messages")
    return found


def print_dialogues(dialogues: Sequence[Dialogue], start: Weights) -> list[Scored]:
    """Print and return how well developer chats are heard, by weights that saw neither a dialogue nor its copies.

    In DIVISIONS divisions into folds: the rows of all of them, each with dialogues of its own.
    """
    parts = [cross_validate(dialogues, start, division) for division in range(DIVISIONS)]
    rows = [
        row._replace(dialogue=row.dialogue * DIVISIONS + number) for number, part in enumerate(parts) for row in part
    ]
    groups = len({each.group for each in dialogues})
    print(f"{len(dialogues)} dialogues ({groups} different ones), {len(parts[0]):,} messages, 5 folds by dialogue")
    for number, part in enumerate(parts):
        print(f"division {number}: {_shown(accuracy(part, THRESHOLD))}")
    for threshold in sorted({0.34, 0.38, THRESHOLD, 0.46, 0.52}):
        found = accuracy(rows, threshold)
        print(f"threshold {threshold:.2f}: {_shown(found)}; {found.heard:.0%} of the dialogues heard")
    print_reliability(rows)
    return rows


def print_reliability(rows: Sequence[Scored]) -> None:
    """Print how often messages of about the same probability really ask."""
    for each in reliability(rows):
        said = f"{each.predicted:.2f} said, {each.observed:.2f} so ({each.count:,} messages)"
        print(f"probability {each.low:.1f} to {each.high:.1f}: {said}")


def _shown(found: Accuracy) -> str:
    return f"precision {found.precision:.2f}, recall {found.recall:.2f}, F1 {found.f1:.3f}, wakes for {found.woken:.0%}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
