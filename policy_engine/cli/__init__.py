"""The command line; thin: every command is a call that returns a value."""
