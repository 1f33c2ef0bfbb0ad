"""The mechanisms: each one file, its law and what it certifies, and one template.

A law has a ``template``, the ``check`` of what a claim of it must be, and the ``values`` that its
template is given besides a claim's own.
"""

from policy_engine.kernel.mechanisms.sampled_suppression import Keyed, Native, Secret

__all__ = ["Keyed", "Law", "Native", "Secret"]

Law = Keyed | Native
