"""Puts GitHub's published description of its API, which `make test-github` measures by, into
`.github-api/`: the release that `github_api.json` names, from the registry that npm is set up for.

The package has 29 MB, the one file that is kept 13 MB. What is there already is left alone."""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from agents_manager.webbuild import find_node

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github-api"
PINNED = ROOT / "scripts" / "github_api.json"


def main() -> int:
    pinned = json.loads(PINNED.read_text())
    mark = FOLDER / ".fetched"
    if mark.exists() and mark.read_text() == pinned["integrity"]:
        return 0
    node = find_node()
    if node is None:
        print("github-api: npm is needed to fetch it; install Node.js.", file=sys.stderr)
        return 1
    print(f"github-api: {pinned['package']}", flush=True)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        command = [*node.npm, "pack", "--loglevel=error", pinned["package"]]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
        packed = [*Path(scratch).glob("*.tgz")]
        if done.returncode or not packed:
            print(f"github-api: not fetched: {done.stderr.strip()[-2000:]}", file=sys.stderr)
            return 1
        return kept(packed[0], pinned, mark)


def kept(packed: Path, pinned: dict[str, str], mark: Path) -> int:
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != pinned["integrity"]:
        print(
            "github-api: what was fetched is not what is pinned; nothing is kept.", file=sys.stderr
        )
        return 1
    with tarfile.open(packed) as archive:
        member = archive.extractfile(pinned["file"])
        assert member is not None
        (FOLDER / Path(pinned["file"]).name).write_bytes(member.read())
    mark.write_text(pinned["integrity"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
