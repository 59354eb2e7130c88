"""What there is, by name: schemes, promises, formats of release and attacks, each imported only when it is used.

These are the only lists of them. To add a scheme, a promise, a format or an attack, write its file and add its line
here: where its class is, what it is in one line, and of a format where its auditor is. Packages outside add theirs
through entry points.
"""

from __future__ import annotations

from typing import Any

from discreet.plugins import Entry, Format, Registry

SCHEMES: Registry[Any] = Registry(
    "schemes",
    "schemes",
    {
        "cuts": Entry("cuts.scheme:Cuts", "Top-down cuts of four kinds, the default: little loss for any promise."),
        "mondrian": Entry("cuts.mondrian:Mondrian", "Median cuts along the widest quasi-identifier."),
        "incognito": Entry("incognito.scheme:Incognito", "Every quasi-identifier at one level for all rows."),
        "lifting": Entry("lifting.scheme:Lifting", "Rare values stay under larger boxes than their neighbours."),
        "burel": Entry("buckets.burel:Burel", "Buckets of sensitive values, groups along a Hilbert curve."),
        "sabre": Entry("buckets.sabre:Sabre", "Buckets by earth mover's distance, for t-closeness."),
        "heterogeneous": Entry("heterogeneous.scheme:Heterogeneous", "Groups by matching rows of buckets."),
        "sealed": Entry("sealed.scheme:Sealed", "Cuts that hold against an attacker who knows the algorithm."),
        "mirrored": Entry("sealed.mirrored:Mirrored", "Equal halves whose choice tells such an attacker nothing."),
        "proximity": Entry("proximity.scheme:SplitAndPartition", "For numbers: no group has many near each other."),
        "perturbation": Entry("randomised.perturbation:Perturbation", "Sensitive values randomised by a matrix."),
        "retention": Entry("randomised.retention:Retention", "Sensitive numbers kept with a probability."),
        "anatomy": Entry("anatomy:Anatomy", "Exact quasi-identifiers beside sensitive values per group."),
        "baseline": Entry("anatomy:Baseline", "Exact quasi-identifiers, sensitive values of the whole table."),
        "ambiguity": Entry("ambiguity.scheme:Ambiguity", "Hides who is in the table, too: a table per attribute."),
        "codip": Entry("codip.scheme:Codip", "Several sensitive attributes divided among several tables."),
        "privbayes": Entry("privbayes.scheme:PrivBayes", "Synthetic rows under differential privacy."),
    },
)
PRINCIPLES: Registry[Any] = Registry(
    "principles",
    "principles",
    {
        "k-anonymity": Entry("k_anonymity:KAnonymity", "Every group has at least k rows."),
        "l-diversity": Entry("l_diversity:LDiversity", "No sensitive value has a larger share than 1/l."),
        "t-closeness": Entry("t_closeness:TCloseness", "Every group's values are distributed like all."),
        "beta-likeness": Entry("beta_likeness:BetaLikeness", "No value's share grows much, relatively."),
        "delta-disclosure": Entry("delta_disclosure:DeltaDisclosure", "Shares grow and shrink little."),
        "proximity": Entry("proximity:Proximity", "Few numbers of a group are near each other."),
        "ke-anonymity": Entry("ke_anonymity:KEAnonymity", "The numbers of a group span a range."),
        "variance": Entry("variance:Variance", "The numbers of a group have a variance."),
        "alpha-beta": Entry("presence:AlphaBeta", "Bounds beliefs in presence (alpha) and in values (beta)."),
        "differential-privacy": Entry(
            "differential_privacy:DifferentialPrivacy", "No row changes the odds of a release much."
        ),
    },
)
FORMATS: Registry[Format] = Registry(
    "formats",
    "releases",
    {
        "generalized": Entry(
            "generalized.release:GeneralizedRelease",
            "Groups of rows with one description each.",
            "generalized.audit:audit_generalized",
        ),
        "anatomy": Entry(
            "anatomy.release:AnatomyRelease",
            "Exact rows, and sensitive values per group.",
            "anatomy.audit:audit_anatomy",
        ),
        "ambiguous": Entry(
            "ambiguous.release:AmbiguousRelease",
            "A list of values per attribute and group.",
            "ambiguous.audit:audit_ambiguous",
        ),
        "perturbed": Entry(
            "randomised.perturbed:PerturbedRelease",
            "Exact rows, sensitive values randomised.",
            "randomised.perturbed:audit_perturbed",
        ),
        "retained": Entry(
            "randomised.retained:RetainedRelease",
            "Exact rows, numbers kept or drawn anew.",
            "randomised.retained:audit_retained",
        ),
        "nested": Entry("nested.release:NestedRelease", "Rows under the nodes of a tree.", "nested.audit:audit_nested"),
        "matched": Entry(
            "matched.release:MatchedRelease", "A description of its own for every row.", "matched.audit:audit_matched"
        ),
        "projected": Entry(
            "projected.release:ProjectedRelease",
            "Several tables, each with some attributes.",
            "projected.audit:audit_projected",
        ),
        "sealed": Entry(
            "sealed.release:SealedRelease", "Groups, and what their choice may tell.", "sealed.audit:audit_sealed"
        ),
        "mirrored": Entry(
            "sealed.mirrored:MirroredRelease",
            "The same, from halves that could be exchanged.",
            "sealed.audit:audit_mirrored",
        ),
        "synthetic": Entry("synthetic.release:SyntheticRelease", "Synthetic rows.", "synthetic.audit:audit_synthetic"),
    },
    lambda release, entry: Format(release, entry.auditor),
)
ATTACKS: Registry[Any] = Registry(
    "attacks",
    "adversary.attacks",
    {
        "beliefs": Entry("beliefs:Beliefs", "Guess what the release itself makes likeliest."),
        "similarity": Entry("similarity:Similarity", "Guess one of several similar values."),
        "naive-bayes": Entry("naive_bayes:NaiveBayes", "Learn how each attribute goes with the values, and multiply."),
        "definetti": Entry("definetti:DeFinetti", "Learn across groups, and deal the values of each group anew."),
        "trained": Entry("trained:Trained", "Gradient-boosted trees, trained on the release."),
        "corruption": Entry("corruption:Corruption", "Some people's values are known; what do they tell of others'?"),
        "background-join": Entry("background_join:BackgroundJoin", "One sensitive value is known, and tells another."),
        "composition": Entry("composition:Composition", "Several releases about the same people, taken together."),
        "intersection": Entry("intersection:Intersection", "The groups of several releases, laid across each other."),
        "minimality": Entry("minimality:Minimality", "Run the algorithm on tables that fit: which give this release?"),
        "presence": Entry("presence:Presence", "Guess who is in the table."),
        "corners": Entry("presence:Corners", "The same, knowing that descriptions are as narrow as possible."),
    },
)
