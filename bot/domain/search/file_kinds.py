"""What a path says about a file: whether its text may be shown at all, and how likely it holds an answer.

Reads nothing but the path. A file whose weight is 0 is never opened: it may hold a secret, or no human wrote it.
"""

from __future__ import annotations

import re
from enum import StrEnum

from bot.domain.credentials.secret_files import is_secret_file


class FileKind(StrEnum):
    """What a tracked file is for."""

    SOURCE = "source"
    DOCS = "docs"
    SETTINGS = "settings"
    TEST = "test"
    EXAMPLE = "example"
    CHANGELOG = "changelog"
    LEGAL = "legal"
    VENDORED = "vendored"
    GENERATED = "generated"
    SECRET = "secret"  # noqa: S105 - a kind of file


WEIGHTS = {
    FileKind.SOURCE: 1.0,
    FileKind.DOCS: 0.8,
    FileKind.SETTINGS: 0.7,
    FileKind.TEST: 0.45,
    FileKind.EXAMPLE: 0.5,
    FileKind.CHANGELOG: 0.3,
    FileKind.LEGAL: 0.15,
    FileKind.VENDORED: 0.2,
    FileKind.GENERATED: 0.0,
    FileKind.SECRET: 0.0,
}

_MAX_PATH_CHARS = 1_024

_ASKED_FOR = {
    FileKind.TEST: re.compile(r"\b(?:tests?|fixtures?|conftest)\b", re.I),
    FileKind.EXAMPLE: re.compile(r"\b(?:examples?|samples?|demo|tutorial)\b", re.I),
    FileKind.CHANGELOG: re.compile(
        r"\b(?:change ?log|release notes?|(?:which|what|since) (?:version|release))\b", re.I
    ),
    FileKind.LEGAL: re.compile(r"\blicen[cs]ed?\b", re.I),
}

_RULES = tuple(
    (kind, re.compile(pattern, re.I))
    for kind, pattern in (
        (FileKind.GENERATED, r"\.lock$|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$"),
        (FileKind.GENERATED, r"\.min\.\w+$|\.(?:map|snap|svg|ipynb|po|pot|geojson)$|_pb2(?:_grpc)?\.pyi?$|\.pb\.\w+$"),
        (FileKind.GENERATED, r"(?:^|/)(?:PKG-INFO|py\.typed|[^/]+\.egg-info/.*)$|[._-]generated\.\w+$"),
        (FileKind.VENDORED, r"(?:^|/)(?:_?vendor(?:ed)?|third[_-]?party|node_modules|bower_components|site-packages)/"),
        (FileKind.LEGAL, r"(?:^|/)(?:LICEN[CS]E|COPYING|NOTICE|AUTHORS|CODE_OF_CONDUCT)[^/]*$|(?:^|/)licenses?\.\w+$"),
        (
            FileKind.CHANGELOG,
            r"(?:^|/)(?:CHANGES?|CHANGELOG|HISTORY|NEWS|RELEASES?|RELEASE_NOTES|UPGRADING)(?:\.\w+)?$",
        ),
        (
            FileKind.TEST,
            r"(?:^|/)(?:tests?|__tests__|specs?|testdata|fixtures|e2e)/|(?:^|/)(?:test_[^/]*|conftest\.py)$",
        ),
        (FileKind.TEST, r"(?:_test|_spec|\.test|\.spec|Test|Tests)\.\w+$"),
        (FileKind.EXAMPLE, r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)/"),
        (FileKind.DOCS, r"\.(?:md|mdx|rst|adoc|org|txt)$|(?:^|/)README[^/]*$"),
        (FileKind.SETTINGS, r"\.(?:toml|ya?ml|json|cfg|ini|conf|properties|xml|csv|tsv|css|scss|html?)$"),
        (FileKind.SETTINGS, r"(?:^|/)(?:Makefile|Dockerfile|\.[\w.-]+)$|\.(?:mk|example|sample|template)$"),
    )
)


def file_kind(path: str) -> FileKind:
    """Return what the file at `path` is for; the first rule that fits decides.

    >>> [str(file_kind(path)) for path in ("src/app.py", "tests/test_app.py", "deploy/.env", ".env.example", "uv.lock")]
    ['source', 'test', 'secret', 'settings', 'generated']
    """
    if is_secret_file(path):
        return FileKind.SECRET
    end = path[-_MAX_PATH_CHARS:]
    return next((kind for kind, pattern in _RULES if pattern.search(end)), FileKind.SOURCE)


def is_indexed(path: str) -> bool:
    """Whether text of the file at `path` may be read and quoted; a path that cannot be cited in one line may not."""
    return path.isprintable() and WEIGHTS[file_kind(path)] > 0


_MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|psd|ai|mp[34]|m4[av]|mov|avi|webm|wav|ogg|flac|zip|t?gz|bz2|xz|7z|rar|jar|war"
    r"|whl|pdf|docx?|xlsx?|pptx?|woff2?|ttf|otf|eot|so|dll|dylib|exe|bin|dat|onnx|pth?|ckpt|safetensors|gguf|h5|npy|npz"
    r"|parquet|pickle|pkl|sqlite3?|db|fbx|glb|blend)$",
    re.I,
)


def may_hold_text(path: str) -> bool:
    """Whether a file whose content is not at hand might be read if it were: by its name no picture and no archive.

    >>> may_hold_text("docs/guide.md"), may_hold_text("docs/logo.PNG"), may_hold_text("uv.lock")
    (True, False, False)
    """
    return is_indexed(path) and _MEDIA.search(path[-_MAX_PATH_CHARS:]) is None


def is_prose(path: str) -> bool:
    """Whether the file is divided by headings rather than by definitions."""
    return path.lower().endswith((".md", ".mdx", ".rst", ".adoc", ".org", ".txt"))


def path_weight(path: str, question: str) -> float:
    """Return how much a match in `path` counts for `question`, 0 to 1; what the question names by kind counts in full.

    >>> path_weight("tests/test_app.py", "why is it slow?"), path_weight("tests/test_app.py", "which test covers it?")
    (0.45, 1.0)
    """
    kind = file_kind(path)
    asked = _ASKED_FOR.get(kind)
    return 1.0 if asked and asked.search(question) else WEIGHTS[kind]
