"""Recognised from a package.json and its lock file: the package manager, set-up and checks."""

import json
from typing import Any

import pytest

from agents_manager.checks.recognise.proposal import Machine, Proposal
from tests.recognising import MACHINE, checks, recognised, the_one

NPM_DEFAULT = 'echo "Error: no test specified" && exit 1'


def package(**keys: Any) -> str:
    keys.setdefault("scripts", {"test": "vitest run"})
    keys.setdefault("devDependencies", {"vitest": "^3"})
    return json.dumps(keys, indent=2)


def one(files: dict[str, str | bytes], machine: Machine = MACHINE, **keys: Any) -> Proposal:
    return the_one({"package.json": package(**keys), **files}, machine)


def on_this(*programs: str) -> Machine:
    return Machine({**MACHINE.versions, **dict.fromkeys(programs)})


NPX_PNPM = "npx --yes pnpm@9"
BERRY = "__metadata:\n  version: 8\n"


@pytest.mark.parametrize(
    ("files", "keys", "ecosystem", "setup", "test"),
    [
        ({}, {}, "npm", "npm install --no-package-lock", "npm test"),
        ({"package-lock.json": "{}"}, {}, "npm", "npm ci", "npm test"),
        ({"npm-shrinkwrap.json": "{}"}, {}, "npm", "npm ci", "npm test"),
        (
            {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
            {},
            "pnpm",
            f"{NPX_PNPM} install --frozen-lockfile",
            f"{NPX_PNPM} test",
        ),
        (
            {"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"},
            {},
            "pnpm",
            "npx --yes pnpm@8 install --frozen-lockfile",
            "npx --yes pnpm@8 test",
        ),
        (
            {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"},
            {"packageManager": "pnpm@10.4.1+sha512.abc"},
            "pnpm",
            "npx --yes pnpm@10.4.1 install --frozen-lockfile",
            "npx --yes pnpm@10.4.1 test",
        ),
        (
            {"yarn.lock": "# yarn lockfile v1\n"},
            {},
            "yarn",
            "npx --yes yarn@1 install --frozen-lockfile",
            "npx --yes yarn@1 run test",
        ),
        (
            {"yarn.lock": BERRY},
            {"packageManager": "yarn@4.9.1"},
            "yarn",
            "npx --yes --package @yarnpkg/cli-dist@4.9.1 yarn install --immutable",
            "npx --yes --package @yarnpkg/cli-dist@4.9.1 yarn run test",
        ),
        (
            {
                "yarn.lock": BERRY,
                ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-4.9.1.cjs\n",
                ".yarn/releases/yarn-4.9.1.cjs": "",
            },
            {},
            "yarn",
            "node .yarn/releases/yarn-4.9.1.cjs install --immutable",
            "node .yarn/releases/yarn-4.9.1.cjs run test",
        ),
        (
            {"bun.lock": "{}"},
            {},
            "bun",
            "npx --yes bun@1 install --frozen-lockfile",
            "npx --yes bun@1 run test",
        ),
        ({"bun.lockb": b"\x00\xff"}, {}, "bun", "npx --yes bun@1 install --frozen-lockfile", None),
        ({}, {"engines": {"pnpm": ">=9"}}, "pnpm", "npx --yes pnpm install --no-lockfile", None),
        ({"pnpm-workspace.yaml": ""}, {}, "pnpm", "npx --yes pnpm install --no-lockfile", None),
    ],
)
def test_package_manager_follows_the_repository(
    files: dict[str, str | bytes],
    keys: dict[str, Any],
    ecosystem: str,
    setup: str,
    test: str | None,
) -> None:
    found = one(files, **keys)
    assert (found.ecosystem, found.setup, found.suggested) == (ecosystem, (setup,), True)
    if test is not None:
        assert checks(found) == {"test": test}
    assert "package.json" in found.setup_inputs
    assert set(files) - {".yarn/releases/yarn-4.9.1.cjs"} <= set(found.setup_inputs)


@pytest.mark.parametrize(
    ("lock", "program"), [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")]
)
def test_installed_package_manager_is_used_and_missing_one_is_named(
    lock: str, program: str
) -> None:
    assert one({lock: ""}, on_this(program)).setup[0].startswith(f"{program} install")
    [tool] = one({lock: ""}).missing
    assert (tool.program, tool.fallback.split()[0]) == (program, "npx")
    assert "npm install --global" in tool.install


def test_without_node_nothing_replaces_it() -> None:
    found = one({}, Machine())
    assert [tool.program for tool in found.blockers] == ["node"]
    assert found.checks


def test_declared_package_manager_wins_over_a_second_lock_file() -> None:
    files: dict[str, str | bytes] = {"package-lock.json": "{}", "pnpm-lock.yaml": ""}
    found = one(files, packageManager="pnpm@9.1.0")
    assert found.ecosystem == "pnpm"
    assert found.notes == ("There is also package-lock.json; pnpm is used (package.json:2).",)
    assert one(files).ecosystem == "pnpm"


@pytest.mark.parametrize(
    "script",
    [
        NPM_DEFAULT,
        "echo 'no tests yet'",
        "exit 0",
        "",
        ":",
        "true",
        "npm test",
        "npm run test",
        "npm run check",
        "pnpm run --silent test",
    ],
)
def test_placeholders_and_scripts_that_call_themselves_are_no_tests(script: str) -> None:
    scripts = {"test": script, "check": "npm run -s other && tsc", "other": "npm t"}
    found = one({}, scripts=scripts)
    assert (found.checks, found.suggested) == ((), False)


@pytest.mark.parametrize(
    "script",
    [
        "pnpm -r test",
        "npm --prefix packages/core test",
        "npm run test --workspaces",
        "cd packages/core && npm test",
        "npm run lint && node --test",
        "echo Testing && mocha",
    ],
)
def test_scripts_that_run_something_are_tests(script: str) -> None:
    found = one({}, scripts={"test": script, "lint": "eslint ."})
    assert checks(found)["test"] == "npm test"


def test_test_runner_of_bun_is_no_call_of_the_script() -> None:
    lock: dict[str, str | bytes] = {"bun.lock": "{}"}
    found = one(lock, on_this("bun"), scripts={"test": "bun test --bail"})
    assert checks(found) == {"test": "bun run test"}
    assert not one(lock, scripts={"test": "bun run test"}).checks


def test_package_without_scripts_has_no_check() -> None:
    assert not one({}, scripts={}).suggested
    assert not one({}, scripts=["test"]).suggested
    assert not one({}, scripts={"test": 5}).suggested


def test_linters_and_type_checkers_count_only_as_scripts_that_change_nothing() -> None:
    scripts = {
        "test": "vitest run",
        "lint": "eslint . --fix",
        "lint:check": "eslint .",
        "typecheck": "tsc --noEmit",
        "check": "prettier --check .",
    }
    assert checks(one({}, scripts=scripts)) == {
        "test": "npm test",
        "lint": "npm run lint:check",
        "type-check": "npm run typecheck",
    }
    assert set(checks(one({}, scripts={"test": "mocha", "lint": "eslint --fix ."}))) == {"test"}


def test_tests_that_ci_runs_are_preferred_to_one_that_only_people_run() -> None:
    scripts = {"test": "vitest", "test-unit": "vitest --project unit", "test-e2e": "vitest e2e"}
    workflow = "jobs:\n  a:\n    steps:\n      - run: npm run test-unit\n"
    ci: dict[str, str | bytes] = {".github/workflows/ci.yml": workflow}
    assert set(checks(one(ci, scripts=scripts))) == {"test-unit"}
    assert set(checks(one({}, scripts=scripts))) == {"test"}
    # A script that runs the tests with a coverage report is the same test.
    scripts["test-ci"] = "c8 npm test"
    ci[".github/workflows/ci.yml"] = workflow.replace("test-unit", "test-ci")
    assert set(checks(one(ci, scripts=scripts))) == {"test"}


def test_watch_mode_is_never_proposed() -> None:
    assert not one({}, scripts={"test": "jest --watch"}).checks
    assert checks(one({}, scripts={"test": "jest --watch", "test:ci": "jest"})) == {
        "test-ci": "npm run test:ci"
    }


def test_tests_of_workspaces_are_run_from_the_top() -> None:
    member = json.dumps({"scripts": {"test": "node --test"}})
    found = one({"packages/a/package.json": member}, scripts={}, workspaces=["packages/*"])
    assert checks(found) == {"test": "npm test --workspaces --if-present"}
    assert str(found.checks[0].source) == "packages/a/package.json:1"
    found = one(
        {"packages/a/package.json": member, "pnpm-workspace.yaml": ""}, on_this("pnpm"), scripts={}
    )
    assert checks(found) == {"test": "pnpm --recursive --if-present run test"}


def test_package_without_dependencies_needs_no_set_up() -> None:
    found = one({}, devDependencies={}, scripts={"test": "node --test"})
    assert (found.setup, checks(found)) == ((), {"test": "npm test"})


def test_engine_that_this_machine_does_not_have_is_noted() -> None:
    assert (
        "asks for Node.js >=22; this machine has 20.20.2"
        in one({}, engines={"node": ">=22"}).notes[0]
    )
    assert not one({}, engines={"node": "^18 || >=20"}).notes


@pytest.mark.parametrize(
    "text", ["{", "[]", "nul", '{"scripts": ', '{"a":' * 5000 + "1" + "}" * 5000, "\x00"]
)
def test_malformed_package_is_reported_and_proposes_nothing(text: str) -> None:
    found = recognised({"package.json": text})
    assert not found.suggested
    assert text == "[]" or "package.json cannot be read" in found.problems[0]


def test_byte_order_mark_and_line_ends_of_windows_do_not_matter() -> None:
    text = package().replace("\n", "\r\n").encode("utf-8-sig")
    lock = b"\xef\xbb\xbflockfileVersion: '6.0'\r\n"
    found = the_one({"package.json": text, "pnpm-lock.yaml": lock})
    assert checks(found) == {"test": "npx --yes pnpm@8 test"}
    assert found.checks[0].source.line == 3


def test_lock_file_that_is_a_link_counts_only_if_it_leads_to_a_file_of_the_repository() -> None:
    files: dict[str, str | bytes] = {
        "package.json": package(),
        "locks/a.yaml": "lockfileVersion: 6\n",
    }
    inside = recognised(files, links={"pnpm-lock.yaml": "locks/a.yaml"})
    assert inside.suggested[0].ecosystem == "pnpm"
    for target in ("/etc/passwd", "../../elsewhere", "pnpm-lock.yaml", "none.yaml"):
        outside = recognised(files, links={"pnpm-lock.yaml": target})
        assert outside.suggested[0].ecosystem == "npm"


def test_huge_lock_file_counts_without_being_read() -> None:
    found = recognised({"package.json": package(), "pnpm-lock.yaml": None})
    assert found.suggested[0].setup == ("npx --yes pnpm install --frozen-lockfile",)
