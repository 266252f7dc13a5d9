"""A playbook is read as people write it, and written back byte for byte."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from bot.domain.playbook import Playbook, add, parse
from bot.domain.playbook_entries import PlaybookSection, is_marked_urgent
from bot.domain.tiers import Stamps, Tier
from tests.playbooks import FILES, template
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def texts(playbook: Playbook, tier: Tier) -> list[str]:
    """What the tasks of one tier say."""
    return [task.text for task in playbook.tasks(tier)]


@given(FILES)
@example("\ufeff# Quick\r\n- a\r- b\n\x00\x0b\x0c\x1c\x85\u2028no end")
@example("- [ ] task\r\n" * 5000)
@example("\r\r\n\n\r")
@example("\ud800")
def test_a_playbook_nobody_edited_is_written_back_byte_for_byte(text: str) -> None:
    """Property: whatever the text."""
    playbook = parse(text)
    assert playbook.render() == text
    assert isinstance(playbook.stamps, Stamps | None)
    assert playbook.is_effectively_empty in (True, False)


@given(FILES)
def test_entries_are_in_order_and_never_share_a_line(text: str) -> None:
    """Property: spans are sorted, disjoint and inside the file; every entry says something."""
    playbook = parse(text)
    at = 0
    for entry in playbook.entries:
        assert at <= entry.start < entry.end <= len(playbook.lines)
        assert entry.text
        at = entry.end


def test_the_template_holds_the_tasks_of_the_contract() -> None:
    """Its lists, for both code hosts; nothing is stamped, no flag is up."""
    worker = template("worker")
    assert [len(worker.tasks(tier)) for tier in Tier] == [2, 6, 8]
    assert [text.split(":")[0] for text in texts(worker, Tier.HOURLY)] == [
        "Fetch",
        "New commits on main",
        "Open PRs and their CI",
        "Open merge requests",
        "Pipelines of open merge requests",
        "Merge conflicts with main",
    ]
    assert (worker.stamps, worker.flags, worker.notes) == (Stamps(), (), ())
    assert not worker.is_effectively_empty
    assert not worker.is_freeform


@each_row(
    "text",
    [
        "",
        "\n \t\r\n",
        "# Heartbeat\n\n## Quick Tasks\n",
        "- [ ]\n* \n+ [x]\n-\n1.\n2) [X]\n-[ ]\n- []\n  - [ ]\n",
        "<!-- - [ ] later -->\n",
        "<!--\n# Quick\n- [ ] later\n-->\n",
        "```\n```\n",
        "```markdown\n# Heartbeat\n```\n",
        "~~~ md\n# Heartbeat\n\n## Quick Tasks\n- [ ]\n~~~\n",
        "# Heartbeat\n````Markdown\n## Notes\n````\n",
        "---\n***\n",
        "## Urgent Flags\n\n- (none)\n\n## Notes\n- (None)\n- look\n",
        "No tasks right now.",
        "```\nlook\n```\n",
        "---\nevery: 30m\ntasks:\n  - look\n---\n# Heartbeat\n",
        "- [docs](https://example.com)\n- <https://example.com>, https://example.com/x\n- [![ci](x.svg)](y)\n- [](x)\n",
        "| what | who |\n|---|---|\n| mail | `./mail check` |\n",
        "- ``\n- —\n",
    ],
)
def test_a_file_without_anything_to_do_is_effectively_empty(text: str) -> None:
    """Headings, stamps, blanks, empty items, comments, fences, front matter, links, tables without commands, prose."""
    playbook = parse(text)
    assert playbook.is_effectively_empty
    assert [playbook.tasks(tier) for tier in Tier] == [(), (), ()]


@each_row(
    "text",
    [
        "- look",
        "- [ ] look",
        "- [x] look",
        "- [ ]\n  - look\n",
        "```markdown\n# Heartbeat\n- look\n```\n",
        "<!-- never closed\n- look\n",
        "```\n- look\n```sh\nx\n```\n",
        "# Urgent checks of payments\n- look\n",
        "## Urgent Flags\n- look\n",
        "## Urgent Flags\nThe shop is down.\n",
    ],
)
def test_a_file_with_a_task_or_a_flag_is_not(text: str) -> None:
    """A ticked task too: tasks recur whatever their box says."""
    assert not parse(text).is_effectively_empty


def test_headings_match_by_their_first_word_in_any_case_and_level() -> None:
    """What follows the word, marks before it and closing hashes make no difference."""
    playbook = parse(
        "# QUICK\n- a\n###### hourly tasks (60 min) ##\n- b\n  ##\t**Daily**\n- c\n## ⏱ Quick again\n- d\n"
    )
    assert [texts(playbook, tier) for tier in Tier] == [["a", "d"], ["b"], ["c"]]


@each_row("title", ["Urgent (notify immediately)", "Urgent", "Urgent flagship store", "Non-urgent flags", "Urgently"])
def test_only_urgent_flags_are_flags(title: str) -> None:
    """A list of what would be urgent is a list of tasks, as it was meant."""
    assert texts(parse(f"# Checks\n## {title}\n- production is down\n"), Tier.QUICK) == ["production is down"]
    assert parse("## 🚨 **URGENT  flags** (read each time)\n- f\n").flags


def test_headings_and_tasks_in_code_and_comments_are_none() -> None:
    """A fence, a comment over lines, one in a task's own line."""
    playbook = parse(
        "# Quick\n- [ ] run <!-- twice --> it\n  ```\n  # Hourly\n  - [ ] x\n  ```\n<!--\n# Daily\n- y\n-->\n- [ ] z\n"
    )
    assert texts(playbook, Tier.QUICK) == ["run  it", "z"]
    assert playbook.tasks(Tier.QUICK)[0].details == ("```", "# Hourly", "- [ ] x", "```")
    assert [playbook.tasks(tier) for tier in (Tier.HOURLY, Tier.DAILY)] == [(), ()]


