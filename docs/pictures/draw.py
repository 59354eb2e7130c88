"""Draw the pictures of the documentation, from real releases of one small table: python docs/pictures/draw.py

Every scheme publishes the same 60 people (two numbers as quasi-identifiers, a disease), and what it publishes is drawn
over them. Draws are repeatable (``random_state``), so that the files are, too.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from canvas import GREY, INK, PALE, Canvas
from diagrams import decision, way
from people import DISEASES, JOBS, Person, crowd, table
from plots import (
    INCOMES,
    STRONG,
    Plane,
    around,
    bars,
    boxes,
    caption,
    legend,
    lists,
    mark,
    members,
    scale,
    steps,
    values,
)

import discreet as dc
from discreet.catalogue import SCHEMES
from discreet.schemes.described import narrow

HERE = Path(__file__).parent
PEOPLE = crowd()
WIDTH, HEIGHT = 520, 400
LOW, HIGH = (40, 46), (340, 326)
SIDE = (352, 62)


def publish(name: str, promise: str, *sensitive: str, people: list[Person] = PEOPLE, **options: object) -> dc.Release:
    """What a scheme publishes of the people, with the intervals that its groups have."""
    scheme = narrow(SCHEMES.get(name)(random_state=1, **options))
    return dc.publish(table(people, *(sensitive or ("disease",))), promise, scheme=scheme)


def sheet(title: str) -> Canvas:
    """An empty picture."""
    return Canvas(WIDTH, HEIGHT, title)


def grouped(
    name: str, promise: str, title: str, *lines: str, strong: tuple[int, ...] = (), **options: object
) -> Canvas:
    """Groups as boxes, and beside them the values of each; some may be pointed out, with their members."""
    release = publish(name, promise, **options)
    canvas, published = sheet(title), release.tables(True)["table"]
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    outlined, sets = boxes(published), members(release, PEOPLE)
    colours = dict(zip(strong, STRONG, strict=False))
    for group, box in sorted(outlined.items(), key=lambda item: -item[1].area):
        if strong:
            line, width, tint = (PALE, 0.8, 0.0) if group not in colours else (colours[group], 2.0, 0.08)
        else:
            line, width, tint = INK, 1.1, 0.08
        plane.box(box, "" if strong and group not in colours else str(group + 1), line, width, tint)
    for group, colour in colours.items():
        points = [plane.at(person) for person in sets[group]]
        centre = (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))
        for line_points in around(points, centre):
            canvas.line(line_points, colour, 1.3)
    plane.people(PEOPLE)
    plane.label()
    named = {str(group + 1): colour for group, colour in colours.items()}
    canvas.text((SIDE[0], 42), "group, its values", 12, GREY)
    step = min(18, 270 / len(outlined))
    lists(canvas, SIDE, values(published), WIDTH - SIDE[0], step, named)
    caption(canvas, *lines)
    return canvas


def cuts() -> Canvas:
    """Cuts of four kinds."""
    return grouped(
        "cuts",
        "beta-likeness(beta=0.5)",
        "Sixty people as dots, and small boxes over them, each with several diseases",
        "Cut while both halves keep the promise. A few rows change sides,",
        "so boxes are small, and some overlap.",
    )


def mondrian() -> Canvas:
    """Median cuts."""
    return grouped(
        "mondrian",
        "beta-likeness(beta=0.5)",
        "Sixty people as dots, and a few large boxes that do not overlap",
        "Cut at the median while both halves keep the promise: few boxes,",
        "none of which overlap.",
    )


def burel() -> Canvas:
    """Buckets along a Hilbert curve."""
    return grouped(
        "burel",
        "beta-likeness(beta=1)",
        "Sixty people as dots; two groups are marked, whose members are drawn from every bucket of diseases",
        "Every group draws from every bucket of diseases, so that shares are",
        "those of the table; it takes rows near each other where there are some.",
        strong=(1, 8),
    )


def sabre() -> Canvas:
    """Buckets by earth mover's distance."""
    return grouped(
        "sabre",
        "t-closeness(t=0.2)",
        "Sixty people as dots; two groups are marked, with nearly the shares of the whole table",
        "Every group has nearly the shares of the whole table; t says how far",
        "they may differ in all.",
        strong=(1, 8),
    )


