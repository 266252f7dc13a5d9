"""What the old installation is told: its triage.yml, its playbooks, and what its model answers.

Runs with the version at 8154d7ff only; see make.py.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Final

from demo.workspace import ANA, BEN
from tests.journeys.company import PAYMENTS, PLATFORM
from tests.model_server import Script
from tests.old_home.codebase import CHECK

TEAMS: Final = {"payments": PAYMENTS, "platform": PLATFORM}
ALWAYS: Final = {"start": "00:00", "end": "24:00", "timezone": "UTC"}
CONFIRMED: Final = "Where is the session cookie signed, and with which hash?"
TWIN: Final = "hi, where is the session cookie signed, and with which hash?"
EDITED: Final = "How many pauses does backoff_delays return?"
PATCHED: Final = "How often do we retry the payment gateway? Please raise it to seven."
DISPUTED: Final = "How long may a pick list of the warehouse take?"
UNCLEAR: Final = "Which tenant runs out of quota first?"
BROKEN: Final = "Why does the loyalty ledger stop at midnight?"
AUDIT: Final = "Audit every caller of sign_session, please: which of them pass an empty secret?"
HELD: Final = "Which module doubles the delay between attempts?"
CHECKED: Final = "What does sign_session return for an empty payload?"
BOUNCED: Final = "What is FIRST_DELAY_S measured in?"
FULL: Final = "Which file holds the timeouts of the warehouse?"
DEADLY: Final = "Does the nightly export lock the orders table?"
QUEUED: Final = "Where is MAX_ATTEMPTS set for the payment gateway?"
DIFF: Final = """diff --git a/shop/retry.py b/shop/retry.py
--- a/shop/retry.py
+++ b/shop/retry.py
@@ -1,4 +1,4 @@
 \"\"\"Retries of the payment gateway.\"\"\"

-MAX_ATTEMPTS = 5
+MAX_ATTEMPTS = 7
 FIRST_DELAY_S = 0.5
