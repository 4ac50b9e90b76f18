"""Agents, their checks and what makes their workspaces ready, in the real sandbox."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import agents, removal, snapshots, tasks
from agents_manager.flow.views import TaskView
from agents_manager.sandbox import bridge, tree, usage
from tests import sandboxes
from tests.repos import executable, own_home, run, sha, status, write
from tests.runner_jobs import eventually, processes_of
from tests.small_disk import fill, small_disk
from tests.worlds import ANN, GREETING, NO_RETRIES, World, repo, working

__all__ = ["own_home", "repo"]

WORKS = """\
echo hello >> greeting.txt
git add -A
git commit -qm "Say hello"
"""


@pytest.fixture
async def world(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    """Nobody consented to anything: only a sandbox lets its agents work. In worktrees, which are
    ready sooner; tests of what is usual in a sandbox say so."""
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    limits = {"memoryMb": 400, "diskMb": 50, "hosts": []}
    kind = {"workspace": {"kind": "worktree"}}
    (home / "config.json").write_text(json.dumps({"sandbox": limits, **kind, **NO_RETRIES}))
    async with working(home, repo) as world:
        world.project = await agents.consent(world.s, world.project, given=False)
        yield world


@pytest.fixture
def usual(world: World) -> None:
    config = world.s.home / "config.json"
    told = json.loads(config.read_text())
    del told["workspace"]
    config.write_text(json.dumps(told))


async def worked(world: World, script: str, **config: Any) -> TaskView:
    task = await started(world, script, config)
    return await world.wait(task, lambda v: v.run is None and bool(v.runs[0].ended_at), "over")


async def started(world: World, script: str, config: Mapping[str, Any]) -> Task:
    executable(world.repo / "agent.sh", script)
    agent = {"adapter": "command", "command": ["./agent.sh"], "env": ["OWN_KEY", "MODEL_BASE_URL"]}
    world.configure({"defaultAgentType": "mine", "agents": {"mine": agent}, **config})
    world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task


def said(world: World, run: Run) -> str:
    return (world.s.jobs_dir / run.id / "1" / "output").read_text()


async def test_an_agent_works_in_it_without_consent_and_it_is_told(world: World) -> None:
    view = await worked(world, WORKS)
    assert (view.runs[0].status, view.runs[0].sandbox) == (RunStatus.COMPLETED, "S3"), view.runs
    started = [e for e in await world.events(view.task) if e.type == "agent.started"]
    assert [(e.summary, e.data["sandbox"]) for e in started] == [
        ("mine started (implement, sandbox S3).", "S3")
    ]
    branch = view.runs[0].branch
    assert run(world.repo, "log", "-1", "--format=%s %an", str(branch)) == "Say hello Ada Löve"
    assert run(world.repo, "show", f"{branch}:greeting.txt") == "hi\nhello"


async def test_it_finds_neither_the_project_nor_the_data_directory_nor_a_home(
    world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "for the agent")
    monkeypatch.setenv("OTHER_KEY", "not for it")
    (world.repo / ".env").write_text("SECRET=1\n")
    (own_home / "secret").write_text("mine\n")
    script = f"""\
cat "{world.repo}/.env" "{world.s.home}/config.json" "{own_home}/secret" 2>&1
env
echo "home $(ls -A "$HOME")"
"""
    view = await worked(world, script + WORKS)
    printed = said(world, view.runs[0])
    assert printed.count("No such file") == 3
    assert "OWN_KEY=" in printed
    assert "for the agent" not in printed  # It has it, and it is kept out of what is stored.
    assert "OTHER_KEY" not in printed
    assert "home \n" in printed


MEDDLES = """\
common=$(git rev-parse --git-common-dir)
mkdir -p "$common/hooks"
echo 'evil' > "$common/hooks/post-commit" && echo wrote hooks
git config user.signingKey evil && echo wrote config
git update-ref refs/heads/main HEAD && echo wrote main
"""


@pytest.mark.usefixtures("usual")
async def test_it_works_in_a_clone_whose_repository_is_its_own(world: World) -> None:
    before = (world.repo / ".git/config").read_text(), sha(world.repo, "main")
    view = await worked(world, WORKS + MEDDLES)
    ended = view.runs[0]
    assert ended.status is RunStatus.COMPLETED, ended.error
    assert (Path(ended.workspace or "") / ".git").is_dir()
    assert said(world, ended).count("wrote") == 3
    assert ((world.repo / ".git/config").read_text(), sha(world.repo, "main")) == before
    assert not (world.repo / ".git/hooks/post-commit").exists()
    assert run(world.repo, "show", f"{ended.branch}:greeting.txt") == "hi\nhello"


async def test_from_a_worktree_it_cannot_write_the_repository_beyond_its_branch(
    world: World,
) -> None:
    script = """\
