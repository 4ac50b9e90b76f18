"""What a kind of check does with a commit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager.checks.command import ProjectChecks
from agents_manager.engine import processes
from agents_manager.flow.ports import Adapters, CheckKind, CheckResult, CheckSpec
from agents_manager.scm import commits
from agents_manager.testing import repositories


class CheckContract:
    @pytest.fixture
    def kind(self) -> CheckKind:
        """To be overridden: the function, and the model of its settings."""
        raise NotImplementedError

    @pytest.fixture
    def spec(self) -> CheckSpec:
        """May be overridden, where it has to be told something."""
        return CheckSpec(
            name="mine", command=None, severity="error", modes=(), timeout_s=60, kind="mine"
        )

    @pytest.fixture
    def good(self) -> Mapping[str, str]:
        """To be overridden: files, by their names, that pass."""
        raise NotImplementedError

    @pytest.fixture
    def bad(self) -> Mapping[str, str]:
        """To be overridden: files that do not."""
        raise NotImplementedError

    @pytest.fixture
    def repo(self, tmp_path: Path) -> Path:
        return repositories.make(tmp_path / "repo", {"README.md": "Hello\n"})

    async def test_good_work_passes(
        self, kind: CheckKind, spec: CheckSpec, good: Mapping[str, str], repo: Path
    ) -> None:
        said = await _checked(kind, spec, repo, good)
        assert (said.passed, said.name, said.severity) == (True, spec.name, spec.severity)
        assert said.how

    async def test_bad_work_does_not_and_it_says_why(
        self, kind: CheckKind, spec: CheckSpec, bad: Mapping[str, str], repo: Path
    ) -> None:
        said = await _checked(kind, spec, repo, bad)
        assert not said.passed
        assert said.output, "whoever mends it has to know what was found"

    async def test_it_looks_at_the_commit_and_changes_nothing(
        self,
        kind: CheckKind,
        spec: CheckSpec,
        good: Mapping[str, str],
        bad: Mapping[str, str],
        repo: Path,
    ) -> None:
        before = repositories.git(repo, "rev-parse", "HEAD")
        first = repositories.commit(repo, good)
        repositories.commit(repo, bad)
        state = repositories.git(repo, "rev-parse", "HEAD")
        for _ in range(2):
            assert (await _run(kind, spec, repo, before, first)).passed
        assert repositories.git(repo, "rev-parse", "HEAD") == state
        assert repositories.git(repo, "status", "--porcelain") == ""


async def _checked(
    kind: CheckKind, spec: CheckSpec, repo: Path, files: Mapping[str, str]
) -> CheckResult:
    before = repositories.git(repo, "rev-parse", "HEAD")
    return await _run(kind, spec, repo, before, repositories.commit(repo, files))


def _as_it_is(argv: Sequence[str], *_: Any, **__: Any) -> Sequence[str]:
    """Without a sandbox."""
    return argv


async def _run(kind: CheckKind, spec: CheckSpec, repo: Path, base: str, sha: str) -> CheckResult:
    checks = ProjectChecks(
        repo.parent / "checks",
        commits.export,
        commits.written,
        processes.kill_marked,
        _as_it_is,
        adapters=Adapters(checks={spec.kind or spec.name: kind}),
    )
    [said] = await checks.run(repo, base, sha, [spec])
    return said
