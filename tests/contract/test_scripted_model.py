"""Every API says the same script, and the step follows from the conversation alone."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from agents_manager.domain.outcome import BUILT_IN, Reported, read_markers
from agents_manager.testing.scripted_model import (
    ModelServer,
    Say,
    Structured,
    Turn,
    Usage,
    Use,
    When,
    asked,
    outcome,
    resulted,
    resumed,
)
from tests.contract.model_clients import APIS, Connect


def test_a_script_is_played_to_its_end(server: ModelServer, connect: Connect) -> None:
    deep = {"where": "here", "deep": {"list": [1, "ü", None]}}
    server.script(
        "x",
        [
            Turn(
                [Say("I look around, twice."), Use("look", deep), Use("look", {})],
                usage=Usage(input=11, output=22, cache_read=33, cache_write=44),
            ),
            Use("look", {"where": "there"}),
            Say("Seen — ☺."),
        ],
    )
    client = connect()

    first = client.ask("Look.")
    assert first.text == "I look around, twice."
    assert [(name, given) for _, name, given in first.calls] == [("look", deep), ("look", {})]
    assert len({id for id, _, _ in first.calls}) == 2
    prompt = 11 if client.path.startswith("/v1/messages") else 11 + 33 + 44
    assert first.usage == (prompt, 22, 33)

    second = client.give("a wall", "a door")
    assert (second.text, second.calls[0][2]) == ("", {"where": "there"})
    assert client.give("a garden").text == "Seen — ☺."
    assert [request.step for request in server.requests("x")] == [0, 1, 2]
    assert {request.state for request in server.requests("x")} == {"done"}
    server.check()


def test_the_same_conversation_gets_the_same_step(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Use("look", {}), Say("Done.")])
    client = connect()
    client.ask("Look.")
    assert client.give("a wall").text == "Done."
    assert connect().ask("Look, a session of its own.").calls
    client.history = client.history[:-1]
    assert client.go().text == "Done."


def test_a_branch_begins_when_its_condition_does(server: ModelServer, connect: Connect) -> None:
    server.script(
        "x",
        [
            Use("look", {}),
            Say("First."),
            When(asked("repair"), [Say("Repaired."), Say("Repaired again.")]),
            When(resumed, [Use("look", {}), Say("Resumed.")]),
        ],
    )
    client = connect()
    client.ask("Go.")
    assert client.give("a wall").text == "First."
    assert client.ask("Go on.").calls
    assert client.give("a door").text == "Resumed."
    assert client.ask("Please repair this.").text == "Repaired."
    assert client.ask("And this.").text == "Repaired again."
    assert connect().ask("repair what I never saw").text == "Repaired."
    server.check()


def test_a_branch_can_wait_for_a_result(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Use("look", {}), Say("Fine."), When(resulted("locked"), [Say("Shut.")])])
    for result, answer in (("the door is open", "Fine."), ("the door is locked", "Shut.")):
        client = connect()
        client.ask("Is it locked?")
        assert client.give(result).text == answer


def test_side_requests_do_not_move_the_script(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Say("Main.")], side=Say("A title."))
    assert connect(tools=()).ask("Name this session.").text == "A title."
    assert connect().ask("Go.").text == "Main."
    assert [request.step for request in server.requests("x")] == [None, 0]
    server.check()


def test_an_agent_without_tools_can_be_scripted(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Say("One."), Say("Two.")], side=None)
    client = connect(tools=())
    assert [client.ask("1").text, client.ask("2").text] == ["One.", "Two."]


def test_a_value_is_given_in_the_way_that_was_asked_for(
    server: ModelServer, connect: Connect
) -> None:
    server.script("x", [Structured({"a": 1})])
    assert connect().ask("A value, please.").text == '{"a": 1}'
    ((_, name, given),) = connect(tools=("StructuredOutput",)).ask("A value, please.").calls
    assert (name, given) == ("StructuredOutput", {"a": 1})


def test_an_outcome_is_one_that_the_product_reads(server: ModelServer, connect: Connect) -> None:
    payload = {"questions": [{"id": "q1", "question": "Is 1 > 0, and {this} <<fine>>?"}]}
    server.script("x", [outcome("needs_info", payload, text="I ask."), outcome("pr_ready")])
    known = {outcome.name: outcome for outcome in BUILT_IN}
    client = connect()
    for name, text in (("needs_info", "I ask."), ("pr_ready", "Done.")):
        found = read_markers(client.ask("Go.").text, [name], known)
        assert isinstance(found, Reported)
        assert (found.name, found.text) == (name, text)


def test_a_stream_comes_in_pieces(server: ModelServer) -> None:
    server.script("x", [Turn([Say("0123456789")], piece=3)])
    for api in APIS.values():
        heard = api(server.url("x"), stream=True).ask("Go.")
        assert (heard.text, heard.pieces) == ("0123456789", 4)


def test_scenarios_do_not_meet(server: ModelServer, connect: Connect) -> None:
    names = [f"s{number}" for number in range(16)]
    for name in names:
        server.script(name, [Use("look", {}), Say(f"I am {name}.")])

    def played(name: str) -> str:
        client = connect(name)
        client.ask("Go.")
        return client.give("a wall").text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(played, names)) == [f"I am {name}." for name in names]
    assert [len(server.requests(name)) for name in names] == [2] * 16


def test_requests_are_recorded_as_they_came(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Say("Done.")])
    client = connect()
    client.ask("Find me later.")
    (request,) = server.requests("x")
    assert (request.method, request.path) == ("POST", f"/s/x{client.path}")
    assert request.headers.items() >= client.headers.items()
    client.history.pop()
    assert request.body == client.body()


def test_what_the_script_does_not_know_is_refused(server: ModelServer, connect: Connect) -> None:
    server.script("x", [Say("Only this.")])
    server.script("other", [])
    client = connect()
    client.ask("Go.")
    server.check()
    with pytest.raises(httpx.HTTPStatusError) as refused:
        client.ask("And now?")
    assert refused.value.response.status_code == 400
    with pytest.raises(AssertionError, match=r'"x" has no step 1\. \(1 times\)'):
        server.check("x")
    with pytest.raises(AssertionError, match='"x" has no step 1'):
        server.check()
    server.check("other")
