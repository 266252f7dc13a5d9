"""One room, shared among several."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blocks.text.message_size import fair_shares


@given(wanted=st.lists(st.integers(0, 1_000), max_size=12), room=st.integers(0, 3_000))
def test_shares_are_fair(wanted: list[int], room: int) -> None:
    """No more than there is, nobody more than wanted, and whoever goes short has no less than anybody but one."""
    shares = fair_shares(wanted, room)
    assert sum(shares) <= room
    assert all(share <= want for share, want in zip(shares, wanted, strict=True))
    short = [share for share, want in zip(shares, wanted, strict=True) if share < want]
    assert all(share >= max(shares) - 1 for share in short)
    if short:
        assert sum(shares) > room - len(wanted)
