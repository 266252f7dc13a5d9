"""Reads a prompt's sections back, as strictly as a careful reader would."""

from __future__ import annotations

import json
import re

HEAD = re.compile(r'<data-(?P<token>\w+) name="(?P<name>[a-z_]+)"(?: from=(?P<sender>"(?:[^"\\]|\\.)*"))?(?P<rest>.*)>')


def read_back(prompt: str) -> list[tuple[str, str | None, str]]:
    """Return `(name, sender, text)` of every section: the first line's token rules, and only whole lines count."""
    first = HEAD.fullmatch(prompt.split("\n", 1)[0])
    assert first is not None
    sections, lines = [], iter(prompt.split("\n"))
    for line in lines:
        head = HEAD.fullmatch(line)
        if head is None or head["token"] != first["token"]:
            assert line == "", f"outside of every section: {line!r}"
            continue
        body = []
        for inner in lines:
            if inner == f"</data-{first['token']}>":
                break
            body.append(inner)
        sender = json.loads(head["sender"]) if head["sender"] else None
        sections.append((head["name"], sender, "\n".join(body)))
    return sections
