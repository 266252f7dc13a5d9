"""Which lines say the same thing again."""

from __future__ import annotations

from bot.intake.alert_parts import fingerprint, normalise
from tests.tables import each_row


@each_row(
    "one, other",
    [
        ("CPU is 91.2 on db-1", "CPU is 7 on db-1"),
        ("p99 = 340 ms", "p99 = 1,340.5 ms"),
        ("failed 3 times", "failed 17 times"),
        ("14:02:11 export hangs", "03:59 export hangs"),
        ("backup late since 2026-11-28T10:00:00Z", "backup late since 2026-11-29 11:30:00 UTC"),
        ("412 errors in checkout", "7 errors in checkout"),
        ("queue export: 512, lag", "queue export: 9, lag"),
        ("build #412 of shop", "build #413 of shop"),
        ("job 8f14e45f-ceea-467f-a0e6-c0ffee123456 hangs", "job 1b2d45f0-1111-467f-a0e6-c0ffee654321 hangs"),
        ("commit 1a2b3c4d broke", "commit 9f8e7d6c broke"),
        ("request 1234567 lost", "request 7654321 lost"),
        ("Disk Full", "disk full"),
    ],
)
def test_passing_values_are_left_out(one: str, other: str) -> None:
    """Times, counts, ids and measured values."""
    assert normalise(one) == normalise(other)


@each_row(
    "one, other",
    [
        ("shard 3 is slow", "shard 4 is slow"),
        ("HTTP 503 from cart", "HTTP 404 from cart"),
        ("PodRestarts orders-2", "PodRestarts orders-3"),
        ("down: 10.0.0.4:9100", "down: 10.0.0.5:9100"),
        ("down: 10.0.0.4:9100", "down: 10.0.0.4:9200"),
        ("https://a.example.com/v1/x fails", "https://a.example.com/v2/x fails"),
        ("worker1 hangs", "worker2 hangs"),
        ("release 2.4 fails", "release 2.5 fails"),
        ("cafe is full", "face is full"),
    ],
)
def test_names_stay(one: str, other: str) -> None:
    """Numbers in names, codes and addresses."""
    assert normalise(one) != normalise(other)


def test_a_normalised_line_stays_as_it_is() -> None:
    """Normalising again changes nothing."""
    for line in ("CPU of shard 3 is 91.2 at 14:02:11, p99 = 340 ms", "x - 12, 13 ms (14)", "a  , b: 3"):
        once = normalise(line)
        assert normalise(once) == once


def test_a_fingerprint_depends_on_every_part() -> None:
    """And on their order."""
    assert len({fingerprint(parts) for parts in (["a", "b"], ["b", "a"], ["a"], ["ab"])}) == 4
