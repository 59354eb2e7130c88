"""Engines: where the rows of a table are while it is published, for tables that are larger than memory.

The method, sample, cut, verify:

1. *Count.* One pass counts how many rows have each value of each column. The sensitive attribute's counts are the
   prior, exactly; a table that cannot keep the promise as a whole is refused.
2. *Cut a sample.* A sample of the rows is cut as ``cuts`` cuts a table, by plain cuts and where there are none by
   stratified ones, until every part of the table will fit into memory.
3. *Divide.* One pass puts every row into the file of its part, and counts the values of each part. Parts that break
   the promise are merged up the tree.
4. *Group.* The parts are loaded one after the other, and the scheme forms groups in each, under the promise about the
   whole table's prior.
5. *Write.* The groups are sorted by what is published of them, which is the canonical order of all releases, and
   written as an ordinary release; the manifest comes last, and the folder takes its place in one step.

*Why the promise is kept.* The files of the parts are what is published from. Their rows are counted, column by column
and value by value, and must be those of the first pass; so every row lies in exactly one part, and in exactly one group
of it, as the scheme assigns one to each. Every group is accepted only by the function that judges groups everywhere, on
its exact counts against the exact prior of the whole table: when it is formed, and again as it stands in the files that
were written, where the counts of all groups must add up to the prior. The sample, the tree and its margins decide which
groups are tried. They affect the loss, never the promise. What is published beyond groups is the manifest, which
follows from the values that occur, as in memory.

    engine      what an engine does: the contract
    source      the files that engines on this machine read
    duckdb      DuckDB on one machine, with bounded memory
    spark       what a Spark Connect server reads, and work on its workers: tasks
    scale       how much memory there is, and the rows of a part and of a sample that follow from it
    vocabulary  the values of all columns, with their counts: what is known of a table after one pass
    tree        cuts of a sample, and where they send rows
    parts       the files of parts: divided, counted, merged
    division    a table divided by these
    groups      the groups of a part, described as they are published
    publish     all of it, from a source to the files of a release
    audit       the audit of a release whose original and table do not fit into memory, which takes:
    slices      a release some groups at a time
    members     the rows of the original in the order of their groups
    tally       what groups make of a promise
    examination  all that is seen in slices
"""
