# `make demo` is the place to start; `make test` is what CI runs.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
BENCH_STAMP := .venv-bench/.ready
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-strip-extras --no-emit-index-url --no-header --upgrade pyproject.toml --extra dev

.PHONY: demo run web test test-agents test-github test-telegram test-mcp test-web test-docs test-hosts test-install test-repositories wheel check prove soak bench setup lock notices clean

demo: web
	$(BIN)/am demo

run: web
	$(BIN)/am serve

# The web app, when its sources have changed.
web: setup
	$(BIN)/python -m agents_manager.webbuild

# All lanes, or some: make test LANES="unit api"
test: web
	$(BIN)/python scripts/test.py $(LANES)

# Real agents against a scripted model; the first time it fetches 2.5 GB of them into .agents/. It writes the
# tables of docs/concepts/retries.md.
test-agents: setup
	$(BIN)/python scripts/install_agents.py
	AM_KEEP_STREAMS=1 AM_TEST_PROFILES=1 AM_SLOW_TESTS=all $(BIN)/python -m pytest -q tests/real_agents \
		tests/contract/test_agents.py tests/integration/test_acp_driver.py tests/integration/test_permissions.py \
		tests/agents

# The client of GitHub, and the fake GitHub of the tests, against what GitHub publishes of its API; the
# first time it fetches that into .github-api/ (29 MB).
test-github: setup
	$(BIN)/python scripts/fetch_github_api.py
	AM_GITHUB_DESCRIPTION=.github-api/api.github.com.json AM_SLOW_TESTS=all $(BIN)/python -m pytest -q -n 2 \
		tests/github tests/contract/test_forges.py tests/integration/test_github.py tests/integration/test_issues.py

# The Telegram channel against a Bot API of other people's making; the first time it fetches that into
# .telegram-api/ (7 MB).
test-telegram: setup
	$(BIN)/python scripts/install_telegram_api.py
	AM_TELEGRAM_API=.telegram-api $(BIN)/python -m pytest -q tests/telegram tests/integration/test_telegram.py

# The endpoints for agents and for people's own programs against the conformance suite of MCP; the first
# time it fetches that into .mcp-suite/.
test-mcp: setup
	$(BIN)/python scripts/install_mcp_suite.py
	AM_MCP_SUITE=.mcp-suite AM_SLOW_TESTS=all $(BIN)/python -m pytest -q tests/mcp_suite tests/e2e/test_cli_mcp.py

# Every page in a real browser; `make test` runs the quick ones of them.
test-web: web
	AM_WEB_TESTS=all $(BIN)/python scripts/test.py web

# Every page of the documentation, with all that can be run in it pasted into a shell.
test-docs: setup
	AM_SLOW_TESTS=all $(BIN)/python -m pytest -q -n 2 tests/docs

# Machines that share a database, each in a network namespace: work is shared out; one is cut off, one
# killed, one frozen. Needs root, or a kernel that lets users have namespaces; about six minutes.
test-hosts: setup
	AM_SLOW_TESTS=all $(BIN)/python -m pytest -q -n 3 --dist worksteal tests/netns

# The package as people install it, with the web app inside: dist/agents_manager-*.whl
wheel: web
	rm -f dist/*.whl
	$(BIN)/hatchling build --target wheel

# That wheel in empty environments, by pip and by uv, and the first five minutes with it; about three minutes.
test-install: wheel
	AM_SLOW_TESTS=all $(BIN)/python -m pytest -q tests/install

# Seven real repositories with default settings, as you and, for root, as a plain user: am init, a task,
# checks, a review and a merge in each. The first time it fetches pnpm and Bun into .repository-tools/.
test-repositories: wheel
	AM_SLOW_TESTS=all $(BIN)/python -m pytest -q tests/repositories

check: setup
	$(BIN)/python scripts/test.py check

# Of every fault some, drawn anew, and the table of goals: a quarter of an hour. Or all the points of
# some groups: make prove GROUPS="git machine"
prove: setup
	$(if $(GROUPS),AM_FAULTS=full AM_FAULT_GROUPS="$(GROUPS)" $(BIN)/python -m pytest -q tests/faults/test_crashes.py,$(BIN)/python scripts/prove.py prove)

# Everything: every point, 400 histories, the long walks, 90 kills. Takes hours.
soak: setup
	$(BIN)/python scripts/prove.py soak

# All questions, or some: make bench QUESTIONS="answers help"
bench: $(BENCH_STAMP)
	.venv-bench/bin/python -m bench $(QUESTIONS)

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh .venv requirements.lock

$(BENCH_STAMP): requirements-bench.lock pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh .venv-bench requirements-bench.lock

# Needs a finished set-up; look at the difference before you commit it.
lock:
	$(BIN)/$(COMPILE) -o requirements.lock
	$(BIN)/$(COMPILE) --extra bench --constraint requirements.lock -o requirements-bench.lock

# What others wrote that the package needs or brings, with the texts of their licences.
notices: web
	$(BIN)/python scripts/notices.py --write

clean:
	rm -rf .venv .venv-bench .pytest_cache .ruff_cache .import_linter_cache build dist \
		src/agents_manager/_ui web/node_modules web/dist
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