def heterogeneous() -> Canvas:
    """Groups by matching."""
    return grouped(
        "heterogeneous",
        "l-diversity(l=3)",
        "Sixty people as dots; two groups are marked, each with one person of every bucket",
        "Rows of different buckets are matched at the least total cost; every",
        "group has one row of each bucket.",
        strong=(2, 11),
    )


def nh() -> Canvas:
    """The boxes around one person in a ring."""
    person, release = 17, publish("nh", "l-diversity(l=3)")
    canvas = sheet("Sixty people as dots, and the three boxes of a ring that are around one of them")
    plane, published = Plane(canvas, LOW, HIGH), release.tables(True)["table"]
    legend(canvas, (86, 26), DISEASES)
    outlined, chosen = boxes(published), release.trace[person].tolist()
    for box in outlined.values():
        plane.box(box, "", PALE, 0.6, 0.0)
    for group, colour in zip(chosen, [*STRONG, INK], strict=False):
        plane.box(outlined[group], str(group + 1), colour, 1.8, 0.06)
    plane.people(PEOPLE)
    canvas.circle(plane.at(PEOPLE[person]), 8.5, "none", INK, 1.6)
    plane.label()
    canvas.text((SIDE[0], 42), "row, its value", 12, GREY)
    named = {at: told for at, told in values(published).items() if int(at) - 1 in chosen}
    lists(canvas, SIDE, named, WIDTH - SIDE[0])
    caption(
        canvas,
        "Every row has a box of its own, around itself and those that follow it",
        "in a ring: three rows may be this person's.",
    )
    return canvas


def incognito() -> Canvas:
    """One level for all."""
    release = publish("incognito", "k-anonymity(k=3) & l-diversity(l=1.5)")
    canvas, published = (
        sheet("Sixty people on a grid: the same intervals of age and weight for everybody"),
        release.tables(True)["table"],
    )
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    outlined = boxes(published)
    for age in steps(box.ages for box in outlined.values()):
        canvas.line([(plane.x(age), LOW[1]), (plane.x(age), HIGH[1])], STRONG[0], 1.6)
    for weight in steps(box.weights for box in outlined.values()):
        canvas.line([(LOW[0], plane.y(weight)), (HIGH[0], plane.y(weight))], STRONG[0], 1.6)
    for group, box in outlined.items():
        plane.box(box, str(group + 1), GREY, 0.6, 0.06)
    plane.people(PEOPLE)
    plane.label()
    canvas.text((SIDE[0], 42), "group, its values", 12, GREY)
    lists(canvas, SIDE, values(published), WIDTH - SIDE[0], min(18, 270 / len(outlined)))
    caption(
        canvas, "One grid for everybody: every age and every weight is cut at the same", "places, wherever it occurs."
    )
    return canvas


def lifting() -> Canvas:
    """A tree of boxes."""
    release = publish("lifting", "beta-likeness(beta=0.5)")
    tables = release.tables(True)
    canvas = sheet("Nested boxes over sixty people; the rows of some are published under a larger box than their own")
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    outlined = boxes(tables["table"])
    persons = dict(zip(tables["nodes"]["group"].to_pylist(), tables["nodes"]["persons"].to_pylist(), strict=True))
    for group, box in sorted(outlined.items(), key=lambda item: -item[1].area):
        leaf = persons[group] > 0
        plane.box(box, "", INK if leaf else STRONG[0], 1.0 if leaf else 1.8, 0.1 if leaf else 0.05)
    lifted = _lifted(release)
    for person, above in zip(PEOPLE, lifted, strict=True):
        at = plane.at(person)
        if above:
            canvas.circle(at, 8, "#ffffff", STRONG[0], 1.8)
        mark(canvas, at, person.disease, 4.2)
    canvas.circle((SIDE[0] + 12, 70), 8, "#ffffff", STRONG[0], 1.8)
    canvas.text((SIDE[0] + 26, 67), "lifted: published", 12)
    canvas.text((SIDE[0] + 26, 82), "under a larger box", 12)
    canvas.rect((SIDE[0] + 4, 98), (SIDE[0] + 20, 112), "#fbeadf", STRONG[0], 1.8)
    canvas.text((SIDE[0] + 26, 109), "a larger box", 12)
    canvas.rect((SIDE[0] + 4, 122), (SIDE[0] + 20, 136), "#e9e9e9", INK, 1)
    canvas.text((SIDE[0] + 26, 133), "a leaf: a small box", 12)
    canvas.text((SIDE[0] + 4, 165), f"{sum(lifted)} of {len(PEOPLE)} rows lifted", 12)
    caption(canvas, "A few rows are published under a larger box, so that the boxes of all", "others can be small.")
    return canvas


