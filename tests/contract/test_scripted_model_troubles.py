"""What goes wrong between an agent and its model: errors, silence, broken streams, bad requests."""

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
import zlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.testing.scripted_model import (
    Cut,
    Hang,
    Malformed,
    ModelServer,
    Once,
    Say,
    Status,
    Talk,
    Turn,
    Use,
    When,
    claude_env,
    codex_args,
    codex_env,
)
from tests.contract.model_clients import (
    APIS,
    HTTP,
    Anthropic,
    Chat,
    Client,
    Connect,
    Gemini,
    Responses,
)


def refused(client: Client) -> httpx.Response:
    with pytest.raises(httpx.HTTPStatusError) as error:
        client.ask("Go.")
    return error.value.response


def read(sent: AbstractContextManager[httpx.Response]) -> None:
    with sent as response:
        response.read()


def test_a_status_comes_in_the_shape_of_the_api(server: ModelServer) -> None:
    server.script("x", [Status(429, "Slow down.", retry_after=7)])
    bodies: dict[str, Any] = {}
    for name, api in APIS.items():
        client = api(server.url("x"), stream=True)
        client.history.append(client.user("Go."))
        with client.sent() as response:
            assert (response.status_code, response.headers["retry-after"]) == (429, "7")
            bodies[name] = json.loads(response.read())
    assert bodies["anthropic"].pop("request_id").startswith("req_")
    openai = {
        "error": {
            "message": "Slow down.",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
    }
    assert bodies == {
        "anthropic": {
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "Slow down."},
        },
        "responses": openai,
        "chat": openai,
        "gemini": {"error": {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED"}},
    }
    server.check()


def test_a_status_passes_or_stays(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Once(Status(529), then=Say("Now."), times=2), Status(401)])
    client = connect()
    for _ in range(2):
        assert refused(client).status_code == 529
    assert client.ask("Go.").text == "Now."
    for _ in range(3):
        assert refused(client).status_code == 401


def test_an_error_can_have_a_name_of_its_own(server: ModelServer) -> None:
    server.script("x", [Status(429, kind="insufficient_quota")])
    client = Responses(server.url("x"), stream=False)
    client.history.append(client.user("Go."))
    body = HTTP.post(f"{client.url}{client.path}", json=client.body(), headers=client.headers)
    assert body.json()["error"]["type"] == "insufficient_quota"


def test_a_cut_answer_breaks_midway(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Once(Cut(Say("Half of this.")), then=Say("Whole."))])
    client = connect()
    with pytest.raises(httpx.RemoteProtocolError):
        client.ask("Go.")
    assert client.go().text == "Whole."
    assert [request.state for request in server.requests("x")] == ["cut", "done"]


def test_what_is_no_json_is_sent_as_it_is(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Once(Malformed("<html>"), then=Say("Fine."))])
    client = connect()
    with pytest.raises(ValueError, match="Expecting value"):
        client.ask("Go.")
    assert client.go().text == "Fine."


def test_the_input_of_a_tool_can_be_broken(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Use("look", '{"where": "he')])
    ((_, _, given),) = connect().ask("Go.").calls
    assert given == '{"where": "he'


@pytest.mark.parametrize("midway", [False, True])
def test_what_hangs_can_be_released(server: ModelServer, connect: Connect, midway: bool) -> None:
    server.script("x", [Hang(Say("At last."), midway=midway)])
    heard: list[str] = []
    client = connect()
    asking = threading.Thread(target=lambda: heard.append(client.ask("Go.").text))
    asking.start()
    server.wait_for("x", lambda seen: [r.state for r in seen] == ["hanging"])
    assert not heard
    server.release("x")
    asking.join(30)
    assert heard == ["At last."]


@pytest.mark.parametrize("midway", [False, True])
def test_a_client_that_goes_is_noticed(server: ModelServer, connect: Connect, midway: bool) -> None:
    server.script("x", [Hang(midway=midway)])
    client = connect()
    client.history.append(client.user("Go."))
    impatient = httpx.Client(timeout=httpx.Timeout(30, read=0.2), verify=False)
    with impatient, pytest.raises(httpx.ReadTimeout):
        read(client.sent(impatient))
    server.wait_for("x", lambda seen: [r.state for r in seen] == ["gone"])
    server.check()


def test_half_an_answer_arrives_before_the_silence(server: ModelServer) -> None:
    server.script("x", [Hang(Say("The first half, the second half."), midway=True)])
    client = Anthropic(server.url("x"), stream=True)
    client.history.append(client.user("Go."))
    with client.sent() as response:
        lines = response.iter_lines()
        assert any("The first half" in line for line in lines)


def test_waiting_has_an_end(server: ModelServer) -> None:
    server.script("x", [])
    with pytest.raises(TimeoutError, match=r'"x" was not ready within 0\.01 s'):
        server.wait_for("x", lambda seen: len(seen) > 0, timeout=0.01)


def test_a_slow_answer_takes_its_time(server: ModelServer) -> None:
    server.script("x", [Turn([Say("12345")], pause=0.02, piece=1)])
    before = time.monotonic()
    assert Gemini(server.url("x"), stream=True).ask("Go.").text == "12345"
    assert time.monotonic() - before >= 5 * 0.02


