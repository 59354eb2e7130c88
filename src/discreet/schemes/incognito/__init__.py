"""Full-domain generalization: every quasi-identifier at one level of its hierarchy, the same for all rows."""
