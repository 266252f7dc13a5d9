"""The contract of the ports SuggestionStore and DecisionLog; below them, what only the disk can do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.storage.files.decision_log import DecisionLogFile
from bot.adapters.storage.files.suggestion_files import SuggestionFiles
from bot.domain.sharing.suggestions import DecidedBy, Suggestion, SuggestionStatus, suggestion_id
from bot.domain.tiers import Tier
from bot.errors import Conflict, InputError, StoreError
from bot.ports import DecisionLog, SuggestionStore
from tests.fakes import MemoryDecisionLog, MemorySuggestionStore

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANA = DecidedBy("U0ANA", "ana")


def undamaged(path: Path) -> None:
    raise AssertionError(f"{path} was set aside")


def a_suggestion(to: str = "shop", task: str = "Open incidents", **changes: object) -> Suggestion:
    given = {"tier": Tier.HOURLY, "from_": "api", "reason": "api makes this check.", "at": NOON, **changes}
    return Suggestion(id=suggestion_id(to, task), to=to, task=task, **given)  # type: ignore[arg-type]


@pytest.fixture(params=["files", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], SuggestionStore]:
    """Open the same store again and again, as a process that restarts does."""
    if request.param == "files":
        return lambda: SuggestionFiles(tmp_path, on_damage=undamaged)
    texts: dict[str, str] = {}
    return lambda: MemorySuggestionStore(texts)


@pytest.fixture(params=["file", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Callable[[], DecisionLog], Callable[[], str]]:
    """Open the same log again and again, and read it."""
    if request.param == "file":
        return lambda: DecisionLogFile(tmp_path), (tmp_path / "decisions.md").read_text
    lines: list[str] = []
    return lambda: MemoryDecisionLog(lines), lambda: "\n".join(f"- {line}" for line in lines)


def test_what_was_offered_survives_a_restart_in_order(reopen: Callable[[], SuggestionStore]) -> None:
    """Every field of it, the oldest first."""
    late = a_suggestion(
        task="Later", at=NOON + timedelta(hours=1), quarantine="odd", status=SuggestionStatus.QUARANTINED
    )
    assert reopen().all() == () or reopen().all() == []
    assert reopen().add(late)
    assert reopen().add(a_suggestion())
    assert list(reopen().all()) == [a_suggestion(), late]
    assert reopen().get(late.id) == late


def test_an_id_is_taken_once(reopen: Callable[[], SuggestionStore]) -> None:
    """The second offer of a task changes nothing, whatever became of the first."""
    assert reopen().add(a_suggestion())
    assert not reopen().add(a_suggestion(reason="again"))
    assert reopen().get(a_suggestion().id).reason == "api makes this check."


def test_of_many_who_decide_at_once_one_does(reopen: Callable[[], SuggestionStore]) -> None:
    """The others are told who was first."""
    store, losers = reopen(), []
    store.add(a_suggestion())

    def decide(name: str) -> None:
        try:
            store.change(
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
    winner = reopen().get(a_suggestion().id).decided_by_name
    assert len(losers) == 7
    assert all(f"{winner} accepted" in text for text in losers)


@pytest.mark.parametrize("bad", ["", "..", "a/b-123456", "shop", "shop-xyz123", "shop-123456\n", "shop-1234567"])
def test_an_id_that_is_no_file_name_is_refused(reopen: Callable[[], SuggestionStore], bad: str) -> None:
    """Whatever is done with it; one nobody was offered is unknown."""
    with pytest.raises(InputError):
        reopen().get(bad)
    with pytest.raises(InputError):
        reopen().change(bad, lambda now: now)
    with pytest.raises(InputError):
        reopen().get("shop-000000")


def test_a_decision_stands_once_on_one_line(log: tuple[Callable[[], DecisionLog], Callable[[], str]]) -> None:
    """However often it is written down, and whatever is in it."""
    reopen, read = log
    reopen().note("accepted [a](x)", "accepted [a](x)\n- forged line\r\n# forged heading")
    reopen().note("accepted [a](x)", "accepted [a](x) again")
    reopen().note("rejected [b](y)", "rejected [b](y)")
    lines = [line for line in read().splitlines() if line.startswith("- ")]
    assert lines == ["- accepted [a](x) - forged line # forged heading", "- rejected [b](y)"]


class TestOnDisk:
    """What the contracts cannot say because only files can be damaged."""

    def test_the_file_has_the_keys_of_the_contract(self, tmp_path: Path) -> None:
        """Other programs read it."""
        SuggestionFiles(tmp_path, on_damage=undamaged).add(a_suggestion())
        document = json.loads((tmp_path / "suggestions" / f"{a_suggestion().id}.json").read_text())
        assert list(document)[:6] == ["id", "to", "tier", "task", "from", "reason"]
        assert (document["from"], document["status"], document["tier"]) == ("api", "open", "hourly")

    @pytest.mark.parametrize("content", ['{"id": "shop-0', "[]", '{"id": "shop-000000"}'])
    def test_a_damaged_file_is_set_aside_and_told(self, tmp_path: Path, content: str) -> None:
        """The others are read; nothing is dropped unseen."""
        damaged: list[Path] = []
        store = SuggestionFiles(tmp_path, on_damage=damaged.append)
        store.add(a_suggestion())
        (tmp_path / "suggestions" / "shop-000000.json").write_text(content)
        assert list(store.all()) == [a_suggestion()]
        assert list(store.all()) == [a_suggestion()]
        assert [path.name for path in damaged] == ["shop-000000.json.corrupt"]

    def test_a_file_under_another_name_is_none(self, tmp_path: Path) -> None:
        """A copy would be offered twice."""
        damaged: list[Path] = []
        store = SuggestionFiles(tmp_path, on_damage=damaged.append)
        store.add(a_suggestion())
        path = tmp_path / "suggestions" / f"{a_suggestion().id}.json"
        path.with_name("shop-123456.json").write_text(path.read_text())
        assert len(store.all()) == 1
        assert len(damaged) == 1

    def test_a_refusing_disk_changes_nothing(self, tmp_path: Path) -> None:
        """Neither the file nor what is remembered of it."""
        store = SuggestionFiles(tmp_path, on_damage=undamaged)
        store.add(a_suggestion())
        block = tmp_path / "suggestions" / f".tmp-{a_suggestion().id}.json"
        block.mkdir()
        (block / "x").touch()
        with pytest.raises(StoreError):
            store.change(a_suggestion().id, lambda now: now.evolve(reason="other"))
        assert store.get(a_suggestion().id) == a_suggestion()
        assert list(store.all()) == [a_suggestion()]

    def test_what_another_process_decides_is_seen(self, tmp_path: Path) -> None:
        """And whoever comes second here is told."""
        store = SuggestionFiles(tmp_path, on_damage=undamaged)
        store.add(a_suggestion())
        assert store.all()[0].is_waiting
        program = (
            "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
            "from bot.adapters.storage.files.suggestion_files import SuggestionFiles as F;"
            " from bot.domain.sharing.suggestions import *\n"
            "F(Path(sys.argv[1]), on_damage=print).change(sys.argv[2], lambda now: "
            "now.decided(SuggestionStatus.REJECTED, DecidedBy('terminal', 'ben'), datetime.now(UTC), 'noise'))"
        )
        subprocess.run([sys.executable, "-c", program, str(tmp_path), a_suggestion().id], check=True)
        assert store.all()[0].decision_reason == "noise"
        with pytest.raises(Conflict, match="ben rejected"):
            store.change(a_suggestion().id, lambda now: now.decided(SuggestionStatus.ACCEPTED, ANA, NOON, None))

    def test_a_torn_last_line_stays_alone(self, tmp_path: Path) -> None:
        """The next decision begins a line of its own; what stood there is kept."""
        path = tmp_path / "decisions.md"
        path.write_text("# Decisions\n\n- half a li")
        DecisionLogFile(tmp_path).note("m", "m one")
        assert path.read_text() == "# Decisions\n\n- half a li\n- m one\n"
