"""Recognised in whole repositories: other ecosystems, and several at once."""

import json

import pytest

from agents_manager.checks.recognise import programs
from agents_manager.checks.recognise.files import readable
from agents_manager.checks.recognise.proposal import Machine, satisfies
from tests.recognising import MACHINE, checks, recognised, the_one

PACKAGE = json.dumps({"scripts": {"test": "grunt test"}, "devDependencies": {"grunt": "1"}})
PYPROJECT = '[build-system]\nrequires=["setuptools"]\n[project]\nname = "d"\n'
TOX = "[tox]\nenvlist = py3\n[testenv]\ncommands = {envpython} runtests.py\n"


def test_javascript_of_a_python_project_is_not_suggested() -> None:
    files = {f"django/module{n}.py": "" for n in range(50)}
    files |= {"package.json": PACKAGE, "js_tests/tests.js": "", "Gruntfile.js": ""}
    found = recognised(
        {**files, "pyproject.toml": PYPROJECT, "tox.ini": TOX, "tests/runtests.py": ""}
    )
    [python] = found.suggested
    assert checks(python) == {"test": ".venv/bin/python -m tox run -e py3"}
    node = next(one for one in found.proposals if one.ecosystem == "npm")
    assert not node.suggested
    assert "only 2 source files" in node.notes[-1]


def test_makefile_beside_tox_offers_tox() -> None:
    found = recognised({"Makefile": "test:\n\ttox\n", "tox.ini": TOX, "x.py": ""})
    assert [one.ecosystem for one in found.suggested] == ["tox"]
    assert [one.ecosystem for one in found.proposals] == ["tox", "make"]


def test_makefile_alone_offers_its_targets() -> None:
    text = (
        ".PHONY: test lint\n\ntest: build\n\t@./run-tests\nbuild:\n\tcc a.c\nlint:\n\tcppcheck .\n"
    )
    found = the_one({"Makefile": text, "a.c": ""})
    assert checks(found) == {"test": "make test", "lint": "make lint"}
    assert [str(check.source) for check in found.checks] == ["Makefile:3", "Makefile:7"]
    assert found.checks[0].reason == "./run-tests"


@pytest.mark.parametrize(
    "text",
    [
        ".PHONY: test\n",
        "%test:\n\tcc $<\n",
        "test-%:\n\t./run $*\n",
        "test:\n",
        "test: FLAGS = -x\n",
        "test := ./run\n",
        "test = a:b\n",
        "test:\n\t$(MAKE) test\n",
        "test:\n\t@${MAKE} test VERBOSE=1\n",
        "test: check\ncheck: test\n",
        "test:\n\t@echo nothing here\n",
        "# test:\n#\t./run\n",
        "all:\n\t./run test:\n",
        "\ttest:\n",
    ],
)
def test_target_that_runs_nothing_is_no_test(text: str) -> None:
    assert not recognised({"Makefile": text}).suggested


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("test:\n\t./run\n", "make test"),
        ("test:\r\n\t./run\r\n", "make test"),
        ("test check: ; ./run\n", "make test"),
        ("test::\n\t-./run\n", "make test"),
        ("check: unit\nunit:\n\t./run\n", "make check"),
        ("test: \\\n  unit\nunit:\n\t./run\n", "make test"),
        ("test:\n\n\t# comment\n\t./run\n", "make test"),
        ("test:\n\t$(MAKE) -C sub test\n", "make test"),
    ],
)
def test_target_that_runs_something_is_a_test(text: str, command: str) -> None:
    assert checks(the_one({"Makefile": text}))["test"] == command


LOCKED = 'source = "registry+https://example.com"\n'


@pytest.mark.parametrize(
    ("files", "setup", "test"),
    [
        (
            {"Cargo.toml": "[package]\nname='a'\n", "Cargo.lock": LOCKED},
            ("cargo fetch --locked",),
            "cargo test --locked",
        ),
        ({"Cargo.toml": "[package]\nname='a'\n", "Cargo.lock": ""}, (), "cargo test --locked"),
        ({"Cargo.toml": "[workspace]\n"}, ("cargo fetch",), "cargo test --workspace"),
        ({"go.mod": "module x\n\ngo 1.21\n"}, (), "go test ./..."),
        ({"go.mod": "module x\nrequire a.b/c v1.0.0\n"}, ("go mod download",), "go test ./..."),
        (
            {"go.mod": "module x\nrequire a.b/c v1.0.0\n", "vendor/modules.txt": ""},
            (),
            "go test ./...",
        ),
        (
            {"pom.xml": "<project/>", "mvnw": ""},
            ("./mvnw -B -ntp dependency:go-offline",),
            "./mvnw -B -ntp test",
        ),
        (
            {"build.gradle.kts": "", "gradlew": ""},
            ("./gradlew --no-daemon testClasses",),
            "./gradlew --no-daemon test",
        ),
    ],
)
def test_other_ecosystems(files: dict[str, str], setup: tuple[str, ...], test: str) -> None:
    found = the_one(files)
    assert (found.setup, checks(found)) == (setup, {"test": test})
    assert not found.missing


