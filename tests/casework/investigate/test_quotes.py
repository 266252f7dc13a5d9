"""Which lines are quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.quotes import MAX_IN_DENSE, MAX_LINES, MAX_SETTINGS, Quotes, settings_in
from bot.domain.search.definitions import definitions_in
from bot.domain.search.tokens import text_stems
from tests.gitrepo import make_repo
from tests.tables import each_row

FILLER = [f"    step_{number}()" for number in range(30)]
LONG = "\n".join(["def charge(cart):", *FILLER, "    fee = rate * 2", "    return fee", *FILLER[:20], "    done()", ""])
TOKEN = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
FILES = {
    "long.py": LONG,
    "fence.md": "# Fees\n\n```\nfee = 1\n```\n",
    "token.py": f'fee_token = "{TOKEN}"\n',
}


@pytest.fixture(scope="module")
def quotes(tmp_path_factory: pytest.TempPathFactory) -> Quotes:
    """Quotes of a few files."""
    folder: Path = tmp_path_factory.mktemp("quotes")
    repo = GitRepo(make_repo(folder / "code", FILES))
    index = SqlitePassageIndex(repo, folder / "index.sqlite")
    return Quotes(index, index.refresh().commit)


@each_row(
    "path, words, head, holds",
    [
        ("long.py", "fee rate", 1, "fee = rate * 2"),
        ("long.py", "zeppelin", 1, "def charge(cart):"),
        ("long.py", "zeppelin", None, None),
        ("fence.md", "zeppelin", 3, None),
        ("token.py", "fee", 1, None),
    ],
)
def test_the_lines_that_answer_are_quoted(
    quotes: Quotes, path: str, words: str, head: int | None, holds: str | None
) -> None:
    """At most twelve, the head where nothing else answers; no fence or credential."""
    found = quotes.best(path, 1, len(FILES[path].split("\n")), text_stems(words), head=head)
    assert (found is None) == (holds is None)
    if found and holds:
        assert holds in found.text
        assert found.end - found.start < MAX_LINES


def test_a_refused_quote_is_not_made_again(quotes: Quotes) -> None:
    """What a reviewer named stays out."""
    first = quotes.around("long.py", 32)
    assert first is not None
    again = Quotes(quotes.index, quotes.commit, refused=f"{first.ref} is wrong").around("long.py", 32)
    assert again is None or again.ref != first.ref


PYTHON = """\
DEFAULT_TIMEOUT = 30
class Pool(Base):
    max_size: int = 5
    retries: Optional[int] = field(default=3)
    def __init__(self, size=10, *, block: bool = False, timeout: float | None = None,
                 other="x"):
        self.timeout = timeout
        self.port = 8080
        self.options = Options({
            "http-timeout": 20.0,
        })
        if self.port == 5: pass
parser.add_argument("--port", type=int, default=8080)
session.set_option("hls-live-edge", 3)
app.config["MAX_ITEMS"] = 5
host = os.environ.get("HOST", "localhost")
SETTINGS = {
   "alpha": 2,
}
"""
JAVASCRIPT = """\
const DEFAULT_PORT = 3000
function connect (host = 'localhost', options) {
  this.timeout = options.timeout || 3000
  let size = options.size ?? 7
}
app.set('trust proxy', false);
const schema = {
  connectionTimeout: {
    type: 'integer',
    default: 0
  },
  bodyLimit: { type: 'integer', default: 1048576 },
}
"""
RUBY = """\
class Server
  MAX_THREADS = 5
  set :port, 4567
  def run(port = 5, host: 'x')
    @timeout = 60
    @options ||= {}
  end
