"""Connections to warehouses, and the drawing of samples."""
