"""Every algorithm by name, the paper's and those beside them, each as its difference from its parent.

Only here are names known.
"""

from chorus.config.catalogue import continuous, discrete  # noqa: F401 - they register the presets
