"""What `check` does by itself on GitHub Actions: annotations, and a step summary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from klaudit.cli.acceptance import note

if TYPE_CHECKING:
    from klaudit.formats import View
    from klaudit.report import Audit

# GitHub drops the whole summary of a step that is larger [B].
_MOST_BYTES: Final = 2**20


def chosen_format(given: str, output: str | None) -> str:
    """The format asked for; on GitHub Actions annotations, where nobody asked and the log is what is written to."""
    source = click.get_current_context().get_parameter_source("format")
    by_default = source is click.core.ParameterSource.DEFAULT
    if not by_default or output not in (None, "-") or os.environ.get("GITHUB_ACTIONS") != "true":
        return given
    note("this is GitHub Actions, so findings become annotations (--format github); --format concise writes lines")
    return "github"


def summary_file() -> str | None:
    """Where a step's summary belongs, if there is such a place."""
    return os.environ.get("GITHUB_STEP_SUMMARY") or None


def append_summary(path: str, audit: Audit, view: View) -> None:
    """Append the Markdown report to a step's summary; one that cannot be written changes no judgement."""
    import io

    from klaudit.formats import write

    text = io.StringIO()
    write("markdown", audit, text, view)
    written = text.getvalue().encode("utf-8", "backslashreplace") + b"\n"
    try:
        there = os.path.getsize(path) if os.path.exists(path) else 0
        if there + len(written) > _MOST_BYTES:
            note(f"the step summary {path} is full: klaudit's part does not fit below 1 MiB")
            return
        with open(path, "ab") as file:
            file.write(written)
    except OSError as error:
        note(f"the step summary {path} cannot be written: {error.strerror or error}")