def _lifted(release: dc.Release) -> list[bool]:
    """Whose row is published above the leaf: by the values that each node publishes, those of a leaf first."""
    tables = release.tables(True)
    left = Counter(zip(tables["table"]["group"].to_pylist(), tables["table"]["disease"].to_pylist(), strict=True))
    above = []
    for person, leaf in zip(PEOPLE, release.trace, strict=True):
        local = (int(leaf), person.disease)
        above.append(left[local] == 0)
        left[local] -= 1 if left[local] else 0
    return above


def anatomy() -> Canvas:
    """Exact rows, values by group."""
    release = publish("anatomy", "l-diversity(l=3)")
    tables = release.tables(True)
    canvas = sheet(
        "Sixty people at their exact places with the number of their group; beside them the diseases of each group"
    )
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    for person, group in sorted(zip(PEOPLE, release.trace, strict=True), key=lambda pair: pair[1] == 4):
        colour = STRONG[0] if group == 4 else GREY
        canvas.circle(plane.at(person), 7, "#ffffff", colour, 2 if group == 4 else 1)
        canvas.text((plane.at(person)[0], plane.at(person)[1] + 3.5), str(group + 1), 10, INK, "middle")
    canvas.text((SIDE[0], 42), "group, its values", 12, GREY)
    listed = values(tables["sensitive"])
    lists(canvas, (SIDE[0], 58), listed, WIDTH - SIDE[0], 270 / len(listed), {"5": STRONG[0]})
    caption(
        canvas,
        "Everybody's age and weight are exact. Who of a group has which of its",
        "diseases is not said: group 5 is marked.",
    )
    return canvas


def baseline() -> Canvas:
    """Exact rows, the values of all."""
    release = publish("baseline", "beta-likeness(beta=1)")
    sensitive = release.tables(True)["sensitive"]
    counts = dict(zip(sensitive["disease"].to_pylist(), sensitive["count"].to_pylist(), strict=True))
    canvas = sheet(
        "Sixty people at their exact places, all alike; beside them one bar with the diseases of the whole table"
    )
    plane = Plane(canvas, LOW, HIGH)
    for person in PEOPLE:
        canvas.circle(plane.at(person), 4.5, "#bbbbbb", GREY)
    canvas.text((SIDE[0] + 2, 62), "diseases of all 60", 13)
    bars(canvas, (SIDE[0] + 2, 72), {value: counts[value] for value in DISEASES}, 150, 22)
    for i, value in enumerate(DISEASES):
        mark(canvas, (SIDE[0] + 10, 116 + 22 * i), value, 5)
        canvas.text((SIDE[0] + 24, 120.5 + 22 * i), f"{value}: {counts[value]}", 13)
    caption(canvas, "Everybody's age and weight are exact; the diseases are counted for the", "whole table only.")
    return canvas


