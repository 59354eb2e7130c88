"""The experiments of five papers, a file for each paper: what it measured, what it found, and whether that holds here.

experiment   an experiment: design, axes, the finding, and how it is judged
claims       findings as functions of measurements: a verdict with its figures and one sentence
ground       what experiments stand on: tables, by rows and seed, and workloads on them
method       the schemes that are compared: the papers' with the papers' settings, ours under their own names
registry     all experiments by name
run          measures, resumes what was interrupted, and writes results
results      a result as JSON and Parquet
pictures     results as plots, as a page, and as Markdown
beta_likeness, proximity, ambiguity, heterogeneous, codip
"""
