"""How well does the classifier hear people? Precision, recall and calibration on messages it was not trained on.

    python -m benchmarks classifier_accuracy [--dialogues FILE]

In each language, the messages of training/held_out by rules and shipped weights. With FILE (labelled dialogues of
developer chats, form: training/examples.py; not in the repository) also those, in four divisions into five folds by
dialogue, by weights that saw neither a dialogue nor a copy of it. Exit code 0 if every language reaches REQUIRED_F1
and, with FILE, REQUIRED_HEARD of the dialogues are heard for at most MOST_WOKEN of their messages; 1 if not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bot.domain.languages.packs import LANGUAGES
from bot.intake.classifier.scorer import shipped_weights
from training.__main__ import print_dialogues, print_languages, print_reliability
from training.evaluation import accuracy
from training.examples import held_out_messages, read_dialogues
from training.fitting import THRESHOLD, score, shipped_start

REQUIRED_F1 = 0.85
REQUIRED_HEARD = 0.94
MOST_WOKEN = 0.45


def main(argv: Sequence[str] = ()) -> int:
    """Measure and print; returns the exit code described above."""
    weights = shipped_weights()
    reached = all(found.f1 >= REQUIRED_F1 for found in print_languages(weights))
    print("all languages together:")
    print_reliability([row for language in LANGUAGES for row in score(held_out_messages(language), weights)])
    if len(argv) == 2 and argv[0] == "--dialogues":
        found = accuracy(print_dialogues(read_dialogues(Path(argv[1])), shipped_start()), THRESHOLD)
        reached = reached and found.heard >= REQUIRED_HEARD and found.woken <= MOST_WOKEN
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
