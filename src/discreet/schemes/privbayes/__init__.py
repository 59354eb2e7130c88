"""PrivBayes: synthetic rows from a Bayesian network with noisy counts, under differential privacy."""
