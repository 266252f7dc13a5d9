"""Stack frames: how nine languages write them, in what order they matter, and which file they mean."""

from bot.domain.search.stack_frames import StackFrame, best_path, frames_in, line_of
from tests.tables import each_row

PYTHON = """Traceback (most recent call last):
  File "/srv/app/web.py", line 10, in view
    return charge(order)
  File "/srv/app/pay.py", line 7, in charge
    raise ValueError("x")
ValueError: x
"""
JAVA = """java.lang.RuntimeException: a
\tat com.acme.web.Api.get(Api.java:10) ~[app.jar:1.0]
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.lang.IllegalStateException: b
\tat app//com.acme.pay.Charge$Inner.lambda$run$0(Charge.java:42)
\tat com.acme.pay.ChargeKt.go(Charge.kt:5)
\t... 3 more
"""
GO = """goroutine 1 [running]:
main.(*Server).handle(0xc0000b4000, {0x1, 0x2})
\t/home/ci/src/shop/server.go:33 +0x1d
main.main()
\t/home/ci/src/shop/main.go:9 +0x20

goroutine 7 [select]:
net/http.(*conn).serve(0x1)
\t/usr/local/go/src/net/http/server.go:1995 +0x8
"""
RUBY = """app/models/order.rb:12:in `charge': undefined method (NoMethodError)
\tfrom app/controllers/orders_controller.rb:30:in 'OrdersController#create'
"""
CSHARP = """   at Shop.Pay.Charge.Run(Order order, Int32 n) in C:\\build\\src\\Shop\\Pay\\Charge.cs:line 42
   at Shop.Api.<Get>d__3.MoveNext() in /src/Shop/Api.cs:line 10
"""
PHP = """PHP Fatal error:  Uncaught Exception: x in /var/www/src/Pay.php:12
#0 /var/www/src/Api.php(42): App\\Pay->charge(Object(Order))
  thrown in /var/www/src/Pay.php on line 12
"""
RUST = """thread 'main' panicked at src/main.rs:12:5:
   3: shop::pay::charge::h0123456789abcdef
             at ./src/pay.rs:7:9
"""
JAVASCRIPT = """TypeError: x
    at charge (/app/src/pay.js:12:5)
    at async Cart.run (file:///app/src/index.mjs:3:1)
    at new Cart (webpack-internal:///./src/Cart.vue?1234:55:9)
    at https://cdn.example.com/static/main.3f2a.chunk.js:1:23456
render@http://localhost:3000/src/app.js:12:3
"""
LOGGED = r'{"stack":"Error: boom\n    at charge (/app/src/pay.js:12:5)\n    at /app/src/a.ts:4:4"}'

