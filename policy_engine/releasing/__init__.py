"""The life of a release: checked, previewed, paid for, drawn, published, settled after a crash."""
