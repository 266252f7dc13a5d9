"""Remarks beside the token, in three of the languages: what tells of trouble and what does not.

The remarks are in tests/domain/remarks, written before the words; a line that begins with # names the kind of those
below it.
"""

from __future__ import annotations

from pathlib import Path

from bot.domain.ack import read_ack
from bot.domain.text.alarm_words import has_alarm_word
from tests.tables import each_row

REMARKS = Path(__file__).parents[1] / "remarks"
LANGUAGES = ("de", "en", "ja")


def remarks(language: str, kind: str) -> list[str]:
    """Return the remarks of one kind in one language."""
    found: list[str] = []
    wanted = False
    for line in (REMARKS / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            wanted = line == f"# {kind}"
        elif line and wanted:
            found.append(line)
    return found


@each_row("language", LANGUAGES)
def test_a_remark_of_trouble_is_delivered(language: str) -> None:
    """Loss, failure, inability, danger, a count above zero, an open request, health that is denied."""
    said = remarks(language, "trouble")
    assert len(said) >= 60
    assert [remark for remark in said if read_ack(f"{remark} HEARTBEAT_OK").kind != "alert"] == []
    assert [remark for remark in said if read_ack(f"HEARTBEAT_OK {remark}").kind != "alert"] == []


@each_row("language", LANGUAGES)
def test_a_harmless_remark_is_not(language: str) -> None:
    """Trouble that is denied, counted as none or over."""
    said = remarks(language, "harmless")
    assert len(said) >= 60
    assert [remark for remark in said if read_ack(f"{remark} HEARTBEAT_OK").kind != "ok-token"] == []


@each_row(
    "trouble, harmless",
    [
        ("5 errors", "0 errors"),
        ("errors rose from 0 to 5", "errors dropped from 5 to 0"),
        ("nothing but errors", "nothing but green builds"),
        ("no errors in staging, but prod fails", "no errors in staging, prod neither"),
        ("the outage is not resolved", "the outage is resolved"),
        ("the build is failing again", "the failing build passes again"),
        ("the error goes on, nobody fixed it", "no errors, failures or warnings"),
        ("Traffic dropped to 0", "Latency dropped to 40 ms"),
        ("deleted the orders table", "deleted 3 stale branches"),
        ("no backup", "no new backup needed"),
        ("no orders since midnight", "no commits since midnight"),
        ("disk at 97 %", "disk at 97 % free"),
        ("the password is visible in the log", "no password is visible in the log"),
        ("NotReady", "Ready"),
        ("the outage is fixed, the database is corrupted", "the outage, caused by a full disk, is fixed"),
        ("fixed the login, which broke prod", "fixed the crash, the leak and the timeout"),
        ("the crash is fixed and the database is corrupted", "the crash and the leak are fixed"),
        ("prod crashed, the test is fixed", "Kunden waren ausgesperrt, inzwischen behoben"),
        ("resolved: 3 alerts, failed: 2 backups", "resolved: crash, leak, timeout"),
        ("the bug is fixed: it corrupted 3 databases", "bug: fixed"),
        ("the replica is 3 hours behind", "the service is behind a proxy"),
        ("the last backup is 4 days old", "backups are kept for 30 days"),
        ("the cron did not fire", "the cron fired"),
        ("latensi naik", "latensi turun"),
        ("c\u200bannot log in", "can log in"),
    ],
)
def test_what_a_word_says_depends_on_those_around_it(trouble: str, harmless: str) -> None:
    """Negation, counts, what is over, what it is about."""
    assert has_alarm_word(trouble)
    assert not has_alarm_word(harmless)


@each_row(
    "said",
    [
        *("{} errors", "errors: {}", "{} Fehler", "{} errores", "{} erros", "{} erreurs", "{} kesalahan"),
        *("エラーが{}件", "失敗は{}件です", "キューのエラー件数{}", "{}个错误", "错误数为{}"),
    ],
)
def test_only_a_count_of_none_is_harmless(said: str) -> None:
    """A zero at the end of a number is no zero."""
    assert not has_alarm_word(said.format(0))
    assert [count for count in (1, 10, 40, 100, 205, 1000, "0.5") if not has_alarm_word(said.format(count))] == []
