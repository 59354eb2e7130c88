"""The worked examples of the papers that concern promises, with their numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.principles import BetaLikeness, DeltaDisclosure, KAnonymity, LDiversity, Prior, TCloseness
from discreet.table.hierarchy import Hierarchy
from naive import principles as naive


def prior_of(*counts, values=None, kind="categorical", hierarchy=None):
    return Prior(np.array(counts), values or tuple(f"v{i}" for i in range(len(counts))), kind, hierarchy)


DISEASES = ("headache", "epilepsy", "brain tumors", "anemia", "angina", "heart murmur")
FIGURE_1 = Hierarchy(
    "disease",
    (DISEASES, ("nervous diseases", "circulatory diseases"), ("*",)),
    np.array([[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]], dtype=np.int32),
)
TABLE_1 = prior_of(1, 1, 1, 1, 1, 1, values=DISEASES, hierarchy=FIGURE_1)


class TestBetaLikenessPaper:
    """Publishing Microdata with a Robust Privacy Guarantee."""

    def test_section_2_skewness_attack(self):
        """A 10-diverse group in which HIV is 100 times as likely as in the whole table."""
        prior = prior_of(1, *[111] * 9, values=("HIV", *(f"v{i}" for i in range(9))))
        group = np.ones((1, 10), dtype=int)
        for kind in ("distinct", "frequency", "entropy"):
            assert LDiversity(10, kind).holds(group, prior).all()
        assert BetaLikeness(1, "basic").achieved(group, prior) == pytest.approx(99.0)
        assert not BetaLikeness(5).holds(group, prior).any()

    def test_section_2_similarity_attack(self):
        """Three different diseases, all of them nervous: 3-diverse, and betrayed by the hierarchy."""
        groups = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]
        assert LDiversity(3).holds(groups, TABLE_1).all()
        assert LDiversity(3, "distinct").achieved(groups, TABLE_1) == 3
        assert BetaLikeness(1).holds(groups, TABLE_1).all()
        semantic = BetaLikeness(1, level=1)
        assert not semantic.holds(groups, TABLE_1).any()
        assert semantic.explain(groups[0], TABLE_1) == (
            "'nervous diseases' makes up 100.0 % of this group of 3 rows (3 rows); at most 84.7 % (2 rows) is allowed, "
            "because it is 50.0 % of the whole table."
        )

    @pytest.mark.parametrize(
        ("prior", "group", "distance", "gain"),
        [((40, 60), (50, 50), 0.1, 0.25), ((1, 99), (11, 89), 0.1, 10.0), ((1, 99), (3, 97), 0.02, 2.0)],
    )
    def test_section_2_distance_and_gain(self, prior, group, distance, gain):
        """The same distance, 0.1, and gains on HIV of 25 % and 1000 %; and a smaller distance with a gain of 200 %."""
        whole = prior_of(*prior, values=("HIV", "flu"))
        assert TCloseness(0.1).holds([group], whole).all()
        assert TCloseness(0.1).achieved([group], whole) == pytest.approx(distance)
        assert naive.emd(group, prior, naive.equal) == pytest.approx(distance)
        assert BetaLikeness(1, "basic").achieved([group], whole) == pytest.approx(gain)

    def test_section_2_divergences(self):
        """Divergences (in bits) call the gain of 200 % less than the gain of 25 %."""
        assert naive.kullback_leibler((0.4, 0.6), (0.5, 0.5)) == pytest.approx(0.0290, abs=5e-5)
        assert naive.jensen_shannon((0.4, 0.6), (0.5, 0.5)) == pytest.approx(0.0073, abs=5e-5)
        assert naive.kullback_leibler((0.01, 0.99), (0.03, 0.97)) == pytest.approx(0.0133, abs=5e-5)
        assert naive.jensen_shannon((0.01, 0.99), (0.03, 0.97)) == pytest.approx(0.0038, abs=5e-5)

    @pytest.mark.parametrize(("p", "q", "gain"), [(60, 80, 0.33), (1, 21, 20.0)])
    def test_section_2_absolute_gain(self, p, q, gain):
        """20 percentage points are a gain of 33 % or of 2000 %."""
        achieved = BetaLikeness(1, "basic").achieved([[q, 100 - q]], prior_of(p, 100 - p))
        assert achieved == pytest.approx(gain, abs=0.005)

    def test_section_2_delta_disclosure(self):
        """It needs every value in every group, and lets a frequent value come close to certainty."""
        prior = prior_of(60, 40)
        assert not DeltaDisclosure(10).holds([[1, 0]], prior).any()
        assert DeltaDisclosure(4).holds([[99, 1]], prior).all()
        assert not BetaLikeness(4).holds([[99, 1]], prior).any()
        assert BetaLikeness(4).holds([[0, 1], [90, 10]], prior).tolist() == [False, True]

    def test_section_3_equation_1(self):
        """f grows without a jump from f(0) = 0 to f(1) = 1, and bends where p = exp(-beta)."""
        counts = np.arange(1, 1000)
        for beta in (1.0, 2.0, 4.0):
            f = [float(BetaLikeness(beta).caps(prior_of(c, 1000 - c))[0]) for c in counts]
            assert np.all(np.diff(f) > 0) and max(f) < 1.0 and np.max(np.diff(f)) < (1 + beta) / 999
            linear = counts / 1000 <= math.exp(-beta)
            assert np.allclose(np.array(f)[linear], (1 + beta) * counts[linear] / 1000)
        assert BetaLikeness(4).caps(prior_of(7, 0)).tolist() == [1.0, 0.0]

    def test_section_3_basic_lets_frequent_values_become_certain(self):
        prior = prior_of(40, 60)
        assert BetaLikeness(2, "basic").holds([[5, 0]], prior).all()
        assert not BetaLikeness(2, "enhanced").holds([[5, 0]], prior).any()

    def test_example_1(self):
        """One group of all six patients tells nothing; two, each with one row of every bucket, need beta >= 1."""
        assert BetaLikeness(1).achieved([[1] * 6], TABLE_1) == 0.0
        two = [[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]]
        assert BetaLikeness(1).achieved(two, TABLE_1) == pytest.approx(1.0)
        assert BetaLikeness(1).holds(two, TABLE_1).all()
        assert not BetaLikeness(0.99).holds(two, TABLE_1).any()

    def test_example_2(self):
        prior = prior_of(2, 3, 3, 3, 4, 4, values=DISEASES)
        promise = BetaLikeness(2)
        # the paper cuts 6/19 = 0.3158 off to 0.31, and rounds the others
        assert promise.caps(prior) == pytest.approx([0.3158, 0.45, 0.45, 0.45, 0.54, 0.54], abs=0.005)
        assert math.floor(promise.caps(prior)[0] * 100) / 100 == 0.31
        buckets = promise.buckets(prior)
        assert [{DISEASES[i] for i in np.flatnonzero(buckets == b)} for b in range(3)] == [
            {"headache", "epilepsy"},
            {"brain tumors", "anemia"},
            {"angina", "heart murmur"},
        ]
        assert buckets.max() == 2
        # the split that the example refuses, [2, 2, 2]: two rows of headache would be 2/6 > 0.31
        assert not promise.holds([[2, 0, 2, 0, 2, 0]], prior).any()
        # the leaves of the tree keep the promise whichever rows they draw from a bucket; here, the rarest values
        assert promise.holds([[1, 0, 1, 0, 2, 0], [1, 0, 2, 0, 2, 0], [2, 1, 3, 0, 4, 0]], prior).all()

    def test_section_6_caps(self):
        """The most frequent salary class holds 4.8402 %: at most 9.7 % of a group with beta = 1, under 20 % with 4."""
        prior = prior_of(48402, 951598)
        assert BetaLikeness(1).caps(prior)[0] == pytest.approx(0.097, abs=5e-4)
        assert BetaLikeness(4).caps(prior)[0] < 0.20
        assert BetaLikeness(4).caps(prior_of(5, 95))[0] < 0.20
        assert math.exp(-1) == pytest.approx(0.37, abs=0.005) and math.exp(-4) == pytest.approx(0.018, abs=5e-4)

    def test_section_7_bounds_what_naive_bayes_learns(self):
        """Pr[t | v] <= (1 + min(beta, -ln p)) Pr[t]: the rows of any groups together keep each value's cap."""
        prior = prior_of(10, 20, 70)
        groups = np.array([[2, 3, 5], [1, 4, 15], [3, 1, 11], [4, 12, 39]])
        promise = BetaLikeness(2)
        assert groups.sum(axis=0).tolist() == prior.counts.tolist() and promise.holds(groups, prior).all()
        for chosen in ([0], [0, 1], [0, 2], [1, 2, 3]):
            some = groups[chosen].sum(axis=0)
            given = some / prior.counts  # Pr[t | v], for a QI value t that just these groups hold
            allowed = promise.caps(prior) / prior.frequencies * some.sum() / prior.rows
            assert np.all(given <= allowed + 1e-12)


