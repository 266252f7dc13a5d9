"""Which setting and which lines of a definition answer."""

from pathlib import Path

from tests.casework.investigate.finder import ask
from tests.gitrepo import make_repo
from tests.tables import each_row

FILES = {
    "shop/const.py": 'DEFAULT_LINE_LENGTH = 88\nDEFAULT_EXCLUDES = r"/(build|dist)/"  # noqa: B950\n',
    "shop/headers.py": 'LINE_LENGTH_HEADER = "X-Line-Length"\n',
    "shop/files.py": "def walk(exclude=None):\n    exclude_patterns = exclude\n    return exclude_patterns\n",
    "docs/conf.py": 'exclude_patterns = ["_build", ".DS_Store"]\n',
    "shop/cache.py": 'class Cache:\n    """What was read before."""\n',
    "shop/pool.py": (
        "def poolmap():\n    return PoolMap()\n\n\nclass PoolMap:\n    max_open_carts = 7\n    open_carts_log = log\n"
    ),
    "shop/authors.md": "# Authors\n\nThe list is long, so it lives in a file of its own.\n",
    "route.go": (
        "package shop\n\n"
        + "".join(f"// Strict says {number} of many things.\n" for number in range(14))
        + "func Strict(value bool) bool {\n\treturn value\n}\n"
        + "\ntype routes struct {\n\tnamedRoutes map[string]bool\n}\n"
    ),
}
FILES |= {f"shop/part{number}.py": f"def part_{number}(value):\n    return value\n" for number in range(20)}


@each_row(
    "question, said, quoted",
    [
        ("what's the default line length?", "`DEFAULT_LINE_LENGTH = 88` is set", "= 88"),
        ("which folders are excluded by default?", "`DEFAULT_EXCLUDES", "build|dist"),
        ("where is the poolmap class?", "`PoolMap` is defined in `shop/pool.py:5`.", "class PoolMap"),
        ("how many open carts at most?", "`max_open_carts = 7` is set in `shop/pool.py:6`.", "= 7"),
        ("where does the cache live?", "`Cache` is defined in `shop/cache.py:1`.", "class Cache"),
        ("what does Strict() do?", "From `Strict`: `route.go:3-14`.", "Strict says 0 of"),
        ("where are the authors?", "It is `shop/authors.md:1`.", "# Authors"),
        ("where is files.py?", "It is `shop/files.py:1`.", "def walk"),
        ("where is Strict() defined?", "`Strict` is defined in `route.go:17`.", "func Strict("),
        ("Wo werden die `namedRoutes` gespeichert?", "Closest: `route.go:", "namedRoutes map"),
    ],
)
def test_what_is_asked_for_is_chosen(tmp_path: Path, question: str, said: str, quoted: str) -> None:
    """A value before a name for one, code before the pages' settings, the meaning before the head."""
    ret = ask(make_repo(tmp_path / "code", FILES), question).ret
    assert said in ret.draft_reply
    assert quoted in ret.draft_reply
