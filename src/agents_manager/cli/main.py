"""The root of `am`: knows the commands by name and imports a command's module only when it is used,
so that `am --help` stays fast. Whatever goes wrong leaves here as a sentence and an exit code."""

import gc
import importlib
import os
import sys
from io import TextIOWrapper
from typing import NamedTuple

import click


class Entry(NamedTuple):
    module: str
    summary: str


COMMANDS = {
    "serve": Entry("serve", "Run the server: HTTP and engine in one process."),
    "worker": Entry("serve", "Run the engine alone, without the interface for people."),
    "demo": Entry("demo.command", "Run the product on sample tasks, with a scripted agent."),
    "login": Entry("access", "Make a link that logs in a browser."),
    "token": Entry("access", "See, make and revoke tokens and the sessions of browsers."),
    "audit": Entry("audit", "See who decided what, when and from where."),
    "init": Entry("init", "Make .agents-manager in a repository, to begin with."),
    "project": Entry("project", "Register repositories."),
    "task": Entry("task", "Create, start, move and look at tasks."),
    "schedule": Entry("schedule", "Have tasks made again and again, by a rule."),
    "prompt": Entry("prompt", "See and answer what agents ask."),
    "review": Entry("review", "Approve the work of a task, or send it back."),
    "comment": Entry("comment", "Say something about a task; its next run is told."),
    "phase": Entry("phase", "See, skip and reorder the phases of a task."),
    "run": Entry("run", "Look at the work of agents, and stop it."),
    "context": Entry("context", "See what the stages of a staged task said and were given."),
    "knowledge": Entry("knowledge", "Find, care for and share what runs found out."),
    "artifact": Entry("artifact", "See what a task has to show, and compare its plans."),
    "document": Entry("document", "Commit a plan or another document of a task."),
    "cost": Entry("cost", "See what runs cost, by project, task, agent, model or day."),
    "stats": Entry("cost", "See how runs went and what merged tasks took, by agent."),
    "agent": Entry("agent", "See which agents there are, and what they need."),
    "snapshot": Entry("snapshot", "See and take back the work that runs left uncommitted."),
    "host": Entry("host", "See the machines that work, and what waits for a place."),
    "service": Entry("background", "Have the system keep the server going."),
    "doctor": Entry("doctor", "Say what is in order and what is not, with the way out."),
    "completion": Entry("completion", "Make your shell complete commands and identifiers."),
    "backup": Entry("backup", "Keep the databases in one file, also while a server runs."),
    "restore": Entry("backup", "Bring the databases of a backup back."),
    "database": Entry("database", "Move the data to Postgres, or to the schema of this version."),
    "gc": Entry("gc", "Remove what is old enough by the settings, or list it."),
    "purge": Entry("purge", "Remove all of this from the machine, and say what it leaves."),
    "channel": Entry("channel", "Tell people things and be answered elsewhere, too."),
    "config": Entry("config", "See the settings in effect, and where they come from."),
    "pipeline": Entry("pipeline", "See the pipelines that tasks go through."),
    "licenses": Entry("licenses", "List what others wrote of this program, and their licences."),
    "plugin": Entry("plugin", "See what installed packages add."),
    "mcp": Entry("mcp", "Give a program of yours tasks, prompts and runs, over MCP."),
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"agents_manager.cli.{entry.module}")
        return getattr(module, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(
                error.command_name, possibilities=list(COMMANDS), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="agents-manager", prog_name="am")
def am() -> None:
    """Runs coding agents through pipelines you define, with people where they are needed.

    The data lies in AM_HOME (default ~/.agents-manager). Every command works with and without a
    running server, and prints one JSON document with --json.
    """


def main() -> int:
    # What is imported stays: to look through it for garbage again and again is a tenth of a start.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = am.main(prog_name="am", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        _forget_output()
        return 1
    except OSError as error:
        _forget_output()
        click.echo(f"Error: The operating system says: {error.strerror}.", err=True)
        return 1
    except Exception as error:  # noqa: BLE001 - the door: a fault of ours is told, not shown
        what = f"{type(error).__name__}: {error}"
        click.echo(f"Error: Something unexpected happened: {what}", err=True)
        click.echo(f"  The details for a report are in {_keep_trace()}", err=True)
        return 1
    return code if isinstance(code, int) else 0


def _keep_trace() -> str:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="am-fault-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name


def _forget_output() -> None:
    """What is still buffered cannot be written, and Python would complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
