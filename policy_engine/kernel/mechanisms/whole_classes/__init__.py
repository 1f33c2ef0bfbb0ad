"""Whole classes: k-anonymity as the lecture has it, a release that promises nothing."""
