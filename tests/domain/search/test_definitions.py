"""What a file defines, language by language."""

from bot.domain.search.definitions import definitions_in
from tests.tables import each_row

PYTHON = '''\
"""Use it so:

    def example():
        pass
"""
LIMIT: int = 5
type Pair = tuple[int, int]


class Client(Base):
    TIMEOUT_S = 3

    @overload
    def send(self, request: str) -> str: ...
    async def send(self, request):
        limit = LIMIT == 5
        def inner(): pass


def get(url): return url
MARKS = ("'", '"""')
def last(): pass
'''
JAVASCRIPT = """\
const http = require('node:http');
export const LIMIT = 5;
export class Client extends Base {
  #secret = 1;
  async send(request) {
    describe(request, () => {
    if (request) {
  }
  static of(name = build(1)) {
  }
  handle = async (event) => {
  }
}
export default async function* walk(node) {}
res.status = function status(code) {
Client.prototype.close = () => {}
export interface Options<T> {
  retry(times: number): Promise<T>;
}
export type Handler = (event: string) => void;
export declare enum Color { Red }
  ERR_LOST: make("ERR_LOST", 500),
  return ERR_LOST
"""
GO = """\
package gin
const Version = "v1"
var ErrLost = errors.New("lost")
const (
\tMaxRetries = 5
\tdefaultName = "x"
)
type Engine struct {
\tRouterGroup
}
type HandlerFunc func(*Context)
func New(opts ...Option) *Engine {
func (engine *Engine) Run(addr string) error {
func Map[T any](in []T) []T {
"""
RUST = """\
pub(crate) struct Client<T> { a: T }
impl<T> Send for Client<T> {
    pub async fn send(&self) {}
}
macro_rules! retry { () => {} }
pub const LIMIT: u32 = 5;
"""
JAVA = """\
public final class Client implements Closeable {
    private static final int LIMIT = 5;
    public static <T> List<T> send(Request request) throws IOException {
        return deliver(request);
    }
    void plain(int a) throws IOException {
        if (a > 1) {
        throw new Lost(a) {
    }
}
"""
CASES = {
    "a.py": (
        PYTHON,
        "LIMIT:6 Pair:7 Client:10 Client.TIMEOUT_S:11 Client.send:15 Client.send.inner:17 get:20 MARKS:21 last:22",
    ),
    "a.ts": (
        JAVASCRIPT,
        "LIMIT:2 Client:3 Client.send:5 Client.of:9 Client.handle:11 walk:14 res.status:15 Client.close:16"
        " Options:17 Options.retry:18 Handler:20 Color:21 Color.ERR_LOST:22",
    ),
    "a.go": (GO, "Version:2 ErrLost:3 MaxRetries:5 Engine:8 HandlerFunc:11 New:12 Engine.Run:13 Map:14"),
    "a.rs": (RUST, "Client:1 Client.send:3 retry:5 LIMIT:6"),
    "A.java": (JAVA, "Client:1 Client.LIMIT:2 Client.send:3 Client.plain:6"),
    "a.kt": (
        "data class Client(val a: Int) {\n    suspend fun send(a: Request): Int {\nfun String.shout() = uppercase()\n",
        "Client:1 Client.send:2 String.shout:3",
    ),
    "a.dart": ("class Client {\n  Future<int> send(Request a) async {\n", "Client:1 Client.send:2"),
    "a.swift": (
        "public struct Client {\n  static let limit = 5\n  func send() {\n",
        "Client:1 Client.limit:2 Client.send:3",
    ),
    "a.php": (
        "final class Client\n{\n    const LIMIT = 5;\n    public static function send(Request $a): int\n",
        "Client:1 Client.LIMIT:3 Client.send:4",
    ),
    "a.cs": (
        "public class Client : Base\n{\n    public async Task<int> SendAsync(Request a)\n    {\n        await B(a);\n",
        "Client:1 Client.SendAsync:3",
    ),
    "a.scala": (
        "object Main {\n  case class Point(x: Int)\n  def send(a: Int): Int = {\n",
        "Main:1 Main.Point:2 Main.send:3",
    ),
    "a.ex": ("defmodule App.Client do\n  def send(a) do\n", "Client:1 Client.send:2"),
    "a.lua": ("local function send(a)\nfunction M.close(a)\n", "send:1 M.close:2"),
    "a.h": ("class Gone;\nstruct node { int a; };\nclass EXPORT_API Client : public Base {\n", "node:2 Client:3"),
    "a.c": (
        "#define LIMIT 5\ntypedef struct node node_t;\nstatic int send(int a)\n{\n    return other(a);\n}\n",
        "LIMIT:1 node_t:2 send:3",
    ),
    "a.cpp": ("int Client::send(int a) {\n  while (a) {\n", "Client.send:1"),
    "a.rb": (
        "module Net\n  class Client\n    def self.send?(a)\n    LIMIT = 5\n",
        "Net:1 Net.Client:2 Net.Client.send?:3 Net.Client.LIMIT:4",
    ),
    "a.sh": ("retry() {\n  send\n}\nfunction send {\nLIMIT=5\n", "retry:1 send:4 LIMIT:5"),
    "a.sql": ("create table if not exists app.users (\n  id int\n);\nCREATE VIEW recent AS\n", "users:1 recent:4"),
    "a.toml": ("[tool.ruff]\nline-length = 120\n", "ruff:1 line-length:2"),
    "a.yml": ("retries: 5\nserver:\n  port: 80\n", "retries:1 server:2 port:3"),
    "a.md": ("# class Client:\n\ndef send():\n", ""),
}


@each_row("path", CASES)
def test_each_language_has_its_definitions(path: str) -> None:
    """Types, functions, methods and values with what encloses them; no call, no import, no example in a docstring."""
    text, expected = CASES[path]
    found = definitions_in(path, text.split("\n"))
    shown = [f"{'.'.join(filter(None, (one.scope, one.name)))}:{one.line}" for one in found]
    assert shown == expected.split()


@each_row(
    "path, line, names",
    [
        ("a.py", "def match(path): pass", ["match"]),
        ("a.cs", "    else if (ready) {", []),
    ],
)
def test_a_name_may_be_a_word_that_begins_a_statement_elsewhere(path: str, line: str, names: list[str]) -> None:
    """A statement itself is none."""
    assert [one.name for one in definitions_in(path, [line])] == names