GERMAN_CSHARP = """   bei Shop.Charge.<Run>d__2.MoveNext() in /src/Charge.cs:Zeile 42
   --- Ende der internen Ausnahmestapelüberwachung ---
   bei Shop.Api.Get(String id) in C:\\src\\Api.cs:Zeile 10
"""
RICH = """│ /app/src/web.py:15 in view │
│ ❱ 15 │ charge(order) │
│ /app/src/pay.py:7 in charge │
"""
PYTEST = """tests/test_pay.py:5:
    assert charge() == 1
src/pay.py:10: TypeError
"""
DIRECT_CAUSE = """Traceback (most recent call last):
  File "/srv/pay.py", line 7, in charge
    card["token"]
KeyError: 'token'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/web.py", line 10, in view
    raise Failed from error
Failed
"""
LARAVEL = """production.ERROR: Undefined key at /var/www/src/Mailer.php:15)
[stacktrace]
#0 /var/www/src/Mailer.php(11): App\\Mailer->render(Array)
"""
PHP_NEXT = """InvalidArgumentException: a in /srv/Pay.php:3
Stack trace:
#0 {main}

Next RuntimeException: b in /srv/Api.php:9
Stack trace:
#0 {main}
"""
RUBY_CAUSE = """app/api.rb:4:in `show': failed (RuntimeError)
app/pay.rb:9:in `charge': undefined method (NoMethodError)
\tfrom app/order.rb:5:in `total'
"""
CONTAINER_JAVA = """api-1  | \tat com.acme.Api.get(Api.java:10)
api-1  | Caused by: java.lang.IllegalStateException: b
api-1  | \tat com.acme.Charge.run(Charge.java:42)
"""
GIN = """/usr/local/go/src/runtime/map.go:205 (0x4111)
\tmapassign: panic(plainError("x"))
/build/queue.go:17 (0x6f)
\t(*Queue).Add: q.jobs[name] = job
"""
OLDER_IPYTHON = """/opt/conda/lib/python3.7/shop/pay.py in charge(order, **options)
     11     try:
---> 12         send(order)
     13     finally:

~\\anaconda3\\shop\\gate.py in send(order)
     28     if closed:
     29
---> 30         raise ValueError("x")
"""
IPYTHON = """Cell In[7], line 1
----> 1 charge({})

File ~/shop/pay.py:12, in charge(order)
     11     gate = connect()
---> 12     return send(gate)

File ~/shop/gate.py:30, in Gate.send(self)
---> 30         raise KeyError("total")
"""
NEXT = """ ⨯ Error: boom
    at Page (webpack-internal:///(rsc)/./src/app/(shop)/page.tsx:21:11)
    at (rsc)/./src/lib/load.ts:4:9
"""
VITEST = """AssertionError: expected 1 to be 2
 ❯ charge src/pay.ts:12:5
 ❯ src/pay.test.ts:30:9
"""
GO_KEPT = """failed to charge: no route
github.com/acme/shop/pay.(*Charger).Charge
\t/home/ci/shop/pay/charge.go:33
main.main
\t/home/ci/shop/main.go:12
"""
SYMFONY = """Exception trace:
 App\\Pay->charge() at /app/src/Pay.php:12
 App\\Command\\Sync->execute() at /app/src/Command/Sync.php:30
"""
LOGGED_JAVA = (
    r'{"trace":"GateException: b\n\tat com.acme.Api.get(Api.java:10)\nCaused by: java.io.IOException: a\n'
    r'\tat com.acme.Charge.run(Charge.java:42)\n"}'
)
PHP_ARGUMENTS = """PHP Fatal error: TypeError, called in /srv/Api.php on line 9 and defined in /srv/Pay.php:3
#0 /srv/Api.php(9): App\\Pay->charge(NULL)
"""
RUBY_NUMBERED = """\t2: from app/api.rb:4:in `show'
\t1: from app/order.rb:5:in `total'
app/pay.rb:9:in `charge': undefined method (NoMethodError)
"""
LOGGED_GO = (
    r'{"caller":"queue/worker.go:14","stack":"acme/store.begin\n\t/src/store/pg.go:15\nacme/queue.run\n'
    r'\t/src/queue/run.go:8\nruntime.goexit\n\t/usr/local/go/src/runtime/asm.s:1650"}'
)
ONE_LINE_JAVA = " ".join(JAVA.split())

