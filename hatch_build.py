"""The packager's hook: a wheel and a source archive carry the built web app, a wheel also the
documentation that the server shows."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """Node is fetched only where the app is not built yet and the machine has no Node."""
        webbuild = self._webbuild()
        return [webbuild.NODE] if self._missing(webbuild) and not webbuild.find_node() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        webbuild = self._webbuild()
        if version != "editable" and self._missing(webbuild):
            webbuild.build(self._place(webbuild))
        if version != "editable" and self.target_name == "wheel":
            build_data["force_include"][str(Path(self.root) / "docs")] = "agents_manager/_docs"

    def _missing(self, webbuild: ModuleType) -> bool:
        skipped = os.environ.get("AM_SKIP_UI_BUILD") == "1"
        return not skipped and not webbuild.is_current(self._place(webbuild))

    def _place(self, webbuild: ModuleType) -> Any:
        return webbuild.Place(Path(self.root) / "web")

    def _webbuild(self) -> ModuleType:
        """The file alone: what the package itself needs is not there yet."""
        path = Path(self.root) / "src" / "agents_manager" / "webbuild.py"
        spec = importlib.util.spec_from_file_location("webbuild", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["webbuild"] = module
        spec.loader.exec_module(module)
        return module
