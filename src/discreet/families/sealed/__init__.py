"""Sealed and mirrored: groups that hold against an adversary who knows the algorithm. Our own.

The promise: any about shares of values, also against the minimality attack.
What is published: groups, under boxes or with exact quasi-identifiers, and how much their choice may have told about
each (its leakage).
Why it holds: sealed cuts are tested with a coin, and what a rejection tells is paid for before the group is published;
mirrored halves could be exchanged, so that a rejection tells the same about everyone.

    scheme, cutting                     cuts under a seal, and what is left of the promise
    mirrored, halving, limits           equal halves, and the rows that stay behind or move
    kernels/                            candidates for cuts, their tests, their coins
    seal, release, auditor              the groups with their leakage, and the audit
    ways                                all ways to given groups, for exact probabilities
"""
