"""A report in the forms of others: what they ask for and nobody stated is named, not made up."""
