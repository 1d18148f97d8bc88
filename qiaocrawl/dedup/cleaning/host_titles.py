"""Cleans titles, and finds earlier ones to clean again when a host taught something new."""

from __future__ import annotations

from collections import OrderedDict, deque

from qiaocrawl.dedup.cleaning.cleaning import MAX_TITLE_CHARS, TitleCleaner
from qiaocrawl.dedup.cleaning.title_pieces import separators
from qiaocrawl.dedup.index_state import SavedState, State, packed, unpacked
from qiaocrawl.items import TitleRecord

_MAX_HOSTS = 4096
# Of each host, those with separators: names are learnt within a few dozen titles.
_KEPT_TITLES = 64


class HostTitles:
    """Titles without the names of their sites; earlier titles are corrected later.

    Memory: the cleaner's, and up to 64 titles with separators of each of 4,096 hosts.
    """

    def __init__(self) -> None:
        self._cleaner = TitleCleaner(_MAX_HOSTS)
        self._titles: OrderedDict[str, deque[tuple[bytes, str]]] = OrderedDict()

    def learn(self, record: TitleRecord) -> bool:
        """Learn from *record* what its host adds to titles; True when that changed."""
        title = record.title
        if not record.host or len(title) > MAX_TITLE_CHARS or not separators(title):
            return False
        latest = self._titles.setdefault(record.host, deque(maxlen=_KEPT_TITLES))
        latest.append((record.key, title))
        self._titles.move_to_end(record.host)
        if len(self._titles) > _MAX_HOSTS:
            self._titles.popitem(last=False)
        return self._cleaner.learn(title, record.host)

    def forget(self, key: bytes, host: str) -> None:
        """Stop correcting the title of *key*: it was removed or replaced."""
        latest = self._titles.get(host, ())
        # Most titles that are removed have left the deque long ago: then nothing is copied.
        if any(key == other for other, _ in latest):
            rest = (entry for entry in latest if entry[0] != key)
            self._titles[host] = deque(rest, maxlen=_KEPT_TITLES)

    def saved(self) -> State:
        """Titles that may be corrected, and what is known of hosts."""
        titles = [
            (host, [(key.hex(), title) for key, title in latest])
            for host, latest in self._titles.items()
        ]
        return {"hosts.titles": packed(titles), "hosts.endings": packed(self._cleaner.saved())}

    def restore(self, state: SavedState) -> None:
        """Take up what was saved."""
        self._titles = OrderedDict(
            (host, deque(((bytes.fromhex(key), title) for key, title in latest), _KEPT_TITLES))
            for host, latest in unpacked(state["hosts.titles"])
        )
        self._cleaner.restore(unpacked(state["hosts.endings"]))

    def clean(self, record: TitleRecord) -> str:
        """The title of *record* without names of its site and channels."""
        return self._cleaner.clean(record.title, record.host)

    def earlier(self, host: str) -> list[tuple[bytes, str]]:
        """Key and title, cleaned as of now, of the *host*'s latest titles with separators."""
        latest = self._titles.get(host, ())
        return [(key, self._cleaner.clean(title, host)) for key, title in latest]
