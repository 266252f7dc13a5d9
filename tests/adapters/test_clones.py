"""Clones of real repositories, over files and HTTP: what arrives, what stays readable, what failures are called."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.adapters.clones import MAX_PACKS, Clone, GitNetwork, clone_path, network_environment
from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import EntryKind, GitRepo
from bot.domain.citations.links import code_links
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.errors import CodebaseUnreadable, NotCloned, ProviderError
from tests import fork_server
from tests.githttp import GitServer, Mood, git_server
from tests.gitrepo import commit_files, git, make_repo


class Remote:
    """A bare repository that people push to from a checkout, and a clone of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = make_repo(folder / "work", {"src/a.py": "limit = 5\n"})
        self.bare = folder / "remotes" / "shop.git"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        git(self.work, "remote", "add", "origin", str(self.bare))
        self.push()

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def commit(self, text: str) -> str:
        """Push a commit and return its id."""
        sha = commit_files(self.work, {"src/a.py": f"{text}\n"}, text)
        self.push()
        return sha

    def push(self) -> None:
        git(self.work, "push", "--quiet", "--force", "--tags", "origin", "HEAD:refs/heads/main")

    def clone(self, url: str = "", branch: str | None = None, network: GitNetwork | None = None) -> Clone:
        """Return the clone, of whatever address."""
        return Clone(clone_path(self.folder / "home", "shop"), url or self.url, branch, network or GitNetwork())

    @property
    def repo(self) -> GitRepo:
        """The clone as it is read."""
        return GitRepo(clone_path(self.folder / "home", "shop"))


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote(tmp_path)


@pytest.fixture
def server(remote: Remote) -> Iterator[GitServer]:
    with git_server(remote.bare.parent) as one:
        yield one


def why(clone: Clone) -> str:
    """Return the words of a fetch that fails."""
    with pytest.raises(ProviderError) as caught:
        clone.fetch()
    return str(caught.value)


def test_a_clone_is_opened_while_it_is_fetched(remote: Remote) -> None:
    """A reload and a fetch prepare the same folder; git would refuse the second who writes its configuration."""
    with ThreadPoolExecutor(8) as threads:
        for opening in [threads.submit(remote.clone().prepare) for _ in range(8)]:
            opening.result()
    remote.clone().fetch()
    assert remote.repo.head() == git(remote.work, "rev-parse", "HEAD")


def test_a_clone_is_read_like_a_checkout(remote: Remote) -> None:
    """Files, lines, history, blame and the address for links, without a work tree."""
    remote.commit("limit = 6")
    remote.clone().fetch()
    repo = remote.repo
    head = repo.head()
    assert head == git(remote.work, "rev-parse", "HEAD")
    assert [entry.path for entry in repo.tree(head)] == ["src/a.py"]
    assert repo.lines_at(head, "src/a.py") == ["limit = 6"]
    assert [one.subject for one in GitHistory(repo).commits(head, limit=9)] == ["limit = 6", "first"]
    assert GitHistory(repo).blame(head, "src/a.py", 1, 1) == {1: head}
    assert [hit.path for hit in GitHistory(repo).lines_with(head, "limit")[0]] == ["src/a.py"]
    assert repo.remote_url() == remote.url
    assert repo.root == clone_path(remote.folder / "home", "shop")


def test_before_the_first_fetch_there_is_nothing_to_read(remote: Remote) -> None:
    """It is no setting of the operator's that is wrong: questions wait."""
    clone = remote.clone()
    clone.prepare()
    assert not clone.has_branch
    with pytest.raises(NotCloned, match="triage status"):
        remote.repo.head()
    clone.fetch()
    assert clone.has_branch
    assert remote.repo.head()


def test_a_fetch_brings_new_commits_and_tags(remote: Remote) -> None:
    """A moved tag and one whose name became a folder as well."""
    git(remote.work, "tag", "v1")
    remote.push()
    clone = remote.clone()
    clone.fetch()
    git(remote.work, "tag", "--delete", "v1")
    git(remote.bare, "tag", "--delete", "v1")
    git(remote.work, "tag", "v1/rc1")
    sha = remote.commit("limit = 7")
    clone.fetch()
    assert remote.repo.head() == sha
    assert git(clone.path, "tag") == "v1/rc1"


