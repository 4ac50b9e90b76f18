"""Commands in a sandbox find the registries of the machine, and never the credentials for them."""

import tomllib
from pathlib import Path

from agents_manager import registries

FILES = {
    ".pip/pip.conf": "[global]\nindex-url = https://ann:hunter2@pypi.corp.example/simple\n"
    "timeout = 60\n[install]\nextra-index-url =\n    http://10.1.2.3:3141/root\n",
    ".npmrc": "registry=https://npm.corp.example/\n@parcel:registry=https://scoped.example:8443/\n"
    "//npm.corp.example/:_authToken=hunter2\nemail=ann@example.org\n_auth=hunter2\n",
    ".config/uv/uv.toml": '[[index]]\nname = "corp"\nurl = "https://ann:hunter2@uv.corp.example/"\n'
    "default = true\n[pip]\nno-build = true\n",
    ".yarnrc.yml": "npmRegistryServer: https://yarn.corp.example\nnpmAuthToken: hunter2\n"
    "npmScopes:\n  parcel:\n    npmRegistryServer: https://yarn.scoped.example\n"
    "    npmAuthToken: hunter2\n",
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "corp"\n[source.corp]\n'
    'registry = "sparse+https://cargo.corp.example/index/"\n[registries.own]\n'
    'index = "https://own.example/index"\ntoken = "hunter2"\n[build]\nrustc-wrapper = "sccache"\n',
}


def write(home: Path) -> None:
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def test_every_registry_of_the_machine_can_be_reached(tmp_path: Path) -> None:
    write(tmp_path)
    found = registries.from_machine({"GOPROXY": "https://go.example|direct"}, tmp_path)
    assert set(found.addresses) == {
        *("go.example:443", "pypi.corp.example:443", "10.1.2.3:3141", "npm.corp.example:443"),
        *("scoped.example:8443", "uv.corp.example:443", "yarn.corp.example:443"),
        *("yarn.scoped.example:443", "cargo.corp.example:443", "own.example:443"),
    }


def test_files_keep_their_registries_and_lose_their_credentials(tmp_path: Path) -> None:
    write(tmp_path)
    files = registries.from_machine({}, tmp_path).files
    assert "hunter2" not in str(files)
    assert files[".npmrc"] == (
        "registry=https://npm.corp.example/\n@parcel:registry=https://scoped.example:8443/\n"
    )
    assert files[".config/pip/pip.conf"] == (
        "[global]\nindex-url = https://pypi.corp.example/simple\n"
        "extra-index-url = http://10.1.2.3:3141/root\n"
    )
    uv = tomllib.loads(files[".config/uv/uv.toml"])
    assert uv == {"index": [{"name": "corp", "url": "https://uv.corp.example/", "default": True}]}
    cargo = tomllib.loads(files[".cargo/config.toml"])
    assert cargo["source"]["crates-io"] == {"replace-with": "corp"}
    assert cargo["registries"] == {"own": {"index": "https://own.example/index"}}
    assert cargo.keys() == {"source", "registries"}


def test_variables_are_handed_on_without_credentials() -> None:
    env = {
        "UV_INDEX": "corp=https://ann:hunter2@uv.example/simple",
        "CARGO_REGISTRIES_OWN_INDEX": "sparse+https://own.example/",
        "CARGO_REGISTRIES_OWN_TOKEN": "hunter2",
        "UV_INDEX_CORP_PASSWORD": "hunter2",
        "NPM_TOKEN": "hunter2",
        "SSL_CERT_FILE": "/etc/ssl/corp.pem",
    }
    assert registries.variables(env) == {
        "UV_INDEX": "corp=https://uv.example/simple",
        "CARGO_REGISTRIES_OWN_INDEX": "sparse+https://own.example/",
        "SSL_CERT_FILE": "/etc/ssl/corp.pem",
    }


def test_certificates_in_the_home_can_be_read_but_not_the_home_itself(tmp_path: Path) -> None:
    (tmp_path / "corp.pem").touch()
    env = {"SSL_CERT_FILE": str(tmp_path / "corp.pem"), "PIP_FIND_LINKS": str(tmp_path)}
    assert registries.from_machine(env, tmp_path).reads == (tmp_path / "corp.pem",)


def test_a_broken_file_counts_as_absent(tmp_path: Path) -> None:
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "config.toml").write_text("[source")
    (tmp_path / ".npmrc").write_text("registry=https://npm.example/\n")
    assert registries.from_machine({}, tmp_path).addresses == ("npm.example:443",)
