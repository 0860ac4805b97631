"""The command line: parse, read, judge, write, exit. It decides nothing and imports nothing before it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import click

from klaudit._version import __version__
from klaudit.cli.streams import say

# Command: its module and its line of help. `--help` reads this table and imports no command.
COMMANDS: Final = {
    "audit": ("klaudit.cli.audit", "Judge leaderboards: which scores does physics forbid?"),
    "check": ("klaudit.cli.audit", "The same judgement for CI: one line per finding."),
    "roofline": ("klaudit.cli.roofline", "The roofs of cards and workloads, as table and chart."),
    "explain": ("klaudit.cli.explain", "One claim, the arithmetic step by step."),
    "checker": ("klaudit.cli.checker", "What a board's correctness check lets through."),
    "gpus": ("klaudit.cli.catalogue", "The cards known, and every figure with its source."),
    "workloads": ("klaudit.cli.catalogue", "The workloads known, and what they must move and compute."),
    "boards": ("klaudit.cli.catalogue", "The boards known: their rules, and the limits on every card."),
    "calibrate": ("klaudit.cli.calibrate", "Measure this machine's GPU, and a board of known truth."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name, or an error with the nearest names."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {name!r}.{hint} There are: {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands and their lines of help, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "KLAUDIT",
        "max_content_width": 100,
    },
    epilog="Exit codes: 0 judged and nothing found, 1 findings, 2 wrong usage, spec or file, 3 nothing could be judged,"
    " 70 a bug in klaudit. Every option can also come from a variable, such as KLAUDIT_AUDIT_BOARD for audit --board.",
)
@click.version_option(__version__, prog_name="klaudit")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Audits GPU-kernel leaderboards against the roofline.

    Flags scores that physics forbids, and says of the others above the roof what would have to be true.
    """
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())
        ctx.exit(2)
