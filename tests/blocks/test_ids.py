"""The codec of button values: what we wrote comes back, and nothing else gets in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks import ids
from bot.casework.clicks import DraftClick
from bot.errors import InputError
from tests.tables import each_row

_SLACK_ID = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=1, max_size=14)
_CLICKS = st.builds(
    DraftClick,
    thread_id=st.builds("{}.{}.{}.{}".format, _SLACK_ID, _SLACK_ID, st.integers(0, 10**10), st.integers(0, 999_999)),
    version=st.integers(0, 999_999),
    draft_hash=st.just("") | st.text("0123456789abcdef", min_size=16, max_size=16),
    seen=st.integers(0, ids.MAX_SEEN),
)
_ACTIONS = st.sampled_from([ids.REINVESTIGATE, ids.ADD_CONTEXT, ids.SHOW_EVIDENCE])

GOOD = "T1.C1.1795165200.000100|3|00112233aabbccdd|1"


@given(_CLICKS)
def test_every_click_comes_back(click: DraftClick) -> None:
    """Property: decode is the inverse of encode."""
    assert ids.CLICK.decode(ids.CLICK.encode(click)) == click


@given(_CLICKS, st.booleans())
def test_every_dialogue_comes_back(click: DraftClick, from_home: bool) -> None:
    """Property: its metadata names the click and the place, and is no button value if the place is App Home."""
    value = ids.encode_dialogue(click, from_home=from_home)
    assert ids.decode_dialogue(value) == click
    assert ids.is_from_home({"view": {"type": "modal", "private_metadata": value}}) == from_home


@each_row(
    "body, from_home",
    [
        ({"view": {"type": "home"}}, True),
        ({"view": {"type": "modal"}}, False),
        ({"view": {}}, False),
        ({"channel": {"id": "C0OPS"}}, False),
        ({"view": "home", "channel": {"id": "C0OPS"}}, False),
        ({"channel": {"id": ""}}, True),
        ({"channel": None}, True),
        ({}, True),
    ],
)
def test_a_click_in_no_channel_was_made_on_the_page(body: dict[str, object], from_home: bool) -> None:
    """And can be answered nowhere else; a body is read as hostile."""
    assert ids.is_from_home(body) == from_home


@each_row(
    "value, thread_id",
    [
        (GOOD, "T1.C1.1795165200.000100"),
        (f"{ids.ESCALATE}!{GOOD}", "T1.C1.1795165200.000100"),
        (f"{GOOD}|home", "T1.C1.1795165200.000100"),
        ("shop|daily|", None),
        ("shop", None),
        (["x"], None),
        (None, None),
    ],
)
def test_a_value_names_its_thread(value: object, thread_id: str | None) -> None:
    """Or none, whatever it holds."""
    assert ids.clicked_thread(value) == thread_id


@given(_ACTIONS, _CLICKS)
def test_every_option_comes_back_and_fits_the_menu(action: str, click: DraftClick) -> None:
    """Property: an overflow option holds 150 characters, and that is enough for every click."""
    value = ids.encode_option(action, click)
    assert len(value) <= 150
    chosen, rest = ids.split_option(value)
    assert (chosen, ids.CLICK.decode(rest)) == (action, click)


@each_row(
    "value",
    [
        None,
        5,
        "",
        [],
        {"thread_id": "x"},
        "T1.C1.1795165200.000100",
        GOOD + "|1",
        GOOD + "\n",
        " " + GOOD,
        GOOD.replace("|3|", "|-3|"),
        GOOD.replace("|3|", "|three|"),
        GOOD.replace("|3|", "|1e3|"),
        GOOD.replace("|3|", "|03|"),
        GOOD + "|t0",
        GOOD.replace("|3|", "|9999999|"),
        GOOD.replace("00112233aabbccdd", "0011"),
        GOOD.replace("00112233aabbccdd", "00112233AABBCCDD"),
        GOOD.replace("00112233aabbccdd", "00112233aabbccdg"),
        GOOD.replace("T1.C1.1795165200.000100", "../../etc/passwd"),
        GOOD.replace("T1.C1", "T1.C1/.."),
        GOOD.replace("T1.C1", "T1.*"),
        GOOD.replace("T1.C1", "T1.C\u0661"),
        "x" * 5_000,
    ],
)
def test_a_value_we_did_not_write_is_refused(value: object) -> None:
    """Every hostile value is InputError, as a button's and as an option's."""
    with pytest.raises(InputError):
        ids.CLICK.decode(value)
    assert ids.split_option(f"{ids.REINVESTIGATE}!{value}") == (ids.REINVESTIGATE, str(value))


@given(st.text(max_size=80))
def test_no_text_decodes_to_something_that_encodes_differently(text: str) -> None:
    """Property: there is one spelling of every click, digits of other scripts included."""
    try:
        click = ids.CLICK.decode(text)
    except InputError:
        return
    assert ids.CLICK.encode(click) == text


def test_every_id_is_its_own() -> None:
    """Two actions under one id would answer each other's clicks."""
    names = [name for name in vars(ids) if name.isupper() and isinstance(vars(ids)[name], str)]
    values = [vars(ids)[name] for name in names]
    assert len(values) > 10
    assert len(set(values)) == len(values)
