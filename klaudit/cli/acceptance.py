"""What was accepted beforehand, and default options: `.klaudit.yaml`, `--baseline`, `--write-baseline`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from klaudit.cli import options
from klaudit.cli.output import opened, side_target
from klaudit.cli.streams import say
from klaudit.errors import UsageError

if TYPE_CHECKING:
    from klaudit.accepted import Config
    from klaudit.baseline import Acceptance

_FILE: Final = ".klaudit.yaml"


def _read_config(ctx: click.Context, param: click.Parameter, value: str | None) -> Config | None:
    """Read the file before any other option, so that it can give their defaults."""
    if value is None and not Path(_FILE).is_file():
        return None
    from klaudit.readers.config import read_config

    config = read_config(Path(value or _FILE))
    defaults: dict[str, Any] = {}
    for name, (setting, line) in config.options.items():
        option = next((p for p in ctx.command.params if f"--{name}" in p.opts), None)
        if option is None or option.name is None:
            continue
        try:
            option.type_cast_value(ctx, setting)
        except click.BadParameter as error:
            raise UsageError(f"{config.file}:{line}: {name}: {error.message}") from None
        defaults[option.name] = setting
    ctx.default_map = defaults
    if value is None:
        note(f"options and ignores from {_FILE}")
    return config


baseline_options = options.together(
    click.option(
        "--config", metavar="FILE", is_eager=True, callback=_read_config,
        help="Default options and ignores.  [default: .klaudit.yaml, where there is one]",
    ),
    click.option("--baseline", metavar="FILE", help="Findings in FILE are known and do not fail."),
    click.option(
        "--write-baseline", metavar="FILE", callback=side_target,
        help="Accept all findings of this run: write them to FILE.",
    ),
    click.option("--show-suppressed", is_flag=True, help="List the findings that were accepted beforehand, too."),
)  # fmt: skip


def gather(given: Mapping[str, Any], every: bool) -> Acceptance:
    """What was accepted beforehand, by the options of a command."""
    from klaudit.baseline import Acceptance

    baseline = None
    if given["baseline"] is not None and not _first_time(given["baseline"], given["write_baseline"]):
        from klaudit.readers.known import read_baseline

        baseline = read_baseline(given["baseline"])
    config: Config | None = given["config"]
    ignores = () if config is None else config.ignores
    return Acceptance(baseline, ignores, record=given["write_baseline"] is not None, every=every)


def _first_time(baseline: str, target: str | None) -> bool:
    """Whether the baseline to read is the one that this run is to write, and is not there yet."""
    return target is not None and os.path.abspath(baseline) == os.path.abspath(target) and not os.path.exists(baseline)


def write_baseline(path: str, acceptance: Acceptance) -> str:
    """Write the findings of a run, and return what to say of it."""
    from klaudit.formats.known import write_baseline as write

    with opened(path, option="--write-baseline") as out:
        write(acceptance.found, out)
    return f"{len(acceptance.found)} findings written to {path}; with --baseline {path} they do not fail"


def note(*sentences: str) -> None:
    """Say something on stderr that is no part of the report."""
    from klaudit.formats.text import clean

    for sentence in sentences:
        say(f"klaudit: note: {clean(sentence)}")
