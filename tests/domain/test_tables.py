"""Every table that ships is found, read, and read as what it says; a broken one is refused by its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import bot
from bot.domain.tables import Alternatives, Parts, Words, WordSet, read_table
from bot.errors import ConfigError
from tests.tables import each_row

SHIPPED = sorted(Path(bot.__file__).parent.rglob("*.yml"))


class _Table(NamedTuple):
    words: Words
    once: WordSet
    pattern: Alternatives


class _PartsTable(NamedTuple):
    parts: Parts


def _repeated_keys(node: yaml.Node | None) -> Iterator[str]:
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value]
        yield from (key for key in keys if keys.count(key) > 1)
        for _, value in node.value:
            yield from _repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _repeated_keys(value)


@each_row("path", SHIPPED)
def test_no_shipped_table_names_a_key_twice_and_each_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# ")
    assert not list(_repeated_keys(yaml.compose(text, Loader=yaml.SafeLoader)))


def test_a_bare_on_among_the_alternatives_of_a_part_is_refused(tmp_path: Path) -> None:
    """YAML reads it as "true", so the pattern would not find the word."""
    (tmp_path / "table.yml").write_text("parts: {A: [in, on]}\n", "utf-8")
    with pytest.raises(ConfigError, match="table"):
        read_table(str(tmp_path / "module.py"), "table.yml", _PartsTable)


def test_words_and_alternatives_are_read(tmp_path: Path) -> None:
    (tmp_path / "table.yml").write_text("words: b a\nonce: c c\npattern: [x, y+]\n", "utf-8")
    table = read_table(str(tmp_path / "module.py"), "table.yml", _Table)
    assert table == _Table(("b", "a"), frozenset("c"), "x|y+")


@each_row(
    "broken",
    [
        "words: [a",
        "words: [1]\nonce: c\npattern: x",
        "words: a\nonce: c\npattern: [x, 2]",
        "words: a\nonce: c",
        "words: a\nonce: c\npattern: x\nother: y",
    ],
)
def test_a_broken_table_is_refused_by_its_name(tmp_path: Path, broken: str) -> None:
    (tmp_path / "table.yml").write_text(broken, "utf-8")
    with pytest.raises(ConfigError, match=r"table\.yml"):
        read_table(str(tmp_path / "module.py"), "table.yml", _Table)
    with pytest.raises(ConfigError, match=r"absent\.yml"):
        read_table(str(tmp_path / "module.py"), "absent.yml", _Table)
