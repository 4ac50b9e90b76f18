"""Recognised from the files of a Python project: what installs it, and how it is tested."""

import pytest

from agents_manager.checks.recognise.proposal import Machine
from tests.recognising import MACHINE, checks, recognised, the_one

PYTEST = ".venv/bin/python -m pytest"
VENV = "python3 -m venv .venv"
PIP = ".venv/bin/python -m pip install"
BUILD = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
PROJECT = f'{BUILD}[project]\nname = "shop"\nrequires-python = ">=3.10"\n'
GROUPS = '[dependency-groups]\ndev = [{include-group = "test"}, "ruff"]\ntest = ["pytest>=8"]\n'
EXTRAS = '[project.optional-dependencies]\ntest = ["Pytest[x]"]\nall = ["shop[test]", "rich"]\n'
POETRY = (
    '[tool.poetry]\nname = "shop"\n[tool.poetry.dependencies]\npython = "^3.10"\n'
    '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n'
    '[build-system]\nbuild-backend = "poetry.core.masonry.api"\n'
)
TEST = "import pytest\n\ndef test_it():\n    pass\n"
UNITTEST = "import sys, unittest\n\nclass ItWorks(unittest.TestCase):\n    pass\n"


def on_this(*programs: str) -> Machine:
    return Machine({**MACHINE.versions, **dict.fromkeys(programs)})


@pytest.mark.parametrize(
    ("files", "ecosystem", "setup"),
    [
        (
            {"pyproject.toml": PROJECT + GROUPS, "uv.lock": "version = 1\n"},
            "uv",
            ("uv sync --frozen",),
        ),
        (
            {"pyproject.toml": PROJECT + EXTRAS, "uv.lock": ""},
            "uv",
            ("uv sync --frozen --extra test",),
        ),
        (
            {
                "pyproject.toml": PROJECT
                + '[dependency-groups]\nci = ["pytest"]\n[tool.uv]\ndefault-groups = []\n',
                "uv.lock": "",
            },
            "uv",
            ("uv sync --frozen --group ci",),
        ),
        (
            {"pyproject.toml": POETRY, "poetry.lock": ""},
            "poetry",
            ("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",),
        ),
        ({"pyproject.toml": PROJECT + EXTRAS}, "pip", (VENV, f"{PIP} -e '.[test]'")),
        (
            {"pyproject.toml": PROJECT + GROUPS},
            "pip",
            (VENV, f"{PIP} --upgrade pip", f"{PIP} -e . --group test"),
        ),
        (
            {"setup.py": "", "requirements-dev.txt": "-r requirements.txt\npytest\n"}
            | {"requirements.txt": "rich\n"},
            "pip",
            (VENV, f"{PIP} -r requirements-dev.txt -e ."),
        ),
        (
            {"requirements.txt": "-e .[cli]\npytest==8\n", "pyproject.toml": PROJECT},
            "pip",
            (VENV, f"{PIP} -r requirements.txt"),
        ),
        (
            {"requirements.txt": "flask\n", "tests/requirements.txt": "pytest\n"},
            "pip",
            (VENV, f"{PIP} -r tests/requirements.txt -r requirements.txt"),
        ),
        (
            {"requirements/dev.txt": "-r base.txt\npytest\n", "requirements/base.txt": "rich\n"}
            | {"setup.cfg": "[metadata]\nname = shop\n"},
            "pip",
            (VENV, f"{PIP} -r requirements/dev.txt -e ."),
        ),
        (
            {
                "setup.cfg": "[metadata]\nname=shop\n[options.extras_require]\n"
                "dev =\n  pytest\n  rich\n"
            },
            "pip",
            (VENV, f"{PIP} -e '.[dev]'"),
        ),
    ],
)
def test_installer_follows_the_repository(
    files: dict[str, str], ecosystem: str, setup: tuple[str, ...]
) -> None:
    found = the_one(files, on_this("uv", "poetry"))
    assert (found.ecosystem, found.setup) == (ecosystem, setup)
    assert checks(found)["test"] == PYTEST
    assert set(found.setup_inputs) == set(files)
    assert not found.missing


