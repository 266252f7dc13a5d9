"""What follows a posted reply: the buttons under it, what approvers are told of one that did not help, the week."""

from __future__ import annotations

from datetime import timedelta

from blocks.cards.reply_cards import feedback_buttons, not_helpful_blocks, reply_messages
from blocks.views.report_views import review_blocks
from bot.casework.reports.classifier_samples import ErrorRate
from bot.casework.reports.measures import Window
from bot.casework.reports.metrics_report import tally
from bot.casework.reports.weekly_review import QUESTION_CHARS, ReviewLine, ReviewPart, WeeklyReview
from bot.domain.questions.feedback import Feedback, Vote, Votes, votes_words
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution
from demo.workspace import ANA, CHLOE, HELP
from tests.builders import NOW
from tests.casework.past import a_round, decided, heard, history, reply
from tests.gallery.cards import DRAFT, QUESTION, THREAD_ID, closed
from tests.gallery.scene import Chapter, Scene

_LINK = f"https://acme.slack.com/archives/{HELP.channel_id}/p1795165200000100"
_POSTED = closed(Resolution.APPROVED, f"approved by <@{ANA.user_id}>", posted=True)
_AGAINST = Feedback(
    id="0" * 16,
    thread_id=THREAD_ID,
    question=QUESTION,
    permalink=_LINK,
    votes={CHLOE.user_id: Vote(is_helpful=False, at=NOW)},
)


_WEEK = (
    ReviewPart(
        title="Dismissed",
        count=2,
        todo="read the reasons; Remember this keeps one",
        lines=[
            ReviewLine(
                text="Does the export count refunds, or only orders? · it asks about the old export", link=_LINK
            ),
            ReviewLine(text="Where is the tax of gift cards set? · no reason was given", link=_LINK),
        ],
    ),
    ReviewPart(
        title="Not helpful",
        count=1,
        todo="ask anew with a mention in its thread, answer there, or correct the note it rests on",
        lines=[ReviewLine(text=f"{one_line(QUESTION, QUESTION_CHARS)} · {votes_words(Votes(0, 1))}", link=_LINK)],
    ),
    ReviewPart(
        title="Notes whose lines changed",
        count=1,
        todo="decide on its card: Still true, or Retire",
        lines=[ReviewLine(text="Warehouse timeouts", link="memory/warehouse-timeouts.md")],
    ),
    ReviewPart(
        title="Codebases nobody asked about",
        count=1,
        todo="tell the team that it can be asked about, or take it out of `codebases` in triage.yml",
        lines=[ReviewLine(text="billing", link="triage.yml: codebases.billing")],
    ),
)


def _review() -> WeeklyReview:
    """Return a week with a few things to do."""
    window = Window.last(7, NOW)
    endings = (Resolution.APPROVED, Resolution.APPROVED, Resolution.EDITED, Resolution.DISMISSED)
    past = history(
        heard=[heard("actionable", days_ago=1 + number % 6) for number in range(8)],
        threads=[decided(number, endings[number % 4], a_round()) for number in range(8)],
        replies=[reply(number) for number in range(8) if endings[number % 4] is not Resolution.DISMISSED],
        votes=[Vote(is_helpful=number > 0, at=NOW - timedelta(days=1)) for number in range(4)],
        recorded_since=NOW - timedelta(days=30),
    )
    errors = [(ErrorRate(18, 1), ErrorRate(6, 0))]
    return WeeklyReview(window=window, tally=tally(past, window), parts=_WEEK, errors=errors)


FEEDBACK = Chapter(
    title="After a reply was posted",
    about="People say under a reply whether it helped; what did not comes back to those who can mend it.",
    scenes=(
        Scene(
            name="reply-buttons",
            title="Did it help?",
            meaning=(
                "The reply in the asker's thread. Anybody in the channel has one vote and can change it; the card "
                "shows the votes. `feedback: false` in triage.yml leaves the buttons out."
            ),
            shows=[*reply_messages(DRAFT)[0], feedback_buttons(_POSTED)],
        ),
        Scene(
            name="not-helpful",
            title="It did not help",
            meaning=(
                "Stands in the thread of the reply's card after the first *Not helpful*, once. Nothing is sent to the "
                "asker: ask anew, answer yourself, or correct the note."
            ),
            shows=not_helpful_blocks(_POSTED, _AGAINST),
            said=(QUESTION,),
        ),
        Scene(
            name="review",
            title="The week",
            meaning=(
                "What went wrong in seven days, each with its link and what to do. `/triage review` shows it to "
                "approvers; `review: {lead: …}` in triage.yml sends it to the lead every Monday."
            ),
            shows=review_blocks(_review(), may_see_drafts=True),
        ),
        Scene(
            name="review-counts",
            title="The week, for everybody else",
            meaning="Only counts: no question, and no link to one.",
            shows=review_blocks(_review(), may_see_drafts=False),
            private=True,
        ),
    ),
)
