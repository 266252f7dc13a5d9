"""Slack's limits, in characters unless the name says otherwise.

Source: the validators of slack_sdk.models 3.47 (marked S) and Slack's reference for the methods (marked D). Slack
refuses a whole message when one object is over its limit.
"""

from __future__ import annotations

import json
from typing import Final

SECTION_CHARS: Final = 3_000
"""Text of a section (S)."""
HEADER_CHARS: Final = 150
"""Text of a header, plain text only (S)."""
BUTTON_CHARS: Final = 75
"""Label of a button, plain text only (S)."""
VALUE_CHARS: Final = 2_000
"""Value of a button (S)."""
OPTION_CHARS: Final = 75
"""Label of an option in a menu (S); its value has 150."""
MESSAGE_CHARS: Final = 40_000
"""Text of a message; Slack cuts what is longer (D)."""
MESSAGE_ADVISED_CHARS: Final = 4_000
"""Length at which Slack advises to stop for the text of a message (D)."""
VIEW_BLOCKS: Final = 100
"""Blocks of a dialogue or of App Home (S)."""
VIEW_BYTES: Final = 250_000
"""A whole view as JSON (D, views.publish): beyond it, `view_too_large`."""


def size_of(part: object) -> int:
    """Return how many bytes a block or a view has as JSON, as the SDK sends it: not ASCII counts sixfold."""
    return len(json.dumps(part))
