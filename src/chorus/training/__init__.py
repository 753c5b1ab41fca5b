"""The machinery around any agent: acting, the loop, evaluation, checkpoints, the run directory, logs."""