@each_row("opening", ["<!-- oops", "```", "~~~~ sh", "- [ ] see <!-- oops"])
def test_what_is_opened_and_never_closed_hides_no_task(opening: str) -> None:
    """A slip of the keyboard does not silence the checks below it."""
    playbook = parse(f"# Quick\n{opening}\n- [ ] look\n## Hourly\n- [ ] fetch\n")
    assert "look" in texts(playbook, Tier.QUICK)
    assert texts(playbook, Tier.HOURLY) == ["fetch"]


def test_a_task_holds_its_sub_items_continuation_lines_and_code() -> None:
    """And says where it stands."""
    playbook = parse("# Quick\n\n1. [X] first\n   - sub\n\n   more\nlazy\n2. second\n\nplain\n")
    first, second = playbook.tasks(Tier.QUICK)
    assert (first.text, first.checked, first.start, first.end) == ("first", True, 2, 7)
    assert first.details == ("   - sub", "   more", "lazy")
    assert (second.text, second.checked, second.details) == ("second", None, ())


def test_a_file_without_tiers_is_taken_whole_as_quick_tasks() -> None:
    """Flags, notes and stamps keep their meaning; prose is none."""
    playbook = parse(
        "# Mine\nLook at CI,\nthen at mail.\n\n- [ ] disk\n\n```\ndf -h\n```\n## Notes\n- n\n## Urgent Flags\n- f\n"
    )
    assert playbook.is_freeform
    assert texts(playbook, Tier.QUICK) == ["disk"]
    assert playbook.tasks(Tier.QUICK)[0].details == ("```", "df -h", "```")
    assert [playbook.tasks(tier) for tier in (Tier.HOURLY, Tier.DAILY)] == [(), ()]
    assert ([note.text for note in playbook.notes], [flag.text for flag in playbook.flags]) == (["n"], ["f"])


def test_a_flag_is_up_until_it_is_ticked_off() -> None:
    """However it was written."""
    playbook = parse("## Urgent Flags\n- [ ] disk full\n- [x] prod down\n- key leaked\n\nbuild red\n")
    assert [flag.text for flag in playbook.flags] == ["disk full", "key leaked", "build red"]


@each_row(
    "line, stamp",
    [
        ("- Last quick: 2026-03-01T12:00:00Z", NOON),
        ("* **Last Quick:** `2026-03-01T13:00:00+01:00` <!-- code -->", NOON),
        ("- Last quick: (never)", None),
        ("- Last quick: yesterday", None),
        ("- Last quick: 2026-03-01T12:00:00", None),
        ("- Last quick: 0001-01-01T00:00:00+14:00", None),
        ("```\n- Last quick: 2026-03-01T12:00:00Z\n```", None),
    ],
)
def test_a_stamp_is_a_time_with_a_zone_or_nothing(line: str, stamp: datetime | None) -> None:
    """Nothing makes the tier due."""
    assert parse(f"## Timestamps\n{line}\n").stamps == Stamps(quick=stamp)


def test_stamps_stand_in_the_timestamps_section_only() -> None:
    """A note may speak of them."""
    playbook = parse("## Notes\n- Last quick: 2026-03-01T12:00:00Z\n")
    assert playbook.stamps is None


def test_stamping_replaces_the_times_and_nothing_else() -> None:
    """Each line keeps its own end, its marker and what follows the time."""
    before = (
        "\ufeff## Timestamps\r\n* Last quick: (never)  \r- last HOURLY:\t2020-01-01T00:00:00Z <!-- x -->\n- Last daily:"
    )
    playbook = parse(before).with_stamps(tuple(Tier), NOON + timedelta(seconds=0.9))
    assert playbook.render() == (
        "\ufeff## Timestamps\r\n* Last quick: 2026-03-01T12:00:00Z  \r"
        "- last HOURLY: 2026-03-01T12:00:00Z <!-- x -->\n- Last daily: 2026-03-01T12:00:00Z"
    )
    assert playbook.stamps == Stamps(NOON, NOON, NOON)


