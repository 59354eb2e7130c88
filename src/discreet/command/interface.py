"""What every command takes, its arguments and flags, and the help about them.

Nothing heavier than click is imported here, so that help appears at once; the module that carries a command out is
imported when the command is used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from discreet.catalogue import ATTACKS, PRINCIPLES, SCHEMES
from discreet.command import slips
from discreet.command.console import QUIETLY
from discreet.plugins import Group, Registry, plugged_names
from discreet.table.addresses import addressed
from discreet.table.paths import system_path

CATALOGUED: dict[str, Registry[Any]] = {
    **{"PROMISE": PRINCIPLES, "SCHEME": SCHEMES, "SCHEMES": SCHEMES, "ATTACK": ATTACKS},
    **{"promises": PRINCIPLES, "schemes": SCHEMES, "attacks": ATTACKS},
}
"""Per value of a flag, and per manual, the registry that shells complete it from."""
TABLES = {
    "patients": "48 invented patients: name, age, sex, zip, weight, disease.",
    "census": "Invented people, as many as you like: age, gender, education, marital, race, work_class, country, "
    "occupation, salary, income.",
    "incomes": "Invented people with an age, a birthplace (710), an occupation (983) and an income from 1,000 to "
    "100,000, as in the paper on proximity.",
    "customers": "Invented customers with the shape of COIL2000: houses, household, age, type, subtype.",
    "households": "Invented people with four quasi-identifiers and fifteen sensitive attributes, shaped like "
    "Census-Income.",
}
"""The tables of `discreet data`, which are generated here."""
FIXED = ("patients",)
"""Those of them that always have the same rows."""
ELSEWHERE = {
    "adult": "Not included. Adult of the UCI Machine Learning Repository (CC BY 4.0): the rows without missing values, "
    "with a line of column names (sex, age, race, ..., occupation). 'discreet reproduce --data adult' looks for "
    "adult.csv here.",
    "census-income": "Not included. Census-Income (KDD) of the UCI Machine Learning Repository (CC BY 4.0), the "
    "training part, with a line of column names (AAGE, AMJOCC, ...). 'discreet reproduce codip --data FILE' takes it.",
    "cps": "Not included. Tax units of the Current Population Survey with age, state, filing_status, household_size, "
    "children and wages. 'discreet reproduce proximity --data FILE' takes it.",
    "acs": "Not included. Persons of the American Community Survey with AGEP, SEX, MSP, RAC1P, EDU and PINCP. "
    "'discreet reproduce proximity --data FILE' takes it.",
}
"""Tables that others provide, where they are found, and what takes them."""
CENSUS_ROWS = 20_000
"""How many people the invented census has by default."""
STARTERS = ("ranges", "prefixes", "balanced", "dates")
"""The kinds of hierarchies to start from."""
WORKLOADS = ("beta", "proximity", "ambiguity-1", "ambiguity-2", "ambiguity-3", "prefix")
"""The workloads of comparisons."""
PAGE = "report.html"
"""Where a report is written by default."""
EVERY = "all"
"""What --attack calls all attacks."""


class File(click.Path):
    """A path that click does not check: missing files are reported when they are opened, in discreet's own words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path as the system has it; of the address of a database, what may be shown."""
        return addressed(system_path(value))


class WithPlugins(slips.Command):
    """A command whose help ends with the names that plug-ins add, without importing the plug-ins."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the plug-ins' schemes, promises, formats and attacks."""
        super().format_epilog(ctx, formatter)
        groups: tuple[Group, ...] = ("schemes", "principles", "formats", "attacks")
        added = [f"{group} {', '.join(names)}" for group in groups if (names := plugged_names(group))]
        if added:
            formatter.write_paragraph()
            formatter.write_text(f"From plug-ins: {'; '.join(added).replace('principles', 'promises')}.")


