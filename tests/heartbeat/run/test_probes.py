"""Commands run without a shell, within limits, and what they print is compared by its hash."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bot.domain.playbook import parse
from bot.domain.tiers import Tier
from bot.heartbeat.run.probes import OUTPUT_BYTES, ProbeReport, ProbeResult, Probes
from tests.gitrepo import make_repo
from tests.heartbeat.builders import AT

ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SLACK_BOT_TOKEN": "xoxb-very-secret"}
FLAGS = ProbeResult(argv=("triage", "flags"), output="disk is full", exit_code=0)


def run(cwd: Path, *commands: str, timeout_s: float = 300.0, **more: object) -> ProbeReport:
    """Run commands as tasks of a playbook that allows just these."""
    text = "## Quick\n" + "\n".join(f"- [ ] Task {n}: `{command}`" for n, command in enumerate(commands))
    templates = [tuple(command.split()) for command in commands]
    probes = Probes(ENVIRON, secrets={"xoxb-very-secret"}, timeout_s=timeout_s)
    return probes.run(cwd, parse(text).tasks(Tier.QUICK), templates, at=AT, **more)  # type: ignore[arg-type]


def script(folder: Path, code: str) -> str:
    """Return a command that runs some Python."""
    path = folder / "script.py"
    path.write_text(code)
    return f"{sys.executable} {path}".replace(sys.executable, "python3")


def test_what_a_command_prints_is_kept_with_its_hash(tmp_path: Path) -> None:
    """The same output has the same hash; another has another."""
    repo = make_repo(tmp_path / "shop", {"a.py": "x = 1\n"})
    first, again = run(repo, "git status --porcelain"), run(repo, "git status --porcelain")
    assert first.results[0].output == ""
    assert not first.changed(again.digests())
    (repo / "b.py").write_text("y")
    assert [result.output for result in run(repo, "git status --porcelain").changed(again.digests())] == ["?? b.py\n"]


def test_a_command_that_is_not_installed_is_a_plain_result(tmp_path: Path) -> None:
    """It covers its task all the same: missing again is no news."""
    report = run(tmp_path, "gh-that-is-not-there pr list")
    command = "gh-that-is-not-there"
    assert report.results[0].problem == f"`{command} pr list` cannot be started: {command} is not installed"
    assert report.results[0].exit_code is None
    (tmp_path / "check").write_text("#!/no/such/program\n")
    (tmp_path / "check").chmod(0o755)
    problems = {result.problem for result in run(tmp_path, "./check all", "./nowhere all").results}
    missing = "is not there, or the program in its first line is not"
    assert problems == {f"`./{name} all` cannot be started: ./{name} {missing}" for name in ("check", "nowhere")}


def test_no_secret_of_ours_reaches_a_command_or_comes_back(tmp_path: Path) -> None:
    """The environment is scrubbed, and values are cut out of what is printed."""
    code = "import os; print(sorted(os.environ), 'xoxb-' + 'very-secret')"
    output = run(tmp_path, script(tmp_path, code)).results[0].output
    assert "SLACK_BOT_TOKEN" not in output
    assert "xoxb-very-secret" not in output
    assert "GIT_CONFIG_COUNT" in output


def test_a_command_that_floods_is_cut(tmp_path: Path) -> None:
    """What is kept is bounded, and it is said."""
    result = run(tmp_path, script(tmp_path, "while True: print('x' * 1000)")).results[0]
    assert 0 < len(result.output) <= OUTPUT_BYTES
    assert "printed more than 64 KiB" in (result.problem or "")


def test_a_flood_has_one_hash_wherever_it_is_cut(tmp_path: Path) -> None:
    """Whether its command had ended by then, and how many bytes a character takes, makes no news."""
    code = "import sys; sys.stdout.buffer.write('ä'.encode() * {}); sys.stdout.flush(); sys.exit(1)"
    few, many = (run(tmp_path, script(tmp_path, code.format(size))).results[0] for size in (50_000, 5_000_000))
    assert (few.exit_code, few.digest) == (-9, many.digest)


def test_a_token_that_the_limit_of_output_cuts_in_two_is_not_shown(tmp_path: Path) -> None:
    """It is cut out first; its first half alone would look like any word."""
    code = f"import sys; sys.stdout.write('x ' * {OUTPUT_BYTES // 2 - 6} + 'ghp_{'a1B2' * 9}' + ' x' * 9_000)"
    result = run(tmp_path, script(tmp_path, code)).results[0]
    assert "ghp_" not in result.output
    assert "printed more than 64 KiB" in (result.problem or "")


def test_what_colours_a_terminal_is_left_out(tmp_path: Path) -> None:
    """Nobody reads it in an alert, and "31mfailed" is no word."""
    code = r"print('\x1b[1;31mfailed\x1b[0m: \x1b]8;;https://ci.example\x07build\x1b]8;;\x07' + '\x1b[' * 9)"
    assert run(tmp_path, script(tmp_path, code)).results[0].output == "failed: build" + "\x1b[" * 9 + "\n"


def test_a_command_that_is_killed_names_the_signal(tmp_path: Path) -> None:
    """Not what it printed last, which is no reason."""
    command = script(tmp_path, "import os; print('begun', flush=True); os.kill(os.getpid(), 11)")
    assert run(tmp_path, command).results[0].problem == f"`{command}` was ended by a signal: Segmentation fault"


def test_a_failure_is_told_by_its_last_line(tmp_path: Path) -> None:
    """Here: no checkout."""
    problem = run(tmp_path, "git status --porcelain").results[0].problem
    assert problem is not None
    assert problem.startswith("`git status --porcelain` failed: fatal: not a git repository")


def test_hooks_and_monitors_of_the_checkout_do_not_run(tmp_path: Path) -> None:
    """A checkout's own config names programs; none is started."""
    repo = make_repo(tmp_path / "shop", {"a.py": "x = 1\n"})
    config = repo / ".git" / "config"
    config.write_text(config.read_text() + '[core]\n\tfsmonitor = "touch pwned; false"\n\tpager = touch pwned\n')
    run(repo, "git status --porcelain", "git log --oneline -n 5")
    assert not (repo / "pwned").exists()