def test_closing_lets_nobody_wait() -> None:
    server = ModelServer()
    server.script("x", [Hang()])
    failed: list[Exception] = []

    def ask() -> None:
        try:
            Anthropic(server.url("x"), stream=True).ask("Go.")
        except httpx.HTTPError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    server.wait_for("x", lambda seen: [r.state for r in seen] == ["hanging"])
    with httpx.Client(verify=False) as kept:
        kept.get(server.url("x"))
        server.close()
        asking.join(30)
        with pytest.raises(httpx.HTTPError):
            kept.get(server.url("x"))
    assert len(failed) == 1


LOOK = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
SEEN = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
USER = {"role": "user", "content": "Go."}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}
PART = {"role": "user", "parts": [{"text": "Go."}]}
ASKED = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}

BAD: list[tuple[type[Client], dict[str, Any], str]] = [
    (Anthropic, {"model": None}, "model: Field required"),
    (Anthropic, {"max_tokens": None}, "max_tokens: Field required"),
    (Anthropic, {"messages": []}, "at least one message"),
    (Anthropic, {"messages": [{"role": "assistant", "content": "I"}]}, "first message must use"),
    (Anthropic, {"messages": [USER, {"role": "bot", "content": "I"}]}, "messages.1.role"),
    (Anthropic, {"messages": [{"role": "user", "content": []}]}, "non-empty content"),
    (Anthropic, {"messages": [{"role": "user", "content": ""}]}, "must be non-empty"),
    (Anthropic, {"messages": [{"role": "user", "content": [SEEN]}]}, "unexpected `tool_use_id`"),
    (
        Anthropic,
        {"messages": [USER, {"role": "assistant", "content": [LOOK]}, USER]},
        "`tool_use` ids were found without `tool_result` blocks immediately after: c1",
    ),
    (Responses, {"model": None}, "Missing required parameter: 'model'"),
    (Responses, {"input": None}, "Missing required parameter: 'input'"),
    (Responses, {"input": [USER, CALL]}, "No tool output found for function call c1"),
    (Responses, {"input": [USER, OUTPUT]}, "No tool call found"),
    (Chat, {"model": None}, "Missing required parameter: 'model'"),
    (Chat, {"messages": []}, "Missing required parameter: 'messages'"),
    (
        Chat,
        {"messages": [USER, {"role": "tool", "tool_call_id": "c1", "content": "x"}]},
        "messages with role 'tool' must be a response",
    ),
    (
        Chat,
        {"messages": [USER, {"role": "assistant", "tool_calls": [{"id": "c1"}]}, USER]},
        "did not have response messages: c1",
    ),
    (Chat, {"messages": [USER, {"role": "assistant", "tool_calls": [{"id": "c1"}]}]}, "c1"),
    (Gemini, {"contents": None}, "contents is not specified"),
    (Gemini, {"contents": [{"role": "bot", "parts": [{"text": "x"}]}]}, "valid role"),
    (Gemini, {"contents": [{"role": "user", "parts": []}]}, "must not be empty"),
    (Gemini, {"contents": [PART, ASKED, PART]}, "number of function response parts"),
]


@pytest.mark.parametrize(("api", "change", "message"), BAD)
def test_a_request_the_api_would_refuse_is_refused(
    server: ModelServer, api: type[Client], change: dict[str, Any], message: str
) -> None:
    server.script("x", [Say("Never.")])
    client = api(server.url("x"), stream=True)
    client.history.append(client.user("Go."))
    body = {key: value for key, value in {**client.body(), **change}.items() if value is not None}
    answer = HTTP.post(f"{client.url}{client.path}", json=body, headers=client.headers)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    with pytest.raises(AssertionError, match="refused with 400"):
        server.check("x")


@pytest.mark.parametrize("api", APIS.values())
def test_nobody_asks_without_a_key(server: ModelServer, api: type[Client]) -> None:
    server.script("x", [Say("Never.")])
    client = api(server.url("x"), stream=False)
    client.headers = {"anthropic-version": "2023-06-01"}
    assert refused(client).status_code in (401, 403)


def test_neighbours_of_one_role_are_one_turn(server: ModelServer) -> None:
    server.script("x", [Use("look", {}), Say("Done.")])
    client = Anthropic(server.url("x"), stream=True)
    client.history += [USER, {"role": "assistant", "content": "I look."}]
    client.history += [{"role": "assistant", "content": [LOOK]}, USER]
    client.history.append({"role": "user", "content": [SEEN]})
    assert client.go().text == "Done."


def test_tools_can_come_as_an_item_of_the_input(server: ModelServer) -> None:
    server.script("x", [Say("Main.")], side=Say("Side."))
    client = Responses(server.url("x"), stream=True, tools=())
    item = {"type": "additional_tools", "tools": [{"type": "function", "name": "look"}]}
    client.history.append(item)
    assert client.ask("Go.").text == "Main."


