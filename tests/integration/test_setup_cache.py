"""What set-up installs is kept, copied into other checkouts, and safe from what runs in them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager import built_in
from agents_manager.checks.command import ProjectChecks
from agents_manager.checks.running import SandboxReports
from agents_manager.checks.setup_cache import CacheLimits, SetupCache
from agents_manager.engine import processes
from agents_manager.flow.ports import CheckResult, CheckSpec, SetupPlan, SetupSpec
from agents_manager.sandbox.keeper import Keeper, Rules, ended
from agents_manager.scm import commits
from tests import sandboxes
from tests.repos import commit, make_repo, own_home, sha, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

INSTALLS = "mkdir -p node_modules/dep && cp lock node_modules/dep/index.js"


class Product:
    """Checks with a cache, as one process of the product has them."""

    def __init__(self, home: Path, limits: CacheLimits | None = None) -> None:
        keeper = Keeper(home, Rules, sandboxes.levels())
        self.cache = SetupCache(home / "setup", lambda: limits or CacheLimits())
        self.checks = ProjectChecks(
            home / "checks",
            commits.export,
            commits.written,
            processes.kill_marked,
            keeper.command,
            adapters=built_in.adapters(),
            reports=SandboxReports(ended),
            cache=self.cache,
        )

    async def run(
        self, repo: Path, plan: SetupPlan, *commands: str, commit: str = "", kept: bool = False
    ) -> list[CheckResult]:
        specs = [
            CheckSpec(
                name=f"check-{n}", command=c, severity="error", modes=("implement",), timeout_s=60
            )
            for n, c in enumerate(commands)
        ]
        head = commit or sha(repo)
        return await self.checks.run(repo, head, head, specs, kept=kept, setup=plan)


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path / "data")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"lock": "1\n", "src/a": "a\n"})


def plan(repo: Path, *commands: str, task: str | None = None, inputs: str = "") -> SetupPlan:
    spec = SetupSpec(commands=commands, inputs=("lock",), timeout_s=60)
    return SetupPlan(spec=spec, commit=sha(repo), inputs=inputs, task=task)


def counting(counter: Path) -> str:
    """A set-up command that counts how often it ran."""
    return f"echo x >> '{counter}'; {INSTALLS}"


def times(counter: Path) -> int:
    return len(counter.read_text().splitlines()) if counter.exists() else 0


async def test_setup_runs_once_for_many_check_copies(
    product: Product, repo: Path, tmp_path: Path
) -> None:
    told = plan(repo, counting(tmp_path / "ran"))
    for _ in range(3):
        [result] = await product.run(repo, told, "cat node_modules/dep/index.js")
        assert (result.problem, result.output) == (None, "1\n")
    assert times(tmp_path / "ran") == 1
    other = replace(told, inputs="changed")
    await product.run(repo, other, "true")
    await product.run(repo, replace(told, spec=replace(told.spec, commands=("true",))), "true")
    assert times(tmp_path / "ran") == 2
    assert len(product.cache.entries()) == 3


async def test_only_created_files_are_copied_into_another_commit(
    product: Product, repo: Path
) -> None:
    told = plan(repo, f"{INSTALLS}; echo generated > src/made; echo changed > src/a")
    await product.run(repo, told, "true")
    commit(repo, {"src/a": "of the agent\n", "src/b": "b\n"})
    [result] = await product.run(repo, told, "cat src/a src/b src/made; ls")
    assert result.output == "of the agent\nb\ngenerated\nlock\nnode_modules\nsrc\n"


@pytest.mark.parametrize("kept", [False, True])
async def test_a_check_that_overwrites_a_dependency_changes_no_other_copy(
    product: Product, repo: Path, kept: bool
) -> None:
    """In place, so that a hard link would let it through."""
    told = plan(repo, f'{INSTALLS}; echo 1 > "$HOME/module"' if kept else INSTALLS)
    evil = "echo evil > node_modules/dep/index.js; [ -e $HOME/module ] && echo evil > $HOME/module"
    look = 'cat node_modules/dep/index.js "$HOME/module" 2>/dev/null'
    await product.run(repo, told, f"{evil}; {look}", kept=kept)
    [result] = await product.run(repo, told, look, kept=kept)
    assert "evil" not in result.output
    assert result.output == ("1\n1\n" if kept else "1\n")
    [entry] = (product.cache._root / "entries").iterdir()  # pyright: ignore[reportPrivateUsage]
    assert (entry / "tree/node_modules/dep/index.js").read_text() == "1\n"


async def test_a_sandboxed_check_cannot_reach_the_cache(
    product: Product, repo: Path, tmp_path: Path
) -> None:
    told = plan(repo, INSTALLS)
    folder = tmp_path / "data/setup"
    [result] = await product.run(
        repo, told, f"ls '{folder}'; echo evil > '{folder}/entries/x'", kept=True
    )
    assert not result.passed
    assert "No such file" in result.output
    assert not (folder / "entries/x").exists()


async def test_what_an_agents_setup_installed_stays_with_its_task(
    product: Product, repo: Path
) -> None:
    """The agent changed the inputs, so set-up runs code of its commit."""
    base = sha(repo)
    evil = commit(repo, {"lock": "evil\n"})
    told = plan(repo, INSTALLS, task="one", inputs="new lock")
    look = "cat node_modules/dep/index.js"
    [mine] = await product.run(repo, replace(told, commit=evil), look)
    [again] = await product.run(repo, replace(told, commit=base), look)
    [other] = await product.run(repo, replace(told, commit=base, task="two"), look)
    [shared] = await product.run(repo, replace(told, commit=base, task=None), look)
    assert [r.output for r in (mine, again, other, shared)] == ["evil\n", "evil\n", "1\n", "1\n"]


async def test_a_link_in_the_commit_does_not_lead_the_copy_elsewhere(
    product: Product, repo: Path, tmp_path: Path
) -> None:
    told = plan(repo, INSTALLS, "mkdir -p src/deps; echo 1 > src/deps/x")
    await product.run(repo, told, "true")
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo / "node_modules").symlink_to(outside)
    (repo / "src/a").unlink()
    (repo / "src").rmdir()
    (repo / "src").symlink_to(outside)
    commit(repo, {"c": "c\n"})
    [result] = await product.run(repo, told, "cat node_modules/dep/index.js", kept=True)
    assert list(outside.iterdir()) == []
    assert result.problem == "setup_failed"  # It ran in the checkout, where it had to fail, too.


async def test_times_and_modes_are_kept(product: Product, repo: Path) -> None:
    made = "mkdir d; echo $PWD > d/text; echo x > d/plain; chmod 555 d/plain"
    told = plan(repo, f"{made}; touch -d @1000000000 d/text d/plain d; chmod 555 d")
    look = "stat -c '%n %a %Y' d d/text d/plain; cat d/text; pwd"
    [result] = await product.run(repo, told, look, kept=True)
    *rows, written, here = result.output.splitlines()
    assert [row.split()[2] for row in rows] == ["1000000000"] * 3
    assert [row.split()[1] for row in rows] == ["555", "644", "555"]
    assert written == here


async def test_a_binary_with_the_path_is_not_copied_and_setup_runs_in_the_checkout(
    product: Product, repo: Path, tmp_path: Path
) -> None:
    counter = tmp_path / "ran"
    told = plan(repo, f"echo x >> '{counter}'; printf '%s\\0' \"$PWD\" > program")
    look = '[ "$(tr -d \'\\0\' < program)" = "$PWD" ]'
    for _ in range(2):
        [result] = await product.run(repo, told, look)
        assert result.problem is None
    assert times(counter) == 3  # Once to find out, then once for each copy.
    assert [entry.bytes > 0 for entry in product.cache.entries()] == [True]


async def test_failed_setup_is_not_cached(product: Product, repo: Path, tmp_path: Path) -> None:
    told = plan(repo, f"echo x >> '{tmp_path / 'ran'}'; exit 1")
    for _ in range(2):
        [result] = await product.run(repo, told, "true")
        assert result.problem == "setup_failed"
    assert times(tmp_path / "ran") == 2
    assert product.cache.entries() == []


async def test_of_two_that_need_the_same_entry_one_makes_it(repo: Path, tmp_path: Path) -> None:
    told = plan(repo, f"sleep 1; {counting(tmp_path / 'ran')}")
    products = [Product(tmp_path / "data") for _ in range(3)]
    results = await asyncio.gather(
        *(p.run(repo, told, "cat node_modules/dep/index.js") for p in products)
    )
    assert [r.output for [r] in results] == ["1\n"] * 3
    assert times(tmp_path / "ran") == 1


KILLED = """\
import asyncio, os, signal, sys
from pathlib import Path
from agents_manager.checks import relocation, setup_cache
from tests.integration.test_setup_cache import Product, plan, counting
left = int(sys.argv[1])
def counted(call):
    def one(*args, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **more)
    return one
