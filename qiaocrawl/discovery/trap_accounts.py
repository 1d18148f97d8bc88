"""What groups of URLs cost and brought: a group that only leads to more of itself is a trap.

Every group of URLs (:mod:`qiaocrawl.discovery.url_forms`) has an account. A page that tells a
story pays in, a list that leads to stories too; a page that tells nothing and leads to new URLs
of its own group, or tells what another address told already, draws. An empty account cuts the
group, unless a narrower group of the URL has brought stories. All numbers are **(ours)**; the
idea is that of the published "trap" rules turned round: not how a URL looks, but what its
likes brought for what they cost.

Stories can be made up. A group is cut for its pages' own look too (:class:`SelfFed`) when they
alone lead to it, no list does, and their texts are a program's or they branch without end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from qiaocrawl.discovery.made_up import MIN_PAGES, made_up

START_CREDIT = 6.0
"""Pages that may bring nothing before a group is cut."""
NEW_BRANCH_CREDIT = 20.0
MOST_CREDIT = 10.0
PROVEN_STORIES = 2
"""A group that told so many is not cut for what a broader group of it cost."""
_STORY = 2.0
_LEADS = 1.0
_LEADS_NOWHERE = -1.0
_UNKNOWN = -0.04
"""Lists may be read before the first story: 150 of them."""
_DOUBLE = -1.0
_SAME_PATH_DOUBLE = -4.0
"""The same story at one path with other parameters, on a page that leads to more of its group:
they choose nothing."""
_LEAF_DOUBLE = -0.2
"""A story told elsewhere on a page that leads to no more of its group: an article stands in two
columns, or parameters say where a link stood (``?id=5&c=2``); its likes stand only here."""
_GONE = -0.5
# A story that is of no topic and of no date may be made up; so many of them are needed that
# pages of a finite section have begun to lead to known ones by then.
_WEAK = -0.4
_WEAK_BUT_CROSSED = 0.3
_TREE_SHARE = 0.1
_WAY_BACK = 1
"""Known links that say nothing: a maze may lead back to where one came from."""
_LONG = 100
_TREE_OF_LONG = 0.9
_BRANCHES = 2
"""New URLs a page, in the mean, of what branches without end. A chain of pages, each with a link
to the next one, has one."""
_LISTED = 0.05
"""A group so much of which was found on lists is a section."""
_NEW_A_PAGE = 5
_LEADS_ON = 0.75
_SAMPLES_KEPT = 40
_SAMPLES_BETWEEN = 4
_SEEN_BITS = 8192
_MAX_SEEN = 5_000
_MAX_TARGETS = 8
_MAX_RECENT = 64
_LISTED_BITS = 1024


class Worth(Enum):
    """What a page is, as far as its group is concerned."""

    STORY = auto()
    """An article of the topic, or one with a date."""
    WEAK = auto()
    """Some text without either."""
    LIST = auto()
    NOTHING = auto()
    GONE = auto()


@dataclass(slots=True)
class Account:
    """The account of one group.

    Attributes:
        credit: what is left; at 0 the group is cut.
        fetched: pages.
        stories: of them those that told one.
        trees: pages that led to new URLs of the group and hardly to known ones.
        listed: its URLs that stand on lists of another form, in sitemaps and feeds; about.
        cut: what it was cut for beside its cost, in words; "" for nothing.
        seen: a bit each for the stories its lists led to, of this process: 1 KB at most.
        own: what its stories lead to and how they read, of this process; None for nothing yet.
    """

    credit: float = START_CREDIT
    fetched: int = 0
    stories: int = 0
    trees: int = 0
    listed: int = 0
    cut: str = ""
    listed_bits: int = field(default=0, repr=False)
    seen: int = field(default=0, repr=False)
    own: SelfFed | None = field(default=None, repr=False)

    @property
    def is_cut(self) -> bool:
        """Whether nothing more of the group is to be fetched."""
        return self.credit <= 0

    @property
    def is_proven(self) -> bool:
        """Whether the group has brought stories enough to stand for itself."""
        return self.stories >= PROVEN_STORIES and not self.is_cut

    def told(self) -> str:
        """The account in words, for the reason of what is cut."""
        words = f"{self.fetched} pages fetched, {self.stories} of them told a story"
        return f"{words}; {self.cut}" if self.cut else words

    def list_one(self, key: int) -> None:
        """A list names the URL of *key*; counted once (Whang's linear counting, 1990)."""
        bit = 1 << key % _LISTED_BITS
        if not self.listed_bits & bit:
            free = _LISTED_BITS - self.listed_bits.bit_count()
            self.listed_bits |= bit
            self.listed += math.ceil(_LISTED_BITS / free)

    def reopen(self) -> None:
        """Its pages are fetched again as those of a new group."""
        self.credit, self.cut = MOST_CREDIT, ""
        self.own = None

    def cut_for(self, why: str) -> None:
        """Cut the group in spite of its stories."""
        self.credit, self.cut = 0.0, why
        if self.own is not None:
            self.own.forget_texts()


class SelfFed:
    """How the stories of one group read, and what they lead to, of this process."""

    __slots__ = ("_samples", "_unjudged", "found", "pages", "recent", "targets")

    def __init__(self) -> None:
        self.pages = self.found = self._unjudged = 0
        # Tuples: most groups have none of these, and an empty one takes no memory.
        self.recent: tuple[int, ...] = ()
        self.targets: tuple[int, ...] = ()
        self._samples: tuple[tuple[bytes, bool], ...] = ()

    def add(self, sample: bytes, inside_new: int) -> None:
        """Take a story that reads like *sample* and leads to so many new URLs of the group."""
        self.pages += 1
        self.found += inside_new
        if sample:
            self._samples = (*self._samples, (sample, inside_new > 0))[-_SAMPLES_KEPT:]
            self._unjudged += 1

    @property
    def branches(self) -> bool:
        """Whether the group grows much faster than it is fetched."""
        return self.found >= _BRANCHES * self.pages

    def made_up(self) -> str:
        """Why the latest stories, which lead to ever more of the group, are no writer's; ""."""
        if len(self._samples) < MIN_PAGES or self._unjudged < _SAMPLES_BETWEEN:
            return ""
        self._unjudged = 0
        leads = sum(leads_on for _, leads_on in self._samples)
        if leads < _LEADS_ON * len(self._samples):
            return ""
        return made_up([sample for sample, _ in self._samples])

    def forget_texts(self) -> None:
        """A narrower group was cut for them."""
        self._samples = ()


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

    def account(self) -> Account:
        """The account itself."""
        return Account(
            self.credit, self.fetched, self.stories, self.trees, self.listed, self.cut
        )


def cutting(accounts: Iterable[tuple[str, Account]]) -> tuple[str, Account] | None:
    """Which of a URL's groups, the narrowest first, forbids to fetch it; None for none.

    A group that has brought stories stands for itself, whatever broader ones cost. Where those
    were cut for their stories, it stands for itself if lists lead to it.
    """
    is_proven = is_listed = False
    for form, account in accounts:
        if account.is_cut and not (is_listed if account.cut else is_proven):
            return form, account
        is_proven |= account.is_proven
        is_listed |= account.is_proven and account.listed >= PROVEN_STORIES
    return None


@dataclass(frozen=True, slots=True)
class Effects:
    """What one page did as one group sees it.

    Attributes:
        worth: of the page.
        is_double: another address told the same.
        same_path: that address differs in its parameters only.
        inside_new: its links to URLs of the group that were seen for the first time.
        inside_known: keys of those to URLs of the group that were not.
        stories: keys of URLs of known groups of stories, outside its own form, it leads to.
        fresh_story: whether one of them was seen for the first time.
        unknown: whether it leads to new URLs outside the group of which nothing is known yet.
        sample: of its text, b"" where it is no article.
    """

    worth: Worth
    is_double: bool = False
    same_path: bool = False
    inside_new: int = 0
    inside_known: Sequence[int] = ()
    stories: Sequence[int] = ()
    fresh_story: bool = False
    unknown: bool = False
    sample: bytes = b""


def book(account: Account, page: Effects) -> None:
    """Enter *page* into *account*."""
    if account.is_cut:
        # What was under way when it was cut changes nothing: its links were not followed.
        return
    own = account.own = account.own or SelfFed()
    is_tree = page.inside_new > 0 and _crossings(own, page) <= _TREE_SHARE * page.inside_new
    account.fetched += 1
    account.trees += is_tree
    if page.worth in (Worth.STORY, Worth.WEAK):
        own.add(page.sample, page.inside_new)
    if page.is_double:
        change = _of_double(same_path=page.same_path, leads_on=page.inside_new > 0)
    elif page.worth is Worth.STORY:
        account.stories += 1
        change = _LEADS_NOWHERE if _is_endless(account, own) else _STORY
    elif page.worth is Worth.WEAK:
        is_crossed = not is_tree and len(page.inside_known) > 0
        account.stories += is_crossed
        change = _WEAK if is_tree else _WEAK_BUT_CROSSED * is_crossed
    elif page.worth is Worth.LIST:
        change = _of_list(account, page)
    elif page.worth is Worth.GONE:
        change = _GONE
    else:
        change = _LEADS_NOWHERE if page.inside_new else 0.0
    account.credit = min(account.credit + change, MOST_CREDIT)
    if account.is_cut and page.worth is Worth.STORY and not page.is_double:
        account.cut_for("its pages lead to ever more of it and hardly to each other")


def judge_texts(account: Account) -> bool:
    """Cut the group where a program wrote its stories; whether that was done."""
    if account.is_cut or account.own is None or is_section(account):
        return False
    why = account.own.made_up()
    if why:
        account.cut_for(why)
    return bool(why)


def _crossings(own: SelfFed, page: Effects) -> int:
    """Known URLs of the group that *page* leads to, less what many a page of it leads to."""
    crossed = [key for key in page.inside_known if key not in own.recent]
    own.recent = (*own.recent, *crossed)[-_MAX_RECENT:]
    return max(0, len(crossed) - _WAY_BACK)


def _is_endless(account: Account, own: SelfFed) -> bool:
    return (
        account.fetched > _LONG and account.trees > _TREE_OF_LONG * account.fetched
        and own.branches and not is_section(account)
    )


def is_section(account: Account) -> bool:
    """Whether lists lead to the group, not its own pages alone."""
    # Of what a former run cut only the pages that led on are known.
    inside_new = account.own.found if account.own is not None else _NEW_A_PAGE * account.trees
    return account.listed > _LISTED * (account.listed + inside_new)


def redirect(account: Account, target: int) -> None:
    """A URL of the group redirects to *target*: where all lead to one page, one is enough."""
    own = account.own = account.own or SelfFed()
    if account.is_cut:
        return
    account.fetched += 1
    if target in own.targets:
        account.credit += _DOUBLE
    else:
        own.targets = (*own.targets, target)[-_MAX_TARGETS:]


def take_back(account: Account, *, same_path: bool) -> None:
    """A story of the group is told at a shorter address: what it paid in is drawn again."""
    leads_on = 2 * account.trees > account.fetched
    account.credit += _of_double(same_path=same_path, leads_on=leads_on)
    if leads_on:
        account.stories = max(0, account.stories - 1)
        account.credit -= _STORY


def _of_double(*, same_path: bool, leads_on: bool) -> float:
    if not leads_on:
        return _LEAF_DOUBLE
    return _SAME_PATH_DOUBLE if same_path else _DOUBLE


def _of_list(account: Account, page: Effects) -> float:
    unseen = [key for key in page.stories if not account.seen >> key % _SEEN_BITS & 1]
    if account.seen.bit_count() > _MAX_SEEN:
        account.seen = 0
    for key in unseen:
        account.seen |= 1 << key % _SEEN_BITS
    if unseen and page.fresh_story:
        return _LEADS
    if unseen:
        return 0.0
    if page.unknown:
        return _UNKNOWN
    return _LEADS_NOWHERE if page.inside_new else 0.0
