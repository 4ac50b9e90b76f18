"""The lane of `make test-mcp`: the conformance suite of the protocol is installed first."""

from tests.api.conftest import program, project, repo, scene, token
from tests.repos import own_home

__all__ = ["own_home", "program", "project", "repo", "scene", "token"]
