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
        "cuts": Entry("cuts.scheme:Cuts", "The default: top-down cuts of four kinds; little loss for any promise."),
        "mondrian": Entry("cuts.scheme:Mondrian", "Median cuts along the widest quasi-identifier."),
        "incognito": Entry("incognito.scheme:Incognito", "Each quasi-identifier at one hierarchy level for all rows."),
        "lifting": Entry(
            "families.lifting.scheme:Lifting", "Rare values are published in larger boxes than others nearby."
        ),
        "burel": Entry("buckets.burel:Burel", "Buckets of sensitive values, and groups along a Hilbert curve."),
        "sabre": Entry("buckets.sabre:Sabre", "Buckets by earth mover's distance, for t-closeness."),
        "heterogeneous": Entry(
            "families.heterogeneous.scheme:Heterogeneous", "Groups by matching rows of different buckets."
        ),
        "nh": Entry("families.heterogeneous.nh:NH", "Rings of rows of different values; for comparison."),
        "sealed": Entry("families.sealed.scheme:Sealed", "Cuts that hold against an attacker who knows the algorithm."),
        "mirrored": Entry(
            "families.sealed.mirrored:Mirrored", "Equal halves, whose choice tells such an attacker nothing."
        ),
        "proximity": Entry(
            "families.proximity.scheme:SplitAndPartition", "For numbers: no group has many close to each other."
        ),
        "perturbation": Entry(
            "families.randomised.scheme.perturbation:Perturbation", "Sensitive values randomised, as NAME_randomised."
        ),
        "retention": Entry(
            "families.randomised.scheme.retention:Retention", "Sensitive numbers kept or redrawn, as NAME_randomised."
        ),
        "anatomy": Entry("anatomy:Anatomy", "Exact quasi-identifiers, and the sensitive values of each group."),
        "baseline": Entry("anatomy:Baseline", "Exact quasi-identifiers, and the sensitive values of the whole table."),
        "ambiguity": Entry(
            "families.ambiguity.scheme:Ambiguity", "Also hides who is in the table: one table per attribute."
        ),
        "codip": Entry("families.codip.scheme:Codip", "Several sensitive attributes divided among several tables."),
        "privbayes": Entry("families.privbayes.scheme:PrivBayes", "Synthetic rows under differential privacy."),
    },
)
PRINCIPLES: Registry[Any] = Registry(
    "principles",
    "principles",
    {
        "k-anonymity": Entry("k_anonymity:KAnonymity", "Every group has at least k rows."),
        "l-diversity": Entry("l_diversity:LDiversity", "No sensitive value has a share above 1/l in a group."),
        "t-closeness": Entry("t_closeness:TCloseness", "Values are distributed in groups much as in the table."),
        "beta-likeness": Entry("beta_likeness:BetaLikeness", "No value is much likelier in a group than in the table."),
        "delta-disclosure": Entry("delta_disclosure:DeltaDisclosure", "Shares in a group and the table differ little."),
        "proximity": Entry("proximity:Proximity", "Few numbers in a group are close to each other."),
        "ke-anonymity": Entry("ke_anonymity:KEAnonymity", "The numbers in a group differ and span a range."),
        "variance": Entry("variance:Variance", "The numbers in a group have at least a given variance."),
        "alpha-beta": Entry("presence:AlphaBeta", "Bounds beliefs in a person's presence and value."),
        "differential-privacy": Entry(
            "differential_privacy:DifferentialPrivacy", "No single row makes any release much likelier."
        ),
    },
)
FORMATS: Registry[Format] = Registry(
    "formats",
    "releases",
    {
        "generalized": Entry(
            "generalized.release:GeneralizedRelease", "Groups of rows with one description each.", "generalized"
        ),
        "anatomy": Entry("anatomy.release:AnatomyRelease", "Exact rows, and sensitive values per group.", "anatomy"),
        "ambiguous": Entry(
            "families.ambiguity.release:AmbiguousRelease",
            "A list of values for each attribute and group.",
            "families.ambiguity.auditor",
        ),
        "perturbed": Entry(
            "families.randomised.release.perturbed:PerturbedRelease",
            "Exact rows, sensitive values randomised.",
            "families.randomised.auditor.perturbed",
        ),
        "retained": Entry(
            "families.randomised.release.retained:RetainedRelease",
            "Exact rows, sensitive numbers kept or drawn anew.",
            "families.randomised.auditor.retained",
        ),
        "nested": Entry(
            "families.lifting.release:NestedRelease", "Rows under the nodes of a tree.", "families.lifting.auditor"
        ),
        "nested-exact": Entry(
            "families.lifting.exact:NestedExactRelease",
            "Exact rows, and sensitive values under the nodes of a tree.",
            "families.lifting.exact_auditor",
        ),
        "matched": Entry(
            "families.heterogeneous.release:MatchedRelease",
            "A description of its own for every row.",
            "families.heterogeneous.auditor",
        ),
        "projected": Entry(
            "families.codip.release:ProjectedRelease",
            "Several tables, each with some attributes.",
            "families.codip.auditor",
        ),
        "sealed": Entry(
            "families.sealed.release:SealedRelease",
            "Groups, and what their choice may tell.",
            "families.sealed.auditor",
        ),
        "mirrored": Entry(
            "families.sealed.release:MirroredRelease",
            "The same, from halves that could be exchanged.",
            "families.sealed.auditor",
        ),
        "sealed-exact": Entry(
            "families.sealed.release:SealedExactRelease",
            "Exact rows, sensitive values per group, and what the choice of groups may tell.",
            "families.sealed.auditor",
        ),
        "mirrored-exact": Entry(
            "families.sealed.release:MirroredExactRelease",
            "Exact rows, and values per group, from halves that could be exchanged.",
            "families.sealed.auditor",
        ),
        "synthetic": Entry(
            "families.privbayes.release:SyntheticRelease", "Synthetic rows.", "families.privbayes.auditor"
        ),
    },
    lambda release, entry: Format(release, f"{entry.auditor}:audit_{release.format.replace('-', '_')}"),
)
ATTACKS: Registry[Any] = Registry(
    "attacks",
    "adversary.attacks",
    {
        "beliefs": Entry("beliefs:Beliefs", "Guess what the release itself makes likeliest."),
        "similarity": Entry("similarity:Similarity", "Guess an interval, or a set of similar values."),
        "naive-bayes": Entry("naive_bayes:NaiveBayes", "Learn how single attributes predict the values, and multiply."),
        "definetti": Entry("definetti:DeFinetti", "Learn across groups who has which value of a group."),
        "trained": Entry("trained:Trained", "Gradient-boosted trees, trained on the release."),
        "corruption": Entry("corruption:Corruption", "Some people's values are known: what do they say of others?"),
        "background-join": Entry("background_join:BackgroundJoin", "A sensitive value that is known reveals another."),
        "composition": Entry("composition:Composition", "Several releases about the same people, taken together."),
        "intersection": Entry("intersection:Intersection", "The groups of several releases, intersected."),
        "minimality": Entry("minimality:Minimality", "Run the algorithm on tables that fit: which give this release?"),
        "presence": Entry("presence:Presence", "Guess who is in the table."),
        "corners": Entry("presence:Corners", "The same, by an attacker who knows that descriptions are tight."),
        "singling-out": Entry("singling_out:SinglingOut", "Write down conditions that fit exactly one person."),
    },
)
