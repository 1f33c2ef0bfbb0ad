"""Numbers only: what a release of the certified mechanism costs, and solving for k, β, ε or δ."""
