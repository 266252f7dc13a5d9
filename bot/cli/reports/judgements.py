"""`triage metrics --sample` and `--judge`: messages left alone or taken for work, and what people say of that.

A judgement is asked for here, or read from the lines of `--sample N --json` with `right` filled in. A file is taken
whole or not at all.
"""

from __future__ import annotations

import getpass
import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from bot.casework.reports.classifier_samples import TAKEN, Judgement, Sample, draw_sample
from bot.cli.data_directory import names_at, store_at
from bot.cli.output import WIDTH
from bot.domain.text.names import Names
from bot.domain.text.sanitize import strip_hidden
from bot.errors import InputError
from bot.ports.collections import CLASSIFIED, JUDGEMENTS

COUNT: Final = 20
NO_NAMES: Final = Names()
ASK: Final = "ask"
"""Where judgements come from if not from a file."""

_ASK: Final = "right to {} it? [y]es, [n]o, [s]kip, [q]uit: "


def show_sample(home: Path, found: Sequence[Sample], *, as_json: bool) -> str:
    """Return messages to judge, for people or a line of JSON for each."""
    return _sample_lines(found) if as_json else names_at(home).text(render_sample(found))


def record_judgements(home: Path, found: Sequence[Sample], judge: str) -> str:
    """Record judgements of a sample and say so; `judge` is a file, `-` for stdin, or ASK to be asked here.

    Raises:
        InputError: a judgement cannot be read.
        StoreError: a judgement cannot be written.
    """
    if judge == ASK:
        judged = ask_judgement(found, by=getpass.getuser(), stdin=sys.stdin, say=print, names=names_at(home))
    else:
        judged = _filled_in(judge)
    return _said(_keep(home, judged))


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
    return "\n".join([*lines, "To judge them here: triage metrics --sample 20 --judge"])


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


def ask_judgement(
    found: Sequence[Sample], *, by: str, stdin: TextIO, say: Callable[[str], object], names: Names = NO_NAMES
) -> list[Judgement]:
    """Ask for each message; the end of the input ends the questions, and what was said until then counts."""
    judged: list[Judgement] = []
    for number, each in enumerate(found, 1):
        say(names.text("\n".join(_shown(each, number))))
        answer = ""
        while answer not in ("y", "n", "s", "q"):
            say(_ASK.format("investigate" if each.classification in TAKEN else "ignore"))
            line = stdin.readline()
            answer = line.strip().lower()[:1] if line else "q"
        if answer == "q":
            break
        if answer != "s":
            judged.append(each.judged(right=answer == "y", by=by, at=datetime.now(UTC)))
    return judged


def _filled_in(path: str) -> list[Judgement]:
    """Return the judgements of a file that `--sample --json` made and somebody filled in; `right: null` is none."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}; give the file that triage metrics --sample 20 --json made") from error
    said = {"at": datetime.now(UTC).isoformat(), "by": getpass.getuser()}
    judged = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        record = _object(line, number, path)
        if record.get("right") is None:
            continue
        found = Judgement.read({**said, **record})
        if found is None:
            raise InputError(f"{path}, line {number}: right must be true or false, beside chat_id and message_id")
        judged.append(found)
    return judged


def _object(line: str, number: int, path: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}, line {number} is not JSON; nothing was recorded") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}, line {number} is no JSON object; nothing was recorded")
    return record


def _keep(home: Path, judged: Sequence[Judgement]) -> Sequence[Judgement]:
    log = store_at(home, is_reader=False).journal(JUDGEMENTS)
    for each in judged:
        log.append(each.model_dump(mode="json"))
    return judged


def _said(judged: Sequence[Judgement]) -> str:
    wrong = sum(not each.right for each in judged)
    return f"{len(judged)} judgements recorded, {wrong} of them wrong. Next: triage metrics"