def test_a_forced_push_leaves_earlier_commits_readable(remote: Remote) -> None:
    """Also after git has packed everything anew and would remove what no branch names."""
    clone = remote.clone()
    clone.fetch()
    old = remote.repo.head()
    commit_files(remote.work, {"src/a.py": "limit = 9\n"}, "other")
    git(remote.work, "reset", "--quiet", "--soft", "HEAD~1")
    git(remote.work, "commit", "--quiet", "--amend", "--message", "rewritten")
    remote.push()
    clone.fetch()
    assert remote.repo.head() != old
    git(clone.path, "reflog", "expire", "--all")
    git(clone.path, "gc", "--quiet")
    assert remote.repo.lines_at(old, "src/a.py") == ["limit = 5"]
    assert remote.repo.resolve(old[:10]) == old


def test_a_renamed_default_branch_is_followed(remote: Remote) -> None:
    """Where no branch is named, it is whatever the remote's HEAD is."""
    clone = remote.clone()
    clone.fetch()
    git(remote.bare, "branch", "--move", "main", "trunk")
    sha = commit_files(remote.work, {"b.txt": "x\n"})
    git(remote.work, "push", "--quiet", "origin", "HEAD:trunk")
    clone.fetch()
    assert remote.repo.head() == sha


def test_a_deleted_branch_keeps_its_last_commit(remote: Remote) -> None:
    """The failure names the branch, and comes to its end when the branch is back."""
    git(remote.work, "push", "--quiet", "origin", "HEAD:release/1.2")
    clone = remote.clone(branch="release/1.2")
    clone.fetch()
    head = remote.repo.head()
    git(remote.bare, "branch", "--delete", "--force", "release/1.2")
    assert why(clone) == "couldn't find remote ref refs/heads/release/1.2"
    assert remote.repo.head() == head
    git(remote.work, "push", "--quiet", "origin", "HEAD:release/1.2")
    clone.fetch()


def test_an_empty_remote_is_cloned_once_it_has_a_commit(tmp_path: Path) -> None:
    """Until then git's words say what is missing."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "empty.git")
    network = GitNetwork()
    clone = Clone(tmp_path / "c.git", f"file://{tmp_path}/empty.git", None, network)
    assert why(clone) == "couldn't find remote ref HEAD"
    work = make_repo(tmp_path / "work", {"a.txt": "x\n"})
    git(work, "push", "--quiet", str(tmp_path / "empty.git"), "main")
    clone.fetch()
    assert clone.has_branch


def test_another_address_is_not_read_before_it_was_fetched(remote: Remote, tmp_path: Path) -> None:
    """What an id stood for before is never taken for what it stands for now; its commits stay."""
    remote.clone().fetch()
    old = remote.repo.head()
    other = make_repo(tmp_path / "other", {"o.txt": "x\n"})
    clone = remote.clone(f"file://{other}")
    clone.prepare()
    with pytest.raises(CodebaseUnreadable):
        remote.repo.head()
    clone.fetch()
    assert remote.repo.head() == git(other, "rev-parse", "HEAD")
    assert remote.repo.blob_at(old, "src/a.py") == b"limit = 5\n"


def test_a_remote_that_comes_back_is_fetched(remote: Remote) -> None:
    """The words of the failure are git's."""
    clone = remote.clone()
    clone.fetch()
    remote.bare.rename(remote.bare.with_name("away"))
    assert "does not appear to be a git repository" in why(clone)
    remote.bare.with_name("away").rename(remote.bare)
    clone.fetch()


def test_the_remote_can_be_asked_without_a_clone(remote: Remote) -> None:
    """As `triage doctor` does, which writes nothing."""
    remote.clone().ask_remote()
    assert not clone_path(remote.folder / "home", "shop").exists()
    with pytest.raises(ProviderError, match="exit code 2"):
        remote.clone(branch="gone").ask_remote()


def test_a_clone_over_ssh_has_links_for_a_browser(tmp_path: Path) -> None:
    """Its address is kept in the clone as git takes it."""
    clone = Clone(clone_path(tmp_path, "shop"), "git@github.com:acme/shop.git", None, GitNetwork())
    clone.prepare()
    ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a/b.py:3-9", commit="f00dfeed")
    link = code_links(GitRepo(clone.path).remote_url())(ref)
    assert link == "https://github.com/acme/shop/blob/f00dfeed/a/b.py#L3-L9"


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        (Mood.LOCKED, "could not read Username for 'http://127.0.0.1:{port}': terminal prompts disabled"),
        (Mood.GONE, "repository 'http://127.0.0.1:{port}/shop.git/' not found"),
        (Mood.BROKEN, "The requested URL returned error: 500"),
    ],
)
def test_a_server_that_refuses_is_quoted(remote: Remote, server: GitServer, mood: Mood, words: str) -> None:
    """Nobody is asked for a password."""
    server.mood = mood
    assert words.format(port=server.server_port) in why(remote.clone(server.url("shop.git")))


