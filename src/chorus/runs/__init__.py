"""One run: assembly, start and resume, runtime, run directory, the one reader of run logs."""
