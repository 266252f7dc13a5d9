"""A message's blocks together stay under Slack's limit, and what was left out is said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement
from slack_sdk.models.views import View

from blocks.text.message_size import SHORT_CHARS, fair_shares, fit_message, shortened_blocks
from blocks.text.outgoing_text import context, section
from blocks.text.splitting import MESSAGE_BLOCK_CHARS, MESSAGE_BLOCKS, chars_of
from tests.blocks.limits import as_slack_takes_it, shown
from tests.gallery.book import SCENES
from tests.gallery.scene import Scene
from tests.tables import each_row

UNITS = st.sampled_from(["word ", "🧵", "&amp;", "```\nx\n```\n"])
TEXTS = st.builds(lambda unit, size: unit * (1 + size // len(unit)), UNITS, st.integers(min_value=1, max_value=2_900))
VIEWS = [scene for scene in SCENES if not isinstance(scene.shows, View)]


def buttons() -> Block:
    """Return what must stay at a message's end."""
    return ActionsBlock(elements=[ButtonElement(text="Go", action_id="go", value="1")])


@given(st.lists(TEXTS, min_size=1, max_size=80))
def test_any_blocks_are_made_to_fit(texts: list[str]) -> None:
    """The first block and the buttons stay, whatever else does not."""
    first = section(texts[0], block_id="mark")
    fitted = fit_message([first, *(section(text) if len(text) % 2 else context(text) for text in texts), buttons()])
    found = as_slack_takes_it(fitted)
    assert (found[0]["block_id"], found[-1]["type"]) == ("mark", "actions")


def test_what_fits_is_not_touched() -> None:
    """The very same blocks."""
    blocks = [section("one"), context("two")]
    assert fit_message(blocks) == blocks


def test_the_longest_texts_are_shortened_first_and_say_so() -> None:
    """A short line beside them stays whole."""
    blocks = [section("word " * 600), section("short"), *(section("other " * 500) for _ in range(4))]
    said = shown(fit_message(blocks))
    assert "\nshort\n" in said
    assert said.count("… (truncated)") == 5


def test_what_is_kept_stays_whole() -> None:
    """A reply is posted as it is shown, or not shown."""
    kept = [section("reply " * 490)]
    fitted = fit_message([section("head"), *kept, *(section("word " * 600) for _ in range(5))], kept=kept)
    assert kept[0] in fitted
    assert chars_of(fitted) <= MESSAGE_BLOCK_CHARS


def test_blocks_without_room_are_counted() -> None:
    """Above the buttons."""
    fitted = fit_message([section(f"line {n}") for n in range(70)] + [buttons()])
    assert len(fitted) == MESSAGE_BLOCKS
    assert "22 more parts left out" in shown(fitted)


def test_a_refused_message_is_sent_shorter_and_then_as_one_line() -> None:
    """Both with the first block's id, by which it is found again."""
    short, bare = shortened_blocks([section("a " * 1_000, block_id="mark"), section("b " * 1_400)], "invalid_blocks")
    assert chars_of(short) <= SHORT_CHARS + 200
    assert "Slack did not take the whole message (invalid_blocks)" in shown(short)
    assert [as_slack_takes_it(each)[0]["block_id"] for each in (short, bare)] == ["mark", "mark"]


@each_row("scene", VIEWS)
def test_every_view_of_the_gallery_fits(scene: Scene) -> None:
    """Messages of all kinds, each in every state that the gallery shows."""
    assert not isinstance(scene.shows, View)
    as_slack_takes_it(scene.shows)


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