def test_a_silent_server_is_given_up(remote: Remote, server: GitServer) -> None:
    """Together with the helper process that waits for it."""
    server.mood = Mood.SILENT
    assert why(remote.clone(server.url("shop.git"), network=GitNetwork(stall_s=0.3))) == "nothing came for 0.3 s"


def test_a_server_that_never_comes_to_an_end_is_given_up(remote: Remote, server: GitServer) -> None:
    """However busy it looks."""
    noise(remote)
    server.mood = Mood.SLOW
    network = GitNetwork(limit_s=0.5)
    assert why(remote.clone(server.url("shop.git"), network=network)) == "it took over 0.5 s"
    assert not remote.clone().has_branch


def test_credentials_of_the_operators_helper_are_used(
    remote: Remote, server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the configuration in the operator's home; a secret of triage reaches no helper."""
    helper, seen = tmp_path / "helper", tmp_path / "seen"
    helper.write_text(f'#!/bin/sh\nenv >{seen}\necho username=ann\necho "password=hunter2"\n')
    helper.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    server.mood = Mood.LOCKED
    said = why(remote.clone(server.url("shop.git")))
    assert "Authentication failed" in said
    assert "hunter2" not in said
    assert "xoxb-secret" not in seen.read_text()


def test_a_password_in_a_rewritten_address_is_not_repeated(
    remote: Remote, server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `insteadOf` of the operator's configuration may add one."""
    token = "glpat-" + "x1y2z3a4b5c6d7e8f9g0"
    rule = f'[url "http://oauth2:{token}@127.0.0.1:{server.server_port}/"]\n\tinsteadOf = https://git.example.com/\n'
    (tmp_path / ".gitconfig").write_text(rule)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    server.mood = Mood.GONE
    said = why(remote.clone("https://git.example.com/shop.git"))
    assert "not found" in said
    assert token not in said
    assert "oauth2" not in said


@pytest.mark.parametrize("address", ["ext::sh -c touch% {mark}", "fd::3"])
def test_no_address_runs_a_program(remote: Remote, tmp_path: Path, address: str) -> None:
    """Even where one got past the settings, or the operator's configuration rewrites to it."""
    mark = tmp_path / "ran"
    assert "not allowed" in why(remote.clone(address.format(mark=mark)))
    assert not mark.exists()


def test_ssh_is_asked_without_a_terminal(remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's own ssh command is used, with the agent; nothing it could ask on is there."""
    seen, ssh = tmp_path / "seen", tmp_path / "ssh"
    ssh.write_text(
        f'#!/bin/sh\necho "$@" >{seen}\nenv >>{seen}\n(: </dev/tty) 2>/dev/null && echo TTY >>{seen}\nexit 255\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("SSH_ASKPASS", "/bin/true")
    assert "Could not read from remote repository" in why(remote.clone("git@git.example.com:acme/shop.git"))
    text = seen.read_text()
    assert "git@git.example.com git-upload-pack 'acme/shop.git'" in text
    assert "SSH_AUTH_SOCK=/run/agent" in text
    assert "SSH_ASKPASS=/bin/true" not in text
    assert "TTY" not in text


def test_what_gits_own_checks_refuse_is_not_taken(remote: Remote) -> None:
    """Here a tree with an entry called .git."""
    _push_evil_commit(remote)
    clone = remote.clone()
    assert "hasDotgit" in why(clone)
    assert not clone.has_branch


def _push_evil_commit(remote: Remote) -> None:
    sha = git(remote.work, "rev-parse", "HEAD:src/a.py")
    made = subprocess.run(
        ["git", "-C", str(remote.bare), "mktree"],
        input=f"100644 blob {sha}\t.git\n",
        capture_output=True,
        text=True,
        check=True,
    )
    commit = git(remote.bare, "commit-tree", made.stdout.strip(), "-m", "evil")
    git(remote.bare, "update-ref", "refs/heads/main", commit)


def test_old_mistakes_in_dates_are_taken(remote: Remote) -> None:
    """Well-known repositories have them."""
    head = subprocess.run(
        ["git", "-C", str(remote.bare), "cat-file", "commit", "main"], capture_output=True, text=True, check=True
    ).stdout
    made = subprocess.run(
        ["git", "-C", str(remote.bare), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        input=head.replace("+0000", "+051800"),
        capture_output=True,
        text=True,
        check=True,
    )
    git(remote.bare, "update-ref", "refs/heads/main", made.stdout.strip())
    remote.clone().fetch()
    assert remote.repo.head() == made.stdout.strip()


def test_hooks_and_submodules_are_left_alone(remote: Remote, tmp_path: Path) -> None:
    """Nothing of a repository is run, and nothing it names is fetched."""
    mark = tmp_path / "ran"
    commit_files(remote.work, {".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = file://{tmp_path}/nowhere\n'})
    git(remote.work, "update-index", "--add", "--cacheinfo", f"160000,{git(remote.work, 'rev-parse', 'HEAD')},x")
    git(remote.work, "commit", "--quiet", "--message", "submodule")
    remote.push()
    clone = remote.clone()
    clone.prepare()
    hook = clone.path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    clone.fetch()
    kinds = {one.path: one.kind for one in remote.repo.each_entry(remote.repo.head())}
    assert kinds["x"] is EntryKind.SUBMODULE
    assert not mark.exists()


def test_a_damaged_clone_never_leads_to_the_repository_around_it(remote: Remote, tmp_path: Path) -> None:
    """A data directory may stand in a checkout of somebody's own files."""
    make_repo(tmp_path / "home", {"private.txt": "x\n"})
    clone = remote.clone()
    clone.fetch()
    head = remote.repo.head()
    (clone.path / "HEAD").unlink()
    with pytest.raises(CodebaseUnreadable):
        remote.repo.head()
    clone.fetch()
    assert remote.repo.head() == head


def test_what_a_killed_git_left_is_removed(remote: Remote) -> None:
    """A lock that is some minutes old would refuse every fetch; a new one is somebody's."""
    clone = remote.clone()
    clone.fetch()
    (lock,) = [path.with_name(f"{path.name}.lock") for path in (clone.path / "refs" / "heads").iterdir()]
    half = clone.path / "objects" / "pack" / "tmp_pack_abc"
    for path in (lock, half):
        path.write_bytes(b"x")
    sha = remote.commit("limit = 8")
    assert "cannot lock ref" in why(clone)
    assert half.exists()
    for path in (lock, half):
        os.utime(path, (time.time() - 3_600,) * 2)
    clone.fetch()
    assert remote.repo.head() == sha
    assert not lock.exists()
    assert not half.exists()


def test_the_packs_of_many_fetches_become_one(remote: Remote) -> None:
    """Readers go on meanwhile, and nothing is lost."""
    clone = remote.clone()
    clone.fetch()
    first = remote.repo.head()
    (pack,) = clone.path.glob("objects/pack/*.pack")
    for number in range(MAX_PACKS):
        for suffix in (".pack", ".idx"):
            shutil.copy(pack.with_suffix(suffix), pack.with_name(f"pack-{number:040x}{suffix}"))
    with_repo = remote.repo
    clone.repack()
    assert len(list(clone.path.glob("objects/pack/*.pack"))) == 1
    assert with_repo.lines_at(first, "src/a.py") == ["limit = 5"]


def test_a_full_disk_changes_nothing(remote: Remote, tmp_path: Path) -> None:
    """Here a limit on the size of files stands for the disk."""
    noise(remote)
    fetching = ("tests.adapters.killed", str(remote.clone().path), remote.url)
    done = fork_server.run(*fetching, "8192", env=os.environ)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert not remote.clone().has_branch
    remote.clone().fetch()
    assert remote.repo.head()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_bot_that_is_killed_leaves_the_last_good_commit(remote: Remote, server: GitServer, is_first: bool) -> None:
    """kill -9 while the pack arrives; its git ends with it, and the next fetch works."""
    clone = remote.clone(server.url("shop.git"))
    before = None
    if not is_first:
        clone.fetch()
        before = remote.repo.head()
    noise(remote)
    server.mood, server.pause_s = Mood.SLOW, 0.2  # the whole of it would take half a minute
    with fork_server.lines("tests.adapters.killed", str(clone.path), server.url("shop.git")):
        while not list(clone.path.glob("objects/pack/tmp_*")):
            time.sleep(0.05)
        time.sleep(0.3)
    clone.prepare()
    if before is None:
        assert not clone.has_branch
    else:
        assert remote.repo.head() == before
    server.mood = Mood.WELL
    clone.fetch()
    assert remote.repo.head() == git(remote.work, "rev-parse", "HEAD")
    git(clone.path, "fsck", "--strict")


def noise(remote: Remote) -> str:
    """Push half a megabyte that no compression makes small."""
    sha = commit_files(remote.work, {f"big/{number}.bin": os.urandom(100_000) for number in range(5)})
    remote.push()
    return sha


def test_the_environment_of_a_fetch_holds_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no variable that leads git to another repository."""
    for name in ("SLACK_BOT_TOKEN", "ANTHROPIC_API_KEY", "GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE_CURL"):
        monkeypatch.setenv(name, "x")
    assert not {"SLACK_BOT_TOKEN", "ANTHROPIC_API_KEY", "GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE_CURL"} & set(
        network_environment()
    )