"""


def settings(place: Path) -> dict[str, Any]:
    """Return the keys of triage.yml beside codebase and teams; some of them have no meaning for later versions."""
    beat = {"every": "7d", "active_hours": ALWAYS, "commands": [CHECK, "df -h", "free -m", "nproc --all"]}
    return {
        "slack": {"posts_per_second": 20, "connections": 1},
        "max_concurrent_sessions": 5,
        "brief": {"morning": "08:30", "evening": "17:30", "timezone": "UTC", "picture": False},
        "review": {"lead": ANA.user_id, "day": "mon", "at": "09:00", "timezone": "UTC"},
        "save_notes": "ask",
        "autonomy": "shadow",
        "baseline_reply_s": 900,
        "classifier": {"alarm_keywords": ["checkout is down"]},
        "code_host": "github",
        "fixes": {"check": ["true"]},
        "heartbeat": {"suggestions_per_day": 6},
        "sessions": {
            "api": {"cwd": str(place / "api"), "owner": ANA.user_id, "team": "payments", "heartbeat": beat},
            "web": {
                "cwd": str(place / "web"),
                "owner": {"rota": [ANA.user_id], "every": "7d", "since": "2026-01-05"},
                "team": "payments",
                "heartbeat": beat,
            },
            "master": {
                "cwd": str(place / "master"),
                "owner": ANA.user_id,
                "team": "payments",
                "master": True,
                "heartbeat": beat,
            },
            "infra": {"cwd": str(place / "infra"), "owner": BEN.user_id, "team": "platform", "heartbeat": beat},
        },
    }


def playbook(name: str, *quick: str, hourly: tuple[str, ...] = ()) -> str:
    """Return the HEARTBEAT.md every session begins with, with tasks more; no tier but the quick one is due."""
    template = "master.md" if name == "master" else "worker.md"
    text = (resources.files("bot.heartbeat.playbooks") / "templates" / template).read_text(encoding="utf-8")
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    text = text.replace("(never)", now)
    head, title, tail = text.partition("## Daily Tasks")
    head = f"{head.rstrip()}\n" + "".join(f"- [ ] {task}\n" for task in hourly)
    before, middle, after = f"{head}\n{title}{tail}".partition("## Hourly Tasks")
    return f"{before.rstrip()}\n" + "".join(f"- [ ] {task}\n" for task in quick) + f"\n{middle}{after}"


def script() -> Script:
    """Return what the model says to each question."""
    held = {"thinking": "This takes a long look at every caller, which I begin now, one file at a time.", "holds": True}
    tools = [{"name": "read_file", "input": {"path": "shop/retry.py"}}]
    long_look = {**held, "calls": tools}
    investigator = [
        _part('name="feedback"', [long_look], about="measured in"),
        _part("asked for more time", [long_look], about="Audit every caller"),
        _part("Audit every caller", [_asks_for_time()]),
        _part("doubles the delay|holds the timeouts|lock the orders", [long_look]),
        _part("raise it to seven", _reads(patch=True)),
        _part("runs out of quota", [{"answer": _questions()}]),
        _part("loyalty ledger", [{"status": 400, "message": "this model is retired"}]),
        _part("pick list", _reads("config/warehouse.toml", 6, "pick_list = 45")),
        _part("empty payload|session cookie", _reads("shop/sessions.py", 10, _SIGNED, note=True)),
        _part("", _reads()),
    ]
    validator = [
        _part("empty payload", [long_look]),
        _part("pick list|measured in", [_look(), {"answer": _verdict("bounce")}]),
        _part("", [_look(), {"answer": _verdict("pass")}]),
    ]
    roles = {
        "investigator": {"match": "(?i)you investigate", "parts": investigator},
        "validator": {"match": "(?i)break this draft", "parts": validator},
    }
    return Script.model_validate({"roles": roles})


_SIGNED = '    return f"{payload}.{digest.hexdigest()}"'


def _part(words: str, turns: list[dict[str, Any]], *, about: str = "") -> dict[str, Any]:
    """Return a part for questions that hold `words`; with `about`, for those whose brief holds `words` besides."""
    if about:
        when = rf'(?s)(?=.*(?:{words}))(?=.*name="question"[^>]*>\n[^<]*(?:{about}))'
    else:
        when = rf'(?s)name="question"[^>]*>\n[^<]*(?:{words})' if words else ""
    return {"when": when, "turns": turns}


def _look() -> dict[str, Any]:
    return {"calls": [{"name": "read_file", "input": {"path": "${ref.path}"}}]}


def _reads(
    path: str = "shop/retry.py",
    line: int = 3,
    quote: str = "MAX_ATTEMPTS = 5",
    *,
    patch: bool = False,
    note: bool = False,
) -> list[dict[str, Any]]:
    answer = {
        "confidence": "high",
        "confidence_reason": "The line says so.",
        "summary_for_orchestrator": f"It stands in {path}.",
        "draft_reply": f"The model says: `{quote.strip()}` in `{path}:{line}`.",
        "draft_language": "en",
        "evidence_refs": [{"kind": "file", "ref": f"{path}:{line}", "quote": quote, "supports_claim": "The line."}],
    }
    if patch:
        answer["proposed_patch"] = {"title": "Retry seven times", "diff": DIFF, "rationale": "Somebody asked for it."}
    if note:
        text = "# Session cookies\n\nThey are signed in `sign_session`.\n"
        answer["proposed_triage_file"] = {"filename": "session-cookies.md", "content": text}
    return [{"calls": [{"name": "read_file", "input": {"path": path}}]}, {"answer": answer}]


def _questions() -> dict[str, Any]:
    return {
        "confidence": "low",
        "confidence_reason": "The code does not say.",
        "summary_for_orchestrator": "Needs to know which region.",
        "draft_reply": "",
        "open_questions": ["Which region is meant?"],
        "evidence_refs": [],
    }


def _asks_for_time() -> dict[str, Any]:
    wants = {"escalation_requested": True, "escalation_reason": "every caller has to be read"}
    return {"answer": {**_questions(), "open_questions": [], "research_notes": "Many callers.", **wants}}


def _verdict(verdict: str) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "reasons": ["I tried to break the citation."],
        "spot_check_ref": "${ref}",
        "spot_check_result": "supports",
        "spot_check_note": "The lines were read again.",
        "schema_check": "ok",
        "confidence_language_match": "match",
        "scope_drift": "none",
        "cross_investigation_consistency": "no_overlap",
        "risk_gate_check": "passes",
        "tone_assessment": "matches",
        "bounce_feedback": "Say what it is for." if verdict == "bounce" else None,
    }