def test_missing_uv_and_poetry_are_named_and_installed_beside_the_project() -> None:
    found = the_one({"pyproject.toml": PROJECT + GROUPS, "uv.lock": ""})
    assert found.setup == (
        VENV,
        f"{PIP} uv",
        ".venv/bin/python -m uv sync --frozen --inexact",
    )
    assert [(tool.program, tool.install) for tool in found.missing] == [
        ("uv", "Install it with: pipx install uv")
    ]
    found = the_one({"pyproject.toml": POETRY, "poetry.lock": ""})
    assert found.setup[-1].endswith(".venv/poetry/bin/python -m poetry install --no-interaction")
    assert not found.blockers


def test_pytest_is_installed_where_tests_use_it_and_nothing_declares_it() -> None:
    found = the_one({"pyproject.toml": PROJECT, "tests/test_it.py": TEST})
    assert found.setup[-1] == f"{PIP} -e . pytest"
    found = the_one({"pyproject.toml": PROJECT, "uv.lock": "", "conftest.py": ""}, on_this("uv"))
    assert found.setup == ("uv sync --frozen", "uv pip install pytest")
    assert "No dependency" in found.notes[0]


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"tests/test_it.py": UNITTEST}, "-m unittest discover -s tests"),
        (
            {"tests/test_it.py": UNITTEST, "tests/__init__.py": ""},
            "-m unittest discover -s tests -t .",
        ),
        ({"test_it.py": UNITTEST}, "-m unittest discover"),
        ({"tests/it_test.py": UNITTEST}, "-m unittest discover -s tests -p '*_test.py'"),
        ({"manage.py": "", "shop/tests.py": UNITTEST}, "manage.py test"),
        ({"tests/runtests.py": ""}, "tests/runtests.py"),
        ({"tests/test_it.py": TEST + UNITTEST}, "-m pytest"),
        ({"test_it.py": "def test_it():\n    pass\n"}, "-m pytest"),
    ],
)
def test_test_runner_follows_the_tests(files: dict[str, str], command: str) -> None:
    found = the_one({"setup.py": "", **files})
    assert checks(found) == {"test": f".venv/bin/python {command}"}


def test_project_without_tests_gets_no_check() -> None:
    found = recognised({"pyproject.toml": PROJECT, "src/shop/__init__.py": ""})
    assert not found.suggested


def test_linters_are_proposed_only_if_configured_and_installed() -> None:
    tools = '[tool.ruff]\nfix = true\n[tool.mypy]\nfiles = ["src"]\n'
    groups = '[dependency-groups]\ndev = ["pytest", "ruff", "mypy"]\n'
    found = the_one({"pyproject.toml": PROJECT + groups + tools})
    assert checks(found) == {
        "test": PYTEST,
        "lint": ".venv/bin/python -m ruff check --no-fix .",
        "type-check": ".venv/bin/python -m mypy",
    }
    only_configured = the_one({"pyproject.toml": PROJECT + EXTRAS + tools})
    only_installed = the_one({"pyproject.toml": PROJECT + groups})
    assert checks(only_configured) == checks(only_installed) == {"test": PYTEST}


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ("[tox]\nenvlist = py3, lint\n[testenv]\ncommands = pytest\n", "py3"),
        ("[tox]\nenv_list =\n  lint\n  py{310,311,312}-django{4,5}\n", "py311-django5"),
        ("[tox]\nenvlist = py{39,310}\n[testenv]\ncommands = x\n", "py"),
        ("[testenv]\ncommands = x\n[testenv:py3.11]\n", "py3.11"),
        ("[tox]\nenvlist = lint,unit\n[testenv:unit]\ncommands = x\n", "unit"),
    ],
)
def test_tox_runs_the_tests_where_only_tox_knows_how(settings: str, name: str) -> None:
    found = the_one({"setup.py": "", "tox.ini": settings, "tests/test_it.py": UNITTEST})
    run = f".venv/bin/python -m tox run -e {name}"
    assert found.ecosystem == "tox"
    assert found.setup == (VENV, f"{PIP} tox", f"{run} --notest")
    assert checks(found) == {"test": run}


