"""Collections over every engine of the port Documents; below them, what only files can do."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import ChangedBy, EnabledOverride, EveryOverride, SessionOverride
from bot.domain.suggestions import DecidedBy, Suggestion, SuggestionStatus, suggestion_id
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError, StoreError
from bot.heartbeat.session_registry import WakeBox
from bot.ports.collections import OVERRIDES, PAUSE, Collection, CollectionSpec, SingleDocument
from bot.ports.feature_collections import ACKNOWLEDGEMENTS, SUGGESTIONS
from tests import fork_server
from tests.contracts.test_documents import ENGINES, Open
from tests.tables import each_row

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANA = DecidedBy("U0ANA", "ana")
BY_ANA = ChangedBy(id="U0ANA", name="ana", at=NOON)
OFF = SessionOverride(enabled=EnabledOverride(value=False, by=BY_ANA))


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same documents again and again, as a process that restarts does."""
    return ENGINES[request.param](tmp_path)


def undamaged(where: str) -> None:
    raise AssertionError(f"{where} was set aside")


def of_files(home: Path, spec: CollectionSpec, damaged: list[str] | None = None) -> Collection:  # type: ignore[type-arg]
    """Return a collection on disk, which must not be damaged unless a list takes what is."""
    return Collection(FileDocuments(home), spec, on_damage=undamaged if damaged is None else damaged.append)


def a_suggestion(to: str = "shop", task: str = "Open incidents", **changes: object) -> Suggestion:
    given = {"tier": Tier.HOURLY, "from_": "api", "reason": "api makes this check.", "at": NOON, **changes}
    return Suggestion(id=suggestion_id(to, task), to=to, task=task, **given)  # type: ignore[arg-type]


def test_what_was_stored_survives_a_restart_in_order(reopen: Open) -> None:
    """Every field of it, the oldest first."""
    late = a_suggestion(
        task="Later", at=NOON + timedelta(hours=1), quarantine="odd", status=SuggestionStatus.QUARANTINED
    )
    assert Collection(reopen(), SUGGESTIONS).all() == []
    for one in (late, a_suggestion()):
        assert Collection(reopen(), SUGGESTIONS).add(one.id, one)
    assert Collection(reopen(), SUGGESTIONS).all() == [a_suggestion(), late]
    assert Collection(reopen(), SUGGESTIONS).get(late.id) == late


def test_values_are_found_by_a_text_of_theirs_in_order(reopen: Open) -> None:
    """As it is stored: a status by its word, what has another name on disk by that."""
    suggestions = Collection(reopen(), SUGGESTIONS)
    late = a_suggestion(task="Later", at=NOON + timedelta(hours=1))
    for one in (late, a_suggestion(), a_suggestion(to="api", from_="shop")):
        suggestions.add(one.id, one)
    assert suggestions.where("to", "shop") == suggestions.where("from", "api") == [a_suggestion(), late]
    assert [one.to for one in suggestions.where("from", "shop")] == ["api"]
    assert len(suggestions.where("status", SuggestionStatus.OPEN)) == 3
    assert suggestions.where("task", "late") == []


def test_an_id_is_taken_once(reopen: Open) -> None:
    """The second of an id changes nothing, whatever became of the first."""
    suggestions = Collection(reopen(), SUGGESTIONS)
    assert suggestions.add(a_suggestion().id, a_suggestion())
    assert not suggestions.add(a_suggestion().id, a_suggestion(reason="again"))
    assert suggestions.get(a_suggestion().id).reason == "api makes this check."