@pytest.mark.parametrize(
    ("files", "machine", "program"),
    [
        ({"pom.xml": ""}, MACHINE, "mvn"),
        ({"build.gradle": ""}, MACHINE, "gradle"),
        ({"pom.xml": "", "mvnw": ""}, Machine(), "java"),
        ({"go.mod": "module x\n"}, Machine(), "go"),
        ({"go.mod": "module x\ngo 1.20\n"}, Machine({"go": (1, 19, 8)}), "go 1.20"),
        ({"Cargo.toml": ""}, Machine(broken={"cargo": "no toolchain"}), "cargo"),
        (
            {"Cargo.toml": "[package]\nrust-version = '1.90'\n"},
            Machine({"cargo": (1, 65, 0)}),
            "cargo >=1.90",
        ),
        ({"Makefile": "test:\n\t./x\n"}, Machine(), "make"),
    ],
)
def test_missing_program_is_named(files: dict[str, str], machine: Machine, program: str) -> None:
    [tool] = the_one(files, machine).blockers
    assert tool.program == program
    assert tool.install


def test_new_go_fetches_the_release_that_a_module_asks_for() -> None:
    assert not the_one({"go.mod": "module x\ngo 1.99\n"}).missing


def test_several_ecosystems_get_a_proposal_each_with_names_of_their_own() -> None:
    files = {
        "api/pyproject.toml": PYPROJECT,
        "api/tests/test_a.py": "import pytest\n",
        "web/app/package.json": PACKAGE,
        "web/app/package-lock.json": "{}",
        "web/app/a.ts": "",
        "examples/package.json": PACKAGE,
        "web/node_modules/x/package.json": PACKAGE,
        "a/b/c/package.json": PACKAGE,
    }
    found = recognised(files)
    assert [one.title for one in found.suggested] == ["pip in api", "npm in web/app"]
    assert checks(found.suggested[0]) == {"test": "cd api && .venv/bin/python -m pytest"}
    assert checks(found.suggested[1]) == {"test-web-app": "cd web/app && npm test"}
    assert found.suggested[1].setup == ("cd web/app && npm ci",)
    assert "web/app/package-lock.json" in found.suggested[1].setup_inputs


def test_parts_of_what_the_top_covers_are_not_proposed_again() -> None:
    found = recognised({"package.json": PACKAGE, "packages/package.json": PACKAGE})
    assert [one.title for one in found.proposals] == ["npm"]


def test_repository_without_tools_has_no_proposal() -> None:
    assert recognised({"hello.py": "print()\n", "README.md": ""}).proposals == ()
    assert recognised({}).proposals == ()


def test_only_manifests_and_some_tests_are_read() -> None:
    paths = ["package.json", "a/b/c/d/e/package.json", "src/a.py", "x/requirements-dev.txt"]
    paths += [f"tests/test_{n}.py" for n in range(100)]
    assert {"package.json", "x/requirements-dev.txt"} <= set(readable(paths))
    assert not {"a/b/c/d/e/package.json", "src/a.py"} & set(readable(paths))
    assert len(readable(paths)) == 42


@pytest.mark.parametrize(
    ("version", "requirement", "met"),
    [
        ((3, 11, 2), ">=3.10", True),
        ((3, 11, 2), ">=3.12,<4", False),
        ((3, 11, 2), ">=3.8, !=3.11.*", False),
        ((3, 11), "==3.11.*", True),
        ((3, 11, 4), "~=3.11", True),
        ((4, 0), "^3.11", False),
        ((20, 2, 0), "^18 || >=20", True),
        ((20, 2, 0), "18.x", False),
        ((20, 2, 0), "~20.1", False),
        ((19, 0, 0), "18 - 20", True),
        ((21, 0, 0), "18 - 20", False),
        ((20, 2, 0), ">= 18", True),
        ((20, 2, 0), "*", True),
        ((20, 2, 0), "", True),
        ((20, 2, 0), "lts", True),
    ],
)
def test_versions(version: tuple[int, ...], requirement: str, met: bool) -> None:
    assert satisfies(version, requirement) is met


def test_programs_are_read_from_what_the_probe_prints() -> None:
    output = "am-program python3 0 Python 3.11.2\nam-program cargo 1 error: no toolchain\n"
    found = programs.parse(f"{output}noise\nam-program make 0\nam-program uv 0 uv 0.9.1 (abc)\n")
    assert found.versions == {"python3": (3, 11, 2), "make": None, "uv": (0, 9, 1)}
    assert found.broken == {"cargo": "error: no toolchain"}
