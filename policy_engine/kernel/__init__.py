"""The kernel: a claim, the one text that it prints, and the certificate of that text.

It reads no SQL. A ``Claim`` says what a release is; ``printed`` is its one text on an engine; a
text is certified if and only if it is that text, token for token. What it rests on is this folder,
``engines/``, ``sql_templates/`` and ``accounting/``, with jinja2 alone.
"""
