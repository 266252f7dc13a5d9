"""Playbooks that their agents keep and humans edit, end to end: a scripted provider, real folders, a real workspace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from blocks import ids
from bot.domain.playbook import parse
from bot.domain.playbook_entries import task_of_line
from bot.domain.tiers import Tier
from demo.headless import shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA
from tests.hands import Control
from tests.journeys.beat_office import CHECK, BeatOffice, Watched, sessions_of, watched
from tests.journeys.browser import SlackPage
from tests.model_server import ModelServer
from tests.model_server.script import Call, Script, Turn, single

CHECKED, CHORE, FLAG, DISK = f"The check: `{CHECK}`", "Old chore", "Certificate runs out on Friday", "Disk: `df -h`"
FREEFORM = f"Look after the shop.\r\n\r\n* {CHECKED}\r\n* {CHORE}"

Open = Callable[..., BeatOffice]


def answer(*tasks: str) -> Turn:
    """All is well with these tasks."""
    receipts = [{"task": task_of_line(task).id, "result": "ok", "evidence": "looked"} for task in tasks]
    given = {"status": "ok", "receipts": receipts, "reasoning": "Looked."}
    return Turn(calls=(Call(name="finish_beat", input=given),))


def script(*calls: tuple[str, dict[str, Any]], due: tuple[str, ...]) -> Script:
    """A model that edits its playbook and then says that all is well."""
    return single(Turn(calls=tuple(Call(name=name, input=given) for name, given in calls)), answer(*due))


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, shop: Path) -> Iterator[Open]:
    """Opens an office that watches the given checkouts; closes it at the end."""
    with ExitStack() as stack:

        def opened(*places: Watched, model: ModelServer | None = None) -> BeatOffice:
            keys = (
                {"ANTHROPIC_API_KEY": "sk-scripted-0123456789abcdef", "ANTHROPIC_BASE_URL": model.url} if model else {}
            )
            watching = sessions_of(*places, commands=[CHECK])
            office = BeatOffice(slack, control, tmp_path / "home", shop, variables=keys, sessions=watching)
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


def texts(place: Watched, tier: Tier) -> list[str]:
    return [task.text for task in parse(place.playbook).tasks(tier)]


def test_an_agent_keeps_its_list_and_its_owner_sees_how(open_office: Open, tmp_path: Path) -> None:
    """Adds, removes, flags: on the card of that very beat, in its trace; then moves and clears, in silence."""
    shop = watched(tmp_path, "shop", tasks=f"- [ ] {CHECKED}\n- [ ] {CHORE}")
    first = script(
        ("add_task", {"tier": "hourly", "text": DISK}),
        ("add_task", {"tier": "daily", "text": CHORE.upper()}),
        ("note", {"text": "## Quick Tasks"}),
        ("remove", {"id": task_of_line(CHORE).id}),
        ("raise_flag", {"text": FLAG}),
        due=(CHECKED, CHORE),
    )
    with ModelServer(first) as model:
        office = open_office(shop, model=model)
        sent = office.beat(shop, result="sent")
        card = shown_text(office.alert(f"Urgent flag: {FLAG}"))
        assert f"added to hourly “{DISK}”; removed from quick “{CHORE}”; added to urgent “{FLAG}”" in card
        trace = json.loads((office.home / "runs" / sent["trace_id"] / "trace.json").read_text())
        edits = [(edit["what"], edit["place"], edit["text"]) for edit in trace["edits"]]
        assert edits == [("added", "hourly", DISK), ("removed", "quick", CHORE), ("added", "urgent", FLAG)]
        transcript = (office.home / "runs" / sent["trace_id"] / "transcript.md").read_text()
        assert "Quick Tasks hold it already" in transcript
        assert "no heading" in transcript
        assert (texts(shop, Tier.QUICK), texts(shop, Tier.HOURLY)) == ([CHECKED], [DISK])

        model.script = script(
            ("move_task", {"id": task_of_line(DISK).id, "to": "daily"}),
            ("remove", {"id": task_of_line(FLAG).id}),
            due=(CHECKED,),
        )
        quiet = office.beat(shop, result="ok-empty")
        assert (quiet["silent"], quiet["why"]) == (True, "2 edits to HEARTBEAT.md")
        assert "Resolved" in shown_text(office.alert(FLAG))
        assert (texts(shop, Tier.HOURLY), texts(shop, Tier.DAILY)) == ([], [DISK])


@pytest.mark.full
def test_the_owner_reads_on_the_card_what_the_agent_changed(
    open_office: Open, page: SlackPage, pictures: Path, tmp_path: Path
) -> None:
    """In a browser, and the new task is in the list that a button opens."""
    shop = watched(tmp_path, "shop", tasks=f"- [ ] {CHECKED}\n- [ ] {CHORE}")
    kept = script(("add_task", {"tier": "hourly", "text": DISK}), ("raise_flag", {"text": FLAG}), due=(CHECKED, CHORE))
    with ModelServer(kept) as model:
        open_office(shop, model=model).beat(shop, result="sent")
        page.act_as(ANA.real_name)
        page.open_direct_messages(ANA.real_name)
        card = page.message(FLAG)
        expect(card).to_contain_text("added to hourly")
        assert page.screenshot(pictures / "playbook.png", card).stat().st_size > 5_000
        page.click(card, "Open HEARTBEAT.md")
        expect(page.modal).to_contain_text("Disk:")


def test_a_file_from_elsewhere_is_worked_and_keeps_its_form(open_office: Open, tmp_path: Path) -> None:
    """No sections, CRLF, no final newline: quick tasks, of which an edit changes one line."""
    shop = watched(tmp_path, "shop")
    (shop.cwd / "HEARTBEAT.md").write_bytes(FREEFORM.encode())
    edits = script(("add_task", {"tier": "quick", "text": "Backups"}), due=(CHECKED, CHORE))
    with ModelServer(edits) as model:
        open_office(shop, model=model).beat(shop, result="ok-empty")
    assert (shop.cwd / "HEARTBEAT.md").read_bytes() == f"{FREEFORM}\r\n- [ ] Backups".encode()


def during(place: Watched, code: str) -> None:
    """Have somebody touch the playbook after the beat read it: while its check runs."""
    (place.cwd / "check.py").write_text(f"import pathlib\nfile = pathlib.Path('HEARTBEAT.md')\n{code}\n")


def test_a_human_who_edits_during_a_beat_wins(open_office: Open, tmp_path: Path) -> None:
    """Their lines stand; the beat's times and boxes go into the file as they left it."""
    shop = watched(tmp_path, "shop")
    during(shop, "file.write_text(file.read_text().replace('- [ ] The', '- [ ] Mine\\n- [ ] The'))")
    office = open_office(shop)
    beat = office.beat(shop, result="ok-token")
    assert "- [ ] Mine\n- [x] The check" in shop.playbook
    assert "(never)" not in shop.playbook
    assert json.loads((office.home / "runs" / beat["trace_id"] / "trace.json").read_text())["edits"] == []
    (took_s,) = office.beats.sessions.store.load(shop.id).measured[task_of_line(CHECKED).id].seconds
    assert took_s > 0


