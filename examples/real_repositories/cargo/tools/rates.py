"""An MCP server over standard input and output with one tool: a service's surcharge in cents."""

import json
import sys
from typing import Any

SURCHARGES = {"express": 450, "insured": 275}

TOOL = {
    "name": "surcharge",
    "description": "Return the surcharge of a parcel service in cents.",
    "inputSchema": {
        "type": "object",
        "properties": {"service": {"type": "string", "enum": list(SURCHARGES)}},
        "required": ["service"],
    },
}


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a method, or None if the method is unknown."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "rates", "version": "1.0.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        service = params["arguments"]["service"]
        text = f"The {service} surcharge is {SURCHARGES.get(service)} cents."
        content = [{"type": "text", "text": text}]
        return {"content": content, "isError": service not in SURCHARGES}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        found = result(message["method"], message.get("params") or {})
        if found is None:
            reply["error"] = {"code": -32601, "message": f'Unknown method "{message["method"]}".'}
        else:
            reply["result"] = found
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
