"""Perturbation and retention: exact quasi-identifiers, sensitive values randomised one by one.

Jianneng Cao and Panagiotis Karras: "Publishing Microdata with a Robust Privacy Guarantee". PVLDB, 2012 (perturbation).
Jiexing Li, Yufei Tao and Xiaokui Xiao: "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data".
SIGMOD, 2008, Section 3.2 (retention).

The promise: ``beta-likeness`` (perturbation) and ``proximity`` (retention).
What is published: all rows, with every sensitive value kept or drawn anew, and the probabilities of both.
Why it holds: by Bayes, a belief depends on one published value, and the probabilities keep all beliefs bounded.

    scheme/     perturbation, retention; matrix: which probabilities are best
    release/    base, perturbed, retained; matrix and coin: what a value implies, exactly; reconstruct: counts
    auditor/    perturbed, retained, and what they share: rows aligned, draws tested, withheld rows judged
"""
