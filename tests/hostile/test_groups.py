"""Limits by control groups of version 2, where the system lets us make one."""

import subprocess
import time
from pathlib import Path

import pytest

from agents_manager.sandbox import cgroup, usage
from agents_manager.sandbox.bubblewrap import Bounds, Cage, wrapped
from agents_manager.sandbox.cgroup import Group, Unavailable
from tests import sandboxes

MOUNT = "30 23 0:26 /{} {} rw,relatime shared:4 - cgroup2 cgroup2 rw"


def divided(top: Path, *names: str, control: str = "cpu memory pids") -> None:
    """Folders as the kernel shows them, of which these hand on their limits."""
    for name in names:
        folder = top / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.procs").touch()
        (folder / "cgroup.subtree_control").write_text(control)


def test_our_own_group_is_found_among_those_of_version_2() -> None:
    mounts = ["29 23 0:25 / /sys/fs/cgroup rw - tmpfs tmpfs rw", MOUNT.format("", "/sys/v2")]
    groups = ["4:memory:/old", "0::/user.slice/app.slice/am.scope"]
    assert cgroup.own(mounts, groups) == (
        Path("/sys/v2"),
        Path("/sys/v2/user.slice/app.slice/am.scope"),
    )
    with pytest.raises(Unavailable, match="no control groups of version 2"):
        cgroup.own(mounts[:1], groups)


def test_the_nearest_that_hands_on_its_limits_is_taken(tmp_path: Path) -> None:
    divided(tmp_path, "user", "user/app")
    divided(tmp_path, "user/app/am.scope", control="")
    assert cgroup.nearest(tmp_path, tmp_path / "user/app/am.scope") == tmp_path / "user/app"
    divided(tmp_path, "user/app", control="cpu")
    assert cgroup.nearest(tmp_path, tmp_path / "user/app/am.scope") == tmp_path / "user"
    divided(tmp_path, "user", control="memory")
    with pytest.raises(Unavailable, match="no control group above this process"):
        cgroup.nearest(tmp_path, tmp_path / "user/app/am.scope")


def test_what_is_written_are_the_limits_that_were_set() -> None:
    assert cgroup.limits({"memory_mb": 2, "processes": 7}) == {
        "memory.max": "2097152",
        "memory.oom.group": "1",
        "pids.max": "7",
    }
    assert cgroup.limits({}) == {}


def test_that_the_memory_ran_out_is_read_from_its_events(tmp_path: Path) -> None:
    group = Group(tmp_path)
    assert not group.ran_out
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    assert not group.ran_out
    (tmp_path / "memory.events").write_text("low 0\nmax 7\noom 1\noom_kill 2\n")
    assert group.ran_out


def test_where_none_can_be_made_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="takes none of ours"):
        cgroup.make({}, tmp_path / "gone")


def test_a_real_group_ends_all_that_is_in_it() -> None:
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    try:
        top, _ = cgroup.own(mounts, ["0::/"])
        group = cgroup.make({}, top)
    except Unavailable as error:
        pytest.xfail(f"A control group takes root, or a system that delegates one: {error}")
    command = ["/bin/sh", "-c", "setsid -f sleep 60; sleep 60"]
    child = subprocess.Popen(command, preexec_fn=group.join)
    procs = group.folder / "cgroup.procs"
    while len(procs.read_text().split()) < 2:
        time.sleep(0.01)
    group.close()
    assert child.wait() == -9
    assert not group.folder.exists()


def test_memory_is_held_by_it() -> None:
    """With the look that is taken once a second switched off."""
    sandboxes.installed()
    if why := cgroup.probe():
        pytest.xfail(f"Not proven here: {why}.")
    hog = ("python3", "-c", "x = b'x' * (300 << 20)")
    env = {"PATH": "/usr/bin:/bin"}
    bounds = Bounds(memory_mb=100)
    cage = Cage(argv=hog, cwd=Path("/"), env=env, bounds=bounds)
    done = subprocess.run(wrapped(cage), capture_output=True, text=True, check=False)
    assert usage.out_of_memory({"memory_mb": 100}) in done.stderr
