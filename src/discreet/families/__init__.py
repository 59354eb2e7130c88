"""One folder per method: its scheme, what it publishes, what that says, its audit and its kernels.

A family imports the core and no other family. The catalogue names its classes, and the core imports none of them.
Each `__init__` says which paper a method is from, what it promises, what it publishes, and why that holds.
"""
