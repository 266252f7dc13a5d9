"""The import paths and signatures that other programs use; the contract fixes them, wherever the code goes."""

from __future__ import annotations

import importlib
import inspect

import pytest

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
    ("bot.domain.playbook", "parse", "text"),
    ("bot.domain.prescreen", "parse_decision", "text"),
    ("bot.domain.secrets", "redact", "text"),
    ("bot.casework.checks", "ref_marks", "checks refs"),
    ("bot.casework.checks", "check_return", "ret repo= ledger="),
]
"""Module, name, and how it is called: parameters in their order, those with `=` by name; None is only imported."""


@pytest.mark.parametrize(("module", "name", "call"), SEAMS)
def test_a_public_path_can_be_imported_and_called_as_the_contract_says(
    module: str, name: str, call: str | None
) -> None:
    """A program written against the contract goes on working; parameters that came since have a default."""
    found = getattr(importlib.import_module(module), name)
    if call is None:
        return
    given = call.split()
    by_name = {one.removesuffix("=") for one in given if one.endswith("=")}
    in_order = [one for one in given if not one.endswith("=")]
    bound = inspect.signature(found).bind(*in_order, **dict.fromkeys(by_name))
    assert [bound.arguments.get(one) for one in in_order] == in_order
