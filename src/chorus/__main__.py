"""`python -m chorus` is `chorus`."""

from chorus.cli.main import entry

entry()
