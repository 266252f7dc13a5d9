"""`triage metrics --sample` and `--marks`: messages left alone or taken for work, and what people say of that.

Marks come from the page of `triage backtest`, or are the lines of `--sample N --json` with `right` filled in. A file is
taken whole or not at all.
"""

from __future__ import annotations

import getpass
import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.casework.reports.classifier_samples import Judgement, Sample, draw_sample, read_marks
from bot.cli.data_directory import names_at, store_at
from bot.cli.output import WIDTH
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError
from bot.ports.collections import CLASSIFIED, JUDGEMENTS

NEXT: Final = (
    "To judge them: triage metrics --sample 20 --json > marks.ndjson, set `right`,\n"
    "then triage metrics --marks marks.ndjson"
)


def show_sample(home: Path, found: Sequence[Sample], *, as_json: bool) -> str:
    """Return messages to judge, for people or a line of JSON for each."""
    return _sample_lines(found) if as_json else names_at(home).text(render_sample(found))


def sample_at(home: Path, count: int, *, seed: str, since: datetime) -> list[Sample]:
    """Return messages of a data directory that nobody has judged."""
    store = store_at(home)
    known = {found.place for record in store.journal(JUDGEMENTS).records() if (found := Judgement.read(record))}
    return draw_sample(store.journal(CLASSIFIED).records(), count, seed=seed, since=since, but=known)


def render_sample(found: Sequence[Sample]) -> str:
    """Return the messages for people to read."""
    if not found:
        return "Nothing left to judge: no message was recorded, or all are judged."
    lines = [line for number, each in enumerate(found, 1) for line in (*_shown(each, number), "")]
    return "\n".join([*lines, NEXT])


def record_marks(home: Path, path: str) -> str:
    """Record the marks of a file, `-` for stdin, in the data directory, and say so.

    Raises:
        InputError: it cannot be read.
        StoreError: a mark cannot be written.
    """
    marks = marks_in(path)
    log = store_at(home, is_reader=False).journal(JUDGEMENTS)
    for each in marks:
        log.append(each.model_dump(mode="json"))
    wrong = sum(not each.right for each in marks)
    return f"{counted(len(marks), 'mark')} recorded, {wrong} of them wrong. Next: triage metrics"


def marks_in(path: str) -> list[Judgement]:
    """Return the marks of a file, `-` for stdin; raises InputError."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}; give the file of marks that the page of a backtest saved") from error
    return read_marks(text, at=datetime.now(UTC).isoformat(), by=getpass.getuser())


def _shown(each: Sample, number: int) -> list[str]:
    """Return a message that nothing in it can turn into a terminal's command."""
    text = " ".join(strip_hidden(each.content)[0].split()) or "(no text)"
    said = textwrap.wrap(textwrap.shorten(text, 400, placeholder=" …"), WIDTH - 4) or ["(no text)"]
    return [
        f"{number:>2}. {each.classification}, <#{each.chat_id}> {each.message_id}",
        *(f"    {line}" for line in said),
    ]


def _sample_lines(found: Iterable[Sample]) -> str:
    return "\n".join(json.dumps({**each._asdict(), "right": None}) for each in found)