echo x > "$(git rev-parse --git-dir)/commondir" && echo wrote commondir
echo gitdir: /tmp > .git && echo wrote .git
true
"""
    view = await worked(world, WORKS + MEDDLES + script)
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error
    assert "wrote" not in said(world, view.runs[0])
    assert not (world.repo / ".git/hooks/post-commit").exists()


@pytest.mark.usefixtures("usual")
async def test_the_scripted_agent_needs_neither_sandbox_nor_clone(world: World) -> None:
    world.configure({"defaultAgentType": "scripted"})
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    assert view.runs[0].sandbox is None
    assert (Path(view.runs[0].workspace or "") / ".git").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("usual")
async def test_left_over_work_of_it_is_saved_and_comes_back(world: World) -> None:
    """By gits that are in the sandbox themselves, through the whole walk."""
    view = await worked(world, "echo left > over; exit 3")
    task = view.task
    executable(world.repo / "agent.sh", WORKS)
    await world.choose(task, "again")
    await world.until(task, "review")
    assert run(world.repo, "show", f"refs/agents-manager/snapshots/{task.id}/1:over") == "left"
    done = await snapshots.restore(world.s, task.id, 1, None, ANN)
    clone = Path(done.workspace or "")
    assert (clone / ".git").is_dir()
    assert status(clone) == "?? over"
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.settled(task)
    [cleaned] = await removal.clean(world.s, task_id=None, project_id=world.project.id)
    assert cleaned.left is None
    assert await world.s.workspaces.standing(world.repo) == {}


async def test_its_checks_run_in_it_too(world: World, own_home: Path) -> None:
    (own_home / "secret").write_text("mine\n")
    look = f'! cat "{own_home}/secret" && [ -e greeting.txt ] && echo done > built'
    view = await worked(world, WORKS, checks={"test": {"command": look}})
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error


KNOWS_PROXY = """\
test -n "$HTTPS_PROXY" && test "$YARN_HTTPS_PROXY" = "$HTTPS_PROXY" || exit 1
for option in "user.home=\\"$HOME\\"" "https.proxyPort=${HTTPS_PROXY##*:}" ; do
    case "$JAVA_TOOL_OPTIONS" in *"-D$option"*) ;; *) exit 2 ;; esac
