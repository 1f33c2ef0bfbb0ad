"""What a table risks and what it keeps: the syntactic models, risks and utility, and no (ε, δ)."""
