"""Choosing what nobody should have to guess: hierarchies, recodings, bounds."""
