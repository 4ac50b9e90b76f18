#!/bin/sh
# Makes one virtual environment from one lock file: scripts/setup.sh .venv requirements.lock
# Called by the Makefile, which knows when it is needed.
set -eu

venv=$1
lock=$2
python=${PYTHON:-python3}

say() { echo "setup: $*" >&2; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "Python 3.11 or newer is needed; name one with: make setup PYTHON=/path/to/python3"
    exit 1
fi

# Debian ships Python without the part that makes virtual environments.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        say "installing $package"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package" >/dev/null
    else
        say "$python cannot make virtual environments. Please run:"
        say "    sudo apt-get install $package"
        exit 1
    fi
fi

if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    "$python" -m venv --clear "$venv"
fi

# uv comes from the same lock file as everything else, so it is pinned and hashed too.
awk '/^[^ #]/ { keep = /^uv==/ } keep' "$lock" >"$venv/uv.lock"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$venv/uv.lock"

export VIRTUAL_ENV="$PWD/$venv"
"$venv/bin/uv" pip sync --quiet --require-hashes --compile-bytecode "$lock"
# The build tool is in the lock file, so nothing unpinned is fetched to install the project itself.
"$venv/bin/uv" pip install --quiet --no-deps --no-build-isolation --editable .
touch "$venv/.ready"
