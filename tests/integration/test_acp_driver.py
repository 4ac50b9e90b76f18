"""Conversations over the Agent Client Protocol: what is said, asked, refused and told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents.acp_profiles import PROFILES, Counts
from agents_manager.domain import permission
from agents_manager.domain.run import ErrorClass
from tests.acp import Sheet, driver, one_line, outcome, talk

pytestmark = pytest.mark.slow  # With the real agents: make test-agents.

READY = {"outcome": {"name": "pr_ready"}}
LOADS = {"able": {"loadSession": True}}


def modes(*names: str) -> dict[str, Any]:
    known = [{"id": name, "name": name} for name in names]
    return {"session": {"modes": {"availableModes": known, "currentModeId": names[0]}}}


@pytest.mark.parametrize("profile", PROFILES)
async def test_every_profile_talks_and_counts(tmp_path: Path, profile: str) -> None:
    known = PROFILES[profile]
    usage = {"usage": {"input_tokens": 7, "output_tokens": 2}}
    begun = modes("other", known.mode) if known.mode else {}
    done = await talk(
        tmp_path, usage, READY, script={"counts": known.counts, **begun}, profile=profile
    )
    assert done.code == 0
    assert "<<<OUTCOME:pr_ready>>>" in done.said.final_text
    assert done.told("prompt") == ["Do it."]
    assert [one["modeId"] for one in done.told("set")] == ([known.mode] if known.mode else [])
    told = done.said.usage and (done.said.usage.input_tokens, done.said.usage.output_tokens)
    assert told == (None if known.counts is Counts.NOWHERE else (7, 2))


async def test_what_people_see(tmp_path: Path) -> None:
    tool = {"tool": {"name": "Read", "input": {"path": "x" * 5000}}}
    thought = {"update": {"sort": "agent_thought_chunk", "content": {"type": "text", "text": "h"}}}
    done = await talk(tmp_path, thought, {"plan": ["One"]}, {"say": "Look."}, tool, {"say": "So."})
    assert [line["type"] for line in done.shown] == [
        *("output", "assistant", "tool_use", "assistant", "result")
    ]
    assert done.shown[0]["text"] == "Plan:\n[ ] One"
    assert "(5000 characters)" in done.shown[2]["input"]["path"]
    # Only what was said after the last tool is the final message.
    assert done.said.final_text == "So."
    assert done.said.usage is None


# ----------------------------------------------------------------------------------------- sessions


async def test_a_session_goes_on_without_its_past_being_said_again(tmp_path: Path) -> None:
    done = await talk(tmp_path, {"say": "On."}, script=LOADS, given={"session": "old"})
    assert (done.said.session, done.said.final_text) == ("old", "On.")


async def test_a_session_that_is_gone_is_begun_anew(tmp_path: Path) -> None:
    done = await talk(tmp_path, {"say": "On."}, given={"session": "old", "fresh_prompt": "All."})
    assert (done.code, done.said.session, done.said.session_lost) == (0, "session-1", True)
    assert done.told("prompt") == ["All."]
    assert "a new one is begun" in done.notes


async def test_a_cost_of_the_session_is_not_taken_for_that_of_the_run(tmp_path: Path) -> None:
    usage = {"usage": {"input_tokens": 7, "cost_usd": 0.5}}
    done = await talk(tmp_path, usage, READY, script=LOADS, given={"session": "old"})
    assert done.said.usage
    assert (done.said.usage.input_tokens, done.said.usage.cost_usd) == (7, None)


async def test_a_cost_of_nothing_is_unknown(tmp_path: Path) -> None:
    done = await talk(tmp_path, {"usage": {"input_tokens": 7, "cost_usd": 0}}, READY)
    assert done.said.usage
    assert done.said.usage.cost_usd is None


async def test_a_model_that_the_agent_does_not_have(tmp_path: Path) -> None:
    done = await talk(tmp_path, READY, model="m")
    assert done.said.error_class is ErrorClass.ENVIRONMENT
    assert done.said.error == "The agent's sessions have no model to choose."


async def test_a_model_is_chosen(tmp_path: Path) -> None:
    names = [{"value": name, "name": name} for name in ("a", "b")]
    option = {"type": "select", "id": "m", "name": "M", "category": "model", "currentValue": "a"}
    script = {"session": {"configOptions": [{**option, "options": names}]}}
    done = await talk(tmp_path, READY, script=script, model="b")
    assert [(one["configId"], one["value"]) for one in done.told("set")] == [("m", "b")]


async def test_a_run_that_is_stopped_cancels_its_turn(tmp_path: Path) -> None:
    driven = driver(tmp_path, [{"say": "Up."}, {"sleep": 60}], {}, {})
    running = asyncio.get_running_loop().create_task(driven.run())
    output = tmp_path / "run-1" / "output"
    while not output.read_bytes():
        await asyncio.sleep(0.01)
    driven.stop()
    done = outcome(tmp_path, await running)
    assert (done.said.error, done.said.error_class) == ("The agent was stopped.", "cancelled")
    assert done.said.session == "session-1"


# -------------------------------------------------------------------------------------- permissions


def wish(path: Path, **fields: Any) -> dict[str, Any]:
    return {"permission": {"paths": [str(path)], **fields}}


async def test_what_stays_in_the_workspace_is_allowed(tmp_path: Path) -> None:
    inside = tmp_path / "work" / "a.txt"
    done = await talk(tmp_path, wish(inside), READY)
    assert done.told("permission")[0]["result"]["outcome"]["optionId"] == "yes"
    assert inside.exists()


@pytest.mark.parametrize("mode", ["plan", "design", "review", "investigate"])
async def test_a_mode_that_only_reads_changes_nothing(tmp_path: Path, mode: str) -> None:
    inside = tmp_path / "work" / "a.txt"
    steps = [wish(inside), {"write": {"path": str(inside), "text": "x"}}]
    done = await talk(tmp_path, *steps, given={"mode": mode})
    assert done.told("permission")[0]["result"]["outcome"]["optionId"] == "no"
    assert "may not be written" in done.told("write")[0]["error"]["message"]
    assert not inside.exists()
    assert f'Refused: Change a file. A run in the mode "{mode}" only reads.' in done.notes


async def test_nothing_is_allowed_for_good(tmp_path: Path) -> None:
    """An agent that offers only that gets no permission."""
    forever = [{"optionId": "yes!", "name": "Always", "kind": "allow_always"}]
    done = await talk(tmp_path, wish(tmp_path / "work" / "a", options=forever))
    assert done.told("permission")[0]["result"]["outcome"] == {"outcome": "cancelled"}


@pytest.mark.parametrize(("allow", "option"), [(True, "yes"), (False, "no")])
async def test_a_person_decides_what_lies_outside(tmp_path: Path, allow: bool, option: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "way").symlink_to(tmp_path)
    outside = tmp_path / "work" / "way" / "out.txt"
    driven = driver(tmp_path, [wish(outside, title="Write out.txt"), READY], {}, {})
    running = asyncio.get_running_loop().create_task(driven.run())
    request = tmp_path / "run-1" / permission.request_file(1)
    while not request.exists():
        assert not running.done()
        await asyncio.sleep(0.01)
    wanted = json.loads(request.read_text())
    assert (wanted["tool"], wanted["action"]) == ("edit", "Write out.txt")
    assert f"leads to {tmp_path}/out.txt, lies outside of the workspace" in wanted["reason"]
    answer = permission.Answer(allow=allow).model_dump_json()
    (tmp_path / "run-1" / permission.ANSWERS).mkdir(exist_ok=True)
    (tmp_path / "run-1" / permission.answer_file(1)).write_text(answer)
    done = outcome(tmp_path, await running)
    assert done.told("permission")[0]["result"]["outcome"]["optionId"] == option
    assert (tmp_path / "out.txt").exists() == allow
    assert ("A person did not allow it." in done.notes) != allow


async def test_asking_forever_ends(tmp_path: Path) -> None:
    done = await talk(tmp_path, wish(tmp_path / "work" / "a", times=1000), READY, maxPermissions=20)
    assert (done.said.error, done.said.error_class) == (
        "The agent asked for permission more than 20 times.",
        ErrorClass.BUDGET,
    )
    assert len(done.told("permission")) <= 21


async def test_files_through_us_stay_in_the_workspace(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("1\n2\n3\n")
    (tmp_path / "secret").write_text("s")
    (work / "way").symlink_to(tmp_path)
    steps = [
        {"read": {"path": str(work / "a.txt"), "line": 2, "limit": 1}},
        {"read": {"path": str(work / "way" / "secret")}},
        {"read": {"path": str(work / "none")}},
        {"write": {"path": str(work / "new" / "b.txt"), "text": "b"}},
        {"ask": {"method": "terminal/create", "params": {"sessionId": "x", "command": "ls"}}},
    ]
    done = await talk(tmp_path, *steps)
    part, secret, none = done.told("read")
    assert part["result"]["content"] == "2\n"
    assert "lies outside of the workspace" in secret["error"]["message"]
    assert none["error"]["code"] == -32002
    assert (work / "new" / "b.txt").read_text() == "b"
    assert done.told("terminal/create")[0]["error"]["code"] == -32601


# ----------------------------------------------------------------------------------- bad behaviour


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param({"raw": '{"jsonrpc": \n'}, "sent a broken message", id="half a message"),
        pytest.param({"raw": '{"a": ' + "[" * 90_000 + "\n"}, "sent a broken message", id="deep"),
        pytest.param({"raw": '{"id": [1], "result": 1}\n'}, "no message of the", id="no id"),
        pytest.param({"raw": '{"method": 7}\n'}, "no message of the", id="no method"),
        pytest.param({"raw": '{"id": 1, "error": "x"}\n'}, "no message of the", id="no error"),
        pytest.param({"raw": "noise\n" * 201}, "200 lines that are no messages", id="noise"),
        pytest.param({"big": 33 * 1024 * 1024}, "message of more than 32 MB", id="too big"),
        pytest.param({"stop": "whim"}, "does not fit the protocol: stopReason", id="no reason"),
    ],
)
async def test_what_cannot_be_read_ends_the_turn(tmp_path: Path, step: Any, error: str) -> None:
    done = await talk(tmp_path, {"say": "Well."}, step, {"sleep": 60})
    assert error in (done.said.error or "")
    assert done.said.error_class is ErrorClass.BAD_OUTPUT
    assert done.said.session == "session-1"
    assert done.shown[0]["text"] == "Well."


async def test_chatter_is_only_told(tmp_path: Path) -> None:
    unknown = {"update": {"sort": "a_thing_of_tomorrow"}}
    done = await talk(tmp_path, {"raw": "Loading…\n\n"}, unknown, {"say": "Well."})
    assert (done.code, done.said.final_text) == (0, "Well.")
    assert "Loading…" in done.notes
    assert "could not be read" in done.notes
    assert "Traceback" not in done.notes


@pytest.mark.parametrize(
    ("before", "error", "error_class"),
    [
        pytest.param([{"sleep": 60}], "within 0.5 seconds", ErrorClass.STALLED, id="silence"),
        pytest.param([{"exit": 3}], "ended with code 3", ErrorClass.CRASH, id="it ends"),
        pytest.param([{"raw": "{\n"}], "broken message", ErrorClass.BAD_OUTPUT, id="nonsense"),
    ],
)
async def test_an_agent_that_does_not_begin(
    tmp_path: Path, before: Any, error: str, error_class: ErrorClass
) -> None:
    settings = {"startTimeout": 500} if before == [{"sleep": 60}] else {}
    done = await talk(tmp_path, script={"before": before}, **settings)
    assert (error in (done.said.error or ""), done.said.error_class) == (True, error_class)


async def test_another_version_of_the_protocol(tmp_path: Path) -> None:
    done = await talk(tmp_path, script={"introduction": {"protocolVersion": 2}})
    assert "speaks version 2" in (done.said.error or "")
    assert done.said.error_class is ErrorClass.ENVIRONMENT


async def test_an_agent_that_ends_in_the_middle_of_its_work(tmp_path: Path) -> None:
    done = await talk(tmp_path, {"say": "Well."}, {"stderr": "Out of luck."}, {"exit": 9})
    assert done.said.error == (
        "The agent ended with code 9 in the middle of its work.\nOut of luck."
    )
    assert done.said.error_class is ErrorClass.CRASH


@pytest.mark.parametrize(
    ("message", "error_class"),
    [
        ("401 Unauthorized", ErrorClass.AUTH),
        ("Too many requests, try later", ErrorClass.RATE_LIMIT),
        ("You have no credit left", ErrorClass.QUOTA),
        ("The model x does not exist", ErrorClass.ENVIRONMENT),
        ("Oh no", ErrorClass.CRASH),
    ],
)
async def test_errors_have_their_class(
    tmp_path: Path, message: str, error_class: ErrorClass
) -> None:
    done = await talk(tmp_path, {"fail": {"message": message}})
    assert done.said.error_class is error_class
    assert (done.said.error or "").startswith(message)


async def test_an_error_that_is_said_as_a_message(tmp_path: Path) -> None:
    done = await talk(tmp_path, {"say": "Error: 401 bad key"}, profile="copilot", script=modes("x"))
    assert done.said.error_class is ErrorClass.AUTH


@pytest.mark.parametrize(
    ("reason", "error_class"),
    [
        ("max_tokens", ErrorClass.MAX_TOKENS),
        ("max_turn_requests", ErrorClass.BUDGET),
        ("refusal", ErrorClass.REFUSAL),
        ("cancelled", ErrorClass.INTERRUPTED),
    ],
)
async def test_a_turn_that_ends_otherwise(
    tmp_path: Path, reason: str, error_class: ErrorClass
) -> None:
    done = await talk(tmp_path, {"say": "Well."}, {"stop": reason})
    assert done.said.error_class is error_class


async def test_what_gemini_means_by_the_end_of_a_turn(tmp_path: Path) -> None:
    """It calls a conversation that is too long `max_tokens`, and a turn whose response was cut off
    complete."""
    begun = modes("default")
    for name in ("long", "cut", "other"):
        (tmp_path / name).mkdir()
    stop = {"stop": "max_tokens"}
    long = await talk(tmp_path / "long", stop, script=begun, profile="gemini")
    assert long.said.error_class is ErrorClass.CONTEXT_TOO_LONG
    cut = await talk(tmp_path / "cut", {"say": "I was"}, script=begun, profile="gemini")
    assert (cut.said.error, cut.said.ends_clearly) == (None, False)
    other = await talk(tmp_path / "other", {"say": "Done."})
    assert other.said.ends_clearly


@pytest.mark.parametrize("number", [-5, 1.5, "7", True, 10**30])
async def test_numbers_that_are_nonsense_are_refused(tmp_path: Path, number: Any) -> None:
    done = await talk(tmp_path, {"usage": {"input_tokens": number, "output_tokens": 1}}, READY)
    assert done.code == 0
    assert done.said.usage is None
    assert "input_tokens is" in (done.said.usage_refused or "")


async def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    driven = driver(tmp_path, [], {}, {})
    file = tmp_path / "run-1" / "acp.json"
    job = {**json.loads(file.read_text()), "argv": [str(tmp_path)]}
    file.write_text(json.dumps(job))
    driven = type(driven)(file, Sheet(tmp_path / "run-1" / "output"))
    with one_line(driven):
        done = outcome(tmp_path, await driven.run())
    assert done.said.error_class is ErrorClass.ENVIRONMENT
