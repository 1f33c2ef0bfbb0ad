"""The policy language: YAML text → ``Policy``, and the project file.

tree        text → values with their line and column      scalars   what a plain word means
laws        what a law is; all problems of a mapping       fields    the laws of single values
models      the mappings of the policy, with *_models      resolve   document → Policy
loading     load_policy: the whole way, every problem at once
project     the project file, of `project_models`          accounts  the account that pays
"""