def test_a_tier_without_a_line_gets_one_below_the_others() -> None:
    """A file without the section gets nothing: its stamps are kept elsewhere."""
    playbook = parse("# Timestamps\r\n- Last quick: (never)\r\n\r\n# Quick\r\n- a\r\n")
    assert playbook.with_stamps((Tier.QUICK, Tier.HOURLY), NOON).render() == (
        "# Timestamps\r\n- Last quick: 2026-03-01T12:00:00Z\r\n- Last hourly: 2026-03-01T12:00:00Z\r\n"
        "\r\n# Quick\r\n- a\r\n"
    )
    assert parse("# Timestamps").with_stamps((Tier.DAILY,), NOON).render() == (
        "# Timestamps\n- Last daily: 2026-03-01T12:00:00Z"
    )
    assert parse("- a\n").with_stamps((Tier.QUICK,), NOON).render() == "- a\n"


@given(FILES, st.sets(st.sampled_from(Tier)))
def test_stamps_that_were_written_are_read_back(text: str, tiers: set[Tier]) -> None:
    """Property: in any file with the section; the other stamps and every task stay as they were."""
    before = parse(text)
    after = before.with_stamps(tiers, NOON)
    if before.stamps is None:
        assert after == before
        return
    assert after.stamps == replace(before.stamps, **dict.fromkeys(tiers, NOON))
    assert [texts(after, tier) for tier in Tier] == [texts(before, tier) for tier in Tier]
    assert after.with_stamps(tiers, NOON) == after


def test_a_box_says_how_the_last_time_went() -> None:
    """Only the mark changes; a box that says so already, in either case, is left alone."""
    playbook = parse("# Quick\r\n-\t[ ]  a \r- [X] b\n- [] c\n- d")
    tasks = playbook.tasks(Tier.QUICK)
    for task in tasks:
        playbook = playbook.with_boxes([(task, True)])
    assert playbook.render() == "# Quick\r\n-\t[x]  a \r- [X] b\n- [x] c\n- d"
    for task in tasks:
        playbook = playbook.with_boxes([(task, False)])
    assert playbook.render() == "# Quick\r\n-\t[ ]  a \r- [ ] b\n- [ ] c\n- d"


def test_a_task_is_found_again_after_somebody_else_edited_the_file() -> None:
    """By its section and what it says; one that is gone changes nothing."""
    task = parse("# Quick\n- [ ] a\n").tasks(Tier.QUICK)[0]
    edited = parse("# Quick\n- [ ] new\n- [ ] A\n# Hourly\n- [ ] a\n")
    assert edited.with_boxes([(task, True)]).render() == "# Quick\n- [ ] new\n- [x] A\n# Hourly\n- [ ] a\n"
    gone = parse("# Quick\n- [ ] b\n")
    assert gone.with_boxes([(task, True)]) == gone


@given(FILES, st.booleans())
def test_checking_changes_boxes_only(text: str, ok: bool) -> None:
    """Property: after checking every task, each box says so and nothing else differs; one behind a comment is left."""
    before = after = parse(text)
    tasks = [task for tier in Tier for task in before.tasks(tier)]
    for task in tasks:
        after = after.with_boxes([(task, ok)])
    assert len(after.lines) == len(before.lines)
    for tier in Tier:
        assert texts(after, tier) == texts(before, tier)
        boxes = [task.checked for task in after.tasks(tier) if "-->" not in after.lines[task.start]]
        assert set(boxes) <= {None, ok}


@each_row("nothing", ["(none)", "- (none)", "*(none right now)*", "- [ ] (none)"])
@each_row("below", ["The certificate ends on Friday", "  - The certificate ends on Friday"])
def test_what_stands_below_a_placeholder_is_said(nothing: str, below: str) -> None:
    """With no blank line between, too; only the rest of a placeholder's own parenthesis belongs to it."""
    playbook = parse(f"## Urgent Flags\n{nothing}\n{below}\n")
    assert [flag.text for flag in playbook.flags] == ["The certificate ends on Friday"]
    assert parse("## Urgent Flags\n(none, and\nnothing soon)\n").flags == ()


@each_row("said", ["(none)", "- (None)", "_(none right now)_", "- [ ] (NONE)"])
def test_one_placeholder_says_that_a_list_is_empty_and_makes_room(said: str) -> None:
    """Whatever follows it on its line; any other words are a flag."""
    playbook = parse(f"## Urgent Flags\n\n{said}\n\n## Quick\n\n- [ ] a\n")
    assert not playbook.flags
    assert [flag.text for flag in add(playbook, PlaybookSection.FLAGS, "Fire").flags] == ["Fire"]
    assert "none" not in add(playbook, PlaybookSection.FLAGS, "Fire").render().casefold()
    assert parse("## Urgent Flags\n\n- None of the shops answers\n").flags


@each_row("said", ["! Kasse", "！夜間バッチ", "[ ]! Watchdog", "[x] !! Gateway"])
def test_the_mark_of_a_page_is_read_wherever_it_is_written(said: str) -> None:
    """In full width, or close to its box."""
    assert is_marked_urgent(parse(f"## Quick\n- {said}\n").tasks(Tier.QUICK)[0].text)
