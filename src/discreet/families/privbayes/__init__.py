"""PrivBayes: synthetic rows under differential privacy.

Jun Zhang, Graham Cormode, Cecilia M. Procopiuc, Divesh Srivastava and Xiaokui Xiao: "PrivBayes: Private Data Release
via Bayesian Networks". SIGMOD, 2014.

The promise: ``differential-privacy``.
What is published: rows drawn from a model of the table (a synthetic release).
Why it holds: the network is chosen, and its counts are published, with exact noise; rows are drawn from these alone.

    cells                  the values that a row may have
    chance                 noise and choices with exact probabilities
    network                the network, its noisy counts, its rows
    scheme                 the three in turn
    release, auditor       the rows, and what an audit can see of them
"""
