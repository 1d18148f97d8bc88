"""Traps of one crawl: what its pages teach, and which URLs are not to be fetched for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import blake2b

from qiaocrawl.discovery.static_traps import UrlLimits, static_trap
from qiaocrawl.discovery.trap_accounts import (
    NEW_BRANCH_CREDIT,
    START_CREDIT,
    Account,
    Effects,
    Worth,
    book,
    cutting,
    is_section,
    judge_texts,
    take_back,
)
from qiaocrawl.discovery.url_forms import NEW_BRANCH, section_of, url_forms
from qiaocrawl.urls import canonical_host

MAX_ACCOUNTS = 100_000
MAX_DIGESTS = 200_000
CUT = "barren"
"""What a group that was cut is counted under."""


@dataclass(frozen=True, slots=True)
class PageSeen:
    """A fetched page, as far as traps are concerned.

    Attributes:
        url: canonical.
        worth: what it is.
        digest: of title and text; b"" where it tells none. Compared within its host.
        sample: of its text, see :func:`qiaocrawl.discovery.made_up.text_sample`.
        links: canonical URLs on the sites of the crawl that it leads to.
        fresh: those of them that were seen for the first time.
    """

    url: str
    worth: Worth
    digest: bytes = b""
    links: Sequence[str] = ()
    fresh: frozenset[str] = frozenset()
    sample: bytes = b""


@dataclass(frozen=True, slots=True)
class StoredAccount:
    """The account of a group as a store keeps it; what is stored last holds."""

    host: str
    form: str
    credit: float
    fetched: int
    stories: int
    trees: int
    listed: int = 0
    cut: str = ""


class TrapWatch:
    """Learns from pages and judges URLs; may be used from several threads.

    Args:
        limits: of single URLs.
        allowed: patterns of ``host/path`` (``*`` for anything) that are never traps.
        learns: cut groups by what they brought; off, only single URLs are judged.
    """

    def __init__(
        self, limits: UrlLimits, allowed: Iterable[str] = (), *, learns: bool = True
    ) -> None:
        self._limits = limits
        self._allowed = tuple(allowed)
        self._learns = learns
        self._lock = threading.Lock()
        self._accounts: dict[str, Account] = {}
        self._first: dict[tuple[str, bytes], str] = {}
        self._changed: set[str] = set()
        self._opened: list[str] = []
        self.counts: Counter[str] = Counter()
        """Groups ``cut``, ``doubles`` found, and waiting URLs that were ``closed``."""

    # --- judging ------------------------------------------------------------------------------

    def reason(self, url: str) -> tuple[str, str]:
        """Why *url* is not to be fetched: a word for counting, and in words; ("", "") to fetch."""
        if self.is_allowed(url):
            return "", ""
        word = static_trap(url, self._limits)
        if word:
            return word, f"trap: {word.replace('_', ' ')}"
        if not self._accounts:
            return "", ""
        with self._lock:
            return self._cut_by(url)

    def _cut_by(self, url: str) -> tuple[str, str]:
        cut = cutting(self._known(self._forms(url)))
        return (CUT, f"trap: {cut[0]} ({cut[1].told()})") if cut is not None else ("", "")

    def _known(self, forms: Sequence[str]) -> Iterator[tuple[str, Account]]:
        for form in forms:
            account = self._accounts.get(form)
            if account is not None:
                yield form, account

    def is_allowed(self, url: str) -> bool:
        """Whether the operator says that *url* is of no trap."""
        if not self._allowed:
            return False
        rest = url.partition("://")[2]
        return any(fnmatchcase(rest, pattern) for pattern in self._allowed)

    # --- learning -----------------------------------------------------------------------------

    def learn(self, page: PageSeen) -> list[str]:
        """Enter *page* into the accounts of its groups; the groups that are cut by it."""
        if not self._learns:
            return []
        with self._lock:
            other, is_double = self._told_before(page)
            forms = self._forms(page.url)
            before = [form for form in forms if self._is_cut(form)]
            for form in forms:
                effects = self._effects(form, forms[0], page)
                if is_double:
                    effects = replace(
                        effects, is_double=True,
                        # The folders of the program are not at fault.
                        same_path="?" in form and _same_path(other, page.url),
                    )  # fmt: skip
                book(self._account(form), effects)
                self._changed.add(form)
            self._judge_texts(forms)
            if page.worth is Worth.LIST:
                self._note_listed(page.links, forms[0])
            cut = [form for form in forms if self._is_cut(form) and form not in before]
            if other and not is_double:
                cut += self._blame(other, page.url)
            self.counts["cut"] += len(cut)
            return cut

    def listed(self, urls: Iterable[str], page: str = "") -> None:
        """A sitemap, a feed or the list at *page* names *urls*; what is cut may open again."""
        with self._lock:
            self._note_listed(urls, url_forms(page)[0] if page else "")

    def _note_listed(self, urls: Iterable[str], own: str) -> None:
        for url in urls:
            forms = self._forms(url)
            for form in forms if forms[0] != own else ():
                if form.endswith(NEW_BRANCH):
                    continue
                account = self._account(form)
                account.list_one(hash(url))
                self._changed.add(form)
                if account.cut and is_section(account):
                    account.reopen()
                    self._opened.append(form)

    def _judge_texts(self, forms: Sequence[str]) -> None:
        """Cut the narrowest group whose texts are made up; broader ones are judged without it."""
        known = list(self._known(forms))
        cut = next((at for at, (_, account) in enumerate(known) if judge_texts(account)), None)
        for _, account in known[cut + 1 :] if cut is not None else ():
            if account.own is not None:
                account.own.forget_texts()

    def _told_before(self, page: PageSeen) -> tuple[str, bool]:
        """Which other address of the host tells the same, "" for none; whether this one is the
        double.

        What two hosts tell is a reprint: neither leads to it without end.
        """
        if not page.digest:
            return "", False
        told = canonical_host(page.url), page.digest
        known = self._first.get(told)
        if known is None:
            self._first[told] = page.url
            if len(self._first) > MAX_DIGESTS:
                del self._first[next(iter(self._first))]
            return "", False
        if known == page.url:
            return "", False
        self.counts["doubles"] += 1
        if len(page.url) >= len(known) or url_forms(known)[0] == url_forms(page.url)[0]:
            return known, True
        self._first[told] = page.url
        return known, False

    def _blame(self, url: str, better: str) -> list[str]:
        """What was taken for a story at *url* is told at *better*; the groups this cuts."""
        cut: list[str] = []
        same_path = _same_path(url, better)
        for form in url_forms(url)[: 1 + same_path]:
            account = self._account(form)
            if not account.is_cut:
                take_back(account, same_path=same_path)
                self._changed.add(form)
                if account.is_cut:
                    cut.append(form)
        return cut

    def _effects(self, form: str, own: str, page: PageSeen) -> Effects:
        new = 0
        unknown = fresh_story = False
        unread: Counter[str] = Counter()
        known: list[int] = []
        stories: list[int] = []
        own_section = section_of(url_forms(page.url))
        for link in page.links:
            forms = self._forms(link)
            fresh = link in page.fresh
            inside = form in forms
            if inside and form.endswith(NEW_BRANCH):
                inside = section_of(forms) != own_section
            if inside and link != page.url:
                new += fresh
                if not fresh:
                    known.append(hash(link))
            account = self._accounts.get(forms[0])
            if account is not None and account.stories and forms[0] != own:
                stories.append(hash(link))
                fresh_story |= fresh
            elif fresh and forms[0] != own and (account is None or not account.fetched):
                unknown |= not inside
                unread[forms[0]] += 1
        # A list leads to many of one kind; what may be stories of its own section counts as well.
        unknown |= max(unread.values(), default=0) > len(page.fresh) / 2
        return Effects(
            page.worth, inside_new=new, inside_known=known, stories=stories,
            fresh_story=fresh_story, unknown=unknown, sample=page.sample,
        )  # fmt: skip

    # --- accounts -----------------------------------------------------------------------------

    def _forms(self, url: str) -> tuple[str, ...]:
        forms = url_forms(url)
        section = section_of(forms)
        if not section:
            return forms
        known = self._accounts.get(section)
        if known is not None and known.stories:
            return forms
        return (*forms, f"{canonical_host(url)}{NEW_BRANCH}")

    def _account(self, form: str) -> Account:
        account = self._accounts.get(form)
        if account is None:
            is_branch = form.endswith(NEW_BRANCH)
            account = Account(NEW_BRANCH_CREDIT if is_branch else START_CREDIT)
            self._accounts[form] = account
            if len(self._accounts) > MAX_ACCOUNTS:
                self._forget()
        return account

    def _forget(self) -> None:
        """Drop the oldest account that says nothing."""
        useless = (form for form, account in self._accounts.items()
                   if not account.is_cut and not account.stories)
        oldest = next(useless, next(iter(self._accounts)))
        del self._accounts[oldest]
        self._changed.discard(oldest)

    def _is_cut(self, form: str) -> bool:
        account = self._accounts.get(form)
        return account is not None and account.is_cut

    # --- keeping ------------------------------------------------------------------------------

    def changed(self) -> list[StoredAccount]:
        """The accounts that changed since the last call, as they are now."""
        with self._lock:
            found = [
                StoredAccount(form.partition("/")[0], form, a.credit, a.fetched, a.stories, a.trees,
                              a.listed, a.cut)
                for form in sorted(self._changed) if (a := self._accounts.get(form)) is not None
            ]
            self._changed.clear()
            return found

    def restore(self, stored: Iterable[StoredAccount]) -> None:
        """Take accounts that were stored; where this process knows of more pages it is right."""
        with self._lock:
            for one in stored:
                known = self._accounts.get(one.form)
                if known is None or known.fetched < one.fetched:
                    self._accounts[one.form] = Account(
                        one.credit, one.fetched, one.stories, one.trees, one.listed, one.cut,
                        known.seen if known is not None else set(),
                        known.own if known is not None else None,
                    )

    def numbers(self) -> dict[str, int]:
        """What the run's statistics say of it."""
        cut = sum(account.is_cut for account in self._accounts.values())
        return {"qiaocrawl/traps/groups_cut": cut, "qiaocrawl/traps/groups": len(self._accounts),
                "qiaocrawl/traps/doubles": self.counts["doubles"],
                "qiaocrawl/traps/urls_closed": self.counts["closed"]}


def _same_path(one: str, other: str) -> bool:
    return one.partition("?")[0] == other.partition("?")[0]


def text_digest(title: str, body_digest: bytes) -> bytes:
    """What tells two addresses of one text: 8 bytes; b"" where there is no text."""
    if not body_digest:
        return b""
    return blake2b(title.encode("utf-8", "replace") + b"\0" + body_digest, digest_size=8).digest()
