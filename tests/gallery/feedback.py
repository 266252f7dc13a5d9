"""What follows a posted reply: the buttons under it, what approvers are told of one that did not help, the week."""

from __future__ import annotations

from blocks.cards.reply_cards import not_helpful_blocks, reply_footer, reply_messages
from bot.casework.posting.reply_proof import proof_of
from bot.domain.questions.feedback import Feedback, Vote
from bot.domain.threads import Resolution
from demo.workspace import ANA, CHLOE, HELP
from tests.builders import NOW
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


FEEDBACK = Chapter(
    title="After a reply was posted",
    about="People say under a reply whether it helped; what did not comes back to those who can mend it.",
    scenes=(
        Scene(
            name="reply-buttons",
            title="Did it help?",
            meaning="The reply in the asker's thread: what is proved, and one vote for anybody in the channel.",
            shows=[*reply_messages(DRAFT)[0], *reply_footer(_POSTED, proof_of(_POSTED), ANA.name, asks_feedback=True)],
        ),
        Scene(
            name="not-helpful",
            title="It did not help",
            meaning="In the card's thread after the first *Not helpful*, once. The asker is sent nothing.",
            shows=not_helpful_blocks(_POSTED, _AGAINST),
            said=(QUESTION,),
        ),
    ),
)