TRACES = {
    "python": (PYTHON, [("/srv/app/pay.py", 7, "charge"), ("/srv/app/web.py", 10, "view")]),
    "java and kotlin": (
        JAVA,
        [
            ("com/acme/pay/Charge.java", 42, "run"),
            ("com/acme/pay/Charge.kt", 5, "go"),
            ("com/acme/web/Api.java", 10, "get"),
            ("java/lang/Thread.java", 840, "run"),
        ],
    ),
    "go": (
        GO,
        [
            ("/home/ci/src/shop/server.go", 33, "handle"),
            ("/home/ci/src/shop/main.go", 9, "main"),
            ("/usr/local/go/src/net/http/server.go", 1995, "serve"),
        ],
    ),
    "ruby": (RUBY, [("app/models/order.rb", 12, "charge"), ("app/controllers/orders_controller.rb", 30, "create")]),
    "c#": (CSHARP, [("/build/src/Shop/Pay/Charge.cs", 42, "Run"), ("/src/Shop/Api.cs", 10, "Get")]),
    "php": (PHP, [("/var/www/src/Pay.php", 12, ""), ("/var/www/src/Api.php", 42, "charge")]),
    "rust": (RUST, [("src/main.rs", 12, ""), ("src/pay.rs", 7, "charge")]),
    "javascript": (
        JAVASCRIPT,
        [
            ("/app/src/pay.js", 12, "charge"),
            ("app/src/index.mjs", 3, "run"),
            ("src/Cart.vue", 55, "Cart"),
            ("/static/main.3f2a.chunk.js", 1, ""),
            ("/src/app.js", 12, "render"),
        ],
    ),
    "a line of a log": (LOGGED, [("/app/src/pay.js", 12, "charge"), ("/app/src/a.ts", 4, "")]),
    "an alert of Sentry": ("app/cart.py in checkout at line 42", [("app/cart.py", 42, "checkout")]),
    "a compiler": ("src/foo.ts(12,5): error TS2304", [("src/foo.ts", 12, "")]),
    "c# in German": (GERMAN_CSHARP, [("/src/Charge.cs", 42, "Run"), ("/src/Api.cs", 10, "Get")]),
    "rich": (RICH, [("/app/src/pay.py", 7, "charge"), ("/app/src/web.py", 15, "view")]),
    "pytest": (PYTEST, [("src/pay.py", 10, ""), ("tests/test_pay.py", 5, "")]),
    "a direct cause": (DIRECT_CAUSE, [("/srv/pay.py", 7, "charge"), ("/srv/web.py", 10, "view")]),
    "the head of a php trace": (
        LARAVEL,
        [("/var/www/src/Mailer.php", 15, ""), ("/var/www/src/Mailer.php", 11, "render")],
    ),
    "a previous exception of php": (PHP_NEXT, [("/srv/Pay.php", 3, ""), ("/srv/Api.php", 9, "")]),
    "a cause of ruby": (
        RUBY_CAUSE,
        [("app/pay.rb", 9, "charge"), ("app/order.rb", 5, "total"), ("app/api.rb", 4, "show")],
    ),
    "a log of a container": (CONTAINER_JAVA, [("com/acme/Charge.java", 42, "run"), ("com/acme/Api.java", 10, "get")]),
    "a panic that gin recovered": (
        GIN,
        [("/usr/local/go/src/runtime/map.go", 205, "mapassign"), ("/build/queue.go", 17, "Add")],
    ),
    "older-ipython": (
        OLDER_IPYTHON,
        [("~/anaconda3/shop/gate.py", 30, "send"), ("/opt/conda/lib/python3.7/shop/pay.py", 12, "charge")],
    ),
    "ipython": (IPYTHON, [("~/shop/gate.py", 30, "send"), ("~/shop/pay.py", 12, "charge")]),
    "folders in brackets": (NEXT, [("src/app/(shop)/page.tsx", 21, "Page"), ("src/lib/load.ts", 4, "")]),
    "vitest": (VITEST, [("src/pay.ts", 12, "charge"), ("src/pay.test.ts", 30, "")]),
    "a trace that go kept in an error": (
        GO_KEPT,
        [("/home/ci/shop/pay/charge.go", 33, "Charge"), ("/home/ci/shop/main.go", 12, "main")],
    ),
    "symfony": (SYMFONY, [("/app/src/Pay.php", 12, "charge"), ("/app/src/Command/Sync.php", 30, "execute")]),
    "a cause in one line of a log": (
        LOGGED_JAVA,
        [("com/acme/Charge.java", 42, "run"), ("com/acme/Api.java", 10, "get")],
    ),
    "arguments that php refuses": (PHP_ARGUMENTS, [("/srv/Pay.php", 3, ""), ("/srv/Api.php", 9, "charge")]),
    "ruby on a terminal": (
        RUBY_NUMBERED,
        [("app/pay.rb", 9, "charge"), ("app/order.rb", 5, "total"), ("app/api.rb", 4, "show")],
    ),
    "a log of go with the place that wrote it": (
        LOGGED_GO,
        [("/src/store/pg.go", 15, "begin"), ("/src/queue/run.go", 8, "run"), ("queue/worker.go", 14, "")],
    ),
    "a cause behind its line": (
        ONE_LINE_JAVA,
        [
            ("com/acme/pay/Charge.java", 42, "run"),
            ("com/acme/pay/Charge.kt", 5, "go"),
            ("com/acme/web/Api.java", 10, "get"),
            ("java/lang/Thread.java", 840, "run"),
        ],
    ),
    "firefox": ("async*view@http://localhost:5173/src/web.ts:9:11", [("/src/web.ts", 9, "view")]),
    "a path of windows": (r"at run (C:\new\trace\pay.js:3:1)", [("/new/trace/pay.js", 3, "run")]),
    "a time": ("failed at 10:30:22, and at 2026-11-23T10:30:22Z again", []),
    "no frame": ("see http://x.example:80/a, foo.py, 10:30:22 and version 1.2.3", []),
}