end
"""
GO = """\
const defaultPort = 80
const (
	MaxConn int = 5
)
var timeout time.Duration = 5 * time.Second
func serve() {
	server := &Server{
		ReadTimeout: 30 * time.Second,
	}
	viper.SetDefault("level", 5)
}
"""
FOUND = (
    ("a.py", PYTHON, "DEFAULT_TIMEOUT 1"),
    ("a.py", PYTHON, "Pool.max_size 3, Pool.retries 4"),
    ("a.py", PYTHON, "Pool.__init__.size 5, Pool.__init__.block 5, Pool.__init__.timeout 5, Pool.__init__.other 6"),
    ("a.py", PYTHON, "Pool.__init__.port 8, Pool.__init__.http-timeout 10"),
    ("a.py", PYTHON, "port 13, hls-live-edge 14, MAX_ITEMS 15, host 16, HOST 16, SETTINGS.alpha 18"),
    ("a.js", JAVASCRIPT, "DEFAULT_PORT 1, connect.host 2, connect.timeout 3, connect.size 4, trust proxy 6"),
    ("a.js", JAVASCRIPT, "schema.connectionTimeout 8, schema.bodyLimit 12"),
    ("a.rb", RUBY, "Server.MAX_THREADS 2, Server.port 3, Server.run.port 4, Server.run.host 4, Server.run.timeout 5"),
    ("a.go", GO, "defaultPort 1, MaxConn 3, timeout 5, serve.ReadTimeout 8, serve.level 10"),
    ("A.java", "class A {\n  private static final int MAX_SIZE = 5;\n}", "A.MAX_SIZE 2"),
    ("a.h", "#define BUFFER_SIZE 4096", "BUFFER_SIZE 1"),
    ("a.php", "class A {\n    protected $timeout = 5;\n}", "A.timeout 2"),
    ("a.rs", "pub const MAX_DEPTH: usize = 128;", "MAX_DEPTH 1"),
    ("a.ts", "limit: z.number().default(5),", "limit 1"),
    ("a.yml", "server:\n  port: 80\n  hosts:\n    - name: x\n", "server 1, server.port 2, server.hosts.name 4"),
    ("a.toml", '[tool.ruff]\nline-length = 120\n[a]\nbb = "x"\n', "tool.ruff.line-length 2, a.bb 4"),
    (
        "a.py",
        'add("--x", 1)\nparser.add_argument(\n    "--retries",\n    type=num(int),\n    help="Default is 3",\n)',
        "retries 3",
    ),
    ("a.md", "# Server\n\n### `bodyLimit`\n\nThe most bytes.\n\nDefault: 5\n\n### other\n\nNothing.", "bodyLimit 7"),
    ("a.rst", ".. data:: PORT\n\n   Where it listens, by default 80.\n", "PORT 3"),
    ("a.ini", "[flake8]\nmax-line-length = 120\n", "flake8.max-line-length 2"),
)


@each_row("path, text, expected", FOUND)
def test_what_has_a_value_is_found_with_what_encloses_it(path: str, text: str, expected: str) -> None:
    """On the line that names it."""
    lines = text.split("\n")
    found = settings_in(path, lines, definitions_in(path, lines))
    assert {f"{'.'.join(filter(None, [one.scope, one.name]))} {one.line}" for one in found} >= set(expected.split(", "))


@each_row(
    "line",
    (
        "if port == 5:",
        "return a >= 5",
        "timeout = timeout",
        "x => y",
        "for i in range(5):",
        "a::b",
        "i = 0",
        ":param size: its size",
    ),
)
def test_what_gets_no_value_of_its_own_is_no_setting(line: str) -> None:
    """A comparison, a copy of another name, a counter."""
    assert settings_in("a.py", [line]) == []


def test_the_lines_beside_a_name_tell_of_it() -> None:
    """The comment above, two lines behind, all of a call: that is where a setting is told of in other words."""
    lines = ["X_SIZE = 1", "", "# How often it tries again.", "RETRIES = 5", "", 'set_default("level", 3,', "  a)"]
    found = {one.name: lines[one.start - 1 : one.end] for one in settings_in("a.py", lines)}
    assert found["RETRIES"] == lines[2:6]
    assert found["level"] == lines[5:]


def test_one_name_is_not_what_tells_of_the_next() -> None:
    """Though a line that defines one looks like a comment elsewhere."""
    lines = ["// The first.", "#define SIZE 1", "// The second.", "#define PORT 2"]
    assert [one.start for one in settings_in("a.c", lines)] == [1, 3]


def test_data_and_prose_are_left_alone() -> None:
    """A file with more assignments than a person writes is no place to look for one; a long one is cut short."""
    lines = [f"key_{number} = {number}" for number in range(MAX_SETTINGS + 5)]
    assert settings_in("a.py", 3 * lines) == []
    assert len(settings_in("a.py", [part for line in lines for part in ("", line)])) == MAX_SETTINGS
    assert len(settings_in("a.py", lines[:MAX_IN_DENSE])) == MAX_IN_DENSE
    assert settings_in("a.md", ["timeout = 5"]) == []
