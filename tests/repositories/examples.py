"""The repositories of `examples/real_repositories`, and what an agent adds to each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "real_repositories"
KEY = "PARCEL_SIGNING_KEY"
PRICES = {"express": 1050, "insured": 875}
"""The price of a parcel of 999 grams by service: its postage and the surcharge of the MCP tool."""
POSTAGE = 600
WRONG = "parcels have the wrong price"


@dataclass(frozen=True)
class Example:
    """One example repository."""

    name: str
    tests: str
    """The command that its own instructions give for running the tests."""
    code: str
    """The path of the file that the agent writes, with {service}."""
    code_text: str
    test: str
    test_text: str
    lock: tuple[str, ...] = ()
    """The command that makes the lock file, which is not in the example as it names a registry."""
    sets_up: bool = True
    """Whether it has to be set up before its tests can run."""
    tools: tuple[str, ...] = ()
    """Packages of npm and Debian that its commands need."""
    markers: tuple[str, ...] = ()
    """What its instruction files say, each of which has to reach the agent once."""

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    def change(self, service: str, surcharge: int) -> Mapping[str, str]:
        """Returns files that add a service with this surcharge, and a test of its real price."""
        words = {
            "service": service,
            "Service": service.capitalize(),
            "surcharge": str(surcharge),
            "price": str(PRICES[service]),
            "wrong": f"{service} {WRONG}",
        }
        texts = {self.code: self.code_text, self.test: self.test_text}
        return {_fill(path, words): _fill(text, words) for path, text in texts.items()}


def _fill(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"<{name}>", word)
    return text


_JAVASCRIPT = """\
import { postage } from "./<module>";

/** Return the price of an <service> parcel in cents. */
export function <service>(grams) {
  return postage(grams) + <surcharge>;
}
"""
_NODE_TEST = """\
import assert from "node:assert/strict";
import { test } from "node:test";
import { signingKey } from "../src/<keys>";
import { <service> } from "../src/<service>.js";

test("<service> parcels", () => {
  assert.ok(signingKey());
  console.log(`signing with ${signingKey()}`);
  assert.equal(<service>(999), <price>, "<wrong>");
});
"""
_PYTHON = """\
from parcel.postage import postage


def <service>(grams: int) -> int:
    \"\"\"Return the price of an <service> parcel in cents.\"\"\"
    return postage(grams) + <surcharge>
"""
_PYTEST = """\
from parcel.<service> import <service>
from parcel.label import signing_key


def test_<service>_parcels() -> None:
    print(f"signing with {signing_key()}")
    assert <service>(999) == <price>, "<wrong>"
"""

NPM = Example(
    name="npm",
    tests="npm test",
    code="src/<service>.js",
    code_text=_JAVASCRIPT.replace("<module>", "parcel.js"),
    test="test/<service>.test.js",
    test_text=_NODE_TEST.replace("<keys>", "label.js"),
    tools=("npm",),
    markers=("parcel-instructions-npm",),
)
PNPM = Example(
    name="pnpm_workspace",
    tests="pnpm test",
    code="packages/invoice/src/<service>.js",
    code_text=_JAVASCRIPT.replace("<module>", "invoice.js"),
    test="packages/invoice/test/<service>.test.js",
    test_text=_NODE_TEST.replace("<keys>", "invoice.js"),
    tools=("npm", "pnpm"),
    markers=("parcel-instructions-pnpm",),
)
BUN = Example(
    name="bun",
    tests="bun test",
    code="src/<service>.ts",
    code_text=_JAVASCRIPT.replace("<module>", "parcel").replace("(grams)", "(grams: number)", 1),
    test="test/<service>.test.ts",
    test_text="""\
import { expect, test } from "bun:test";
import { <service> } from "../src/<service>";

test("<service> parcels", () => {
  expect(process.env.PARCEL_SIGNING_KEY).toBeTruthy();
  console.log(`signing with ${process.env.PARCEL_SIGNING_KEY}`);
  if (<service>(999) !== <price>) throw new Error("<wrong>");
  expect(<service>(1001)).toBe(<price> + 100);
});
""",
    tools=("npm", "bun"),
    markers=("parcel-instructions-bun",),
)
UV = Example(
    name="uv",
    tests="uv run pytest",
    code="parcel/<service>.py",
    code_text=_PYTHON,
    test="tests/test_<service>.py",
    test_text=_PYTEST,
    lock=("uv", "lock"),
    tools=("uv",),
    markers=("parcel-instructions-uv",),
)
PIP = Example(
    name="pip_requirements",
    tests=".venv/bin/python -m pytest",
    code="parcel/<service>.py",
    code_text=_PYTHON,
    test="tests/test_<service>.py",
    test_text=_PYTEST,
    tools=("python3-venv",),
    markers=("parcel-instructions-pip",),
)
GO = Example(
    name="go",
    tests="go test ./...",
    code="parcel/<service>.go",
    code_text="""\
package parcel

// <Service> returns the price of an <service> parcel in cents.
func <Service>(grams int) int {
	return Postage(grams) + <surcharge>
}
""",
    test="parcel/<service>_test.go",
    test_text="""\
package parcel

import (
	"fmt"
	"testing"
)

func Test<Service>Parcels(t *testing.T) {
	key, err := SigningKey("../.env")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("signing with %s\\n", key)
	if <Service>(999) != <price> {
		t.Error("<wrong>")
	}
}
""",
    sets_up=False,
    tools=("golang-go",),
    markers=("parcel-instructions-go",),
)
CARGO = Example(
    name="cargo",
    tests="cargo test",
    code="crates/parcel/src/<service>.rs",
    code_text="""\
//! The price of <service> parcels.

/// Returns the price of an <service> parcel in cents.
pub fn <service>(grams: u32) -> u32 {
    parcel::postage(grams) + <surcharge>
}
""",
    test="crates/parcel/tests/<service>.rs",
    test_text="""\
use std::path::Path;

#[path = "../src/<service>.rs"]
mod <service>;

#[test]
fn <service>_parcels() {
    let env_file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.env");
    let key = parcel::signing_key(Path::new(env_file)).unwrap();
    println!("signing with {key}");
    assert_eq!(<service>::<service>(999), <price>, "<wrong>");
}
""",
    sets_up=False,
    tools=("cargo",),
    markers=("parcel-instructions-cargo",),
)

ALL = (NPM, PNPM, BUN, UV, PIP, GO, CARGO)
