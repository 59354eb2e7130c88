"""Ambiguity: hides who is in the table, and who has which sensitive value.

Hui (Wendy) Wang: "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss".
COMAD, 2008.

The promise: ``alpha-beta``, bounds on the belief that a person is in the table, and that she has a value.
What is published: a table per quasi-identifier, which lists the values of each group, and a count of sensitive values.
Why it holds: a group shows so many combinations that few of them can be rows, and no sensitive value is common in it.

    scheme, attempts, groups, terms     rows become groups, judged by what the promise asks
    kernels/                            picking rows, placing those left over, mending groups, sums of products
    release, blocks                     the tables that are published
    lookup                              a person in the lists, and what an adversary then believes
    estimate, weights                   counts from the lists
    auditor                             the audit
"""