def ambiguity() -> Canvas:
    """A list for each attribute."""
    release = publish("ambiguity", "alpha-beta(alpha=0.3, beta=0.34)")
    tables = release.tables(True)
    canvas = sheet("For one group: its ages along one axis, its weights along the other, and all combinations of them")
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    sets = members(release, PEOPLE)
    shown = {each: {name: _listed(tables, name, each) for name in ("age", "weight")} for each in sets}
    group = max(sorted(sets), key=lambda each: min(b - a for row in shown[each].values() for a, b in pairwise(row)))
    lines = shown[group]
    for person in PEOPLE:
        canvas.circle(plane.at(person), 2.5, PALE)
    for age in lines["age"]:
        canvas.line([(plane.x(age), HIGH[1]), (plane.x(age), LOW[1])], STRONG[0], 0.8, stroke_dasharray="3 3")
        canvas.line([(plane.x(age), HIGH[1] + 5), (plane.x(age), HIGH[1] - 8)], STRONG[0], 3)
    for weight in lines["weight"]:
        canvas.line([(LOW[0], plane.y(weight)), (HIGH[0], plane.y(weight))], STRONG[0], 0.8, stroke_dasharray="3 3")
        canvas.line([(LOW[0] - 5, plane.y(weight)), (LOW[0] + 8, plane.y(weight))], STRONG[0], 3)
    for age in lines["age"]:
        for weight in lines["weight"]:
            canvas.circle((plane.x(age), plane.y(weight)), 6, "#ffffff", STRONG[0], 1.5)
    size, combinations = len(sets[group]), len(lines["age"]) * len(lines["weight"])
    for person in sets[group]:
        canvas.circle(plane.at(person), 2.6, STRONG[0])
    canvas.text((SIDE[0], 62), f"group {group + 1} of {len(sets)}", 13)
    lists(canvas, (SIDE[0], 82), {"": values(tables["sensitive"])[str(group + 1)]}, WIDTH - SIDE[0])
    for i, words in enumerate(
        (
            f"{len(lines['age'])} ages listed",
            f"{len(lines['weight'])} weights listed",
            f"{combinations} combinations,",
            f"{size} of them people",
        )
    ):
        canvas.text((SIDE[0], 114 + 19 * i), words, 13)
    caption(
        canvas,
        "A list for each attribute: any circle may be a person of the group.",
        "Which ones are (filled) is not said, and so who is in the table is not.",
    )
    return canvas


def _listed(tables: dict[str, object], name: str, group: int) -> list[float]:
    listed = tables[f"auxiliary_{name}"]
    pairs = zip(listed["group"].to_pylist(), listed[name].to_pylist(), strict=True)  # type: ignore[index]
    return sorted({float(value) for each, value in pairs if each == group})


def perturbation() -> Canvas:
    """Values randomised."""
    release = publish("perturbation", "beta-likeness(beta=1)")
    tables = release.tables(True)
    canvas = sheet("Sixty people at their exact places; those whose published disease is not their own are ringed")
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    changed = _published(plane, release, "disease")
    canvas.circle((SIDE[0] + 10, 62), 8, "none", STRONG[0], 2)
    canvas.text((SIDE[0] + 24, 66), "not the own value", 12)
    canvas.text((SIDE[0] + 4, 88), f"{changed} of {len(PEOPLE)} are changed", 12)
    matrix = tables["matrix"]
    canvas.text((SIDE[0] + 4, 126), "published with the rows:", 12, GREY)
    canvas.text((SIDE[0] + 4, 144), "how often a value", 12)
    canvas.text((SIDE[0] + 4, 159), "(left) becomes another", 12)
    for i, value in enumerate(DISEASES):
        mark(canvas, (SIDE[0] + 12, 197 + 26 * i), value, 5)
        mark(canvas, (SIDE[0] + 40 + 28 * i, 176), value, 5)
        for j, other in enumerate(DISEASES):
            chance = matrix[value].to_pylist()[matrix["published"].to_pylist().index(other)]
            corner = (SIDE[0] + 27 + 28 * j, 185 + 26 * i)
            canvas.rect(corner, (corner[0] + 27, corner[1] + 25), "#56b4e9", PALE, 0.8, fill_opacity=f"{chance:.2f}")
            canvas.text((corner[0] + 13.5, corner[1] + 17), f"{100 * chance:.0f}%", 10, INK, "middle")
    caption(
        canvas,
        "Ages and weights are exact; every disease is kept or changed by lot.",
        "The chances are published, so that counts can be corrected.",
    )
    return canvas


def retention() -> Canvas:
    """Numbers kept or redrawn."""
    release = publish("retention", "proximity(epsilon=2000, m=2)", "income", noise="prior")
    canvas = sheet("Sixty people at their exact places; those whose income was drawn anew are ringed")
    plane = Plane(canvas, LOW, HIGH)
    scale(canvas, (86, 26))
    changed = _published(plane, release, "income")
    kept = float(release.manifest["retention"]["probability"])
    canvas.circle((SIDE[0] + 10, 62), 8, "none", STRONG[0], 2)
    canvas.text((SIDE[0] + 24, 66), "not the own income", 12)
    canvas.text((SIDE[0] + 4, 88), f"{changed} of {len(PEOPLE)} are changed", 12)
    canvas.text((SIDE[0] + 4, 118), f"kept with {kept:.2f},", 12)
    canvas.text((SIDE[0] + 4, 134), "else drawn from all", 12)
    caption(
        canvas,
        "Ages and weights are exact; an income is kept, or drawn anew from all",
        "that occur. Nobody can tell which.",
    )
    return canvas