class TestCodipPaper:
    """CODIP, Example 1: three sensitive attributes of four patients, grouped in pairs."""

    def judge(self, table, attribute):
        column = {
            "diagnosis": ("HT", "HT", "DB", "AS"),
            "family history": ("HT", "DB", "HT", "AS"),
            "job": ("teacher", "lawyer", "farmer", "teacher"),
        }[attribute]
        pairs = {"b": ((0, 1), (2, 3)), "c": ((0, 2), (1, 3)), "d": ((0, 3), (1, 2))}[table]
        values = tuple(sorted(set(column)))
        codes = np.array([values.index(value) for value in column])
        prior = prior_of(*np.bincount(codes), values=values)
        groups = np.array([np.bincount(codes[list(rows)], minlength=len(values)) for rows in pairs])
        return groups, prior

    @pytest.mark.parametrize("table", ["c", "d"])
    def test_diagnosis_alone(self, table):
        groups, prior = self.judge(table, "diagnosis")
        assert KAnonymity(2).holds(groups, prior).all()
        assert LDiversity(2, "distinct").holds(groups, prior).all()
        assert TCloseness(0.25).holds(groups, prior).all()
        assert TCloseness(0.25).achieved(groups, prior) == pytest.approx(0.25)

    @pytest.mark.parametrize(("table", "attribute"), [("b", "diagnosis"), ("c", "family history"), ("d", "job")])
    def test_every_table_betrays_one_attribute(self, table, attribute):
        groups, prior = self.judge(table, attribute)
        assert LDiversity(2, "distinct").achieved(groups, prior) == 1
        assert TCloseness(0.25).achieved(groups, prior) == pytest.approx(0.5)


