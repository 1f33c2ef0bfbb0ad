"""The second route to a δ: by brute force, and by code that knows nothing of the accountant."""
