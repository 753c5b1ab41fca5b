"""Everything around an agent: acting, the loop, evaluation policies, evaluation, diagnostics, checkpoints."""