class TestProximityPaper:
    """Preservation of Proximity Privacy in Publishing Numerical Sensitive Data."""

    def test_section_3_1_distance_does_not_see_proximity(self):
        """{1, 3, 5000} and {2, 4000, 6000} are equally far from the table, though 1 and 3 betray each other."""
        prior = prior_of(1, 1, 1, 1, 1, 1, values=("1", "2", "3", "4000", "5000", "6000"), kind="numeric")
        groups = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]])
        assert TCloseness(0.1, "ordered").distances(groups, prior) == pytest.approx([0.1, 0.1])
        assert TCloseness(0.1, "ordered").holds(groups, prior).all()
        assert [naive.emd(g, prior.counts, naive.ordered(prior.counts)) for g in groups] == pytest.approx([0.1, 0.1])


class TestHeterogeneousPaper:
    """One-off Disclosure Control by Heterogeneous Generalization."""

    def test_eligibility(self):
        """Six rows with the values a, a, b, b, c, d are 3-eligible."""
        reach = LDiversity(3).reachable(prior_of(2, 2, 1, 1, values=tuple("abcd")))
        assert reach.feasible and reach.strongest == pytest.approx(3.0)

    def test_theorem_4(self):
        """When beta >= max p / min p - 1, l-diversity with l = 1 / ((1 + beta) min p) gives basic beta-likeness."""
        prior = prior_of(6, 7, 12)
        beta = 12 / 6 - 1
        diverse, alike = LDiversity(1 / ((1 + beta) * 6 / 25)), BetaLikeness(beta, "basic")
        assert diverse.reachable(prior).feasible
        assert not LDiversity(1 / ((1 + beta - 0.1) * 6 / 25)).reachable(prior).feasible
        groups = np.stack(np.meshgrid(*[np.arange(13)] * 3), axis=-1).reshape(-1, 3)[1:]
        kept = diverse.holds(groups, prior)
        assert kept.any() and alike.holds(groups[kept], prior).all()
