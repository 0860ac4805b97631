"""`python -m klaudit`, and the place where exceptions become sentences and exit codes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from klaudit.cli import cli
from klaudit.cli.streams import say, stand_in
from klaudit.errors import KlauditError

INTERRUPTED: Final = 130
BUG: Final = 70


def command() -> NoReturn:
    """Run the command line as all that a process does."""
    code = main()
    # Python would look for cycles in all that was made and imported, for longer than a board takes to judge.
    gc.freeze()
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    # What start-up and reports make stays: looking for garbage in it would take a tenth of a run.
    gc.set_threshold(1_000_000)
    stand_in()
    try:
        code = cli.main(args=arguments, prog_name="klaudit", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        _say(_sentences(error))
        return error.exit_code
    except KlauditError as error:
        _say(str(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted; nothing was written")
        return INTERRUPTED
    except SystemExit:
        # Raised by click alone, where nobody reads the rest of its help text.
        return 0
    except Exception:  # the last door: whatever comes here is ours
        import traceback

        say(traceback.format_exc().rstrip())
        _say(
            "this is a bug in klaudit, not in your file or your command.\n"
            "expected: no error that klaudit does not name\n"
            "what to do: report it with the lines above and the command"
        )
        return BUG


def _sentences(error: click.ClickException) -> str:
    """What was found, what was expected, what to do."""
    context = getattr(error, "ctx", None)
    if context is None:
        return f"{error.format_message()}\nwhat to do: see klaudit --help"
    usage = context.get_usage().removeprefix("Usage: ")
    return f"{error.format_message()}\nexpected: {usage}\nwhat to do: see {context.command_path} --help"


def _say(message: str) -> None:
    from klaudit.formats.text import clean_lines

    say(clean_lines(f"klaudit: {message}"))


if __name__ == "__main__":
    command()
