"""discreet publishes microdata so that what it says about any one person's sensitive value is bounded.

>>> import discreet as dc
>>> from discreet.datasets import patients
>>> release = dc.publish(patients(), dc.BetaLikeness(2))
>>> release.withheld
0
"""

# The stub beside this file lists every public name and its home. Nothing is imported before it is used, so that
# `discreet --help` stays quick.

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
