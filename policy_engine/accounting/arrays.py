"""numpy, which is imported when it is first used: it would slow the start of every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Floats", "Integers", "np"]


class _Numpy:
    def __getattr__(self, name: str) -> Any:
        import numpy

        return getattr(numpy, name)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
else:
    np, Floats, Integers = _Numpy(), "of types", "of types"
