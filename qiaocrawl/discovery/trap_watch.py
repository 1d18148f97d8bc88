"""Traps of one crawl: what its pages teach, and which URLs are not to be fetched for it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from qiaocrawl.discovery.page_seen import PageSeen
from qiaocrawl.discovery.static_traps import BOUNDS, UrlLimits, static_trap
from qiaocrawl.discovery.trap_accounts import (
    NEW_BRANCH_CREDIT,
    START_CREDIT,
    Account,
    Effects,
    StoredAccount,
    Worth,
    book,
    cutting,
    is_section,
    judge_texts,
    redirect,
    take_back,
)
from qiaocrawl.discovery.trap_trials import TRAP, TrapTrials, group_of
from qiaocrawl.discovery.url_forms import NEW_BRANCH, section_of, url_forms
from qiaocrawl.urls import canonical_host

MAX_ACCOUNTS = 100_000
MAX_DIGESTS = 200_000
MAX_TEXT_GROUPS = 256
"""Groups whose texts are in memory: 25 MB at most."""
CUT = "barren"
"""What a group that was cut is counted under."""


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
        self._first: dict[int, str] = {}
        self._changed: set[str] = set()
        self._opened: list[str] = []
        self._with_texts: dict[str, None] = {}
        self._trials = TrapTrials()
        self.counts: Counter[str] = Counter()
        """Groups ``cut``, ``doubles`` found, and waiting URLs that were ``closed``."""

    # --- judging ------------------------------------------------------------------------------

    def reason(self, url: str) -> tuple[str, str]:
        """Why *url* is not to be fetched: a word for counting, and in words; ("", "") to fetch.

        The words name the group of what is closed for one reason.
        """
        if self.is_allowed(url):
            return "", ""
        word = static_trap(url, self._limits)
        if not word and not self._accounts:
            return "", ""
        with self._lock:
            return self._reason(url, word)

    def _reason(self, url: str, word: str) -> tuple[str, str]:
        if word:
            group = f"{canonical_host(url)}/({word.replace('_', ' ')})"
            if self._is_closed(group):
                return word, f"{TRAP}{group}"
        cut = cutting(self._known(self._forms(url)))
        return (CUT, f"{TRAP}{cut[0]}") if cut is not None else ("", "")

    def _is_closed(self, group: str) -> bool:
        """Whether *group*, named in a reason, is; those of single URLs are at first."""
        account = self._accounts.get(group)
        is_of_addresses = group.endswith(")")
        return account.is_cut if account is not None else is_of_addresses

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
            self._try(page, forms, is_double=is_double)
            before = [form for form in forms if self._is_cut(form)]
            for form in forms:
                book(self._account(form), self._booked(form, forms[0], page, other, is_double))
                self._changed.add(form)
                if page.sample:
                    self._keep_texts(form)
            self._judge_texts(forms)
            if page.worth is Worth.LIST:
                self._note_listed(page.links, forms[0])
            cut = [form for form in forms if self._is_cut(form) and form not in before]
            if other and not is_double:
                cut += self._blame(other, page.url)
            self.counts["cut"] += len(cut)
            return cut

    def _keep_texts(self, form: str) -> None:
        """Keep the texts of the groups that told a story last."""
        self._with_texts.pop(form, None)
        self._with_texts[form] = None
        if len(self._with_texts) > MAX_TEXT_GROUPS:
            oldest = next(iter(self._with_texts))
            del self._with_texts[oldest]
            account = self._accounts.get(oldest)
            if account is not None and account.own is not None:
                account.own.forget_texts()

    def redirected(self, url: str, target: str) -> list[str]:
        """*url* redirects to *target*, another page; the groups that are cut by it."""
        if not self._learns:
            return []
        cut = []
        with self._lock:
            for form in url_forms(url)[:2]:
                account = self._account(form)
                was_cut = account.is_cut
                redirect(account, hash(target))
                self._changed.add(form)
                if account.is_cut and not was_cut:
                    cut.append(form)
            self.counts["cut"] += len(cut)
        return cut

    def _booked(
        self, form: str, own: str, page: PageSeen, other: str, is_double: bool
    ) -> Effects:
        effects = self._effects(form, own, page)
        if not is_double:
            return effects
        # The folders of the program are not at fault.
        same_path = "?" in form and _same_path(other, page.url)
        return replace(effects, is_double=True, same_path=same_path)

    def _try(self, page: PageSeen, forms: Sequence[str], *, is_double: bool) -> None:
        """Count the page for what it was taken up for, or as one of its host."""
        group = group_of(page.trial)
        if not group or not self._is_closed(group):
            self._trials.fetched(canonical_host(page.url))
            return
        effects = self._effects(forms[0], forms[0], page)
        tells = page.worth is Worth.STORY and not is_double
        leads = page.worth is Worth.LIST and effects.fresh_story
        self._trials.tried(group, is_good=(tells or leads) and not page.closed)

    # --- trials -------------------------------------------------------------------------------

    def shares(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """How many of the URLs that are closed for a reason are to be fetched now.

        Args:
            waiting: how many are closed, by reason; only those of traps are looked at.
        """
        with self._lock:
            closed: dict[str, int] = {}
            rows_by_reason: dict[str, int] = {}
            reasons: dict[str, str] = {}
            for reason, rows in waiting.items():
                group = group_of(reason)
                if not group or group.endswith(BOUNDS):
                    continue
                if "/" in group and self._is_closed(group):
                    closed[group] = closed.get(group, 0) + rows
                    reasons[group] = reason
                else:
                    rows_by_reason[reason] = rows
            shares = self._trials.shares(closed)
            return rows_by_reason | {reasons[group]: rows for group, rows in shares.items() if rows}

    def tried(self, reason: str, good: int, tried: int) -> None:
        """A round of what is closed for *reason* is done; it may open the group again.

        Args:
            good: URLs of the round that led to a new article.
            tried: all of it.
        """
        with self._lock:
            group = group_of(reason)
            if self._is_closed(group) and self._trials.ends(group, good, tried):
                self._open(group)

    def _open(self, group: str) -> None:
        self._account(group).reopen()
        self._changed.add(group)
        self._opened.append(group)

    def opened(self) -> list[str]:
        """The groups that were opened again since the last call."""
        with self._lock:
            opened, self._opened = self._opened, []
            return opened

    def told(self, form: str) -> str:
        """The account of *form* in words."""
        with self._lock:
            account = self._accounts.get(form)
            return account.told() if account is not None else ""

    # --- lists and texts ----------------------------------------------------------------------

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
                    self._open(form)

    def _judge_texts(self, forms: Sequence[str]) -> None:
        """Cut the narrowest group whose texts are made up; broader ones are judged without it."""
        accounts = list(self._known(forms))
        cut = next((at for at, (_, account) in enumerate(accounts) if judge_texts(account)), None)
        for _, account in accounts[cut + 1 :] if cut is not None else ():
            if account.own is not None:
                account.own.forget_texts()

    def _told_before(self, page: PageSeen) -> tuple[str, bool]:
        """Which other address of the host tells the same, "" for none; whether this one is the
        double.

        What two hosts tell is a reprint: neither leads to it without end.
        """
        if not page.digest:
            return "", False
        digest = hash((canonical_host(page.url), page.digest))
        first_url = self._first.get(digest)
        if first_url is None:
            self._first[digest] = page.url
            if len(self._first) > MAX_DIGESTS:
                del self._first[next(iter(self._first))]
            return "", False
        if first_url == page.url:
            return "", False
        self.counts["doubles"] += 1
        if len(page.url) >= len(first_url) or url_forms(first_url)[0] == url_forms(page.url)[0]:
            return first_url, True
        self._first[digest] = page.url
        return first_url, False

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
        known_keys: list[int] = []
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
                    known_keys.append(hash(link))
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
            page.worth, inside_new=new, inside_known=known_keys, stories=stories,
            fresh_story=fresh_story, unknown=unknown, sample=page.sample,
        )  # fmt: skip

    # --- accounts -----------------------------------------------------------------------------

    def _forms(self, url: str) -> tuple[str, ...]:
        forms = url_forms(url)
        section = section_of(forms)
        if not section:
            return forms
        account = self._accounts.get(section)
        if account is not None and account.stories:
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
            changed = [
                StoredAccount(form.partition("/")[0], form, a.credit, a.fetched, a.stories, a.trees,
                              a.listed, a.cut)
                for form in sorted(self._changed) if (a := self._accounts.get(form)) is not None
            ]
            self._changed.clear()
            return changed

    def restore(self, stored: Iterable[StoredAccount]) -> None:
        """Take accounts that were stored; where this process knows of more pages it is right."""
        with self._lock:
            for entry in stored:
                account_here = self._accounts.get(entry.form)
                if account_here is None or account_here.fetched < entry.fetched:
                    account = self._accounts[entry.form] = entry.account()
                    if account_here is not None:
                        account.seen, account.own = account_here.seen, account_here.own

    def numbers(self) -> dict[str, int]:
        """What the run's statistics say of it."""
        cut = sum(account.is_cut for account in self._accounts.values())
        return {"qiaocrawl/traps/groups_cut": cut, "qiaocrawl/traps/groups": len(self._accounts),
                "qiaocrawl/traps/doubles": self.counts["doubles"],
                "qiaocrawl/traps/urls_closed": self.counts["closed"]}


def _same_path(one: str, other: str) -> bool:
    return one.partition("?")[0] == other.partition("?")[0]