def test_a_playbook_removed_during_a_beat_is_not_made_anew(open_office: Open, tmp_path: Path) -> None:
    """Somebody deleted it: no template, whose tasks nobody asked for, stands in its place."""
    shop = watched(tmp_path, "shop")
    during(shop, "file.unlink()")
    office = open_office(shop)
    office.beat(shop, result="ok-token")
    assert "HEARTBEAT.md was deleted" in office.beat(shop, result="skipped")["why"]
    assert not (shop.cwd / "HEARTBEAT.md").exists()


def test_a_link_put_in_its_place_leads_nowhere(open_office: Open, tmp_path: Path) -> None:
    """Its findings are told and the beat fails; the other playbook keeps every byte, and no button shows it."""
    shop, other = (watched(tmp_path, name) for name in ("shop", "other"))
    theirs = other.playbook
    (shop.cwd / "HEARTBEAT.md").write_text(shop.playbook.replace("## Notes", f"## Urgent Flags\n- {FLAG}\n## Notes"))
    during(shop, f"file.unlink()\nfile.symlink_to({str(other.cwd / 'HEARTBEAT.md')!r})")
    office = open_office(shop, other)
    for _ in range(2):
        assert "is a link" in office.beat(shop, result="failed")["error"]
    assert other.playbook == theirs
    office.press(office.alert(FLAG), ids.OPEN_PLAYBOOK)
    office.answered(ANA.user_id, "is a link")
    assert office.control.modals.current() is None
