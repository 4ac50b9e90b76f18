"""MCP over HTTP for the agents of runs: one endpoint a run, which the run's token alone opens and
which does nothing but take the run's outcome, its handoff and whom it wants to have run again, put
its questions to people, and look up what its project found out."""

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.domain import payload as payloads
from agents_manager.errors import NotFound
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import reporting
from agents_manager.flow.runs.reporting import Reporter
from agents_manager.mcp import http, run_tools

FOLDER = "/mcp"
RUNS = f"{FOLDER}/run/"
MAX_BYTES = 2 * payloads.MAX_BYTES
MAX_DEPTH = payloads.MAX_DEPTH + 8

INSTRUCTIONS = (
    "Where you need to know something from a person to go on, ask with ask_human and wait for the"
    " answer. When your work is done, save your handoff with save_handoff and report the outcome"
    " with report_outcome, then end with your final message. It needs no handoff and no outcome"
    " block then."
)


def app(services: Services, others: ASGIApp | None = None) -> ASGIApp:
    """`others` answers who is no agent of a run, at the folder itself."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if others is not None and request.url.path == FOLDER:
            await others(scope, receive, send)
            return
        try:
            reporter = await _admitted(services, request)
            body = await http.body(request, MAX_BYTES)
        except ClientDisconnect:
            return
        tools = run_tools.of(services, reporter)
        await http.answered(tools, INSTRUCTIONS, body, MAX_DEPTH, scope, receive, send)

    return serve


async def _admitted(s: Services, request: Request) -> Reporter:
    path = request.url.path
    if not path.startswith(RUNS):
        raise NotFound(f"There is no {path[:100]}; agents find their endpoint below {RUNS}.")
    reporter = await reporting.enter(s, path.removeprefix(RUNS), http.token(request))
    http.check_method(request)
    return reporter
