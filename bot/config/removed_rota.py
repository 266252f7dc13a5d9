"""Owners of sessions who took turns, `owner: {rota: …}`: earlier versions had them; each is named and ignored. Pure.

bot/config/settings.py says so at load; bot/config/session_settings.py reads such an owner as nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from yaml.nodes import MappingNode, Node

ROTA_KEYS: Final = frozenset({"rota", "every", "since"})

_SAID: Final = (
    "triage.yml, line {line}: sessions.{name}.owner: an owner is a user or a user group, and a rota is ignored. Until "
    "you write `owner: U0123ANN` or `owner: S0123ONCALL`, {name} has no owner, and where its alerts would go to one it "
    "does not beat."
)


def is_rota(owner: object) -> bool:
    """Whether the owner of a session is a rota.

    >>> is_rota({"rota": ["U0123ANN"], "since": "2026-01-05"}), is_rota({"user": "U0123ANN"}), is_rota("U0123ANN")
    (True, False, False)
    """
    return isinstance(owner, Mapping) and "rota" in owner and ROTA_KEYS.issuperset(owner)


def removed_rotas(document: Node | None) -> tuple[str, ...]:
    """Return a sentence for each rota of a composed triage.yml, with its key and its line."""
    return tuple(
        _SAID.format(line=owner.start_mark.line + 1, name=name)
        for name, session in _entries(_value(document, "sessions"))
        if (owner := _value(session, "owner")) is not None and _value(owner, "rota") is not None
    )


def _value(node: Node | None, key: str) -> Node | None:
    return next((value for name, value in _entries(node) if name == key), None)


def _entries(node: Node | None) -> Iterator[tuple[str, Node]]:
    if isinstance(node, MappingNode):
        yield from ((str(key.value), value) for key, value in node.value)
