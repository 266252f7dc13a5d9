"""The import paths and signatures that other programs use; the contract fixes them, wherever the code goes."""

from __future__ import annotations

import importlib
import inspect
import operator

SEAMS = [
    ("bot.domain.events", "Event", None),
    ("bot.domain.events", "Classification", None),
    ("bot.domain.threads", "thread_key", "event"),
    ("bot.domain.returns", "InvestigatorReturn", None),
    ("bot.domain.returns", "ValidatorReturn", None),
    ("bot.agent.ledger", "Ledger", ""),
    ("bot.intake.classifier", "Rules", ""),
    ("bot.intake.classifier", "classify", "event rules inflight="),
    ("bot.domain.ack", "read_ack", "text token= max_chars="),
    ("bot.domain.hours", "ActiveHours", "start end timezone"),
    ("bot.domain.intervals", "parse_interval", "text"),
    ("bot.domain.tiers", "due_tier", "stamps now"),
    ("bot.domain.tiers", "Stamps", "quick hourly daily"),
    ("bot.domain.hours", "ActiveHours.contains", "self at"),
    ("bot.domain.playbook", "parse", "text"),
    ("bot.domain.playbook", "Playbook.render", "self"),
    ("bot.domain.playbook", "Playbook.is_effectively_empty", None),
    ("bot.domain.prescreen", "parse_decision", "text"),
    ("bot.domain.secrets", "redact", "text"),
    ("bot.casework.checks", "ref_marks", "checks refs"),
    ("bot.casework.checks", "check_return", "ret repo= ledger="),
]
"""Module, name, and how it is called: parameters in their order, those with `=` by name; None is only imported."""


def test_every_public_path_can_be_imported_and_called_as_the_contract_says() -> None:
    """A program written against the contract goes on working; parameters that came since have a default."""
    assert [seam for seam in SEAMS if not _holds(*seam)] == []


def _holds(module: str, name: str, call: str | None) -> bool:
    try:
        found = operator.attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return False
    if call is None:
        return True
    given = call.split()
    by_name = {one.removesuffix("=") for one in given if one.endswith("=")}
    in_order = [one for one in given if not one.endswith("=")]
    try:
        bound = inspect.signature(found).bind(*in_order, **dict.fromkeys(by_name))
    except TypeError:
        return False
    return [bound.arguments.get(one) for one in in_order] == in_order
