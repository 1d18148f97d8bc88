"""Judges a host by its answers: when to pause it, and when to give it up.

Pure: it counts strikes; the caller pauses the host or gives it up. Blocks and silence count
alike: either way every further request now is one too many.
"""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign

MOST_STRIKES = 2
"""Pauses a host gets in a run; one more strike and it is left until the next run."""
# URLs in a row whose answers may be blocks before the host is taken for blocking: a site may well
# forbid four of its folders.
_UNSURE_IN_ROW = 5.0
# A redirect to the login counts less: part of a site is often for members.
_LOGIN_WEIGHT = 0.25
# URLs in a row without any answer before the host is taken for dead; with those under way at that
# time no more than five are lost on it (faults F-K7).
_SILENT_IN_ROW = 3
_LONGEST_PAUSE_SECONDS = 3600.0


@dataclass(slots=True)
class _Record:
    unsure: float = 0.0
    silent: int = 0
    strikes: int = 0
    resting_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Strike:
    """What a strike costs: a pause of the host, or giving it up for this run."""

    pause_seconds: float
    give_up: bool


class HostHealth:
    """Strikes by host.

    Args:
        first_pause_seconds: of a host's first strike; each further one is four times as long.
    """

    def __init__(self, first_pause_seconds: float) -> None:
        self._first_pause_seconds = first_pause_seconds
        self._records: dict[str, _Record] = {}

    def answered(self, host: str) -> None:
        """*host* gave a proper page: its strikes are forgotten."""
        # The record is dropped, so most hosts cost nothing here.
        self._records.pop(host, None)

    def blocked(self, host: str, sign: BlockSign, now: float) -> Strike | None:
        """*host* gave a block, or what may be one; None while it is only a suspicion."""
        record = self._record(host)
        # A block is an answer: the host is not dead.
        record.silent = 0
        if sign.kind.is_sure:
            return self._strike(record, now)
        record.unsure += _LOGIN_WEIGHT if sign.kind is BlockKind.LOGIN else 1.0
        return self._strike(record, now) if record.unsure >= _UNSURE_IN_ROW else None

    def alive(self, host: str) -> None:
        """*host* gave an answer, whatever it was."""
        if host in self._records:
            self._records[host].silent = 0

    def silent(self, host: str, now: float) -> Strike | None:
        """*host* gave no answer at all; None while it may have been chance."""
        record = self._record(host)
        record.silent += 1
        return self._strike(record, now) if record.silent >= _SILENT_IN_ROW else None

    def unavailable(self, host: str, now: float) -> Strike:
        """*host* cannot be asked for a reason of ours, such as no proxy left for it."""
        return self._strike(self._record(host), now)

    def rest_seconds(self, host: str, now: float) -> float:
        """How long *host* still rests for its last strike; 0 when it may be asked."""
        record = self._records.get(host)
        return max(record.resting_until - now, 0.0) if record else 0.0

    def is_on_trial(self, host: str) -> bool:
        """Whether *host* was silent or blocked us and has not given a proper page since.

        One request at a time will show whether it does again.
        """
        record = self._records.get(host)
        return record is not None and (record.strikes > 0 or record.silent > 0)

    def _record(self, host: str) -> _Record:
        return self._records.setdefault(host, _Record())

    def _strike(self, record: _Record, now: float) -> Strike:
        left = record.resting_until - now
        if left > 0:
            # Requests that were under way when the host was paused count as the same strike.
            return Strike(left, give_up=record.strikes > MOST_STRIKES)
        record.strikes += 1
        # Capped: 4 to the power of a large number overflows a float.
        pause = backoff_seconds(min(record.strikes, 30), self._first_pause_seconds)
        pause = min(pause, _LONGEST_PAUSE_SECONDS)
        record.resting_until = now + pause
        return Strike(pause, give_up=record.strikes > MOST_STRIKES)