done
"""
"""Yarn and Java do not read the variables that other programs find a proxy by."""


async def test_a_check_that_may_use_the_network_passes(world: World) -> None:
    """The sockets that lead out are created in the TMPDIR of the check, which it may write."""
    settings = world.s.home / "config.json"
    config = json.loads(settings.read_text())
    config["sandbox"]["hosts"] = ["example.com"]
    settings.write_text(json.dumps(config))
    view = await worked(world, WORKS, checks={"test": {"command": KNOWS_PROXY}})
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error


async def test_a_check_finds_the_toolchains_of_rustup_and_cannot_change_them(
    world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rustup = executable(own_home / ".cargo" / "bin" / "rustup", "true")
    write(own_home, {".rustup/stable": "1.90\n"})
    monkeypatch.setenv("PATH", f"{rustup.parent}:{os.environ['PATH']}")
    look = 'cat "$RUSTUP_HOME/stable" && ! touch "$RUSTUP_HOME/new"'
    view = await worked(world, WORKS, checks={"test": {"command": look}})
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error


async def test_set_up_runs_in_the_sandbox_too(world: World, own_home: Path) -> None:
    (own_home / "secret").write_text("mine\n")
    setup = [f'! cat "{own_home}/secret"', "echo ready > .ready"]
    view = await worked(world, "cat .ready; rm .ready\n" + WORKS, setup=setup)
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error
    assert "ready" in said(world, view.runs[0])


HOSTILE = """\
echo '{"hooks": "evil"}' > .claude/settings.json && echo changed settings
echo evil > .envrc && echo changed envrc
rm -rf .claude && echo removed settings
mv .envrc away && echo moved envrc
echo '{"mcpServers": "evil"}' > .mcp.json && echo made mcp
echo ended
"""


@pytest.mark.parametrize("locked", [True, False])
async def test_files_by_which_commands_are_run_stay_as_they_are(world: World, locked: bool) -> None:
    """What is not there yet can be made, and is pointed out."""
    settings = world.s.home / "config.json"
    told = json.loads(settings.read_text())
    told["sandbox"]["lockSettings"] = locked
    settings.write_text(json.dumps(told))
    (world.repo / ".claude").mkdir()
    (world.repo / ".claude/settings.json").write_text("{}\n")
    (world.repo / ".envrc").write_text("use nix\n")
    run(world.repo, "add", "-f", ".claude", ".envrc")
    run(world.repo, "commit", "-qm", "Settings of the repository")
    view = await worked(world, HOSTILE + WORKS)
    printed = said(world, view.runs[0])
    assert "ended" in printed
    assert ("changed settings" in printed) is not locked
    assert ("changed envrc" in printed) is not locked
    assert ("removed settings" in printed) is not locked
    assert ("moved envrc" in printed) is not locked
    assert "made mcp" in printed
    [pointed_out] = [e for e in await world.events(view.task) if e.type == "policy.changed"]
    flagged = [".mcp.json"] if locked else [".claude/settings.json", ".envrc", ".mcp.json"]
    assert pointed_out.data["files"] == flagged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("""exec python3 -c 'x = b"x" * (900 << 20); input()' < /dev/zero""", "of memory together"),
        ("dd if=/dev/zero of=big bs=1M count=90 2>/dev/null; sleep 30", "50 MB are allowed"),
    ],
    ids=["memory", "disk"],
)
async def test_a_limit_ends_it_with_its_name(world: World, script: str, why: str) -> None:
    view = await worked(world, script)
    error = view.runs[0].error
    assert error is not None
    assert error.error_class is ErrorClass.LIMIT
    assert why in error.error


CHATTY = """\
echo up
until [ -e go ]; do sleep 0.05; done
for i in $(seq 1200); do echo "line $i"; done
touch printed
until [ -e end ]; do sleep 0.05; done
rm go printed end
"""


async def test_a_full_disk_neither_ends_it_nor_loses_what_it_prints(world: World) -> None:
    with (
        small_disk(world.s.jobs_dir, 8) as disk,
        small_disk(world.s.home / "worktrees", 64),
    ):
        task = await started(world, CHATTY + WORKS, {})
        view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "a run")
        assert view.run is not None
        output = disk / view.run.id / "1/output"
        await asyncio.to_thread(eventually, lambda: "up" in _text(output))
        ballast = fill(disk)
        _touch(view.run, "go")
        await asyncio.to_thread(eventually, Path(view.run.workspace or "", "printed").exists)
        await asyncio.sleep(2 * usage.LOOK_S)
        ballast.unlink()
        _touch(view.run, "end")
        view = await world.wait(task, lambda v: v.run is None, "over")
        lines = output.read_text().splitlines()
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error
    assert [line for line in lines if line.startswith("line")] == [
        f"line {n}" for n in range(1, 1201)
    ]


ASKS = """\
port="${MODEL_BASE_URL##*:}"
bash -c "exec 3<>/dev/tcp/127.0.0.1/$port && echo ping >&3 && cat <&3"
cat /proc/[0-9]*/comm | sort -u | tr '\\n' ' '
until [ -e end ]; do sleep 0.05; done
rm end
"""


async def test_its_runner_alone_serves_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the server nor a process inside the sandbox relays its connections."""
    with socket.create_server(("127.0.0.1", 0)) as model:
        bridge.in_thread(bridge.listen, model, lambda near: near.sendall(near.recv(9) + b"pong\n"))
        monkeypatch.setenv("MODEL_BASE_URL", f"http://127.0.0.1:{model.getsockname()[1]}")
        task = await started(world, ASKS + WORKS, {})
        view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "a run")
        assert view.run is not None
        folder = world.s.jobs_dir / view.run.id / "1"
        await asyncio.to_thread(eventually, lambda: "bwrap" in _text(folder / "output"))
        runner = json.loads((folder / "runner.json").read_text())["pid"]
        outside = _names(tree.below(runner))
        _touch(view.run, "end")
        view = await world.wait(task, lambda v: v.run is None, "over")
    assert view.runs[0].status is RunStatus.COMPLETED, view.runs[0].error
    assert "ping\npong\n" in _text(folder / "output")
    assert not any("python" in name for name in (*outside, _text(folder / "output")))


def _names(pids: Sequence[int]) -> list[str]:
    names: list[str] = []
    for pid in pids:
        with suppress(FileNotFoundError):  # One of the short-lived commands of the agent.
            names.append(Path(f"/proc/{pid}/comm").read_text())
    return names