def test_of_many_who_decide_at_once_one_does(reopen: Open) -> None:
    """The others are told who was first."""
    suggestions, losers = Collection(reopen(), SUGGESTIONS), []
    suggestions.add(a_suggestion().id, a_suggestion())

    def decide(name: str) -> None:
        try:
            suggestions.change(
                a_suggestion().id,
                lambda now: now.decided(SuggestionStatus.ACCEPTED, DecidedBy(f"U0{name}", name), NOON, None),
            )
        except Conflict as error:
            losers.append(str(error))

    people = [threading.Thread(target=decide, args=(f"P{n}",)) for n in range(8)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    winner = Collection(reopen(), SUGGESTIONS).get(a_suggestion().id).decided_by_name
    assert len(losers) == 7
    assert all(f"{winner} accepted" in text for text in losers)


def test_a_change_that_fails_changes_nothing(reopen: Open) -> None:
    """Its error goes through."""
    suggestions = Collection(reopen(), SUGGESTIONS)
    suggestions.add(a_suggestion().id, a_suggestion())

    def refuse(_: Suggestion) -> Suggestion:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        suggestions.change(a_suggestion().id, refuse)
    assert suggestions.get(a_suggestion().id) == a_suggestion()


@each_row("bad", ["", "..", "a/b-123456", "shop-xyz123", "shop-123456\n", "A", "x" * 49])
@each_row("spec", [SUGGESTIONS, OVERRIDES])
def test_an_id_that_is_no_file_name_is_refused(reopen: Open, spec: CollectionSpec, bad: str) -> None:  # type: ignore[type-arg]
    """Whatever is done with it; one of nobody is unknown where nothing stands for it."""
    if spec is OVERRIDES and bad == "shop-xyz123":
        return
    with pytest.raises(InputError):
        Collection(reopen(), spec).get(bad)
    with pytest.raises(InputError):
        Collection(reopen(), spec).change(bad, lambda now: now)


def test_an_id_nobody_wrote_is_unknown(reopen: Open) -> None:
    """Where nothing stands for it."""
    with pytest.raises(InputError, match="there is no suggestion shop-000000"):
        Collection(reopen(), SUGGESTIONS).get("shop-000000")
    assert Collection(reopen(), SUGGESTIONS).find("shop-000000") is None


def test_a_default_stands_for_what_is_not_there_and_is_not_written(reopen: Open) -> None:
    """Overrides survive a restart, who set what and when too; what is taken back is gone."""
    assert Collection(reopen(), OVERRIDES).by_id() == {}
    assert Collection(reopen(), OVERRIDES).get("shop") == SessionOverride()
    slow = SessionOverride(every=EveryOverride(value=timedelta(hours=2), by=BY_ANA))
    Collection(reopen(), OVERRIDES).change("shop", lambda _: slow)
    Collection(reopen(), OVERRIDES).change("api", lambda now: now.model_copy(update={"enabled": OFF.enabled}))
    assert Collection(reopen(), OVERRIDES).by_id() == {"shop": slow, "api": OFF}
    Collection(reopen(), OVERRIDES).change("api", lambda _: SessionOverride())
    assert Collection(reopen(), OVERRIDES).by_id() == {"shop": slow}


def test_wakes_stay_until_they_are_taken(reopen: Open) -> None:
    """All of them, each once, whoever left them, until a beat takes those of its session."""
    for wake in (Wake.AUTOMATION, Wake.AUTOMATION, Wake.ON_DEMAND):
        WakeBox(reopen()).drop("shop", wake)
    WakeBox(reopen()).drop("api", Wake.AUTOMATION)
    left = {"shop": frozenset({Wake.AUTOMATION, Wake.ON_DEMAND}), "api": frozenset({Wake.AUTOMATION})}
    assert WakeBox(reopen()).waiting() == left
    assert WakeBox(reopen()).waiting() == left
    assert WakeBox(reopen()).take("shop") == left["shop"]
    assert WakeBox(reopen()).take("shop") == frozenset()
    assert WakeBox(reopen()).waiting() == {"api": left["api"]}
    with pytest.raises(InputError):
        WakeBox(reopen()).drop("../x", Wake.AUTOMATION)


class TestOnDisk:
    """What the contracts cannot say because only files can be damaged, or read by people."""

    def test_the_file_has_the_keys_of_the_contract(self, tmp_path: Path) -> None:
        """Other programs read it."""
        of_files(tmp_path, SUGGESTIONS).add(a_suggestion().id, a_suggestion())
        document = json.loads((tmp_path / "suggestions" / f"{a_suggestion().id}.json").read_text())
        assert {"id", "to", "tier", "task", "from", "reason", "moves_from"} <= document.keys()
        assert (document["from"], document["status"], document["tier"]) == ("api", "open", "hourly")

    @pytest.mark.parametrize("content", ['{"id": "shop-0', "[]", '{"id": "shop-000000"}'])
    def test_a_damaged_file_is_set_aside_and_told(self, tmp_path: Path, content: str) -> None:
        """The others are read; nothing is dropped unseen."""
        damaged: list[str] = []
        suggestions = of_files(tmp_path, SUGGESTIONS, damaged)
        suggestions.add(a_suggestion().id, a_suggestion())
        path = tmp_path / "suggestions" / "shop-000000.json"
        path.write_text(content)
        assert suggestions.all() == [a_suggestion()]
        assert suggestions.all() == [a_suggestion()]
        assert damaged == [f"{path}.corrupt"]
        assert Path(damaged[0]).read_text() == content

    def test_a_file_under_another_name_is_none(self, tmp_path: Path) -> None:
        """A copy would be offered twice."""
        damaged: list[str] = []
        suggestions = of_files(tmp_path, SUGGESTIONS, damaged)
        suggestions.add(a_suggestion().id, a_suggestion())
        path = tmp_path / "suggestions" / f"{a_suggestion().id}.json"
        path.with_name("shop-123456.json").write_text(path.read_text())
        assert len(suggestions.all()) == 1
        assert len(damaged) == 1

    def test_a_refusing_disk_changes_nothing(self, tmp_path: Path) -> None:
        """Neither the file nor what is remembered of it."""
        suggestions = of_files(tmp_path, SUGGESTIONS)
        suggestions.add(a_suggestion().id, a_suggestion())
        block = tmp_path / "suggestions" / f".tmp-{a_suggestion().id}.json"
        block.mkdir()
        (block / "x").touch()
        with pytest.raises(StoreError):
            suggestions.change(a_suggestion().id, lambda now: now.evolve(reason="other"))
        assert suggestions.get(a_suggestion().id) == a_suggestion()
        assert suggestions.all() == [a_suggestion()]

    def test_what_another_process_decides_is_seen(self, tmp_path: Path) -> None:
        """And whoever comes second here is told."""
        suggestions = of_files(tmp_path, SUGGESTIONS)
        suggestions.add(a_suggestion().id, a_suggestion())
        assert suggestions.all()[0].is_waiting
        program = (
            "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
            "from bot.adapters.storage.files.file_documents import FileDocuments\n"
            "from bot.domain.suggestions import *\n"
            "from bot.ports.collections import Collection\n"
            "from bot.ports.feature_collections import ACKNOWLEDGEMENTS, SUGGESTIONS\n"
            "Collection(FileDocuments(Path(sys.argv[1])), SUGGESTIONS).change(sys.argv[2], lambda now: "
            "now.decided(SuggestionStatus.REJECTED, DecidedBy('terminal', 'ben'), datetime.now(UTC), 'noise'))"
        )
        done = fork_server.run("tests.program", program, str(tmp_path), a_suggestion().id, env=os.environ)
        assert done.returncode == 0, done.stderr
        assert suggestions.all()[0].decision_reason == "noise"
        with pytest.raises(Conflict, match="ben rejected"):
            suggestions.change(a_suggestion().id, lambda now: now.decided(SuggestionStatus.ACCEPTED, ANA, NOON, None))

    def test_what_is_no_wake_wakes_nobody(self, tmp_path: Path) -> None:
        """A stray file; a wake is an empty one."""
        box = WakeBox(FileDocuments(tmp_path))
        box.drop("shop", Wake.ON_DEMAND)
        (tmp_path / "wakes" / "shop.lunch").touch()
        (tmp_path / "wakes" / "README").touch()
        assert box.waiting() == {"shop": frozenset({Wake.ON_DEMAND})}
        assert (tmp_path / "wakes" / "shop.on_demand").read_bytes() == b""

    def test_a_stray_file_whose_name_is_no_id_is_no_value(self, tmp_path: Path) -> None:
        """Its content may be that of one; a thread of that name would end every tick, and the stop."""
        (tmp_path / "acknowledgements").mkdir()
        (tmp_path / "acknowledgements" / "copy of mine.json").write_text("{}")
        damaged: list[str] = []
        assert of_files(tmp_path, ACKNOWLEDGEMENTS, damaged).by_id() == {}
        assert damaged == []

    @pytest.mark.parametrize(
        "content", ['{"shop": {"every": {"value": 5}}}', '{"shop": 3}', '{"shop": 3, "api": 3}', '{"shop": ', "[]"]
    )
    def test_damaged_overrides_are_set_aside_and_told(self, tmp_path: Path, content: str) -> None:
        """triage.yml decides until somebody types again."""
        damaged: list[str] = []
        (tmp_path / "overrides.json").write_text(content)
        overrides = of_files(tmp_path, OVERRIDES, damaged)
        assert overrides.by_id() == {}
        assert overrides.by_id() == {}
        assert damaged == [str(tmp_path / "overrides.json.corrupt")]
        assert overrides.change("shop", lambda _: OFF) == OFF
        assert overrides.by_id() == {"shop": OFF}

    def test_what_another_process_overrides_is_seen(self, tmp_path: Path) -> None:
        """And two that write at once lose nothing."""
        mine = of_files(tmp_path, OVERRIDES)
        assert mine.by_id() == {}
        program = (
            "import sys; from pathlib import Path\n"
            "from bot.adapters.storage.files.file_documents import FileDocuments\n"
            "from bot.ports.collections import OVERRIDES, Collection\n"
            "for n in range(10): Collection(FileDocuments(Path(sys.argv[1])), OVERRIDES).change("
            "f's{n}', lambda o: type(o).model_validate_json(sys.argv[2]))"
        )
        other = fork_server.start("tests.program", program, str(tmp_path), OFF.model_dump_json(), env=os.environ)
        while other.poll() is None:
            of_files(tmp_path, OVERRIDES).change("s10", lambda _: OFF)
        assert other.returncode == 0
        assert set(mine.by_id()) == {f"s{n}" for n in range(11)}


def test_a_change_that_is_refused_goes_through_and_changes_nothing(reopen: Open) -> None:
    """Also as a Conflict, which is not taken for somebody who was faster."""
    stored = SingleDocument(reopen(), PAUSE)
    stored.update({"by": "ana"})

    def refuse(now: Mapping[str, Any]) -> Mapping[str, Any]:
        raise Conflict(f"{now['by']} decided already")

    with pytest.raises(Conflict, match="ana decided already"):
        stored.change(refuse)
    assert stored.read()["by"] == "ana"
