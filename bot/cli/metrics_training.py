"""`triage metrics --train`: a team's own weights for the classifier, from what its people said of messages.

Reads judgements.ndjson and events-classified.ndjson, needs no running bot and no network, and writes one file beside
triage.yml. Nothing changes until `classifier.weights` in triage.yml names that file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from bot.adapters.storage.files.atomic_write import replace_bytes
from bot.casework.reports.classifier_samples import Judgement, Place
from bot.cli.records import store_at
from bot.config.environment import process_home
from bot.config.settings import find_config, load_classifier
from bot.errors import InputError
from bot.intake.classifier.classification import ngrams_of
from bot.intake.classifier.rules import Rules
from bot.intake.classifier.scorer import shipped_weights
from bot.intake.classifier.training import Example, count_right, held_out_right, refit
from bot.ports.collections import CLASSIFIED, JUDGEMENTS

FILE_NAME: Final = "classifier-weights.json"
LEAST: Final = 10
"""How many judged messages are needed."""
_WEIGHT: Final = 3.0  # what people said of this team's messages counts more than text from elsewhere


def train_team_weights(home: Path, config: Path | None) -> str:
    """Train from the shipped weights, write the file and return what to tell.

    Raises:
        ConfigError: there is no triage.yml, or its `classifier` block is wrong.
        InputError: too few messages were judged.
        StoreError: the file cannot be written.
    """
    path = find_config(config, process_home(home))
    settings = load_classifier(path)
    rules = Rules(**{**settings.model_dump(), "weights": None})
    store = store_at(home)
    examples = _examples(store.journal(JUDGEMENTS).records(), store.journal(CLASSIFIED).records(), rules)
    if len(examples) < LEAST:
        raise InputError(
            f"{len(examples)} judged messages are too few, {LEAST} are needed. Next: triage metrics --sample 20 --judge"
        )
    start = shipped_weights()
    before, after = count_right(examples, start), held_out_right(examples, start)
    target = settings.weights or path.parent.absolute() / FILE_NAME
    replace_bytes(target, refit(examples, start).to_json().encode())
    return _told(target, len(examples), before, after, is_used=settings.weights is not None)


def _told(target: Path, count: int, before: int, after: int, *, is_used: bool) -> str:
    following = "restart triage" if is_used else f"set classifier.weights: {target.name} in triage.yml, restart triage"
    return "\n".join(
        [
            f"{count} judged messages: the shipped weights have {before} right,",
            f"weights trained without the message in question have {after} right.",
            f"Wrote {target}.",
            f"Next: {following}; triage replay shows what it changes",
        ]
    )


def _examples(judged: Iterable[dict[str, Any]], classified: Iterable[dict[str, Any]], rules: Rules) -> list[Example]:
    """Return the judged messages, in the order of their place; the latest judgement of a message counts."""
    asks: dict[Place, bool] = {}
    for record in judged:
        if found := Judgement.read(record):
            asks[found.place] = (found.classification == "actionable") == found.right
    texts = {
        place: str(record.get("content") or "")
        for record in classified
        if (place := (str(record.get("chat_id")), str(record.get("message_id")))) in asks
        and record.get("msg_type") not in ("edit", "delete")
    }
    return [Example(ngrams_of(texts[place], rules), asks[place], _WEIGHT) for place in sorted(texts)]
