"""Noisy counts [TABLE], [PLACE], [PART]: ``law`` and ``public_keys`` are trusted."""