def _published(plane: Plane, release: dc.Release, attribute: str) -> int:
    """Draw everybody with the published value, ringed if it is not their own; returns how many are ringed."""
    published, changed = release.tables(True)["table"], 0
    rows = zip(*(published[name].to_pylist() for name in ("age", "weight", f"{attribute}_randomised")), strict=True)
    listed: dict[tuple[int, int], list[object]] = {}
    for age, weight, value in rows:
        listed.setdefault((age, weight), []).append(value)
    for person in PEOPLE:
        choices = listed[person.age, person.weight]
        own = getattr(person, attribute)
        value = choices.pop(choices.index(own)) if own in choices else choices.pop()
        if value != own:
            plane.canvas.circle(plane.at(person), 8.5, "#ffffff", STRONG[0], 2)
            changed += 1
        mark(plane.canvas, plane.at(person), value)
    return changed


def proximity() -> Canvas:
    """Numbers far from each other."""
    epsilon = 5000
    release = publish("proximity", f"proximity(epsilon={epsilon}, m=4)", "income")
    canvas, published = sheet("Boxes of people whose incomes are far from each other"), release.tables(True)["table"]
    plane = Plane(canvas, LOW, HIGH)
    scale(canvas, (86, 26))
    outlined, sets = boxes(published), members(release, PEOPLE)
    smallest = sorted(outlined, key=lambda group: outlined[group].area)
    colours = dict(zip((smallest[0], smallest[5]), STRONG, strict=True))
    for group, box in sorted(outlined.items(), key=lambda item: -item[1].area):
        strong = group in colours
        plane.box(
            box,
            str(group + 1) if strong else "",
            colours.get(group, PALE),
            2 if strong else 0.8,
            0.08 if strong else 0.0,
        )
    for group, colour in colours.items():
        points = [plane.at(person) for person in sets[group]]
        centre = (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))
        for line_points in around(points, centre):
            canvas.line(line_points, colour, 1.3)
    plane.people(PEOPLE, "income")
    plane.label()
    left, right = SIDE[0] + 22, WIDTH - 12
    canvas.text((SIDE[0], 42), "group, its incomes", 12, GREY)

    def place(income: float) -> float:
        return left + (income - INCOMES[0]) / (INCOMES[1] - INCOMES[0]) * (right - left)

    for i, group in enumerate(sorted(outlined)):
        y = 62 + i * min(18, 270 / len(outlined))
        canvas.text((SIDE[0] + 12, y + 4), str(group + 1), 11, colours.get(group, INK), "end")
        canvas.line([(left - 4, y), (right + 4, y)], PALE)
        for person in sets[group]:
            canvas.rect(
                (place(person.income - epsilon / 2), y - 4),
                (place(person.income + epsilon / 2), y + 4),
                "#56b4e9",
                "none",
                fill_opacity="0.45",
            )
            canvas.line([(place(person.income), y - 5), (place(person.income), y + 5)], INK, 1.4)
    caption(
        canvas,
        f"Incomes of a group are more than {epsilon} apart, so that nobody's can be",
        "guessed closely. (Bars are as wide as that.)",
    )
    return canvas


def codip() -> Canvas:
    """Two tables."""
    release = publish("codip", "l-diversity(l=2)", "disease", "job", exposure=0.0)
    canvas = sheet("Two tables of the same people, one with diseases and one with jobs, in different boxes")
    for part, (left, names, attribute) in enumerate(((40, DISEASES, "disease"), (290, JOBS, "job"))):
        name = next(name for name, each in release.tables(True).items() if attribute in each.column_names)
        plane = Plane(canvas, (left, 66), (left + 218, 300), labels=part == 0)
        canvas.text((left + 2, 22), f"{name}.csv: {attribute}", 13)
        legend(canvas, (14, 44) if part == 0 else (left + 8, 44), names, 66)
        for _, box in sorted(boxes(release.tables(True)[name]).items(), key=lambda item: -item[1].area):
            plane.box(box, "", INK, 1.0, 0.08)
        plane.people(PEOPLE, attribute, 3.8)
    caption(
        canvas,
        "Each sensitive attribute has a table with groups of its own: somebody's",
        "job, if it is known, does not lead to the row with the disease.",
    )
    return canvas


