"""Puts the conformance suite of MCP, which `make test-mcp` holds our endpoints to, into
`.mcp-suite/`: the release that `mcp_suite.json` names. It takes 50 MB. What is there already is
left alone."""

import sys

from install_telegram_api import install

if __name__ == "__main__":
    sys.exit(install("mcp-suite", "mcp_suite.json"))
