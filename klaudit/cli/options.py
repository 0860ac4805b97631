"""Options that several commands share, and what they amount to: catalogue, board and policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from klaudit.cli.output import report_target
from klaudit.cli.streams import say
from klaudit.cli.values import Dtype, Pair, Size, SizePair
from klaudit.errors import UsageError
from klaudit.verdict import CONDITION_IDS, Policy

if TYPE_CHECKING:
    from klaudit.board import Board
    from klaudit.catalog import Catalog

_Command = TypeVar("_Command", bound=Callable[..., Any])


# A parameter has the name of its option: click makes the name of its variable of it, as in KLAUDIT_AUDIT_RULE_OUT.


def together(*decorators: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Several options as one decorator, in the order in which help lists them."""

    def decorate(command: _Command) -> _Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


specs = click.option(
    "--specs",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Your own specs beside the shipped ones.  [repeatable]",
)
output = click.option(
    "-o", "--output", metavar="FILE", callback=report_target,
    help="Write to FILE, whole or not at all.  [default: stdout]",
)  # fmt: skip
plain_format = click.option(
    "--format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="For people or for machines.",
)
workload_options = together(
    click.option("--board", metavar="NAME", help="The board, or one of its eras, whose rules hold."),
    click.option("--workload", metavar="NAME", help="What the kernels compute, where no board says."),
    click.option("--dtype", type=Dtype(), help="The dtype, where neither board nor row says."),
    click.option("--n", type=Size(), help="The size n, where neither board nor row says."),
    click.option("--size", multiple=True, type=SizePair("NAME=VALUE"), help="Any size by name.  [repeatable]"),
)
policy_options = together(
    click.option(
        "--gpu-label",
        multiple=True,
        type=Pair("LABEL=ID", last=True),
        help="What a GPU label means here, such as H100=h100-sxm5-80gb.  [repeatable]",
    ),
    click.option(
        "--rule-out",
        multiple=True,
        metavar="CONDITION",
        type=click.Choice(CONDITION_IDS),
        help=f"A condition that cannot have held: {', '.join(CONDITION_IDS)}.  [repeatable]",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="CONDITION",
        type=click.Choice(CONDITION_IDS),
        help="A condition that is off by default, such as compressed-data.  [repeatable]",
    ),
)


def load(specs: tuple[Path, ...]) -> Catalog:
    """The catalogue, with the user's own specs; those that replace a shipped one are named on stderr."""
    from klaudit.readers.specs import load_catalog

    catalog = load_catalog(specs)
    for sentence in catalog.overrides:
        from klaudit.formats.text import clean

        say(f"klaudit: note: {clean(sentence)}")
    return catalog


def find_board(catalog: Catalog, name: str | None) -> Board | None:
    """The board of that name, if one is named."""
    return None if name is None else catalog.board(name)


def gather_sizes(n: float | None, sizes: tuple[tuple[str, float], ...]) -> dict[str, float]:
    """--n and --size as one mapping."""
    gathered: dict[str, float] = {} if n is None else {"n": n}
    for name, value in sizes:
        if gathered.setdefault(name, value) != value:
            raise UsageError(f"size {name} is given twice, as {gathered[name]:g} and as {value:g}. Give it once")
    return gathered


def make_policy(options: Mapping[str, Any], catalog: Catalog) -> Policy:
    """What the user decides about judging."""
    both = set(options["rule_out"]) & set(options["allow"])
    if both:
        raise UsageError(f"{', '.join(sorted(both))} is both ruled out and allowed. Drop --rule-out or --allow for it")
    workload = options["workload"]
    return Policy(
        ruled_out=frozenset(options["rule_out"]),
        allowed=frozenset(options["allow"]),
        gpu_labels=dict(options["gpu_label"]),
        gpu=options.get("gpu") or "",
        workload="" if workload is None else catalog.workload(workload).id,
        dtype=options["dtype"] or "",
        sizes=gather_sizes(options["n"], options["size"]),
        trust_columns=bool(options.get("trust_columns")),
    )
