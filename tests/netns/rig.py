"""A team's machines: a database and a remote behind the bridge, a desk at which somebody orders
work, and hosts that do it. Every host is a real `am worker` on a machine of its own, which has
neither the desk's files nor those of another host."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import make_url

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Actor, ActorType, Project
from agents_manager.flow import agents, prompts, tasks
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from tests import postgres
from tests.debian import have
from tests.e2e.am_program import PROGRAM, document
from tests.netns import git_server
from tests.netns.network import ADDRESS, Machine, Network, network
from tests.repos import executable, make_repo, run, settle

T = TypeVar("T")
ANN = Actor(type=ActorType.USER, name="ann", via="cli", admin=True)
PATIENCE_S = 240.0
NO_SANDBOX = {"level": "none"}
TLS = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
    f"-subj /CN=git -addext subjectAltName=IP:{ADDRESS}"
)


class Host(Machine):
    """A machine with a worker."""

    worker: "subprocess.Popen[str]"

    def __init__(self, rig: "Rig", name: str) -> None:
        super().__init__(rig.network, name, rig.machines / name, rig.hidden)
        self.log = self.folder / "worker.log"
        self.env = rig.environment(self.folder)

    def work(self, *options: str) -> None:
        command = [PROGRAM, "worker", "--json", "--name", self.name, *options]
        self.worker = self.start(command, self.env, self.log)

    def ready(self) -> None:
        """Returns when it works."""
        document(self.worker)


@dataclass
class Rig:
    folder: Path
    network: Network
    database: str
    """How it is reached from here; machines reach it by the network."""
    config: Mapping[str, Any]
    """Of every machine."""
    hosts: list[Host] = field(default_factory=list["Host"])

    @property
    def machines(self) -> Path:
        return self.folder / "machines"

    @property
    def remote(self) -> Path:
        return self.folder / "remote" / "shop.git"

    @property
    def hidden(self) -> list[Path]:
        return [self.machines, self.folder / "remote"]

    def environment(self, folder: Path) -> dict[str, str]:
        """Of somebody at a machine with nothing on it but git and the program."""
        user, home = folder / "user", folder / "am-home"
        user.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "config.json").write_text(json.dumps(self.config))
        certificate = self.folder / "certificate.pem"
        (user / ".gitconfig").write_text(
            f"[user]\nname = Ada\nemail = ada@example.org\n[http]\nsslCAInfo = {certificate}\n"
        )
        url = make_url(self.database)
        there = url.set(host=ADDRESS, port=int(str(url.query["port"])), query={})
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(user),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "AM_HOME": str(home),
            "AM_DATABASE_URL": there.render_as_string(hide_password=False),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def join(self, number: int, *options: str) -> list[Host]:
        """So many new hosts, at work."""
        first = len(self.hosts) + 1
        new = [Host(self, f"host-{n}") for n in range(first, first + number)]
        self.hosts += new
        for host in new:
            host.work(*options)
        for host in new:
            host.ready()
        return new

    def end(self) -> None:
        for host in self.hosts:
            host.end()


@contextmanager
def rig(folder: Path, agent: str, sandbox: Mapping[str, Any] = NO_SANDBOX) -> Iterator[Rig]:
    """On which the shell script is the agent, in the sandbox of these settings. Raises NotHere
    where it cannot be."""
    command = [str(executable(folder / "agent", agent))]
    config = {
        "defaultAgentType": "waiting",
        "agents": {"waiting": {"adapter": "command", "command": command}},
        "sandbox": sandbox,
        "reminders": {"enabled": False},
    }
    programs = have("postgresql", postgres.find_programs)
    with ExitStack() as stack:
        _settled(folder, stack.enter_context(pytest.MonkeyPatch.context()))
        net = stack.enter_context(network(folder))
        inside = net.entered("net")
        data = stack.enter_context(postgres.data(programs))
        url = stack.enter_context(postgres.server(programs, data, listen=ADDRESS, inside=inside))
        made = Rig(folder, net, postgres.fresh_database(url), config)
        stack.enter_context(_git_served(made))
        stack.callback(made.end)
        yield made


def _settled(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """This process is at the desk, too, but not in its network: it has the remote as a folder."""
    with (settle(folder, patch) / ".gitconfig").open("a") as config:
        config.write(f'[url "{folder}/remote/"]\ninsteadOf = https://{ADDRESS}/\n')


@contextmanager
def _git_served(rig: Rig) -> Iterator[None]:
    first = make_repo(rig.folder / "first", {"README.md": "A shop.\n"})
    rig.remote.parent.mkdir()
    run(rig.folder, "clone", "-q", "--bare", str(first), str(rig.remote))
    run(rig.remote, "config", "core.logAllRefUpdates", "always")
    certificate, key = rig.folder / "certificate.pem", rig.folder / "key.pem"
    made = [*TLS.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    command = [sys.executable, git_server.__file__, rig.remote.parent, ADDRESS, certificate, key]
    with (
        (rig.folder / "git.log").open("wb") as log,
        subprocess.Popen(
            [*rig.network.entered("net"), *command], stdout=subprocess.PIPE, stderr=log
        ) as server,
    ):
        assert server.stdout
        assert server.stdout.readline() == b"up\n", (rig.folder / "git.log").read_text()
        try:
            yield
        finally:
            server.kill()


# ------------------------------------------------------------------------------------ the desk


class Desk(Machine):
    """Where somebody has the project checked out, and orders work. Commands are run there; what
    would take too many of them goes to the same database from here."""

    program: Program
    project: Project

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig.network, "desk", rig.machines / "desk", rig.hidden)
        self.rig = rig
        self.env = rig.environment(self.folder)
        self.repo = self.folder / "shop"

    def said(self, *command: str) -> str:
        """What a command there says that succeeds."""
        log = self.folder / "desk.log"
        door = self.start(command, self.env, log)
        out, _ = door.communicate(timeout=PATIENCE_S)
        assert door.returncode == 0, (command, out, log.read_text())
        return out

    @property
    def s(self) -> Services:
        return self.program.services

    async def order(self, number: int) -> list[TaskId]:
        """So many tasks, begun."""
        return [await self._begun(f"Task {n}") for n in range(1, number + 1)]

    async def _begun(self, title: str) -> TaskId:
        new = tasks.NewTask(title=title, pipeline="simple")
        task = await tasks.create(self.s, self.project, new, ANN)
        await tasks.move(self.s, task.id, ANN)
        return task.id

    async def approved(self, ordered: Sequence[TaskId]) -> None:
        """Approves of what waits for a review, until all of the tasks are done."""
        await until(lambda: self._approve(ordered), "all is done")

    async def _approve(self, ordered: Sequence[TaskId]) -> bool:
        found = await self.s.store.read(lambda tx: [tx.tasks.get(id_) for id_ in ordered])
        for task in found:
            if task.status == "review":
                await prompts.review(self.s, task.id, {"decision": "approved"}, ANN)
        return all(task.status == "done" for task in found)


@asynccontextmanager
async def desk(rig: Rig) -> AsyncIterator[Desk]:
    """With the project added and consented to."""
    made = Desk(rig)
    try:
        made.said("git", "clone", "-q", f"https://{ADDRESS}/shop.git", str(made.repo))
        async with bootstrap.client(Settings(made.folder / "am-home", rig.database)) as program:
            made.program, s = program, program.services
            project = await tasks.add_project(s, made.repo, None, None)
            made.project = await agents.consent(s, project, given=True)
            yield made
    finally:
        made.end()


async def until(look: Callable[[], Awaitable[T]], what: str, patience_s: float = PATIENCE_S) -> T:
    """What `look` finds, as soon as it finds something."""
    try:
        async with asyncio.timeout(patience_s):
            while not (found := await look()):
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise AssertionError(f"not in time: {what}") from None
    return found
