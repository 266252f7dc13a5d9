"""How much risky advice is seen, and how much harmless advice is taken for it, on sentences no word list was built on.

The sentences stand in tests/data/risk. The same people wrote them and the lists, so strangers' sentences fare worse;
`fresh` was written last, in wording chosen to pass unseen, and no list was mended by it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from bot.domain.questions.risk_gate import LANGUAGES, commands_in_code, risky_advice

_DATA: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "risk"
_MIN_SEEN: Final = 0.9
_MAX_ALARMS: Final = 0.1


def main() -> int:
    """Print the shares by language and of commands; return 1 if the held-out half misses its targets."""
    risky = [(text, bool(risky_advice(text))) for code in LANGUAGES for text in _read(code)["risky"][1::2]]
    harmless = [(text, bool(risky_advice(text))) for code in LANGUAGES for text in _read(code)["harmless"][1::2]]
    fresh = [(text, bool(risky_advice(text))) for texts in _read("fresh").values() for text in texts]
    around = _read("warnings")
    orders, warnings = (
        [(text, bool(risky_advice(text))) for text in _all(around[kind], around["later"][kind])]
        for kind in ("risky", "harmless")
    )
    commands = _read("commands")
    bad = [(line, bool(commands_in_code(line))) for line in commands["risky"].splitlines()[1::2]]
    good = [(line, bool(commands_in_code(line))) for line in commands["harmless"].splitlines()[1::2]]
    for name, found in [
        ("risky sentences seen, held out", risky),
        ("harmless sentences taken for risky, held out", harmless),
        ("risky sentences seen, written against the lists", fresh),
        ("orders around commands, rights and keys seen, lists mended by them", orders),
        ("warnings of commands taken for risky, lists mended by them", warnings),
        ("risky commands seen, held out", bad),
        ("harmless commands taken for risky, held out", good),
    ]:
        print(f"{name}: {sum(hit for _, hit in found)} of {len(found)}")
    return int(_share(risky) < _MIN_SEEN or _share(harmless) > _MAX_ALARMS)


def _all(by_language: dict[str, list[str]], more: list[str]) -> list[str]:
    return [*(text for texts in by_language.values() for text in texts), *more]


def _share(found: list[tuple[str, bool]]) -> float:
    return sum(hit for _, hit in found) / len(found)


def _read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load((_DATA / f"{name}.yml").read_text("utf-8"))
    return table


if __name__ == "__main__":
    raise SystemExit(main())
