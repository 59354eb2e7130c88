"""An example plug-in: a principle, two schemes, a format with its auditor, and an attack, each as small as can be."""
