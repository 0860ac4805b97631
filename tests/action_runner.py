"""Runs the steps of a composite action as GitHub's runner does: shell, variables, expressions, outputs."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*([^}]*?)\s*\}\}")


@dataclass
class Result:
    """How a run of the action ended."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass
class Runner:
    """A workspace with an action in it; `steps` holds the outputs of the steps that ran."""

    action: Path
    workspace: Path
    temporary: Path
    variables: dict[str, str] = field(default_factory=dict)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, only: tuple[str, ...] | None = None, **inputs: str) -> Result:
        """Run the action's steps, or those of some ids, until one fails."""
        manifest = yaml.safe_load((self.action / "action.yml").read_text(encoding="utf-8"))
        assert manifest["runs"]["using"] == "composite"
        given = {name: str(spec.get("default", "")) for name, spec in manifest["inputs"].items()}
        for name, value in inputs.items():
            assert name.replace("_", "-") in given, name
            given[name.replace("_", "-")] = value
        summary = self.temporary / "summary.md"
        summary.write_text("", encoding="utf-8")
        log, code = "", 0
        for step in manifest["runs"]["steps"]:
            if only is None or step["id"] in only:
                code, said = self._step(step, given, summary)
                log += said
            if code:
                break
        outputs = {name: self._filled(spec["value"], given) for name, spec in manifest["outputs"].items()}
        return Result(code, log, outputs, summary.read_text(encoding="utf-8"))

    def _step(self, step: dict[str, Any], given: dict[str, str], summary: Path) -> tuple[int, str]:
        assert step["shell"] == "bash"
        # Text of an input within a script would be a hole: whoever names a file could run commands.
        assert "${{" not in step["run"]
        script, output = self.temporary / "step.sh", self.temporary / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("", encoding="utf-8")
        variables = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("KLAUDIT", "PYTHONPATH", "GITHUB_"))},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temporary),
            **self.variables,
            **{name: self._filled(str(value), given) for name, value in step.get("env", {}).items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace, env=variables, text=True, encoding="utf-8", check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        lines = output.read_text(encoding="utf-8").splitlines()
        self.steps[step["id"]] = dict(line.split("=", 1) for line in lines)
        return done.returncode, done.stdout

    def _filled(self, text: str, given: dict[str, str]) -> str:
        """A text with its expressions worked out, the two kinds that the action uses."""

        def value(match: re.Match[str]) -> str:
            parts = match[1].split(".")
            if parts[0] == "inputs":
                return given[parts[1]]
            assert (parts[0], parts[2]) == ("steps", "outputs"), match[1]
            return self.steps.get(parts[1], {}).get(parts[3], "")

        return _EXPRESSION.sub(value, text)