def test_tox_in_other_files() -> None:
    native = (
        '[tool.tox]\nenv_list = ["3.11", "lint"]\n[tool.tox.env_run_base]\ncommands = [["x"]]\n'
    )
    legacy = '[tool.tox]\nlegacy_tox_ini = """\n[tox]\nenvlist = py311\n"""\n'
    assert "-e 3.11" in the_one({"pyproject.toml": PROJECT + native}).checks[0].command
    assert "-e py311" in the_one({"pyproject.toml": PROJECT + legacy}).checks[0].command
    assert "-e py311" in the_one({"setup.cfg": "[tox:tox]\nenvlist=py311\n"}).checks[0].command
    assert (
        "-e py" in the_one({"tox.toml": '[env_run_base]\ncommands = [["x"]]\n'}).checks[0].command
    )


def test_pytest_that_the_project_declares_is_preferred_to_tox_and_nox() -> None:
    tox = "[tox]\nenvlist = py3\n[testenv]\ncommands = pytest\n"
    files = {"pyproject.toml": PROJECT + EXTRAS, "tox.ini": tox, "noxfile.py": ""}
    assert checks(the_one(files)) == {"test": PYTEST}


def test_nox_runs_its_session_for_tests() -> None:
    text = (
        "import nox\n\n@nox.session\ndef lint(session): ...\n\n"
        '@nox.session(python=["3.10", "3.11"], name="tests")\ndef run_tests(session): ...\n'
    )
    found = the_one({"noxfile.py": text, "setup.py": ""})
    run = ".venv/bin/python -m nox -s tests -p 3.11 -r"
    assert (found.setup[-1], checks(found)) == (f"{run} --install-only", {"test": run})
    assert str(found.checks[0].source) == "noxfile.py:7"
    broken = recognised({"noxfile.py": "def (", "setup.py": ""})
    assert broken.problems == ("noxfile.py is not valid Python",)


def test_interpreter_is_one_that_the_project_accepts() -> None:
    text = PROJECT.replace(">=3.10", ">=3.12,<4") + EXTRAS
    newer = Machine({**MACHINE.versions, "python3.13": (3, 13, 1), "python3.12": (3, 12, 1)})
    assert the_one({"pyproject.toml": text}, newer).setup[0] == "python3.13 -m venv .venv"
    [tool] = the_one({"pyproject.toml": text}).blockers
    assert tool.program == "Python >=3.12,<4"
    assert "This machine has Python 3.11.2." in tool.install


@pytest.mark.parametrize("text", ["[project", "= 3", "\x00"])
def test_malformed_pyproject_is_reported_and_the_rest_is_still_recognised(text: str) -> None:
    found = recognised({"pyproject.toml": text, "setup.py": "", "tests/test_it.py": TEST})
    assert "pyproject.toml cannot be read" in found.problems[0]
    assert checks(found.suggested[0]) == {"test": PYTEST}


def test_groups_extras_and_requirements_that_include_each_other_end() -> None:
    groups = (
        '[dependency-groups]\na = [{include-group = "b"}]\nb = [{include-group = "a"}, "pytest"]\n'
    )
    assert checks(the_one({"pyproject.toml": PROJECT + groups})) == {"test": PYTEST}
    extras = '[project.optional-dependencies]\na = ["shop[b]"]\nb = ["shop[a]", "pytest"]\n'
    assert checks(the_one({"pyproject.toml": PROJECT + extras})) == {"test": PYTEST}
    files = {"requirements.txt": "-r requirements-dev.txt\n"}
    files["requirements-dev.txt"] = "-r requirements.txt\npytest\n"
    assert recognised(files).proposals


def test_byte_order_mark_and_line_ends_of_windows_do_not_matter() -> None:
    text = (PROJECT + EXTRAS).replace("\n", "\r\n").encode("utf-8-sig")
    assert the_one({"pyproject.toml": text}).setup[-1] == f"{PIP} -e '.[test]'"