def test_gemini_streams_events_only(server: ModelServer) -> None:
    server.script("x", [Say("Never.")])
    url = f"{server.url('x')}/v1beta/models/m:streamGenerateContent"
    answer = HTTP.post(url, json={"contents": [PART]}, headers=Gemini.headers)
    assert (answer.status_code, "alt=sse" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("POST", "/s/nobody/v1/messages", 'There is no scenario "nobody".'),
        ("POST", "/v1/messages", 'There is no scenario "".'),
        ("POST", "/s/x/v1/embeddings", 'does not serve "/v1/embeddings"'),
        ("GET", "/s/x/v1/messages", 'does not serve "/v1/messages"'),
    ],
)
def test_a_place_that_is_not_there_is_not_found(
    server: ModelServer, method: str, path: str, message: str
) -> None:
    server.script("x", [Say("Never.")])
    base = server.url("x").removesuffix("/s/x")
    answer = HTTP.request(method, f"{base}{path}", json={})
    assert answer.status_code == 404
    assert message in answer.json()["error"]["message"]
    with pytest.raises(AssertionError, match=f"{method} {path}: refused with 404"):
        server.check()


def send(server: ModelServer, content: Any, **headers: str) -> httpx.Response:
    url = f"{server.url('x')}/v1/messages"
    return HTTP.post(url, content=content, headers={**Anthropic.headers, **headers})


@pytest.fixture
def content(server: ModelServer) -> bytes:
    server.script("x", [Say("Read.")])
    client = Anthropic(server.url("x"), stream=False)
    client.history.append(client.user("Go. " * 100))
    return json.dumps(client.body()).encode()


def test_bodies_come_chunked_and_packed(server: ModelServer, content: bytes) -> None:
    chunks = [content[i : i + 50] for i in range(0, len(content), 50)]
    packed = gzip.compress(content)
    answers = [
        send(server, iter(chunks)),
        send(server, packed, **{"content-encoding": "gzip"}),
        send(server, iter([packed[:20], packed[20:]]), **{"content-encoding": "gzip"}),
        send(server, zlib.compress(content), **{"content-encoding": "deflate"}),
    ]
    assert [answer.json()["content"][0]["text"] for answer in answers] == ["Read."] * 4
    assert [r.body for r in server.requests("x")] == [json.loads(content)] * 4


def test_a_body_that_cannot_be_read_is_refused(server: ModelServer, content: bytes) -> None:
    assert send(server, content, **{"content-encoding": "gzip"}).status_code == 400
    assert send(server, content, **{"content-encoding": "zstd"}).status_code == 415
    assert send(server, content[:-1]).status_code == 400
    assert send(server, b"[]").status_code == 400
    assert len(server.requests("x")) == 4


def test_a_client_that_dies_while_asking_asked_nothing(server: ModelServer) -> None:
    server.script("x", [Say("Fine.")])
    url = httpx.URL(server.url("x"))
    with socket.create_connection((url.host, url.port)) as dying:
        dying.sendall(b"POST /s/x/v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        dying.shutdown(socket.SHUT_WR)
        assert dying.recv(100) == b""
    assert server.requests("x") == []


def test_a_broken_condition_fails_the_check(server: ModelServer) -> None:
    def broken(talk: Talk) -> bool:
        raise RuntimeError(f"I am broken by {talk.model}.")

    server.script("x", [When(broken, [])])
    assert refused(Chat(server.url("x"), stream=False)).status_code == 500
    with pytest.raises(AssertionError, match=r"RuntimeError: I am broken by m\."):
        server.check()


@pytest.mark.parametrize("name", ["", "a/b", "a b", "?"])
def test_a_name_must_fit_into_an_address(server: ModelServer, name: str) -> None:
    with pytest.raises(ValueError, match="is no name for a scenario"):
        server.script(name, [])


def test_a_scenario_is_defined_once(server: ModelServer) -> None:
    server.script("x", [])
    with pytest.raises(ValueError, match='"x" exists already'):
        server.script("x", [])


def test_agents_are_kept_to_their_home(server: ModelServer, tmp_path: Path) -> None:
    claude, codex = claude_env(server, "x", tmp_path / "a"), codex_env(tmp_path / "b")
    assert claude["ANTHROPIC_BASE_URL"] == server.url("x")
    assert any(f'base_url="{server.url("x")}/v1"' in arg for arg in codex_args(server, "x"))
    for env in (claude, codex):
        assert Path(env["TMPDIR"]).is_dir()
    # Codex does not work with a home below the folder for temporary files.
    assert not Path(codex["CODEX_HOME"]).is_relative_to(codex["TMPDIR"])


def test_the_package_needs_only_the_standard_library() -> None:
    code = "import sys, agents_manager.testing.scripted_model; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"httpx", "pydantic", "sqlalchemy", "dbos", "fastapi", "yaml", "structlog"}


def test_words_of_the_system_may_stand_between_turns(server: ModelServer) -> None:
    server.script("x", [Say("Done.")])
    client = Anthropic(server.url("x"), stream=True)
    client.history += [USER, {"role": "system", "content": "It is Monday."}]
    assert client.go().text == "Done."
