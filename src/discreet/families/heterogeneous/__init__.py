"""Heterogeneous generalization: rows of different buckets, matched by quasi-identifiers.

Olga Gkountouna, Katerina Doka, Mingqiang Xue, Jianneng Cao and Panagiotis Karras: "One-off Disclosure Control by
Heterogeneous Generalization". USENIX Security, 2022.

The promise: ``beta-likeness`` and ``l-diversity`` (buckets); ``alpha-beta`` (groups).
What is published: groups with one row of every bucket, or the paper's graph (a matched release: a box for every row).
Why it holds: a person's row may be any of as many rows as there are buckets, each from another one.

    buckets                which sensitive values share a bucket
    matching, kernels/     a row of every bucket, near each other
    graph                  the graph of the paper
    scheme                 groups or graph
    nh, rings              NH, the rings that the paper compares with
    release, candidates    the matched release, and whose each row may be
    auditor                the audit
"""