def test_what_is_not_allowed_is_named_and_not_run(tmp_path: Path) -> None:
    """Its task is not covered."""
    tasks = parse("## Quick\n- [ ] Evil: `touch pwned now`\n").tasks(Tier.QUICK)
    report = Probes(ENVIRON).run(tmp_path, tasks, [("git", "status")], at=AT)
    assert report.refused == (("touch", "pwned", "now"),)
    assert not report.covers(tasks[0])
    assert not (tmp_path / "pwned").exists()


def test_what_code_knows_already_is_not_run(tmp_path: Path) -> None:
    """A task that names the playbook's own flags is covered by them."""
    tasks = parse("## Quick\n- [ ] Flags: `triage flags`\n").tasks(Tier.QUICK)
    report = Probes(ENVIRON).run(tmp_path, tasks, [], at=AT, ready={FLAGS.argv: FLAGS})
    assert report.covers(tasks[0])
    assert report.results_for(tasks[0])[0].output == "disk is full"


def test_all_commands_of_a_beat_share_one_limit_of_time(tmp_path: Path) -> None:
    """What is left over is named and not covered; what code knows already costs no time."""
    ticks = iter(range(0, 10_000, 5))
    probes = Probes(ENVIRON, total_s=12.0, monotonic=lambda: next(ticks))
    text = "## Quick\n" + "".join(f"- [ ] {n}: `echo {n}`\n" for n in range(4)) + "- [ ] flags: `triage flags`\n"
    tasks = parse(text).tasks(Tier.QUICK)
    report = probes.run(tmp_path, tasks, [("echo", "{number}")], at=AT, ready={FLAGS.argv: FLAGS})
    assert [result.command for result in report.results if result.problem is None] == ["echo 0", "triage flags"]
    problem = report.results_for(tasks[1])[0].problem
    assert problem == "no time was left for `echo 1`: the commands before it took over 12 s"


def test_checks_of_a_request_that_still_run_are_no_failure(tmp_path: Path) -> None:
    """As `gh pr checks` exits then; any other command that exits so has failed."""
    for program in ("gh", "other"):
        (tmp_path / program).write_text("#!/bin/sh\nexit 8\n")
        (tmp_path / program).chmod(0o755)
    environ = {**ENVIRON, "PATH": f"{tmp_path}:{ENVIRON['PATH']}"}
    named = [("gh", "pr", "checks", "7"), ("gh", "pr", "list"), ("other", "pr", "checks", "7")]
    found = [Probes(environ).run_one(tmp_path, argv, named) for argv in named]
    assert [result.problem is None for result in found if result] == [True, False, False]


def test_json_of_a_forge_is_read_however_long_and_kept_short(tmp_path: Path) -> None:
    """Two hundred requests with thirty checks each are more than the limit of other commands."""
    checks = [{"name": f"job {n} {'x' * 60}", "conclusion": "SUCCESS"} for n in range(30)]
    pulls = [{"number": n, "statusCheckRollup": checks} for n in range(200)]
    (tmp_path / "list.json").write_text(json.dumps(pulls))
    (tmp_path / "gh").write_text("#!/bin/sh\ncat list.json\n")
    (tmp_path / "gh").chmod(0o755)
    environ, argv = {**ENVIRON, "PATH": f"{tmp_path}:{ENVIRON['PATH']}"}, ("gh", "pr", "list")
    result = Probes(environ).run_one(tmp_path, argv, [argv])
    assert result is not None
    assert (result.problem, result.output.splitlines()[-1]) == (None, '{"number": 199}')


def test_thousands_of_tasks_find_their_results() -> None:
    """Each its own, by task."""
    tasks = parse("".join(f"- {n}: `echo {n}`\n" for n in range(5_000))).tasks(Tier.QUICK)
    argvs = [("echo", str(n)) for n in range(5_000)]
    results = tuple(ProbeResult(argv=argv, output="", exit_code=0, seconds=0.1) for argv in argvs)
    report = ProbeReport(results=results)
    assert all(report.covers(task) and report.results_for(task) for task in tasks)
