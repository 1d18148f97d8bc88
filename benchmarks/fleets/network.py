"""Members of a cluster as machines with networks of their own, whose cables can be pulled.

Each member is in a network namespace with two interfaces: one leads to the collectors on this
machine, the other to a bridge that joins the members. A member that is cut off has lost the second
one, as when a switch fails: packets are gone, and its own collectors still reach it.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


class NoNetworkError(Exception):
    """This account may not make networks."""


class ClusterNetwork:
    """The names and addresses of *size* members; made by :func:`cluster_network`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._name = f"qf{os.getpid()}"
        # 198.18.0.0/15 is set aside for measurements (RFC 2544): nothing real has it.
        self._subnet = random.SystemRandom().randrange(256)

    def office(self, number: int) -> str:
        """The address at which collectors reach a member."""
        return f"198.18.{self._subnet}.{4 * number + 2}"

    def cluster(self, number: int) -> str:
        """The address at which the other members reach it."""
        return f"198.19.{self._subnet}.{number + 1}"

    def inside(self, number: int) -> list[str]:
        """What a command begins with that runs as that machine."""
        return ["ip", "netns", "exec", self._space(number)]

    def cut(self, number: int) -> None:
        """Pull the cable between a member and the others."""
        _ip("link", "set", self._cable(number), "down")

    def join(self, number: int) -> None:
        """Put it back."""
        _ip("link", "set", self._cable(number), "up")

    def make(self, undo: ExitStack) -> None:
        """Make all of it; *undo* takes it away again."""
        _ip("link", "add", "name", self._bridge, "type", "bridge")
        undo.callback(_ip, "link", "del", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for number in range(self.size):
            self._make_member(number, undo)

    def _make_member(self, number: int, undo: ExitStack) -> None:
        space, cable, line = self._space(number), self._cable(number), self._line(number)
        _ip("netns", "add", space)
        # Its ends of the cables go with it.
        undo.callback(_ip, "netns", "del", space)
        _ip("link", "add", cable, "type", "veth", "peer", "name", "cluster", "netns", space)
        _ip("link", "set", cable, "master", self._bridge, "up")
        _ip("link", "add", line, "type", "veth", "peer", "name", "office", "netns", space)
        _ip("addr", "add", f"198.18.{self._subnet}.{4 * number + 1}/30", "dev", line)
        _ip("link", "set", line, "up")
        within = ("-n", space)
        _ip(*within, "addr", "add", f"{self.office(number)}/30", "dev", "office")
        _ip(*within, "addr", "add", f"{self.cluster(number)}/24", "dev", "cluster")
        for interface in ("lo", "office", "cluster"):
            _ip(*within, "link", "set", interface, "up")

    @property
    def _bridge(self) -> str:
        return f"{self._name}b"

    def _space(self, number: int) -> str:
        return f"{self._name}m{number}"

    def _cable(self, number: int) -> str:
        return f"{self._name}c{number}"

    def _line(self, number: int) -> str:
        return f"{self._name}o{number}"


@contextmanager
def cluster_network(size: int) -> Iterator[ClusterNetwork]:
    """A network of *size* members for the time of the block.

    Raises:
        NoNetworkError: this account may not make one, or the program ``ip`` is missing.
    """
    network = ClusterNetwork(size)
    with ExitStack() as undo:
        network.make(undo)
        yield network


def _ip(*arguments: str) -> None:
    program = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise NoNetworkError("the program ip is not installed (apt-get install iproute2)")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNetworkError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