def completed_from(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what click asks for the names in a registry; in a list, the last one is completed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, begun = incomplete.rpartition(",")
        begin = [name for name in registry if name.startswith(begun)]
        return [CompletionItem(before + comma + name, help=registry.summary(name)) for name in begin]

    return complete


def file(name: str, metavar: str | None = None, *, required: bool = True) -> click.Argument:
    """Define an argument that is a file or a folder."""
    return click.Argument([name], metavar=metavar, required=required, type=File())


def engine(*names: str) -> click.Option:
    """Define the flag that chooses where rows are."""
    help = f"Where rows are: {', '.join(names[:-1])} or {names[-1]}."
    return click.Option(["--engine"], type=click.Choice(names), metavar="ENGINE", help=help)


def valued(name: str, metavar: str, help: str, **how: Any) -> click.Option:
    """Define a flag with a value; ``name`` ends with that of its argument where it differs: "--date dates"."""
    if metavar in CATALOGUED:
        how["shell_complete"] = completed_from(CATALOGUED[metavar])
    return click.Option(name.split(), metavar=metavar, help=help, **how)


def many(name: str, help: str, metavar: str = "COLUMNS") -> click.Option:
    """Define a flag that can be repeated, such as one for columns, which may also be separated by commas."""
    return valued(name, metavar, help, multiple=True)


def path(name: str, help: str, metavar: str = "FILE", **how: Any) -> click.Option:
    """Define a flag for a file or a folder."""
    return valued(name, metavar, help, type=File(), **how)


def listed(context: click.Context, param: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Return the names that a flag lists, separated by commas; quotation marks enclose a name with a comma."""
    import csv

    return () if text is None else tuple(name.strip() for name in next(csv.reader([text]), []))


def switch(name: str, help: str) -> click.Option:
    """Define a flag without a value."""
    return click.Option(name.split(), is_flag=True, help=help)


def layout() -> tuple[click.Option, ...]:
    """Define the flags that say how the cells of a table are laid out and written."""
    header = "Whether line 1 names the columns: yes or none (default: detected)."
    return (
        valued("--delimiter", "CHAR", "Character that separates cells (default: detected)."),
        valued("--encoding", "NAME", "Encoding of the input (default: detected)."),
        valued("--decimal", "MARK", "Decimal mark of numbers in text files (default: a point)."),
        valued("--thousands", "MARK", "What separates groups of three digits in text files (default: none)."),
        valued("--sheet", "NAME", "Sheet of a spreadsheet, if it has several."),
        valued("--table", "NAME", "Table of a database, if it has several."),
        valued("--query", "SQL", "What to read of a database, in place of a table."),
        valued("--header", "WAY", header, type=click.Choice(["yes", "none"])),
        valued("--columns", "COLUMNS", "Names of all columns, in their order, with --header none.", callback=listed),
        many("--na", "Text that means missing, such as NA. Repeatable.", "TEXT"),
        many("--date dates", "Format of dates, such as %d.%m.%Y, if it is ambiguous.", "COLUMN=FORMAT"),
    )


def reading(default: str) -> tuple[click.Option, ...]:
    """Define the flags that say how a table is read, the same for every command; --missing has this ``default``."""
    ways = {"error": "error", "withhold": "withhold their rows", "value": "be a value"}
    first, second, last = (f"{said} (default)" if way == default else said for way, said in ways.items())
    missing = f"Missing numbers: {first}, {second}, or {last}."
    tree = "Hierarchy as CSV (leaf first) or TOML, or a folder of such files."
    return (
        many("--quasi", "Columns an attacker may know, separated by commas."),
        valued("--sensitive", "COLUMNS", "Columns whose values are protected."),
        many("--identifier identifiers", "Columns that name a person; they are not published."),
        valued("--person", "COLUMN", "Column saying whose a row is, if people have several; not published."),
        many("--keep", "Columns to publish unchanged."),
        many("--numeric", "Columns to read as numbers."),
        many("--categorical", "Columns to read as names, even if they look like numbers."),
        many("--ordinal", "Columns whose values have an order."),
        many("--hierarchy hierarchies", tree, "COLUMN=FILE"),
        many("--domain domains", "Range of possible numbers or dates.", "COLUMN=LOW:HIGH"),
        valued("--where", "CONDITION", 'Read only rows that satisfy it: "year = 1984".'),
        many("--floor", "Smallest detail: age=5, zip=3, born=month.", "COLUMN=DETAIL"),
        many("--weight", "Spare a column, whose loss counts more: age=3.", "COLUMN=NUMBER"),
        many("--round", "Round a sensitive column to multiples: pay=100.", "COLUMN=NUMBER"),
        many("--bottom", "Limit below which numbers become it: income=0.", "COLUMN=NUMBER"),
        many("--top", "Limit above which numbers become it: age=90.", "COLUMN=NUMBER"),
        many("--bins", "Put numbers into bins: pay=0,10,20, or pay=quantiles:4.", "COLUMN=EDGES"),
        valued("--missing", "WAY", missing, type=click.Choice(list(ways))),
        *layout(),
        many("--list lists", "Sensitive column with several values per cell: diagnosis=';'.", "COLUMN=SEPARATOR"),
        many("--join", "Sensitive column of a second table, linked by the column ID.", "COLUMN=FILE:ID"),
    )


HARMLESS = many("--harmless", "Value that is not sensitive, for the scheme codip.", "COLUMN=VALUE")
WITHHELD = valued(
    "--most-withheld",
    "SHARE",
    "Share of rows that may be withheld for it (default: 0.05).",
    type=click.FloatRange(0, 1),
)
MEMORY = valued("--memory", "SIZE", "Memory that the engine, or a task of spark, may take: 2GB.")
ORIGINAL = path("--original", "The table that was published.", "INPUT", required=True)
ANSWER = (
    switch("--json as_json", "Print the result as JSON and nothing else."),
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        expose_value=False,
        callback=lambda context, _, value: context.meta.update({QUIETLY: value}),
        help="No notes and no progress; no output at all if promises hold.",
    ),
)
"""How the result is shown, of every command."""


def _command(
    name: str, help: str, *params: click.Parameter, kind: type[click.Command] = slips.Command, work: str = ""
) -> click.Command:
    """Return a command, which the function of its name in the module of its name carries out, or ``module:work``."""
    module, _, function = (work or f"{name}:{name}").partition(":")

    def run(**given: Any) -> int:
        carry_out: Callable[..., int] = getattr(import_module(f"discreet.command.{module}"), function)
        return carry_out(**given)

    return kind(name, callback=run, params=[*params, *ANSWER], help=help)


def _manual(name: str, noun: str) -> click.Command:
    """Return the command that lists one kind of thing, or explains one of them."""

    def run(chosen: str | None, as_json: bool) -> int:
        from discreet.command.manual import manual

        return manual(name, noun, chosen, as_json)

    help = f"List the {name}, or explain the {noun} NAME: what it is for, its options, and where it comes from."
    complete = completed_from(CATALOGUED[name])
    chosen = click.Argument(["chosen"], metavar="[NAME]", required=False, shell_complete=complete)
    return slips.Command(name, callback=run, params=[chosen, *ANSWER], help=help)


COMMANDS = (
    _command(
        "publish",
        """Publish INPUT under a promise, and audit the files that were written.

        \b
        discreet publish people.csv -o release --quasi age,sex,zip --sensitive disease \\
            --identifier name --promise "k-anonymity(k=5) & beta-likeness(beta=2)"

        INPUT is a file, or postgresql://user@host/base. Flags with COLUMN=... can be repeated. 'discreet promises',
        'discreet schemes' and 'discreet attacks' list what there is, and explain it: 'discreet schemes cuts'. With
        several sensitive columns, attribute=NAME in a promise says which is meant.

        Exit code: 0 the promise holds; 1 it does not, and nothing is published; 2 bad input; 3 published and valid, but
        the result could not be printed.
        """,
        file("input", required=False),
        path("-o --output", "Folder for the release, or a database with --output-table.", "DIR"),
        valued("--output-table", "NAME", "Table for the release in the database that -o names."),
        many("--promise promises", 'Promise that must hold, such as "beta-likeness(beta=2)". Repeatable.', "PROMISE"),
        valued("--scheme", "SCHEME", "Algorithm, such as 'cuts(effort=thorough)' (default: by the promise)."),
        many("--option options", "Option of the scheme, such as effort=thorough. Repeatable.", "KEY=VALUE"),
        *reading("error"),
        WITHHELD,
        HARMLESS,
        click.Option(["--format"], type=click.Choice(["csv", "parquet"]), help="Format of the tables (default: csv)."),
        engine("memory", "duckdb", "spark"),
        MEMORY,
        valued("--remote", "URL", "Server of the engine spark: sc://host."),
        path("--trace", "Also write a PRIVATE file with each row's group."),
        valued("--seed", "N", "Seed of an experiment; never for a real release.", type=click.IntRange(min=0)),
        switch("--force", "Replace an existing release and trace."),
        path("--job", "TOML file with these settings; flags override it."),
        kind=WithPlugins,
    ),
    _command(
        "audit",
        """Audit the release in DIR against the original.

        The promise, the roles, kinds, orders and hierarchies of columns, and how the original is read (--na, --date,
        --list, --header none, --columns), are taken from release.json, so you need not repeat them; but then the audit
        only confirms what the release claims about itself. To judge it on your own terms, name the quasi-identifiers,
        the sensitive attribute and the promise. If you give hierarchies and domains, they are compared with those of
        the release, and promises are judged by yours; an ordinal column has the order of its hierarchy file.

        With a population (a table of everyone who could be in the original, with all quasi-identifiers), the audit also
        reports how strongly an attacker may believe that each of these people is in it.

        Exit code: 0 if everything holds, 1 if a check or a promise fails, 2 for bad input.
        """,
        file("folder", "DIR"),
        ORIGINAL,
        path("--trace", "The private file that publish wrote with --trace."),
        path("--population", "Everyone who could be in the table."),
        many("--promise promises", "Promise to judge as well. Repeatable.", "PROMISE"),
        engine("memory", "duckdb"),
        MEMORY,
        *reading("value"),
    ),
    _command(
        "attack",
        """Attack the release in DIR: guess the sensitive value of everyone in the original, and count the right
        guesses.

        The attacker has the files of the release and knows everyone's quasi-identifiers; the sensitive values of the
        original only serve to score the guesses. Each rate of success is shown beside the rates without the release and
        from the original itself, and beside what the promise allows.

        Exit code: 0 if no attack achieves more than the promise allows, 1 if one does, 2 for bad input, 4 if an attack
        failed with an internal error; the results of the others are kept.
        """,
        file("folder", "DIR"),
        ORIGINAL,
        valued(
            "--attack attacks",
            "ATTACK",
            f"{', '.join(ATTACKS.built_in)} or {EVERY}, with parameters as in 'naive-bayes(correction=1)'; 'discreet "
            "attacks' explains them. Repeatable.",
            multiple=True,
            default=(EVERY,),
            show_default=True,
        ),
        path(
            "--with others",
            "Another release about the same people, for attacks that combine several. Repeatable.",
            "DIR",
            multiple=True,
        ),
        path("--outsiders", "People who are not in the release, to compare with."),
        path("--population", "Everyone who may be in the table, for the attacks 'presence' and 'singling-out'."),
        path("--trace", "The private trace, for an attacker who knows everyone's group."),
        valued("--victims", "N", "Attack only N people, drawn at random (default: everyone).", type=int),
        valued("--seed", "N", "Seed of the random draws, to repeat a result.", type=click.IntRange(min=0)),
        *reading("value"),
        kind=WithPlugins,
    ),
    _command(
        "query",
        """Estimate how many rows satisfy SQL, from the release in DIR alone.

        SQL is a count with conditions joined by AND: "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation
        = 'Sales'". Conditions are =, <, <=, >, >=, BETWEEN and IN; put texts in single quotes, and names with blanks or
        dashes in double quotes. A label of a hierarchy stands for the values below it. Withheld rows are not estimated.

        To count by the values of some columns: "SELECT education, sex, COUNT(*) FROM t WHERE occupation = 'Sales' GROUP
        BY education, sex". Every combination of values in the release is estimated; those estimated at 0 are not
        listed, and rows without a value are listed as (missing).

        To ask many queries at once: -f FILE, with one query per line or semicolons after each; blank lines and comments
        (-- to the end of the line, or between /* and */) are skipped. The release is loaded once, and --json gives a
        list. If any query cannot be answered, none is, and the message names its line.

        Formats have estimators of their own, such as even, product or inverse. A name that the format of DIR lacks is
        refused with a list of those that it has.

        Exit code: 0, or 2 for bad input.
        """,
        file("folder", "DIR"),
        click.Argument(["sql"], metavar="[SQL]", required=False),
        path("-f --file", "File of queries, instead of SQL."),
        path("--original", "Also count in the original, and compare.", "INPUT"),
        valued("--estimator", "NAME", "How counts are estimated (default: the usual one of the format)."),
        *reading("value"),
    ),
    _command(
        "export",
        """Write the tables of the release in DIR to FILE, for other programs.

        \b
        discreet export release -o people.dta
        discreet export release -o people.csv

        The ending of FILE decides: .csv, .parquet, .xlsx (Excel), .dta (Stata) or .sav (SPSS). An interval becomes two
        columns, age_lo and age_hi, both included. Categories of Stata and SPSS files are numbers with labels. Beside
        CSV, Parquet and Stata files there is a script that reads them (.py and .R, or .do).

        If the release has several tables, an Excel file has a sheet for each. Otherwise the first is in FILE, and each
        other one in a file beside it, such as people_sensitive.dta.

        Exit code: 0, or 2 for bad input.
        """,
        file("folder", "DIR"),
        path("-o --output file", "File to write.", required=True),
        switch("--force", "Replace existing files, but no scripts."),
    ),
    _command(
        "compare",
        """Compare schemes on INPUT: each publishes it under each promise, and every release is audited and attacked.

        \b
        discreet compare people.csv --quasi age,sex,zip --sensitive disease \\
            --promise "beta-likeness(beta=1)" --promise "beta-likeness(beta=2)" \\
            --schemes cuts,mondrian,burel --html comparison.html

        Nothing is published: the releases are written to a temporary folder and removed. If a scheme cannot keep a
        promise, the reason is shown on screen and in the JSON, which are for you; the page, which is for others, leaves
        it out because it may reveal values of the table.

        Exit code: 0 if all audits hold, 1 if one fails, 2 for bad input or if no release could be made, 4 if a scheme
        or an attack failed with an internal error; the results of the others are kept.
        """,
        file("input", required=False),
        many(
            "--promise promises",
            'Promise to compare under, such as "beta-likeness(beta=2)" or "k-anonymity(k=5) & l-diversity(l=3)". '
            "Repeatable: schemes are compared under each.",
            "PROMISE",
        ),
        many(
            "--measure measured",
            'Promise that no release is made for, such as "t-closeness(t=1, distance=ordered)": how far each keeps it '
            "is shown as well. Repeatable.",
            "PROMISE",
        ),
        many(
            "--schemes",
            "Schemes to compare, separated by commas (default: all): 'cuts, burel, cuts(effort=thorough, loss=gcp)'. "
            "Repeatable.",
            "SCHEMES",
        ),
        *reading("error"),
        valued(
            "--queries", "N", "Number of count queries.", type=click.IntRange(min=1), default=10_000, show_default=True
        ),
        valued(
            "--dimensions",
            "N",
            "Quasi-identifiers with a condition in each query (default: 3, or all if there are fewer).",
            type=click.IntRange(min=1),
        ),
        valued(
            "--selectivity", "SHARE", "Share of the rows that a query is expected to select (default: 0.1).", type=float
        ),
        valued(
            "--volume",
            "SHARE",
            "Instead of --selectivity: share of the space of its attributes that a query covers.",
            type=float,
        ),
        valued(
            "--workload",
            "NAME",
            f"Queries of a paper: {', '.join(WORKLOADS)} (default: beta).",
            type=click.Choice(WORKLOADS),
        ),
        valued(
            "--equal",
            "MEASURE=VALUE",
            "Search the parameter of each promise for each scheme so that releases have the same t or loss: t=0.1, "
            "loss=0.3.",
        ),
        valued("--seed", "N", "Seed, to repeat an experiment.", type=click.IntRange(min=0)),
        path("--html page", "Also write an HTML page with plots that can be shared."),
        path("--plot picture", "Also draw errors against what is really kept and what attacks find, as .svg or .png."),
        switch("--force", "Replace an existing page or picture."),
        path("--job file", "Job file, as for publish: schemes must keep all its promises at once; flags override it."),
        kind=WithPlugins,
    ),
    _command(
        "report",
        """Write a page about the release in DIR that a privacy board can sign.

        \b
        discreet report release -o shareable.html
        discreet report release --original people.csv -o internal.html --context context.toml

        Without --original the report is made from the files of the release alone, and can be shared as they can. With
        it, the release is also audited, attacked and compared with the original, as audit and attack do, and the page
        is for the publisher and the board only. The page is one file that needs no network, and prints on A4.

        The file of --context is TOML; it says recipient = "...", and may say purpose and next_review.

        Exit code: 0 if everything holds, 1 if a check or a promise fails (the report says so), 2 for bad input, 4 if an
        attack failed with an internal error.
        """,
        file("folder", "DIR"),
        path("-o --output page", f"Page to write (default: {PAGE}, or none with --json)."),
        path("--original", "The table that was published.", "INPUT"),
        path("--context", "TOML file that says who receives the release, and why."),
        path("--trace", "The private file that publish wrote with --trace."),
        path("--population", "Everyone who could be in the table, for the journalist's risk."),
        many("--promise promises", "Promise to judge as well. Repeatable.", "PROMISE"),
        valued("--seed", "N", "Seed of the attacks' draws, to repeat a result.", type=click.IntRange(min=0)),
        switch("--force", "Replace an existing page."),
        *reading("value"),
    ),
    _command(
        "advise",
        """Advise what to promise about INPUT, by which scheme, and to whom.

        \b
        discreet advise people.csv --quasi age,sex,zip --sensitive disease --identifier name

        Three strengths of the promises that suit the table are explained with its numbers. For each, releases are made
        in the ways worth considering, audited and attacked, and their figures are listed. One is recommended to each of
        three recipients (the open web, registered researchers, colleagues under contract), with the reasons and the
        command that publishes it. Nothing is published. Of a table with more than 50,000 rows (20,000 if a sensitive
        column has more than 5,000 values) a sample is used.

        What it shows is for you: it follows from the table, not from a release. Before, 'discreet profile' helps you to
        find the quasi-identifiers.

        Exit code: 0, or 2 for bad input or if no release could be made, or 4 if a scheme failed with an internal error.
        """,
        file("input"),
        *reading("error"),
        WITHHELD,
    ),
    _command(
        "plan",
        """Plan what to promise about INPUT: the strongest promise of every kind that some release of it can keep.

        For a numeric sensitive attribute, --epsilon asks for the largest m, --m for the largest epsilon, and both
        together ask whether the two can be kept. With --below and --above, numbers are similar to others within these
        distances on either side, as in proximity(below=..., above=..., m=...). Several sensitive attributes are planned
        one by one, followed by ways to divide them among tables (scheme codip), with what each exposes and loses.
        Without --quasi, all other columns are treated as quasi-identifiers. With --person, promises are about people,
        as in a release published with it.

        Exit code: 0, or 1 if --epsilon and --m cannot be kept together, or 2 for bad input.
        """,
        file("input"),
        valued("--epsilon", "E", "How close numbers must be to be similar: show the largest m.", type=float),
        valued("--m", "M", "At most 1/M of a group may be similar: show the largest epsilon.", type=float),
        valued("--below", "E1", "How far below a number others are similar to it, if not by epsilon.", type=float),
        valued("--above", "E2", "How far above a number others are similar to it, if not by epsilon.", type=float),
        click.Option(
            ["--neighbourhood"],
            type=click.Choice(("absolute", "relative")),
            default="absolute",
            show_default=True,
            help="Whether epsilon is a difference between numbers or a share of a number.",
        ),
        path(
            "--plot", "Also plot the possible epsilon and m, or the ways to divide attributes, as .html, .svg or .png."
        ),
        switch("--force", "Replace an existing plot."),
        *reading("value"),
        HARMLESS,
    ),
    _command(
        "profile",
        """Profile INPUT: its columns, who stands out in it, and which promises it can keep.

        Without --quasi, all columns are described and roles are suggested for them.
        """,
        file("input"),
        *reading("value"),
    ),
    _command(
        "reproduce",
        """Measure again what the figures and tables of five papers measured, and say which findings hold here.

        \b
        discreet reproduce list
        discreet reproduce beta-likeness/5 --quick
        discreet reproduce all -o results

        WHAT is a paper, a figure of a paper (PAPER/FIGURE), 'all', or 'list', which lists the figures and what the
        papers found. The papers' schemes run with the papers' settings, ours beside them under their own names. Tables
        are generated unless --data names another: adult, or a file.

        Each result is written as JSON, Parquet and SVG as soon as it is measured, and all of them as a page. What the
        folder holds already is not measured again, so an interrupted command can be repeated.

        Exit code: 0 whether findings hold or not, or 2 for bad input.
        """,
        click.Argument(["names"], metavar="[WHAT]...", nargs=-1),
        valued("--rows", "N", "Rows of the tables (default: the paper's).", type=click.IntRange(min=1)),
        valued("--data", "TABLE", "generated, adult or a file.", default="generated", show_default=True),
        switch("--quick", "Fewer rows and queries: minutes for all."),
        valued(
            "--seed", "N", "Seed of tables, schemes and queries.", type=click.IntRange(0), default=1, show_default=True
        ),
        path("-o --output folder", "Folder for the results.", "DIR", default="reproduced", show_default=True),
    ),
    _manual("schemes", "scheme"),
    _manual("promises", "promise"),
    _manual("attacks", "attack"),
    slips.CommandGroup(
        "hierarchy",
        help="""Make a hierarchy to start from, check one, or draw it.

        A hierarchy says which values of a column may be published together under one label; 'discreet publish
        --hierarchy COLUMN=FILE' reads it.
        """,
        commands=[
            _command(
                "init",
                """Write a hierarchy of COLUMN in INPUT, to be edited.

                \b
                discreet hierarchy init people.csv city -o city.csv
                discreet publish people.csv --hierarchy city=city.csv ...

                Kinds: ranges (bands of numbers) and prefixes (of codes), which are recipes in TOML unless FILE ends
                otherwise; balanced (names that follow each other in the alphabet, in groups of about as many rows);
                dates (months, quarters, years). It is made of the values of this column and of nothing else. What is
                drawn is the tree that publish reads, with the number of leaves and rows below each label.

                Exit code: 0, or 2 for bad input.
                """,
                file("input"),
                click.Argument(["column"], metavar="COLUMN"),
                click.Option(["--kind"], type=click.Choice(STARTERS), help="Kind (default: what suits the column)."),
                path(
                    "-o --output file",
                    "File to write, or folder for it (default: COLUMN.toml or COLUMN.csv, here).",
                    default=".",
                ),
                switch("--force", "Replace an existing file."),
                *layout(),
                work="hierarchy:init",
            ),
            _command(
                "check",
                """Check the hierarchy in FILE, alone or beside COLUMN of INPUT, and draw it.

                All faults are named at once: values that are missing, blank labels, leaves and labels with two parents,
                levels of unequal depth, labels of two nodes, a header line. Notes say what does not hinder its use:
                levels that add nothing, leaves that do not occur.

                Exit code: 0 if it can be used, 2 if it cannot.
                """,
                file("file", "FILE"),
                file("input", required=False),
                click.Argument(["column"], metavar="[COLUMN]", required=False),
                *layout(),
                work="hierarchy:check",
            ),
            _command("show", "Draw the hierarchy in FILE.", file("file", "FILE"), work="hierarchy:show"),
        ],
    ),
    _command(
        "app",
        """Do all of this in a browser: open a table, choose a promise, publish, audit, report.

        The app runs on this machine, and nobody else can reach it. It needs the extra app: pip install
        'discreet[app]'.

        \b
        discreet app
        discreet app patients.csv --no-browser
        """,
        file("file", "[FILE]", required=False),
        valued("--port", "N", "Port to listen on (default: any that is free).", type=click.IntRange(1, 65535)),
        switch("--no-browser", "Only print the address."),
    ),
    slips.CommandGroup(
        "data",
        help="""List the tables to try things out on, or write one to a file.

        All that are written are generated here: nothing is downloaded, and nobody in them exists. Of others the list
        says where they are found.
        """,
        commands=[
            _command("list", "List the tables.", work="data:list_tables"),
            _command(
                "get",
                """Write the table NAME as CSV.

                \b
                discreet data get patients
                discreet data get census --rows 100000 -o people.csv --hierarchies hierarchies
                """,
                click.Argument(["name"], metavar="NAME", type=click.Choice(list(TABLES))),
                path("-o --output file", "File to write (default: NAME.csv)."),
                valued(
                    "--rows",
                    "N",
                    f"Number of people, but for patients (default: {CENSUS_ROWS:,}).",
                    type=click.IntRange(min=1),
                ),
                path("--hierarchies folder", "Also write the hierarchies of its columns, a file each.", "DIR"),
                switch("--force", "Replace existing files."),
                work="data:get_table",
            ),
        ],
    ),
    _command(
        "demo",
        """Invent a census, publish it, audit it, and show the result.

        The table, its hierarchies, the release and the private trace stay in DIR; the next demo replaces them.
        """,
        path("-o --output folder", "Folder for the demo.", "DIR", default="discreet-demo", show_default=True),
        valued(
            "--rows",
            "N",
            "Number of invented people.",
            type=click.IntRange(100, 10_000_000),
            default=CENSUS_ROWS,
            show_default=True,
        ),
        switch("--force", "Use the folder even if it contains other files, which stay."),
    ),
)
