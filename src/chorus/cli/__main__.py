"""`python -m chorus.cli` is `chorus`."""

from chorus.cli.main import entry

entry()
