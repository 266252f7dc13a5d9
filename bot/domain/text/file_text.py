"""What the bytes of a file say, as an editor shows them: the one place where files are decoded and cut into lines.

Pure. The read tools, the passage index and the checks of quotes all use it, so a line has the same number and the same
words for each of them. Bytes that are no text have no lines.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_WESTERN: Final = "cp1252"  # Latin-1 with the characters that Windows puts in place of its control codes
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


def text_of(content: bytes) -> str | None:
    r"""Return the text of a file without its byte order mark; None where it is binary or cannot be decoded.

    UTF-8; UTF-16 and UTF-32 with a byte order mark; else Latin-1 (Windows-1252), if nothing in it speaks against that.

    >>> text_of(b"caf\xc3\xa9"), text_of(b"caf\xe9"), text_of("x".encode("utf-16")), text_of(b"\x00\x01")
    ('café', 'café', 'x', None)
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    text = _decoded(content, encoding)
    if text is None and encoding == "utf-8":
        text = _western(content)
    return None if text is None or "\0" in text else text


def file_lines(content: bytes) -> list[str] | None:
    r"""Return the lines of a file without their line ends; None where it is no text.

    A line ends at LF, CR LF or a lone CR; form feeds and Unicode separators end nothing.

    >>> file_lines(b"a\r\nb\x0cc\rd\n"), file_lines(b""), file_lines(b"\x00")
    (['a', 'b\x0cc', 'd'], [], None)
    """
    text = text_of(content)
    if text is None:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _western(content: bytes) -> str | None:
    """Return Latin-1 text; None where the bytes are partly UTF-8, or hold control codes that no text has."""
    is_mixed = any(char > "\x7f" and char != "\ufffd" for char in content.decode("utf-8", "replace"))
    text = None if is_mixed else _decoded(content, _WESTERN)
    return None if text is None or _CONTROLS.search(text) else text
