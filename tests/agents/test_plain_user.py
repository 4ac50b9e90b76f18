"""What the real Claude Code needs in the sandbox works for a plain user as it does for root."""

import os

import pytest

from tests.plain_user import run_tests

TESTS = ("tests/agents/test_claude_login.py", "tests/agents/test_mcp_servers.py")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(os.geteuid() != 0, reason="these tests themselves run as a plain user")
def test_logins_and_servers_work_for_a_plain_user() -> None:
    done = run_tests(*TESTS, "-k", "subscription or of_the_project")
    assert done.returncode == 0, done.stdout[-5000:]
    assert "2 passed" in done.stdout
