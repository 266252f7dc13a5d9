"""A team that shares its checks: another team is offered commands of it, decides itself, and sees nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, ENG, HELP
from tests.hands import Control, Json
from tests.journeys.beat_office import Watched, sessions_of, watched
from tests.journeys.company import PAY_OPS, PAYMENTS, PLAT_OPS, PLATFORM, Company

DISK, LOAD = "df -h", "uptime"
SECRET = "Ask Dan about the ledger"
COMMANDS = [DISK, LOAD, "ledger {word}"]
SHARED = {"payments": {**PAYMENTS, "share": ["checks"]}, "platform": PLATFORM}
UNSHARED = {"payments": PAYMENTS, "platform": PLATFORM}


class Checks:
    """Two sessions of payments that make the same checks, one of platform that makes others, and two masters."""

    def __init__(self, folder: Path) -> None:
        tasks = f"- [ ] Disk of ledger-7: `{DISK}`\n- [ ] {SECRET}\n- [ ] `ledger balance`"
        self.vault, self.till = (watched(folder, name, tasks=tasks) for name in ("vault", "till"))
        self.api = watched(folder, "api", tasks="- [ ] The errors of last night")
        self.masters = [watched(folder, name) for name in ("front", "back")]

    def sessions(self) -> dict[str, Any]:
        """Return the part of triage.yml."""
        found = sessions_of(self.vault, self.till, self.api, *self.masters, commands=COMMANDS)
        for name, session in found.items():
            session["team"] = "platform" if name in ("api", "back") else "payments"
            session["master"] = name in ("front", "back")
        found["api"]["owner"] = BEN.user_id
        return found


def add(place: Watched, task: str) -> None:
    text = place.playbook.replace("\n\n## Notes", f"\n- [ ] {task}\n\n## Notes")
    (place.cwd / "HEARTBEAT.md").write_text(text)


def suggested(company: Company) -> Json:
    """Return the card of the suggestion in platform's ops channel."""
    return company.control.wait_for(
        lambda: next((m for m in company.control.messages(PLAT_OPS.channel_id) if DISK in shown_text(m)), None),
        "a suggestion",
        channel=PLAT_OPS.channel_id,
    )


def test_a_shared_check_waits_for_the_other_team(
    company_server: LocalSlack, hands: Control, tmp_path: Path, shop: Path
) -> None:
    """Its command alone crosses the wall, an approver there adds it, and taking back the share ends it."""
    checks = Checks(tmp_path)
    control = hands
    company = Company(company_server, hands, tmp_path / "home", shop, SHARED, sessions=checks.sessions())
    company.start()
    try:
        company.bot.teams.share()
        control.command(BEN.user_id, ENG.channel_id, "pollinate run")
        card = suggested(company)
        assert "The team payments shares this check." in shown_text(card)
        assert find_element(card, ids.ACCEPT_SUGGESTION) is not None
        said = " ".join(shown_text(m) for m in control.messages(PLAT_OPS.channel_id))
        assert not any(word in said for word in ("ledger", "Dan", "vault", "till"))
        assert checks.api.playbook.count(DISK) == 0
        control.command(ANA.user_id, HELP.channel_id, "pollinate run")
        company.told(HELP, "Sent: 0 suggestions", user=ANA.user_id)
        said = " ".join(shown_text(m) for m in control.messages(PAY_OPS.channel_id))
        assert not any(word in said for word in ("errors of last night", "api"))
        company.reload(UNSHARED, sessions=checks.sessions())
        company.told(PAY_OPS, "`share` now: none.")
        for place in (checks.vault, checks.till):
            add(place, f"`{LOAD}`")
        company.bot.teams.share()
        control.command(BEN.user_id, ENG.channel_id, "pollinate run")
        company.told(ENG, "Sent: 0 suggestions", user=BEN.user_id)
        offered = company.bot.teams.by_name()["platform"].heartbeats.sessions.suggestions.suggestions.all()
        [waiting] = [one for one in offered if DISK in one.task]
        assert not any(LOAD in one.task for one in offered)
        control.command(BEN.user_id, ENG.channel_id, f"pollinate accept {waiting.id}")
        control.wait_for(lambda: DISK in checks.api.playbook, "the check in platform's playbook")
    finally:
        company.bot.stop()