def _touch(run: Run, name: str) -> None:
    Path(run.workspace or "", name).touch()


STUBBORN = """\
trap 'echo asked; exit 0' TERM
setsid sleep 600 &
sh -c 'trap "" TERM; sleep 600' &
echo ready
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("how", ["stopped", "its runner is killed"])
async def test_nothing_of_it_is_left(world: World, how: str) -> None:
    task = await started(world, STUBBORN, {})
    view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "a run")
    assert view.run is not None
    folder = world.s.jobs_dir / view.run.id / "1"
    await asyncio.to_thread(eventually, lambda: "ready" in _text(folder / "output"))
    run_id = view.run.id
    await asyncio.to_thread(eventually, lambda: len(processes_of(run_id)) > 4)
    if how == "stopped":
        await world.s.runners.stop(folder)
        assert "asked" in _text(folder / "output")
    else:
        os.kill(json.loads((folder / "runner.json").read_text())["pid"], signal.SIGKILL)
    await asyncio.to_thread(eventually, lambda: processes_of(run_id) == [])


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


async def test_where_it_cannot_be_made_nothing_is_started(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(world.s.home / "gone")
    (world.s.home / "config.json").write_text(json.dumps({"sandbox": {"write": [missing]}}))
    view = await worked(world, "touch ran\n" + WORKS)
    error = view.runs[0].error
    assert error is not None
    assert error.error_class is ErrorClass.ENVIRONMENT
    assert "gone" in error.error


IN_BASH = '[ -n "$BASH_VERSION" ] || exec bash "$0"\n'
"""The shell `sh` need not know /dev/tcp."""
SAYS_ADDRESS = """\
port="${OWN_KEY}"
if (exec 3<>/dev/tcp/127.0.0.1/$port && cat <&3); then :; else
    echo "connect ECONNREFUSED 127.0.0.1:$port" >&2
    exit 1
fi
"""
ASKS_PROXY = """\
exec 4<>"/dev/tcp/127.0.0.1/${HTTPS_PROXY##*:}"
printf 'CONNECT 127.0.0.1:%s HTTP/1.1\\r\\n\\r\\n' "$OWN_KEY" >&4
head -n 1 <&4
"""


def allow(world: World, **sandbox: Any) -> None:
    settings = world.s.home / "config.json"
    config = json.loads(settings.read_text())
    config["sandbox"] |= sandbox
    settings.write_text(json.dumps(config))


async def test_a_blocked_port_of_this_machine_is_named_and_can_be_allowed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs connect to it directly, as NO_PROXY tells them to, or ask the proxy all the same."""
    allow(world, hosts=["example.com"], addresses=["10.0.0.5:8080"])
    with socket.create_server(("127.0.0.1", 0)) as model:
        bridge.in_thread(bridge.listen, model, lambda near: near.sendall(b"pong\n"))
        place = f"127.0.0.1:{model.getsockname()[1]}"
        monkeypatch.setenv("OWN_KEY", place.partition(":")[2])
        view = await worked(world, IN_BASH + SAYS_ADDRESS)
        (failed,) = view.runs
        assert failed.error is not None
        command = "am config set --user sandbox.addresses"
        value = json.dumps(["10.0.0.5:8080", place])
        assert f"The sandbox blocked {place}. Allow it with: {command} '{value}'" in (
            failed.error.error
        )
        allow(world, addresses=json.loads(value))
        executable(world.repo / "agent.sh", IN_BASH + ASKS_PROXY + SAYS_ADDRESS + WORKS)
        await world.choose(view.task, "again")
        view = await world.until(view.task, "review")
    printed = said(world, view.runs[-1])
    assert "200 Connection established" in printed
    assert "pong" in printed


async def test_a_connection_that_the_proxy_refuses_is_on_record(world: World) -> None:
    allow(world, hosts=["example.com"])
    asks = ASKS_PROXY.replace("127.0.0.1:%s HTTP", "evil.example.org:443 HTTP")
    view = await worked(world, IN_BASH + asks + WORKS)
    (done,) = view.runs
    assert done.status is RunStatus.COMPLETED, done.error
    [told] = [e for e in await world.events(view.task) if e.type == "agent.connections_blocked"]
    assert told.data["places"] == ["evil.example.org:443"]
    assert told.data["reasons"] == ["the name is not on the list"]
    assert '["evil.example.org:443"]' in told.summary
