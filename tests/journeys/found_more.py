"""`python -m tests.journeys.found_more …` is `… .hasty …`, and every search finds two more places of the shop."""

from __future__ import annotations

import runpy
from dataclasses import replace
from typing import Any, Final

from bot.casework.investigate.assignment import Investigation
from bot.casework.investigate.code_findings import CodeFindings
from bot.domain.returns import EvidenceKind, EvidenceRef

ATTEMPTS: Final = "`MAX_ATTEMPTS = 5` is set in `shop/retry.py:3`."
HOUR: Final = "`EXPORT_HOUR_UTC = 2` is set in `shop/export.py:3`."
_FOUND: Final = (("shop/retry.py:3", ATTEMPTS), ("shop/export.py:3", HOUR))

_investigate = CodeFindings.investigate


def investigate(self: CodeFindings, *args: Any, **known: Any) -> Investigation:
    """Return what is found, with these two as the candidates."""
    found = _investigate(self, *args, **known)
    commit = self.codebases.first.repo.head()
    more = tuple(
        EvidenceRef(
            kind=EvidenceKind.FILE, ref=ref, commit=commit, quote=sentence.split("`")[1], supports_claim=sentence
        )
        for ref, sentence in _FOUND
    )
    return replace(found, ret=found.ret.evolve(candidates=more))


if __name__ == "__main__":
    CodeFindings.investigate = investigate  # type: ignore[method-assign]
    runpy.run_module("tests.journeys.hasty", run_name="__main__")
