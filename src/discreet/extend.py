"""The names that a plug-in needs, in one place: these stay where they are when the modules behind them move.

A plug-in imports from here, and from `discreet` itself. `examples/plugin` is one, explained in docs/extending.md.
(``import X as X`` says that a name is imported for others.)

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
    Refusal             why a scheme does not keep a promise; names the scheme that does
    Values              how grouped quasi-identifiers are published: an option of grouping schemes
    Table               what is published: coded columns with roles
    Progress            a progress callback
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

from discreet.adversary.alignment import ComparedRows as ComparedRows
from discreet.adversary.alignment import check_sensitive as check_sensitive
from discreet.adversary.alignment import places_in as places_in
from discreet.adversary.alignment import rows_compared as rows_compared
from discreet.adversary.alignment import usable_rows as usable_rows
from discreet.adversary.attacks.attack import Attack as Attack
from discreet.adversary.attacks.attack import Insight as Insight
from discreet.adversary.attacks.target import Target as Target
from discreet.adversary.case import Case as Case
from discreet.adversary.case import FormatFindings as FormatFindings
from discreet.adversary.check import Check as Check
from discreet.adversary.checks.domains import domains as domains
from discreet.adversary.checks.domains import numbers_of as numbers_of
from discreet.adversary.checks.manifest import entries as entries
from discreet.adversary.checks.soundness import consistency as consistency
from discreet.adversary.checks.soundness import taken as taken
from discreet.adversary.checks.totals import as_many as as_many
from discreet.adversary.checks.totals import rows_of_original as rows_of_original
from discreet.adversary.checks.trace import trace_check as trace_check
from discreet.adversary.verdict import PromiseVerdict as PromiseVerdict
from discreet.adversary.verdict import Subjects as Subjects
from discreet.adversary.verdict import judged as judged
from discreet.options import Interval as Interval
from discreet.plugins import Format as Format
from discreet.principles.bounds import Bounds as Bounds
from discreet.principles.counts import Counts as Counts
from discreet.principles.principle import Principle as Principle
from discreet.principles.principle import Reach as Reach
from discreet.principles.prior import Prior as Prior
from discreet.progress import Progress as Progress
from discreet.randomness import generator as generator
from discreet.releases.assumptions import EXACT_ROWS as EXACT_ROWS
from discreet.releases.assumptions import NO_ORDER as NO_ORDER
from discreet.releases.assumptions import ONE_RELEASE as ONE_RELEASE
from discreet.releases.attributes import Attribute as Attribute
from discreet.releases.canonical import line_keys as line_keys
from discreet.releases.canonical import line_order as line_order
from discreet.releases.canonical import taken_in as taken_in
from discreet.releases.columns import ExactColumn as ExactColumn
from discreet.releases.columns import column_array as column_array
from discreet.releases.columns import read_sensitive as read_sensitive
from discreet.releases.counted import COUNT as COUNT
from discreet.releases.counted import check_countable as check_countable
from discreet.releases.exact_rows import ExactRowsRelease as ExactRowsRelease
from discreet.releases.exact_rows import RowsAt as RowsAt
from discreet.releases.folder import Home as Home
from discreet.releases.generalization import Values as Values
from discreet.releases.generalized.release import GeneralizedRelease as GeneralizedRelease
from discreet.releases.partition import PublishedRows as PublishedRows
from discreet.releases.partition import check_partition as check_partition
from discreet.releases.reading import count_lines as count_lines
from discreet.releases.reading import ending_of as ending_of
from discreet.releases.reading import read_amounts as read_amounts
from discreet.releases.reading import read_exact as read_exact
from discreet.releases.reading import read_texts as read_texts
from discreet.releases.reading import row_attributes as row_attributes
from discreet.releases.release import Release as Release
from discreet.releases.statement import Stated as Stated
from discreet.releases.statement import Statement as Statement
from discreet.schemes.grouping import GroupingScheme as GroupingScheme
from discreet.schemes.grouping import GroupingTask as GroupingTask
from discreet.schemes.grouping import published_rows as published_rows
from discreet.schemes.refusal import Refusal as Refusal
from discreet.schemes.scheme import Scheme as Scheme
from discreet.schemes.scheme import feasible as feasible
from discreet.table.query import Query as Query
from discreet.table.table import Table as Table
