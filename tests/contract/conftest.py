"""The PostgreSQL server of the ledger's tests."""

from postgres import postgres

__all__ = ["postgres"]
