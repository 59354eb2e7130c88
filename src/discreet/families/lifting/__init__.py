"""Lifting: rare values stand in larger boxes than others nearby. Our own.

The promise: any bound on the share of each value.
What is published: a tree of boxes, and every row under its person's leaf or an ancestor of it (a nested release); or
    exact quasi-identifiers with the leaf of every person, and the values under every node (a nested-exact one).
Why it holds: a cut is made only if the beliefs at both children, lifted rows included, keep the bounds.

    scheme, cut_tree       the tree that is cut, and which rows are lifted
    kernels/               surveying a node, balancing its children, growing the tree
    tree, nodes            what a tree says about a person, and how it is published
    release, exact         the nested release with boxes, and the one with exact quasi-identifiers
    auditor, exact_auditor the audits of both
"""
