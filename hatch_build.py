"""Puts the index of the specs into the wheel. The checkout itself is left as it is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class IndexHook(BuildHookInterface):  # type: ignore[type-arg]
    """Parses every spec, so that a broken one never reaches a user, and adds the index of their names."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the index beside the checkout and have it packed, except into an editable install."""
        if version == "editable":
            return
        # Only the standard library and yaml are on the path from here: a build has nothing else.
        sys.path.insert(0, self.root)
        try:
            from klaudit.readers.specs import build_index, index_text
        finally:
            sys.path.remove(self.root)
        folder = tempfile.TemporaryDirectory(prefix="klaudit-index-")
        self._folder = folder
        path = Path(folder.name) / "index.json"
        text = index_text(build_index(Path(self.root) / "specs"))
        path.write_text(text, encoding="utf-8", newline="\n")
        build_data["force_include"][str(path)] = "klaudit/specs/index.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        if version != "editable":
            self._folder.cleanup()
