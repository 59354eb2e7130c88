"""Splitting and partitioning: no group has many numbers close to each other.

Jiexing Li, Yufei Tao and Xiaokui Xiao: "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data".
SIGMOD, 2008.

The promise: ``proximity``, (epsilon, m)-anonymity, which is in `principles`, as other schemes keep it too.
What is published: a generalized release.
Why it holds: pieces are split while Theorem 1 allows; the rows of a piece are dealt in turn, so near ones are apart.

    scheme                 split, then partition as in the paper or by matching
    halving                several promises or attributes: halves, each judged
    near_withholding       rows withheld with the unusable ones
    kernels/               splits, deals, pairs, groups without conflicts, and what is near
"""
