"""All loops in C that the analysis of a page has, and how they are known to be right."""

from __future__ import annotations

from collections.abc import Callable

from qiaocrawl.extract.methods import compiled_features
from qiaocrawl.kernels.c_library import CLoops

C_LOOPS: tuple[tuple[CLoops, Callable[[], bool]], ...] = (
    (compiled_features.LOOPS, compiled_features.features_agree),
)
"""What to compile, each with a comparison to the same in Python."""


def make_c_loops() -> bool:
    """Compile all of them for this machine; False without a compiler.

    Raises:
        OSError: one cannot be kept or loaded, or computes something else.
        subprocess.SubprocessError: the compiler failed.
    """
    return all(loops.make(agree) for loops, agree in C_LOOPS)


def make_in_archive() -> None:
    """:func:`make_c_loops` in an egg, for which nobody runs ``qiaocrawl compile``."""
    for loops, agree in C_LOOPS:
        loops.make_in_archive(agree)