def privbayes() -> Canvas:
    """Synthetic rows."""
    release = publish("privbayes", "differential-privacy(epsilon=3)", domains="observed")
    published = release.tables(True)["table"]
    canvas = sheet("Synthetic rows in colour, beside the faint places of the people")
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    for person in PEOPLE:
        canvas.circle(plane.at(person), 4, "none", "#b5b5b5", 1.2)
    for age, weight, disease in zip(
        *(published[name].to_pylist() for name in ("age", "weight", "disease")), strict=True
    ):
        mark(canvas, (plane.x(age), plane.y(weight)), disease)
    canvas.circle((SIDE[0] + 10, 62), 4, "none", "#b5b5b5", 1.2)
    canvas.text((SIDE[0] + 24, 66), "a person (not", 12)
    canvas.text((SIDE[0] + 24, 81), "published)", 12)
    mark(canvas, (SIDE[0] + 10, 104), "flu")
    canvas.text((SIDE[0] + 24, 108), "a synthetic row", 12)
    caption(
        canvas,
        "Rows are drawn from a noisy model of the table. No row is anybody's,",
        "and one person more or less hardly changes the model.",
    )
    return canvas


def _sealed(name: str, promise: str, title: str, *lines: str) -> Canvas:
    """Boxes, and beside them what their choice may tell."""
    release = publish(name, promise)
    tables = release.tables(True)
    leakage = dict(zip(tables["seal"]["group"].to_pylist(), tables["seal"]["leakage"].to_pylist(), strict=True))
    canvas = sheet(title)
    plane = Plane(canvas, LOW, HIGH)
    legend(canvas, (86, 26), DISEASES)
    outlined = boxes(tables["table"])
    for group, box in sorted(outlined.items(), key=lambda item: -item[1].area):
        leaks = leakage[group] > 0
        plane.box(box, str(group + 1), STRONG[0] if leaks else INK, 2.0 if leaks else 1.1, 0.12 if leaks else 0.06)
    plane.people(PEOPLE)
    plane.label()
    canvas.text((SIDE[0], 42), "group, values, leakage", 12, GREY)
    listed = values(tables["table"])
    step = min(34, 270 / len(listed))
    lists(canvas, SIDE, listed, WIDTH - SIDE[0] - 34, step)
    for group in sorted(outlined):
        colour = STRONG[0] if leakage[group] > 0 else GREY
        canvas.text((WIDTH - 6, SIDE[1] + 4 + group * step), f"{leakage[group]:.2f}", 11, colour, "end")
    caption(canvas, *lines)
    return canvas


def sealed() -> Canvas:
    """Cuts with coins."""
    return _sealed(
        "sealed",
        "l-diversity(l=1.4)",
        "Boxes over sixty people, and for each what the choice of its cuts may tell",
        "A coin hides why a cut was not made. What a rejected cut may still",
        "tell about a group is stated: its leakage (orange).",
    )


def mirrored() -> Canvas:
    """Equal halves."""
    return _sealed(
        "mirrored",
        "l-diversity(l=1.8)",
        "Boxes over sixty people with equally many in each half, and leakage of nearly none",
        "Tested cuts make equal halves that could be exchanged, so a rejected",
        "one tells nothing: leakage is 0. A few rows stay behind, in groups of two.",
    )


PICTURES: dict[str, Callable[[], Canvas]] = {
    each.__name__: each
    for each in (
        cuts, mondrian, incognito, lifting, burel, sabre, heterogeneous, nh, sealed, mirrored, proximity, perturbation,
        retention, anatomy, baseline, ambiguity, codip, privbayes, way, decision,
    )
}  # fmt: skip


def main(folder: Path, names: list[str]) -> None:
    """Draw some pictures, or all, into a folder."""
    for name in names or PICTURES:
        PICTURES[name]().write(folder / f"{name}.svg")


if __name__ == "__main__":
    main(HERE, sys.argv[1:])
