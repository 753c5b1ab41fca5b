"""Networks that fork: a shared trunk, N members, H heads each."""
