"""How the attributes of the census table depend on each other.

Age, gender and race are independent. Education and marital status depend on age and gender; country of birth on race
and age; work class on age, gender and education; occupation on education, gender and work class. Salary and income
depend on age, gender, education, occupation and work class, with so much noise that these predict but do not determine
them.

Most functions return weights, with one distribution per condition along the last axis, or effects on a latent score.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from discreet.datasets import vocabulary as words

Weights = NDArray[np.float64]

AGES = np.arange(words.FIRST_AGE, words.LAST_AGE + 1, dtype=np.float64)
LEVELS = np.arange(1, words.EDUCATION_LEVELS + 1, dtype=np.float64)
# Education in five steps: no diploma, high school, some college, bachelor, postgraduate.
EDUCATION_STEP = np.repeat(np.arange(5, dtype=np.int32), [8, 2, 3, 1, 3])
# Age in three steps: below 25, 25 to 54, 55 and above.
AGE_STEP = np.digitize(AGES, [25, 55]).astype(np.int32)
ABROAD_FACTOR = (0.7, 1.2, 0.85)
WORK_EFFECT = np.array([0.0, -0.15, 0.3, 0.0, 0.0, 0.5, -0.1, -1.0, -0.8, -1.1])
NOISE = 1.15


def rises(x: Weights, middle: Weights | float, width: float) -> Weights:
    """Return a smooth step from 0 to 1 around ``middle`` (the logistic function)."""
    return np.asarray(1 / (1 + np.exp(np.clip((middle - x) / width, -500, 500))))


def age() -> Weights:
    """Weights of ages: fewer old people, a few more around forty."""
    return (1 - rises(AGES, 68, 8)) * (1 + 0.15 * np.exp(-(((AGES - 38) / 10) ** 2)))


def education() -> Weights:
    """Weights of education by age and gender: degrees need a minimum age, and older cohorts studied less."""
    common = [8, 8, 14, 20, 15, 20, 20, 20, 35, 250, 70, 150, 85, 180, 80, 13, 12]
    finished_at = np.array([8, 10, 12, 14, 15, 16, 17, 18, 19, 18.5, 19.5, 20.5, 21.5, 22.5, 25, 26, 28.5])
    done = rises(AGES[:, None] + 0.5, finished_at, 0.8)
    lean = np.where(AGES < 22, 0.8, -1.2 * np.maximum(AGES - 45, 0) / 45)
    women = np.where(AGES < 45, 0.15, np.where(AGES > 65, -0.2, 0.0))
    tilt = np.stack([lean + women, lean], axis=1)[:, :, None] * (LEVELS - 10) / 4
    return np.asarray(common * done[:, None, :] * np.exp(tilt))


def marital() -> Weights:
    """Weights of marital status by age and gender: women marry younger and outlive their husbands."""
    weights = []
    for marries_at, widowed_at, widowed_share in ((25.5, 76, 0.8), (27.5, 86, 0.7)):
        ever = 0.92 * rises(AGES, marries_at, 3.2)
        widowed = ever * widowed_share * rises(AGES, widowed_at, 7)
        parted = (ever - widowed) * rises(AGES, 30, 5)
        divorced, separated, absent = 0.19 * parted, 0.03 * parted, 0.03 * ever
        present = ever - widowed - divorced - separated - absent
        weights.append(np.stack([present, absent, separated, divorced, widowed, 1 - ever], axis=1))
    return np.maximum(np.stack(weights, axis=1), 1e-4)


def country() -> Weights:
    """Weights of the country of birth by race and step of age: the United States, or countries typical of the race."""
    places = list(chain.from_iterable(words.COUNTRY.values()))
    weights = []
    for race, (here, continents) in words.BIRTHPLACE.items():
        factors = words.BIRTHPLACE_FACTORS.get(race, {})
        abroad = []
        for share, (continent, names) in zip(continents, words.COUNTRY.items(), strict=True):
            shift = continent == "North America"  # the United States are listed first, and not abroad
            rank = np.maximum(np.arange(len(names)) + 1.0 - shift, 1)
            part = rank**-1.2 * [factors.get(name, 1.0) for name in names]
            part[0] *= not shift
            abroad.append((share + 2e-3) * part / part.sum())
        away = np.concatenate(abroad)
        home = np.array([place == "United States" for place in places])
        for factor in ABROAD_FACTOR:
            leave = (1 - here) * factor
            weights.append((1 - leave) * home + leave * away / away.sum())
    return np.array(weights).reshape(len(words.BIRTHPLACE), len(ABROAD_FACTOR), -1)


def work_class() -> Weights:
    """Weights of work class by age, gender and step of education: whether people work, and for whom."""
    step = np.arange(5.0)
    active = rises(AGES, 17.5, 2.5) * (1 - 0.96 * rises(AGES, 64.5, 3.5))
    part = active[:, None, None] * np.array([0.82, 0.95])[:, None] * (0.82 + 0.04 * step)
    ripe = rises(AGES, 38, 10)[:, None, None]
    shape = np.ones_like(part)
    employers = [
        *(0.70 - 0.07 * step, 0.04 + 0.02 * step),  # company, non-profit
        *(0.02 + 0.01 * step, 0.03 + 0.025 * step, 0.05 + 0.025 * step),  # federal, state, local
        *((0.02 + 0.015 * step) * ripe, 0.12 * ripe, 0.01),  # incorporated, unincorporated, family
    ]
    seeking = part * (0.10 - 0.02 * step) * (1.6 - ripe)
    at_work = np.stack([shape * employer for employer in employers], axis=-1)
    at_work *= (part - seeking)[..., None] / at_work.sum(axis=-1, keepdims=True)
    return np.concatenate([at_work, seeking[..., None], 1 - part[..., None]], axis=-1)


def occupation() -> Weights:
    """Weights of occupation by education, gender and work class; people without work name their last occupation."""
    share, usual, man = (np.array(column) for column in list(zip(*words.occupations(), strict=True))[2:5])
    fit = np.exp(-np.abs(LEVELS[:, None] - usual) / 2.2) + 0.04
    gender = np.stack([rises(-man, 0, 1), rises(man, 0, 1)])
    by_sector = {
        "government": [0.35] * 2 + [6.0] * 3 + [0.05] * 3 + [1.0] * 2,
        "business": [0.7] * 2 + [0.3] * 3 + [4.0] * 3 + [1.0] * 2,
        "": [1.0] * 2 + [0.7] * 3 + [0.5] * 3 + [1.0] * 2,
    }
    work = np.array([by_sector[job.sector] for job in words.occupations()]).T
    return np.asarray(share * fit[:, None, None] * gender[:, None] * work)


@cache
def score_by_person() -> NDArray[np.float32]:
    """Effect of age, education and gender on the salary score: it rises with education, and with age up to fifty."""
    hump = -(((AGES - 50) / 24) ** 2)
    by_education = 0.15 * (LEVELS - 10)
    total = hump[:, None, None] + by_education[:, None] + np.array([-0.15, 0.15])
    return np.asarray(total, dtype=np.float32)


@cache
def score_by_job() -> NDArray[np.float32]:
    """Effect of occupation and work class on the salary score."""
    usual = np.array([job.education for job in words.occupations()])
    return np.asarray(0.08 * (usual - 11)[:, None] + WORK_EFFECT, dtype=np.float32)


@cache
def no_income() -> Weights:
    """Probability of having no income at all, by salary class."""
    return 0.97 * (1 - rises(np.arange(50.0), 4.3, 0.8))


@cache
def usual_income() -> NDArray[np.float32]:
    """Typical income by salary class in dollars a year, growing by a constant factor per class."""
    return np.geomspace(9_000, 260_000, 50).astype(np.float32)
