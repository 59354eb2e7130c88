"""The names that a plug-in needs, in one place: these stay where they are when the modules behind them move.

A plug-in imports from here, and from `discreet` itself. `examples/plugin` is one, explained in docs/extending.md.

To write a principle:

    Principle           the base class: what is promised, and the rules by which groups are judged
    Reach               whether a table can keep a promise, and the strongest that it can keep
    Bounds              caps and floors of the shares of values, from which rules and sentences follow
    Prior               the distribution of the sensitive attribute in the whole table
    Counts              how often each sensitive value occurs in each group
    Interval            the range of a parameter, stated in its annotation

To write a scheme:

    Scheme              the base class: one verb, ``publish``
    feasible            refuses what a scheme or a table cannot keep; returns the prior
    GroupingScheme      a scheme that only says which rows form a group
    GroupingTask        the rows to be grouped, and what is promised about them
    published_rows      the rows that need not be withheld
    way_out             what to do instead, for the end of a refusal
    Values              how grouped quasi-identifiers are published: an option of grouping schemes
    Table               what is published: coded columns with roles
    Progress            what is told how far a scheme is
    generator           randomness, from the operating system unless a seed is given

To write a format:

    Format              a class of releases and its auditor: what the entry point refers to
    Release             the base class: tables and a manifest, and what they say
    ExactRowsRelease    a release with unchanged quasi-identifiers
    RowsAt              the rows with the quasi-identifiers of some people
    GeneralizedRelease  a release of groups with one description each
    Statement           what the manifest states: promise, scheme and options
    Stated              the keyword arguments of it
    Attribute           a column, as the manifest describes it
    Home                where the tables of a release lie
    PublishedRows       the rows to be published, their columns and their manifest
    check_partition     refuses a table that cannot be published so
    check_countable     refuses a sensitive attribute that cannot be counted
    COUNT               the name of the column of counts
    ExactColumn         a column published unchanged
    column_array        ... as it is written
    read_sensitive      ... as it is read; values that the manifest does not list are faults
    line_keys           numbers for lines, in the order of what they say
    line_order          the order that sorts lines, by group and number
    taken_in            columns with their lines in an order
    row_attributes      the attributes that a manifest lists, without groups
    ending_of           the ending of the tables that a manifest names
    read_texts          the columns of a table
    read_exact          unchanged quasi-identifiers and kept columns among them
    read_amounts        a column of counts
    count_lines         what a table of values and counts says; faulty counts are faults
    EXACT_ROWS          an assumption to state: quasi-identifiers are as they were
    NO_ORDER            ... the order of rows tells nothing
    ONE_RELEASE         ... the promise covers this release alone
    Query               a count query: conditions on columns

To write an auditor:

    Case                what is audited: a loaded release, its original, the promises, the trace
    FormatFindings      what is found: checks, verdicts, losses
    Check               one finding, with its sentence
    PromiseVerdict      the verdict on one promise
    Subjects            groups that a promise is judged on
    judged              judges a promise on them and on the withheld rows
    ComparedRows        published and original rows, coded alike
    rows_compared       ... for releases of exact rows
    places_in           the codes of published values in the original
    usable_rows         the rows of the original that may be published
    check_sensitive     refuses an original read with other sensitive attributes
    entries             whether the manifest has the entries of its format and no others
    consistency         whether loading found faults
    taken               what promises are judged by that only the release states
    domains             whether domains and hierarchies agree with the original
    numbers_of          the numbers that are published, which it needs
    as_many             whether published and withheld rows add up
    rows_of_original    whether all published rows are the original's
    trace_check         whether the private trace explains the release

To write an attack:

    Attack              the base class: one verb, ``learn``
    Insight             what was learnt: beliefs about people
    Target              a release under attack, and the people it is about
"""

from __future__ import annotations

from discreet.adversary.alignment import ComparedRows, check_sensitive, places_in, rows_compared, usable_rows
from discreet.adversary.attacks.attack import Attack, Insight
from discreet.adversary.attacks.target import Target
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks.domains import domains, numbers_of
from discreet.adversary.checks.manifest import entries
from discreet.adversary.checks.soundness import consistency, taken
from discreet.adversary.checks.totals import as_many, rows_of_original
from discreet.adversary.checks.trace import trace_check
from discreet.adversary.verdict import PromiseVerdict, Subjects, judged
from discreet.options import Interval
from discreet.plugins import Format
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle, Reach
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.assumptions import EXACT_ROWS, NO_ORDER, ONE_RELEASE
from discreet.releases.attributes import Attribute
from discreet.releases.canonical import line_keys, line_order, taken_in
from discreet.releases.columns import ExactColumn, column_array, read_sensitive
from discreet.releases.counted import COUNT, check_countable
from discreet.releases.exact_rows import ExactRowsRelease, RowsAt
from discreet.releases.folder import Home
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import PublishedRows, check_partition
from discreet.releases.reading import count_lines, ending_of, read_amounts, read_exact, read_texts, row_attributes
from discreet.releases.release import Release
from discreet.releases.statement import Stated, Statement
from discreet.schemes.grouping import GroupingScheme, GroupingTask, published_rows
from discreet.schemes.keepers import way_out
from discreet.schemes.scheme import Scheme, feasible
from discreet.table.query import Query
from discreet.table.table import Table

__all__ = [
    "COUNT",
    "EXACT_ROWS",
    "NO_ORDER",
    "ONE_RELEASE",
    "Attack",
    "Attribute",
    "Bounds",
    "Case",
    "Check",
    "ComparedRows",
    "Counts",
    "ExactColumn",
    "ExactRowsRelease",
    "Format",
    "FormatFindings",
    "GeneralizedRelease",
    "GroupingScheme",
    "GroupingTask",
    "Home",
    "Insight",
    "Interval",
    "Principle",
    "Prior",
    "Progress",
    "PromiseVerdict",
    "PublishedRows",
    "Query",
    "Reach",
    "Release",
    "RowsAt",
    "Scheme",
    "Stated",
    "Statement",
    "Subjects",
    "Table",
    "Target",
    "Values",
    "as_many",
    "check_countable",
    "check_partition",
    "check_sensitive",
    "column_array",
    "consistency",
    "count_lines",
    "domains",
    "ending_of",
    "entries",
    "feasible",
    "generator",
    "judged",
    "line_keys",
    "line_order",
    "numbers_of",
    "places_in",
    "published_rows",
    "read_amounts",
    "read_exact",
    "read_sensitive",
    "read_texts",
    "row_attributes",
    "rows_compared",
    "rows_of_original",
    "taken",
    "taken_in",
    "trace_check",
    "usable_rows",
    "way_out",
]
