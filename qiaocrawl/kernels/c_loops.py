"""Functions in C that do what others in Python do, and are compared with them before use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from subprocess import SubprocessError
from typing import Any

from qiaocrawl.kernels.c_library import CLibrary


class CLoops:
    """The functions of one C source, for callers who have the same in Python.

    Args:
        library: compiles and loads the source.
        signatures: of each function, by its name, the ``ctypes`` types of result and arguments.
    """

    def __init__(self, library: CLibrary, signatures: Mapping[str, tuple[Any, ...]]) -> None:
        self.library = library
        self._signatures = signatures
        self._functions: dict[str, Any] | None = None

    def function(self, name: str) -> Any:
        """The function of that name; None where ``qiaocrawl compile`` has made none."""
        if self._functions is None:
            self._functions = self._loaded()
        return self._functions.get(name)

    def make(self, agree: Callable[[], bool]) -> bool:
        """Compile them for this machine; False without a compiler.

        Args:
            agree: whether they compute, on some example, what Python does.

        Raises:
            OSError: they cannot be kept or loaded, or compute something else.
            subprocess.SubprocessError: the compiler failed.
        """
        path = self.library.make()
        if path is None:
            return False
        self._functions = self._loaded()
        if not self._functions or not agree():
            path.unlink(missing_ok=True)
            self._functions = {}
            raise OSError(f"{path.name} does not compute what Python does, and was deleted")
        return True

    def make_in_archive(self, agree: Callable[[], bool]) -> None:
        """:meth:`make` in an egg: a second, once for each version on a machine."""
        if self.library.is_in_archive and not self._loaded():
            # Without them Python does the same.
            with suppress(OSError, SubprocessError):
                self.make(agree)

    def _loaded(self) -> dict[str, Any]:
        library = self.library.loaded()
        if library is None:
            return {}
        functions = {}
        for name, (result, *arguments) in self._signatures.items():
            function = functions[name] = library[name]
            function.restype, function.argtypes = result, arguments
        return functions