@each_row("text, frames", TRACES.values())
def test_frames_are_read_the_one_that_failed_first(text: str, frames: list[tuple[str, int, str]]) -> None:
    """Of each language file, line and function; the cause before what it caused."""
    found = [(one.path, one.line, one.function) for one in frames_in(text)]
    assert sorted(found) == sorted(frames)
    if text not in (PHP, RUST):
        assert found == frames


@each_row(
    "wrapped",
    [
        "".join(f"> {line}\n" for line in PYTHON.splitlines()),
        "".join(f"2026-01-05 09:00:00,123 ERROR [worker-1] {line}\n" for line in PYTHON.splitlines()),
        f"it failed:\n```{PYTHON}```\nany idea?",
        PYTHON.replace("/srv/app/", "C:\\Program Files\\app\\"),
        PYTHON.replace('"', '\\"'),
        PYTHON.replace('", line', '",\n> line').replace("app/pay", "app/\n> pay"),
        PYTHON.replace("\n", " "),
        PYTHON.replace("pay.py", "<http://pay.py|pay.py>").replace("ValueError(", "&lt;"),
    ],
)
def test_a_trace_is_read_however_it_was_pasted(wrapped: str) -> None:
    """Quoted, with the prefixes of a log, in a fence, from Windows, escaped, with Slack's links."""
    assert [(one.path.rpartition("/")[2], one.line) for one in frames_in(wrapped)] == [("pay.py", 7), ("web.py", 10)]


@each_row(
    "broken, frame",
    [
        ("    at com.acme.Pay.run\n(Pay.java:42)", ("com/acme/Pay.java", 42)),
        ("    at com.acme.Pay.run(Pay\n    .java:42)", ("com/acme/Pay.java", 42)),
        ("    at charge\n    (/app/src/pay.js:12:5)", ("/app/src/pay.js", 12)),
        ("   at Shop.Pay.Run(Order order) in\n> /src/Pay.cs:line 42", ("/src/Pay.cs", 42)),
    ],
)
def test_a_frame_on_two_lines_is_one(broken: str, frame: tuple[str, int]) -> None:
    """As mail breaks it."""
    assert [(one.path, one.line) for one in frames_in(broken)] == [frame]


@each_row(
    "path, files, meant",
    [
        ("/srv/app/shop/pay.py", ["src/shop/pay.py", "src/stock/pay.py"], "src/shop/pay.py"),
        ("/x/site-packages/shop-2.3.0-py2.7.egg/shop/pay.py", ["shop/pay.py"], "shop/pay.py"),
        ("/app/node_modules/express/lib/router.js", ["lib/router.js"], None),
        ("/srv/pay.py", ["pay.py"], "pay.py"),
        ("/usr/local/go/src/net/http/server.go", ["http/server.go"], None),
        ("/usr/lib/ruby/3.2.0/net/http.rb", ["lib/net/http.rb"], "lib/net/http.rb"),
        ("org/other/orders/Order.java", ["main/com/acme/orders/Order.java"], None),
        ("com/acme/orders/Order.kt", ["src/acme/orders/Order.kt"], "src/acme/orders/Order.kt"),
    ],
)
def test_a_file_is_meant_where_the_ends_of_the_paths_agree(path: str, files: list[str], meant: str | None) -> None:
    """Other people's code of the same file name is not taken for ours."""
    assert best_path(StackFrame(path=path, line=1), files) == meant


def test_a_line_that_moved_is_found_again() -> None:
    """By its text, else by its function; a line behind the end of the file is nowhere."""
    lines = ["", "", "def charge():", "    fee()", "    total()", "def other():"]
    assert line_of(StackFrame(path="a.py", line=2, source="fee()"), lines) == 4
    assert line_of(StackFrame(path="a.py", line=4, function="charge"), lines, [3]) == 4
    assert line_of(StackFrame(path="a.py", line=1, function="charge"), lines, [3]) == 3
    assert line_of(StackFrame(path="a.py", line=99, function="charge"), lines, [3]) == 3
    assert line_of(StackFrame(path="a.py", line=99), lines) is None
