"""What a relation is: where its rows come from, its names, and what each row stands for."""
