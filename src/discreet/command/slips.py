"""What is said of slips on the command line: flags of other commands, columns separated by blanks, misspelt names."""

from __future__ import annotations

from itertools import takewhile

import click

from discreet.arguments import command_line

HOUSEHOLD = (
    "the rows of a household are protected together as those of one person: say --person COLUMN; anybody who knows how "
    "many members it has, or all of them, may learn more"
)
"""What is said of a flag that would promise more than is kept."""


class Command(click.Command):
    """A command that says which commands take a flag that it does not, and shows how columns are separated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the command's name."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            takers = taking(fault.option_name)
            if fault.option_name == "--household" and self.name in taking("--person"):
                raise click.UsageError(HOUSEHOLD, ctx) from None
            if not takers:
                raise
            which = " and ".join(filter(None, (", ".join(takers[:-1]), takers[-1])))
            said = f"{self.name} takes no {fault.option_name}, which is for {which}; leave it out"
            raise click.UsageError(said, ctx) from None
        except click.UsageError:
            mended = self._with_commas(ctx, words)
            if mended is None:
                raise
            raise click.UsageError(f"columns are separated by commas: write {mended}", ctx) from None

    def _with_commas(self, ctx: click.Context, words: list[str]) -> str | None:
        """Return the first flag for columns that is followed by words too many, mended; None if there is none."""
        _, left, _ = self.make_parser(ctx).parse_args(list(words))
        columns = {flag for option in self.params if option.metavar in ("COLUMNS", "SCHEMES") for flag in option.opts}
        for at, word in enumerate(words):
            flag, equals, value = word.partition("=")
            after = words[at + 1 :] if equals else words[at + 2 :]
            more = list(takewhile(lambda each: not each.startswith("-"), after))[: len(left)]
            if flag in columns and more:
                named = (value if equals else words[at + 1], *more)
                return command_line([flag, ",".join(name.strip(",") for name in named)])
        return None


class CommandGroup(click.Group):
    """A group that tells the nearest of its commands if there is none of a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the first word, and the words after it."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchOption:
            raise
        except click.UsageError:
            from discreet.table.texts import near

            ctx.fail(f"No such command {args[0]!r} ({near(args[0], self.list_commands(ctx))})")


def taking(flag: str) -> list[str]:
    """Return the commands that take a flag."""
    from discreet.command.interface import COMMANDS

    return [str(command.name) for command in COMMANDS if any(flag in option.opts for option in command.params)]
