"""Which runs answer which question: studies of the paper, sweeps, the demo, the diagnosis."""