Path.rename = counted(Path.rename)
Path.write_text = counted(Path.write_text)
relocation.find = counted(relocation.find)
setup_cache._copy = counted(setup_cache._copy)
home, repo, counter = map(Path, sys.argv[2:])
asyncio.run(Product(home).run(repo, plan(repo, counting(counter)), "true"))
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_kill_at_any_step_leaves_no_half_entry(repo: Path, tmp_path: Path) -> None:
    home, counter = tmp_path / "data", tmp_path / "ran"
    told = plan(repo, counting(counter))
    step = 0
    for step in range(1, 100):
        argv = [sys.executable, "-c", KILLED, str(step), str(home), str(repo), str(counter)]
        done = await asyncio.to_thread(subprocess.run, argv, check=False, timeout=60)
        [result] = await Product(home).run(repo, told, "cat node_modules/dep/index.js")
        assert result.output == "1\n", step
        assert len(Product(home).cache.entries()) == 1, step
        Product(home).cache.evict(but="")
        assert [p.name for p in (home / "setup/entries").glob(".*")] == [], step
        assert list((home / "checks").iterdir()) == [], step
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, step
        for entry in Product(home).cache.entries():
            Product(home).cache.remove(entry.key)
    assert step == 8, "nothing was killed"


def used_ago(entry: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(entry / "entry.json", (then, then))


async def test_the_least_recently_used_entries_go_first_but_none_in_use(
    repo: Path, tmp_path: Path
) -> None:
    product = Product(tmp_path / "data", CacheLimits(bytes=25, days=1))
    plans = [plan(repo, f"printf 0123456789 > {name}") for name in ("a", "b", "c")]
    for each in plans[:2]:
        await product.run(repo, each, "true")
    first, second = (entry.key for entry in product.cache.entries())
    used_ago(tmp_path / f"data/setup/entries/{second}", 60)
    async with product.cache.reading(second):
        assert not product.cache.remove(second)
    used_ago(tmp_path / f"data/setup/entries/{second}", 60)
    await product.run(repo, plans[2], "true")
    assert second not in [entry.key for entry in product.cache.entries()]
    used_ago(tmp_path / f"data/setup/entries/{first}", 90_000)
    assert [entry.key for entry in product.cache.excess()] == [first]


BACKEND = """\
import zipfile
from pathlib import Path
NAME = "greeter-1-py3-none-any.whl"
def build_editable(folder, config_settings=None, metadata_directory=None):
    info = "greeter-1.dist-info"
    with zipfile.ZipFile(Path(folder) / NAME, "w") as wheel:
        wheel.writestr("greeter.pth", str(Path.cwd() / "src") + "\\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: greeter\\nVersion: 1\\n")
        tag = "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr(f"{info}/WHEEL", tag)
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\ngreet = greeter:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return NAME
build_wheel = build_editable
"""
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "greeter"
version = "1"
"""


@pytest.mark.parametrize("kept", [pytest.param(False, marks=pytest.mark.slow), True])
async def test_a_virtual_environment_with_an_editable_package_works_in_another_copy(
    product: Product, tmp_path: Path, kept: bool
) -> None:
    greeter = "def main():\n    print(__file__, 'base')\n"
    repo = make_repo(
        tmp_path / "greeter",
        {"pyproject.toml": PYPROJECT, "backend.py": BACKEND, "src/greeter.py": greeter},
    )
    told = plan(
        repo, "/usr/bin/env python3 -m venv .venv", ".venv/bin/pip install -q --no-index -e ."
    )
    await product.run(repo, told, "true", kept=kept)
    commit(repo, {"src/greeter.py": greeter.replace("base", "agent")})
    look = ".venv/bin/greet; pwd; . .venv/bin/activate; echo $VIRTUAL_ENV; grep -rl entries .venv"
    [result] = await product.run(repo, told, look, kept=kept)
    printed, folder, environment = result.output.splitlines()[:3]
    assert printed == f"{folder}/src/greeter.py agent"
    assert environment == f"{folder}/.venv"


def test_this_file_does_not_count_on_hard_links(tmp_path: Path) -> None:
    """The attack of the poisoning test works where files are linked."""
    write(tmp_path, {"cache": "1\n"})
    os.link(tmp_path / "cache", tmp_path / "copy")
    subprocess.run(["/bin/sh", "-c", "echo evil > copy"], cwd=tmp_path, check=True)
    assert (tmp_path / "cache").read_text() == "evil\n"
