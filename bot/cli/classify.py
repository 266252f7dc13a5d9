"""`triage classify`: a pipe that adds what the rules say to every event of a stream.

Reads events.ndjson or plain text on stdin and writes one event a line (docs/events.md), in order and with every
original key, plus the fields of a Classification. An object that is no event is named on stderr and skipped; the pipe
never stops on bad input.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TextIO

import click

from bot.cli.options import FILE
from bot.intake.classifier.classification import Rules
from bot.intake.event_stream import EventStream


@click.command("classify", help="Classify lines with the rules: events as in docs/events.md, or plain text.")
@click.option("--bot-id", metavar="U…", help="Slack's user id of the bot, so that mentions of it are seen")
@click.option("--config", metavar="FILE", type=FILE, help="a triage.yml whose `classifier` block is used")
@click.option("--why", is_flag=True, help="add `why`: the rule, or the n-grams that moved the score most")
def command(bot_id: str | None, config: Path | None, why: bool) -> int:
    """Classify stdin to stdout; 0 at the end of the input and also when the reader has gone, as with `| head`.

    1 where there were lines and none was an event.

    Raises:
        ConfigError: `--config` names a file that cannot be read, or its `classifier` block is wrong.
    """
    rules = rules_for(bot_id, config)
    try:
        stream = pump(sys.stdin.buffer, sys.stdout.buffer, sys.stderr, rules, explains=why)
    except BrokenPipeError:
        # Python flushes stdout once more at exit; there it must find somewhere to write to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 1 if stream.is_all_bad else 0


def rules_for(bot_id: str | None, config: Path | None) -> Rules:
    """Return the shipped rules, or those of a triage.yml; `bot_id` wins over the file's.

    Raises:
        ConfigError: the file cannot be read or its `classifier` block is wrong.
    """
    if config is None:
        return Rules(bot_id=bot_id)
    from bot.config.settings import load_classifier

    rules = Rules(**load_classifier(config).model_dump())
    return dataclasses.replace(rules, bot_id=bot_id) if bot_id else rules


def pump(
    source: Iterable[bytes], sink: BinaryIO, problems: TextIO, rules: Rules, *, explains: bool = False
) -> EventStream:
    """Classify until the source ends; each line is written before the next is read, so `tail -f` works.

    `classified_at` is the time at which a line was read. The counts come last, also when the operator interrupts.
    """
    stream = EventStream(rules, explains=explains)
    try:
        for line in source:
            tagged, problem = stream.take(line, at=datetime.now(UTC))
            sink.write(tagged)
            sink.flush()
            problems.write(problem)
    except KeyboardInterrupt:
        problems.write(f"{stream.summary()}\n")
        raise
    problems.write(f"{stream.summary()}\n")
    return stream
