"""What groups of URLs cost and brought: a group that only leads to more of itself is a trap.

Every group of URLs (:mod:`qiaocrawl.discovery.url_forms`) has an account. A page that tells a
story pays in, a list that leads to stories too; a page that tells nothing and leads to new URLs
of its own group, or tells what another address told already, draws. An empty account cuts the
group, unless a narrower group of the URL has brought stories. All numbers are **(ours)**; the
idea is that of the published "trap" rules turned round: not how a URL looks, but what its
likes brought for what they cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

START_CREDIT = 6.0
"""Pages that may bring nothing before a group is cut."""
NEW_BRANCH_CREDIT = 20.0
MOST_CREDIT = 10.0
PROVEN_STORIES = 2
"""A group that told so many is not cut for what a broader group of it cost."""
_STORY = 2.0
_LEADS = 1.0
_LEADS_NOWHERE = -1.0
_UNKNOWN = -0.1
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
_MAX_SEEN = 5_000


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
        seen: keys of the stories its lists led to, of this process.
    """

    credit: float = START_CREDIT
    fetched: int = 0
    stories: int = 0
    trees: int = 0
    seen: set[str] = field(default_factory=set, repr=False)

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
        return f"{self.fetched} pages fetched, {self.stories} of them told a story"


@dataclass(frozen=True, slots=True)
class Effects:
    """What one page did as one group sees it.

    Attributes:
        worth: of the page.
        is_double: another address told the same.
        same_path: that address differs in its parameters only.
        inside_new, inside_known: its links to URLs of the group, seen for the first time or not.
        stories: URLs of known groups of stories, outside its own form, that it leads to.
        fresh_story: whether one of them was seen for the first time.
        unknown: whether it leads to new URLs outside the group of which nothing is known yet.
    """

    worth: Worth
    is_double: bool = False
    same_path: bool = False
    inside_new: int = 0
    inside_known: int = 0
    stories: Sequence[str] = ()
    fresh_story: bool = False
    unknown: bool = False


def book(account: Account, page: Effects) -> None:
    """Enter *page* into *account*."""
    if account.is_cut:
        # What was under way when it was cut changes nothing: its links were not followed.
        return
    crossing = max(0, page.inside_known - _WAY_BACK)
    is_tree = page.inside_new > 0 and crossing <= _TREE_SHARE * page.inside_new
    account.fetched += 1
    account.trees += is_tree
    if page.is_double:
        change = _of_double(same_path=page.same_path, leads_on=page.inside_new > 0)
    elif page.worth is Worth.STORY:
        account.stories += 1
        endless = account.fetched > _LONG and account.trees > _TREE_OF_LONG * account.fetched
        change = _LEADS_NOWHERE if endless else _STORY
    elif page.worth is Worth.WEAK:
        is_crossed = not is_tree and page.inside_known > 0
        account.stories += is_crossed
        change = _WEAK if is_tree else _WEAK_BUT_CROSSED * is_crossed
    elif page.worth is Worth.LIST:
        change = _of_list(account, page)
    elif page.worth is Worth.GONE:
        change = _GONE
    else:
        change = _LEADS_NOWHERE if page.inside_new else 0.0
    account.credit = min(account.credit + change, MOST_CREDIT)


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
    unseen = [key for key in page.stories if key not in account.seen]
    if len(account.seen) < _MAX_SEEN:
        account.seen.update(unseen)
    if unseen and page.fresh_story:
        return _LEADS
    if unseen:
        return 0.0
    if page.unknown:
        return _UNKNOWN
    return _LEADS_NOWHERE if page.inside_new else 0.0
