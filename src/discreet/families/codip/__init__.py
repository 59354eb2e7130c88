"""CODIP: several sensitive attributes divided among several tables.

Yuan Fang, Mafruz Zaman Ashrafi and See Kiong Ng: "Privacy beyond Single Sensitive Attribute". DEXA, 2011.

The promise: any that a scheme keeps for each of the tables.
What is published: several tables over the same quasi-identifiers (a projected release).
Why it holds: each table is a release of its own; attributes in different tables are not seen side by side.

    plans, kernels/        which attributes share a table: exposure against association
    scheme                 the plan, then a release per table
    release, load          the tables, written and read back
    auditor, across        the audit of each table, and what all of them tell together
    projections            the frontier of plans, to choose from
"""
