"""What is wrong is refused in one clear sentence, with the right exit code, and changes nothing."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import Am, Done

pytestmark = pytest.mark.slow

ASKS = """```agent-script
plan:
- - ask: {question: "Which colour?", options: [red, blue]}
- - say: A plan.
  - outcome: plan_complete
```
"""


@dataclass(frozen=True)
class Case:
    args: tuple[str, ...]
    says: str
    code: int = 1
    input: str = ""
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])


def case(*args: str, says: str, **more: Any) -> Case:
    return Case(args, says, **more)


def test_bad_input_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    with (
        am.quickly(),
        am.serving("serve", "--port", "0"),
        socket.create_server(("127.0.0.1", 0)) as taken,
    ):
        ids = _prepared(am)
        before = _state(am)
        cases = {
            **_tasks(am, ids),
            **_answers(ids),
            **_reviews(ids),
            **_projects(am, tmp_path),
            **_places(tmp_path, str(taken.getsockname()[1])),
            **_figures(),
        }
        done = {name: _run(am, one) for name, one in cases.items()}
        problems = {n: p for n, one in cases.items() if (p := _problem(one, done[n]))}
        assert problems == {}
        assert _state(am) == before


def _run(am: Am, one: Case) -> Done:
    return am(*one.args, input=one.input, cwd=one.cwd, env=dict(one.env))


def _problem(wanted: Case, ran: Done) -> str | None:
    """None when the command was refused as it should be."""
    errors = [line for line in ran.err.splitlines() if line.startswith("Error: ")]
    fine = (
        ran.code == wanted.code
        and ran.out == ""
        and len(errors) == 1
        and wanted.says in ran.err
        and "Traceback" not in ran.err
        and "unexpected" not in errors[0]
    )
    return None if fine else f"exit code {ran.code}, {ran.out!r}, {ran.err!r}"


def _state(am: Am) -> Any:
    tasks = [(t["task"]["id"], t["task"]["version"]) for t in am.json("task", "list", "--all")]
    prompts = [p["prompt"]["id"] for p in am.json("prompt", "list")]
    return tasks, prompts, am.json("project", "list")


def _prepared(am: Am) -> Mapping[str, str]:
    """A task that asks, one that was answered and now shows a plan, and one not begun."""
    asking = _create(am, "Paint the door", "--description", ASKS, "--start")
    answered = _create(am, "Paint the wall", "--description", ASKS, "--start")
    first = am.open_prompt(answered)["prompt"]["id"]
    am.text("prompt", "answer", first, "--text", "green")
    idle = _create(am, "Paint the roof", "--depends-on", asking)
    am.open_prompt(answered)
    return {
        "asking": asking,
        "question": am.open_prompt(asking)["prompt"]["id"],
        "planned": answered,
        "answered": first,
        "plan": am.open_prompt(answered)["prompt"]["id"],
        "idle": idle,
        "run": am.json("run", "list", "--task", answered)[0]["id"],
    }


def _create(am: Am, *args: str) -> str:
    return am.json("task", "create", *args)["task"]["id"]


def _figures() -> Mapping[str, Case]:
    return {
        "unknown grouping": case("cost", "--by", "colour", says="'project', 'task'", code=2),
        "no time": case("cost", "--since", "yesterday", says="such as 2026-03-01", code=2),
        "no such day": case("stats", "--since", "2026-02-30", says='"2026-02-30" is no', code=2),
        "cost of nowhere": case("cost", "--project", "nope", says='no such project: "nope"'),
        "stats of nowhere": case("stats", "--project", "nope", says='no such project: "nope"'),
    }


def _imports(am: Am) -> Mapping[str, Case]:
    (am.repo / "latin.csv").write_bytes("title\nT\u00fcr\n".encode("latin-1"))
    import_ = ("task", "import", "-")
    return {
        "a list of no kind": case(*import_, says="--format md|csv|json", code=2, input="- [ ] X"),
        "a wrong line": case(
            *import_,
            "--format",
            "csv",
            says="line 3: priority:",
            input="title,priority\nX,low\nY,x\n",
        ),
        "not UTF-8": case("task", "import", "latin.csv", says="not UTF-8 text (line 2, byte 7)"),
    }


def _races(ids: Mapping[str, str]) -> Mapping[str, Case]:
    race, create = ("task", "race", ids["idle"]), ("task", "create", "X")
    return {
        "nobody races": case(*race, says="--agents", code=2),
        "one races": case(*race, "--agents", "scripted", says="2 to 5 contenders"),
        "two are the same": case(*race, "--agents", "scripted,scripted", says="there twice"),
        "no agent races": case(*race, "--agents", "scripted,nope", says='"nope"'),
        "no model races": case(*race, "--agents", "scripted,scripted:", says="names no contender"),
        "an author judges": case(
            *(*race, "--agents", "scripted:a,scripted:b", "--judge", "scripted:b"),
            says="an author never judges",
        ),
        "a judge of nobody": case(*create, "--judge", "scripted", says="--agents", code=2),
        "six race": case(
            *(*create, "--agents", ",".join(f"scripted:{n}" for n in range(6))), says="there are 6"
        ),
        "a race that is none": case("task", "compare", ids["idle"], says="am task race"),
        "a pick of nobody": case("task", "pick", ids["idle"], "scripted", says="No agents worked"),
    }


def _tasks(am: Am, ids: Mapping[str, str]) -> Mapping[str, Case]:
    create = ("task", "create", "X")
    return {
        "unknown command": case("tsak", says="Did you mean 'task'?", code=2),
        "unknown option": case("task", "list", "--al", says="No such option '--al'", code=2),
        "missing argument": case("task", "show", says="Missing argument 'TASK'", code=2),
        "unknown project": case(*create, "--project", "nope", says='no such project: "nope"'),
        "no project here": case(*create, says="no registered project", cwd=am.repo.parent),
        "unknown pipeline": case(*create, "--pipeline", "fetaure", says='pipeline "fetaure"'),
        "unknown dependency": case(*create, "--depends-on", "ffff0000", says='"ffff0000"'),
        "no title": case("task", "create", " ", says="title: a task needs a title"),
        "half a character": case("task", "create", "a\udcff", says="half a surrogate pair"),
        "two descriptions": case(
            *create, "--description", "a", "--description-file", "-", says="not both", code=2
        ),
        "no such file": case(
            *create, "--description-file", "nope.md", says="No such file or directory", code=2
        ),
        "unknown type": case(*create, "--type", "bgu", says='Did you mean "bug"?'),
        "unknown size": case(*create, "--size", "xl", says="small, medium, large"),
        "empty tag": case(*create, "--tag", "#", says="is no word"),
        **_imports(am),
        **_edits(ids),
        **_races(ids),
        "unknown task": case("task", "show", "ffff0000", says='no such task: "ffff0000"'),
        "too short an id": case("task", "show", "ff", says="needs 4 characters"),
        "unknown status": case(
            "task", "move", ids["idle"], "nowhere", says='no move from "open" to "nowhere"'
        ),
        "unknown status in a list": case("task", "list", "--status", "opne", says='mean "open"?'),
        "no single move": case("task", "start", ids["planned"], says="no single next move"),
        "endless JSON": case(
            "task", "events", ids["idle"], "--follow", "--json", says="--follow never ends", code=2
        ),
        "unknown run": case("run", "show", "ffff0000", says='no such run: "ffff0000"'),
        "run is over": case("run", "stop", ids["run"], says="has already ended (completed)"),
        "unknown pipeline shown": case("pipeline", "show", "nope", says='no pipeline "nope"'),
    }


def _edits(ids: Mapping[str, str]) -> Mapping[str, Case]:
    edit, delete = ("task", "edit", ids["idle"]), ("task", "delete")
    asking = ids["asking"]
    return {
        "nothing to edit": case(*edit, says="Say what to change", code=2),
        "edit of no task": case("task", "edit", "ffff0000", "--title", "x", says='"ffff0000"'),
        "edit to nothing": case(*edit, "--title", " ", says="title: a task needs a title"),
        "edit to two texts": case(
            *edit, "--description", "a", "--description-file", "-", says="not both", code=2
        ),
        "unknown priority": case(*edit, "--priority", "hihg", says='Did you mean "high"?'),
        "cleared and filled": case(*edit, "--clear", "tags", "--tag", "a", says="not both", code=2),
        "cleared what is no list": case(*edit, "--clear", "title", says="'title'", code=2),
        "a circle": case(
            "task", "edit", asking, "--depends-on", ids["idle"], says="cannot wait for itself"
        ),
        "others depend on it": case(*delete, asking, says="others wait for it"),
        "delete of no task": case(*delete, "ffff0000", says='no such task: "ffff0000"'),
        "no failed hook": case("task", "retry-hook", ids["idle"], says="has no failed hook"),
        "no such skipped check": case(
            *("task", "restore-check", ids["idle"], "test"), says='"test" is not skipped'
        ),
        "why of no task": case("task", "why", "ffff0000", says='no such task: "ffff0000"'),
    }


def _answers(ids: Mapping[str, str]) -> Mapping[str, Case]:
    answer = ("prompt", "answer", ids["question"])
    stdin = (*answer, "--answers", "-")
    unknown = '{"answers": [{"question_id": "q7", "text": "x"}]}'
    return {
        "unknown prompt": case("prompt", "show", "ffff0000", says='no such prompt: "ffff0000"'),
        "no way to answer": case(*answer, says="Say how to answer", code=2),
        "two ways to answer": case(*answer, "--accept", "--text", "x", says="Give one of", code=2),
        "unknown option": case(*answer, "--option", "bleu", says='Did you mean "blue"?'),
        "option out of range": case(*answer, "--option", "3", says='There is no option "3"'),
        "nothing recommended": case(*answer, "--accept", says="nothing recommended to accept"),
        "not JSON": case(*stdin, says="Standard input is not valid JSON", input="{"),
        "not an object": case(*stdin, says="must hold a JSON object", input="[]"),
        "wrong shape": case(*stdin, says="does not have the right shape", input='{"answers": 3}'),
        "unknown question": case(*stdin, says='there is no question "q7"', input=unknown),
        "second answer": case(
            "prompt", "answer", ids["answered"], "--text", "blue", says="ada answered this via cli"
        ),
        "no change to show": case(
            "prompt", "show", ids["plan"], "--diff", says="is about no change"
        ),
    }


def _reviews(ids: Mapping[str, str]) -> Mapping[str, Case]:
    review = ("review", ids["planned"])
    back = (*review, "--request-changes", "Again.", "--comments", "-")
    return {
        "no decision": case(*review, says="Give --approve, --request-changes", code=2),
        "nobody's review": case(*review, "--send-back", says="needs a comment"),
        "two decisions": case(*review, "--approve", "--request-changes", "x", says="Give", code=2),
        "no words": case(*review, "--request-changes", "", says="needs a comment"),
        "nothing to review": case("review", ids["asking"], "--approve", says="does not wait for a"),
        "unknown severity": case(*back, says="severity", input="a.txt:1: [awful] No."),
        "line 0": case(*back, says="line", input="a.txt:0: No."),
        "broken comments": case(*back, says="is not valid JSON", input='[{"file": }]'),
    }


def _projects(am: Am, tmp_path: Path) -> Mapping[str, Case]:
    plain, bare, unborn = tmp_path / "plain", tmp_path / "bare", tmp_path / "unborn"
    plain.mkdir()
    am.git("init", "-q", "--bare", str(bare))
    am.git("init", "-q", str(unborn))
    add = ("project", "add")
    return {
        "no folder": case(*add, str(tmp_path / "nope"), says="nope"),
        "not a repository": case(*add, str(plain), says="not a git repository"),
        "bare repository": case(*add, str(bare), says="bare"),
        "no commit": case(*add, str(unborn), says="commit"),
        "registered before": case(*add, ".", says="is already registered"),
        "unknown project shown": case("project", "show", "nope", says='no such project: "nope"'),
    }


def _places(tmp_path: Path, port: str) -> Mapping[str, Case]:
    file = tmp_path / "a file"
    file.write_text("")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "agents-manager.db").write_text("This is no database. " * 100)
    new, other = {"AM_HOME": str(tmp_path / "new")}, {"AM_HOME": str(tmp_path / "other")}
    return {
        "home is a file": case("task", "list", says=str(file), env={"AM_HOME": str(file)}),
        "home cannot be made": case("task", "list", says="/proc/am", env={"AM_HOME": "/proc/am"}),
        "damaged database": case(
            "task", "list", says="is not a database", env={"AM_HOME": str(damaged)}
        ),
        "second server": case("serve", "--port", "0", says="Another server"),
        "second worker": case("worker", says="Another server"),
        "port in use": case("serve", "--port", port, says=f"Port {port}", env=new),
        "open to the world": case(
            "serve", "--host", "0.0.0.0", "--port", "0", says="without TLS", env=other
        ),
        "no such port": case("serve", "--port", "70000", says="70000", code=2),
    }
