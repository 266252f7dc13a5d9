"""The manual of `/triage`: complete, readable on one screen, and true to what is typed."""

from __future__ import annotations

from pathlib import Path

import yaml

from bot.domain.command_specs import NOTHING, CommandSpec, commands, manual, near_commands, read_line, subcommands
from tests.tables import each_row

SPEC = (
    "help status pause resume brief metrics open investigate approve-list heartbeat tiers pollinate "
    "heartbeat.list heartbeat.on heartbeat.off heartbeat.every heartbeat.run heartbeat.assign heartbeat.wake "
    "heartbeat.log heartbeat.why "
    "tiers.add tiers.remove tiers.move tiers.due "
    "pollinate.run pollinate.list pollinate.accept pollinate.reject "
    "why metrics.--autonomy metrics.--arm metrics.--disarm notes notes.list notes.show notes.retire"
)


def test_slack_hints_at_every_command_while_somebody_types() -> None:
    """The manifest names them in the order of the help."""
    manifest = yaml.safe_load((Path(__file__).parents[2] / "manifest.yml").read_text(encoding="utf-8"))
    (command,) = manifest["features"]["slash_commands"]
    assert command["usage_hint"].split(" | ") == [entry.path for entry in commands()]


def test_every_command_and_subcommand_stands_in_it() -> None:
    """And nothing else."""
    assert set(manual()) == {path.replace(".", " ") for path in SPEC.split()}


@each_row("entry", manual().values())
def test_an_entry_answers_what_people_ask(entry: CommandSpec) -> None:
    """Two different examples of the command itself or its help; what changes something says how to undo it."""
    assert len(set(entry.examples)) == 2
    first, second = (read_line(example).words for example in entry.examples)
    assert first[0] == entry.path.split()[0]
    assert second[0] in (first[0], "help")
    if second[0] == "help" and entry.path != "help":
        assert " ".join(second[1:]) in manual()
    assert bool(entry.undo) == (entry.changes != NOTHING and not subcommands(entry.path))
    assert len(entry.does) <= 70


@each_row(
    "word, near",
    [
        ("stauts", "status"),
        ("PAUS", "pause"),
        ("approvers", "approve-list"),
        ("add", "tiers add"),
    ],
)
def test_a_slip_of_the_pen_finds_its_command(word: str, near: str) -> None:
    """A subcommand typed without its command, too."""
    assert near in near_commands(word)
