"""Many runs: jobs, the grid, costs, engines."""
