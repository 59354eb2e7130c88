"""The diagrams of the landing page and of the choice of a promise: boxes of words, and arrows."""

from __future__ import annotations

from canvas import GREY, INK, Canvas, Point

BLUE, ORANGE, GREEN = ("#e8f1f8", "#0072b2"), ("#fdf3e0", "#b87a00"), ("#e6f4ef", "#007a58")
MONO = "ui-monospace, 'DejaVu Sans Mono', monospace"


def way() -> Canvas:
    """The way that data takes: a table, a scheme under a promise, a release, and what is done with it."""
    title = "A table goes through a scheme, which keeps a promise, and becomes a release, audited and attacked"
    canvas = Canvas(440, 400, title)
    _box(canvas, (20, 12), (210, 82), ("table", "people, attributes,"), "hierarchies", BLUE)
    _box(canvas, (20, 122), (210, 192), ("scheme", "makes groups, noise,"), "or synthetic rows", ORANGE)
    _box(canvas, (262, 128), (424, 186), ("promise", "what may be learnt"), "", ORANGE)
    _box(canvas, (20, 232), (210, 302), ("release", "files that leave"), "the house", GREEN)
    canvas.arrow([(115, 82), (115, 121)])
    canvas.arrow([(262, 157), (211, 157)])
    canvas.arrow([(115, 192), (115, 231)])
    for x, name, words in (
        (20, "query", "how many ...?"),
        (162, "audit", "does it hold?"),
        (304, "attack", "what is left?"),
    ):
        _box(canvas, (x, 330), (x + 120, 388), (name, words), "", BLUE)
        canvas.arrow(
            [(115, 302), (115, 315), (x + 60, 315), (x + 60, 329)] if name != "query" else [(80, 302), (80, 329)]
        )
    canvas.line([(210, 47), (434, 47), (434, 264)], GREY, 1.2, stroke_dasharray="4 4")
    canvas.line([(434, 264), (434, 290), (240, 290)], GREY, 1.2, stroke_dasharray="4 4")
    canvas.arrow([(240, 290), (240, 329)], GREY, 1.2)
    canvas.arrow([(382, 290), (382, 329)], GREY, 1.2)
    canvas.text((226, 38), "the original, kept inside,", 13, GREY)
    canvas.text((226, 64), "to audit and attack", 13, GREY)
    return canvas


QUESTIONS = (
    (("Must it stay hidden", "who is in the table?"), "alpha-beta", "ambiguity, cuts"),
    (("Are synthetic rows", "enough?"), "differential-privacy", "privbayes"),
    (("Is the sensitive attribute", "a number, and near", "numbers as bad?"), "proximity", "proximity, retention"),
    (("Could one known value", "of a person lead", "to another?"), "any, per attribute", "codip"),
    (("Does the attacker know", "the algorithm?"), "beta-likeness, l-diversity", "sealed, mirrored"),
    (("Do analysts need exact", "quasi-identifiers?"), "beta-likeness; l-diversity", "perturbation; anatomy"),
    (("Must every value be cut", "the same way everywhere?"), "any about groups", "incognito"),
)


def decision() -> Canvas:
    """Which promise and which scheme: a question after the other."""
    step, top = 86, 40
    canvas = Canvas(
        520,
        top + step * len(QUESTIONS) + 78,
        "Questions about the table, each with the promise and the schemes that answer it",
    )
    canvas.text((128, 24), "ask from top to bottom", 13, GREY, "middle")
    canvas.text((396, 17), "promise", 13, INK, "middle", font_weight="bold")
    canvas.text((396, 32), "scheme", 13, GREEN[1], "middle", font_family=MONO)
    for i, (words, promise, scheme) in enumerate(QUESTIONS):
        y = top + i * step
        canvas.rect((14, y), (242, y + 62), BLUE[0], BLUE[1], 1.2, rx=8)
        for j, line in enumerate(words):
            canvas.text((128, y + 36 + 17 * (j - (len(words) - 1) / 2)), line, 14, INK, "middle")
        _leaf(canvas, y, promise, scheme)
        canvas.arrow([(242, y + 31), (287, y + 31)])
        canvas.text((262, y + 25), "yes", 12, GREY, "middle")
        canvas.arrow([(128, y + 62), (128, y + step - 1)])
        canvas.text((134, y + 78), "no", 12, GREY)
    y = top + len(QUESTIONS) * step
    canvas.rect((14, y), (242, y + 62), ORANGE[0], ORANGE[1], 1.2, rx=8)
    canvas.text((128, y + 27), "The usual case:", 14, INK, "middle")
    canvas.text((128, y + 45), "a category, boxes are fine", 14, INK, "middle")
    _leaf(canvas, y, "beta-likeness", "cuts, lifting")
    canvas.arrow([(242, y + 31), (287, y + 31)])
    return canvas


def _leaf(canvas: Canvas, y: float, promise: str, scheme: str) -> None:
    canvas.rect((288, y + 6), (506, y + 56), GREEN[0], GREEN[1], 1.2, rx=8)
    canvas.text((397, y + 27), promise, 14, INK, "middle", font_weight="bold")
    canvas.text((397, y + 46), scheme, 14, GREEN[1], "middle", font_family=MONO)


def _box(canvas: Canvas, low: Point, high: Point, words: tuple[str, str], more: str, colours: tuple[str, str]) -> None:
    canvas.rect(low, high, colours[0], colours[1], 1.4, rx=8)
    middle = (low[0] + high[0]) / 2
    canvas.text((middle, low[1] + 24), words[0], 16, INK, "middle", font_weight="bold")
    canvas.text((middle, low[1] + 43), words[1], 13, INK, "middle")
    if more:
        canvas.text((middle, low[1] + 58), more, 13, INK, "middle")
