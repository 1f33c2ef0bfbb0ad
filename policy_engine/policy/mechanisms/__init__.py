"""Each mechanism in the language of policies: its keys, their laws, and what they mean."""
