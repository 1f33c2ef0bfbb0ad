"""The policy language: YAML text → ``Policy``, and the project file.

tree        text → values with their line and column      scalars   what a plain word means
fields      the laws of single values, from `laws`         models    the mappings of the file
hierarchy   CSV hierarchies                                resolve   document → Policy
loading     load_policy: the whole way, every problem at once
salvage     what a refused file still says of its source
accounts    is the account that pays one of the project's?  nearby    the file that was meant
"""
