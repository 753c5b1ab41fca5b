"""`python -m chorus` is `chorus`: it imports nothing from the working folder, which Python puts on its path."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from chorus.cli.main import entry

entry()
