"""Signed certificates: written, opened, and checked against a release, offline."""
