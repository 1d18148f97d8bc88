"""Scores of URL patterns: a group of URLs that only leads to more of itself is a trap.

Every group of URLs (see ``static_traps.url_forms``) has a score. A page that tells a story
adds points, and so does a list that leads to stories. A page that tells nothing and leads to new
URLs of its own group takes points away, and so does a page that repeats what another address
told. At 0 points the group is cut, unless a narrower group of the URL has brought stories. All
numbers are **(ours)**. Published trap rules judge how a URL looks; this judges what URLs like it
brought for what they cost.

Stories can be generated. So a group is also cut for its texts (:class:`StoryStats`) when only its
own pages lead to it, no list does, and the texts are a program's or the pages branch without end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

START_POINTS = 6.0
"""Pages that may bring nothing before a group is cut."""
NEW_BRANCH_POINTS = 20.0
MAX_POINTS = 10.0
PROVEN_STORIES = 2
"""A group that told so many is not cut for what a broader group of it cost."""
YIELD = 0.2
"""A group is not cut for its cost while so many of its pages tell stories."""
_NEW_FOLDERS = -0.2
"""A list leads to new first folders: those of a blog are its posts; 100 such lists may be read
before the first of them."""
_STORY = 2.0
_LEADS = 1.0
_LEADS_NOWHERE = -1.0
# Lists may be read before the first story: 150 of them.
_UNKNOWN = -0.04
_DOUBLE = -1.0
# The same story at one path with other parameters, on a page that leads to more of its group: they
# choose nothing.
_SAME_PATH_DOUBLE = -4.0
# A story told elsewhere on a page that leads to no more of its group: an article stands in two
# columns, or parameters say where a link stood (``?id=5&c=2``); its likes stand only here.
_LEAF_DOUBLE = -0.2
_GONE = -0.5
# A story without topic and date may be made up. So small that by the time it cuts a group,
# the pages of a finite section have begun to link to known ones.
_WEAK = -0.4
_WEAK_BUT_CROSSED = 0.3
_TREE_SHARE = 0.1
# Known links that say nothing: a maze may lead back to where one came from.
_WAY_BACK = 1
_LONG = 100
_TREE_OF_LONG = 0.9
# New URLs a page, in the mean, of what branches without end. A chain of pages, each with a link to
# the next one, has one.
_BRANCHES = 2
# A group so much of which was found on lists is a section.
_LISTED = 0.025
_NEW_A_PAGE = 5
_LEADS_ON = 0.75
_SAMPLES_KEPT = 40
_SAMPLES_BETWEEN = 4
_SEEN_BITS = 8192
_MAX_SEEN = 5_000
_MAX_TARGETS = 8
_MAX_RECENT = 64
_LISTED_BITS = 1024


class PageValue(Enum):
    """The value of a page for its group."""

    STORY = auto()
    """An article of the topic, or one with a date."""
    WEAK = auto()
    """Some text without either."""
    LIST = auto()
    NOTHING = auto()
    GONE = auto()


@dataclass(slots=True)
class PatternScore:
    """The score of one group of URLs.

    Attributes:
        points: what is left; at 0 the group is cut.
        fetched: pages.
        stories: of them those that told one.
        trees: pages that led to new URLs of the group and hardly to known ones.
        listed: its URLs that stand on lists of another form, in sitemaps and feeds; about.
        cut: what it was cut for beside its cost, in words; "" for nothing.
        seen: a bit each for the stories its lists led to, of this process: 1 KB at most.
        story_stats: what its stories lead to and how they read, of this process; None for
            nothing yet.
    """

    points: float = START_POINTS
    fetched: int = 0
    stories: int = 0
    trees: int = 0
    listed: int = 0
    cut: str = ""
    listed_bits: int = field(default=0, repr=False)
    seen: int = field(default=0, repr=False)
    story_stats: StoryStats | None = field(default=None, repr=False)

    @property
    def is_cut(self) -> bool:
        """Whether nothing more of the group is to be fetched."""
        return self.points <= 0

    @property
    def is_proven(self) -> bool:
        """Whether the group has brought enough stories to be judged by itself."""
        return self.stories >= PROVEN_STORIES and not self.is_cut

    def describe(self) -> str:
        """The score in words, for the reason of what is cut."""
        words = f"{self.fetched} pages fetched, {self.stories} of them told a story"
        return f"{words}; {self.cut}" if self.cut else words

    def add_listed(self, key: int) -> None:
        """A list names the URL of *key*; counted once (Whang's linear counting, 1990)."""
        bit = 1 << key % _LISTED_BITS
        if not self.listed_bits & bit:
            # A bit that is taken may stand for several URLs: the fuller the map, the more each new
            # bit counts for.
            before = _count_by_bits(self.listed_bits)
            self.listed_bits |= bit
            self.listed += _count_by_bits(self.listed_bits) - before

    def reopen(self) -> None:
        """Start again like a new group: its pages are fetched once more."""
        # Full points: the trial has shown that the group is worth it.
        self.points, self.cut = MAX_POINTS, ""
        self.story_stats = None

    def cut_for(self, why: str) -> None:
        """Cut the group in spite of its stories."""
        self.points, self.cut = 0.0, why
        if self.story_stats is not None:
            self.story_stats.forget_texts()


def _count_by_bits(bits: int) -> int:
    """How many URLs the map *bits* stands for, by the places still free in it."""
    free = max(_LISTED_BITS - bits.bit_count(), 1)
    return round(_LISTED_BITS * math.log(_LISTED_BITS / free))


class StoryStats:
    """Statistics of the stories of one group, of this process: their texts, and their links."""

    __slots__ = ("_samples", "_unjudged", "new_urls", "pages", "recent", "targets")

    def __init__(self) -> None:
        self.pages = self.new_urls = self._unjudged = 0
        # Tuples: most groups have none of these, and the empty tuple is shared.
        self.recent: tuple[int, ...] = ()
        self.targets: tuple[int, ...] = ()
        self._samples: tuple[tuple[bytes, bool], ...] = ()

    def add(self, sample: bytes, inside_new: int) -> None:
        """Count a story with the text *sample* that leads to so many new URLs of the group."""
        self.pages += 1
        self.new_urls += inside_new
        if sample:
            self._samples = (*self._samples, (sample, inside_new > 0))[-_SAMPLES_KEPT:]
            self._unjudged += 1

    @property
    def branches(self) -> bool:
        """Whether the group grows much faster than it is fetched."""
        return self.new_urls >= _BRANCHES * self.pages

    def why_generated(self) -> str:
        """Why the latest stories, which lead to ever more of the group, are no writer's; ""."""
        # Brings NumPy along, which commands that only list what was cut do without.
        from qiaocrawl.discovery.generated_text import MIN_PAGES, why_generated

        # Every fourth story: most of the texts were judged with the one before.
        if len(self._samples) < MIN_PAGES or self._unjudged < _SAMPLES_BETWEEN:
            return ""
        self._unjudged = 0
        leads = sum(leads_on for _, leads_on in self._samples)
        if leads < _LEADS_ON * len(self._samples):
            return ""
        return why_generated([sample for sample, _ in self._samples])

    def forget_texts(self) -> None:
        """Drop the texts: a narrower group was cut for them."""
        self._samples = ()


@dataclass(frozen=True, slots=True)
class StoredPatternScore:
    """The score of a group as it is stored; the last write wins."""

    host: str
    form: str
    points: float
    fetched: int
    stories: int
    trees: int
    listed: int = 0
    cut: str = ""

    def score(self) -> PatternScore:
        """The score itself."""
        return PatternScore(
            self.points, self.fetched, self.stories, self.trees, self.listed, self.cut
        )


def cut_by(scores: Iterable[tuple[str, PatternScore]]) -> tuple[str, PatternScore] | None:
    """Which of a URL's groups, the narrowest first, forbids to fetch it; None for none.

    A group that has brought stories is judged by itself, whatever broader ones cost. Where those
    were cut for their stories, it is judged by itself if lists lead to it.
    """
    is_proven = is_listed = False
    for form, score in scores:
        if score.is_cut and not (is_listed if score.cut else is_proven):
            return form, score
        is_proven |= score.is_proven
        is_listed |= score.is_proven and score.listed >= PROVEN_STORIES
    return None


@dataclass(frozen=True, slots=True)
class PageEffects:
    """What one page means for one of its groups.

    Attributes:
        value: of the page.
        is_double: another address told the same.
        same_path: that address differs in its parameters only.
        inside_new: its links to URLs of the group that were seen for the first time.
        inside_known: keys of those to URLs of the group that were not.
        stories: keys of URLs of known groups of stories, outside its own form, it leads to.
        fresh_story: whether one of them was seen for the first time.
        unknown: whether it leads to new URLs outside the group of which nothing is known yet.
        new_folders: whether the group is that of new first folders, and it leads to such.
        sample: of its text, b"" where it is no article.
    """

    value: PageValue
    is_double: bool = False
    same_path: bool = False
    inside_new: int = 0
    inside_known: Sequence[int] = ()
    stories: Sequence[int] = ()
    fresh_story: bool = False
    unknown: bool = False
    new_folders: bool = False
    sample: bytes = b""


def record_page(score: PatternScore, page: PageEffects) -> None:
    """Count *page* in *score*."""
    if score.is_cut:
        # Pages that were under way when the group was cut: their links were not followed.
        return
    stats = score.story_stats = score.story_stats or StoryStats()
    # A page that leads to new URLs only, none of them known, is how an endless tree grows.
    is_tree = page.inside_new > 0 and _crossings(stats, page) <= _TREE_SHARE * page.inside_new
    score.fetched += 1
    score.trees += is_tree
    if page.value in (PageValue.STORY, PageValue.WEAK):
        stats.add(page.sample, page.inside_new)
    if page.is_double:
        change = _of_double(same_path=page.same_path, leads_on=page.inside_new > 0)
    elif page.value is PageValue.STORY:
        score.stories += 1
        change = _LEADS_NOWHERE if _is_endless(score, stats) else _STORY
    elif page.value is PageValue.WEAK:
        is_crossed = not is_tree and len(page.inside_known) > 0
        score.stories += is_crossed
        change = _WEAK if is_tree else _WEAK_BUT_CROSSED * is_crossed
    elif page.value is PageValue.LIST:
        change = _of_list(score, page)
    elif page.value is PageValue.GONE:
        change = _GONE
    else:
        change = _LEADS_NOWHERE if page.inside_new else 0.0
    # What stories and their doubles cost stands: those may be a maze's own.
    is_empty = page.value is not PageValue.STORY and not page.is_double
    if is_empty and score.stories >= max(PROVEN_STORIES, YIELD * score.fetched):
        # A broad group is a mixture; the narrow one that holds what is empty is cut by itself.
        change = max(change, 0.0)
    # The inner max() keeps points above the cap, which a new branch begins with.
    # Capped: a good start must not pay for thousands of empty pages later.
    score.points = min(score.points + change, max(score.points, MAX_POINTS))
    if score.is_cut and page.value is PageValue.STORY and not page.is_double:
        score.cut_for("its pages lead to ever more of it and hardly to each other")


def judge_texts(score: PatternScore) -> bool:
    """Cut the group if a program wrote its stories; returns whether it was cut."""
    if score.is_cut or score.story_stats is None or is_section(score):
        return False
    why = score.story_stats.why_generated()
    if why:
        score.cut_for(why)
    return bool(why)


def _crossings(stats: StoryStats, page: PageEffects) -> int:
    """Known URLs of the group that *page* leads to, less those that many of its pages link to."""
    # Links that many pages carry are navigation and do not show that the group is finite.
    crossed = [key for key in page.inside_known if key not in stats.recent]
    stats.recent = (*stats.recent, *crossed)[-_MAX_RECENT:]
    return max(0, len(crossed) - _WAY_BACK)


def _is_endless(score: PatternScore, stats: StoryStats) -> bool:
    return (
        score.fetched > _LONG
        and score.trees > _TREE_OF_LONG * score.fetched
        and stats.branches
        and not is_section(score)
    )


def is_section(score: PatternScore) -> bool:
    """Whether lists lead to the group, not its own pages alone."""
    # Of groups that an earlier run cut only the number of tree pages is stored.
    inside_new = (
        score.story_stats.new_urls if score.story_stats is not None else _NEW_A_PAGE * score.trees
    )
    return score.listed > _LISTED * (score.listed + inside_new)


def redirect(score: PatternScore, target: int) -> None:
    """A URL of the group redirects to *target*: where all lead to one page, one is enough."""
    stats = score.story_stats = score.story_stats or StoryStats()
    if score.is_cut:
        return
    score.fetched += 1
    # A second redirect to the same page: all URLs of the group may lead there.
    if target in stats.targets:
        score.points += _DOUBLE
    else:
        stats.targets = (*stats.targets, target)[-_MAX_TARGETS:]


def revoke_story(score: PatternScore, *, same_path: bool) -> None:
    """A story of the group stands at a shorter address too: take its points back."""
    # Judged by the group's past, since single pages are not remembered.
    leads_on = 2 * score.trees > score.fetched
    score.points += _of_double(same_path=same_path, leads_on=leads_on)
    if leads_on:
        score.stories = max(0, score.stories - 1)
        score.points -= _STORY


def _of_double(*, same_path: bool, leads_on: bool) -> float:
    if not leads_on:
        return _LEAF_DOUBLE
    return _SAME_PATH_DOUBLE if same_path else _DOUBLE


def _of_list(score: PatternScore, page: PageEffects) -> float:
    # A bit a URL: two may share one, which makes a story look known at worst.
    unseen = [key for key in page.stories if not score.seen >> key % _SEEN_BITS & 1]
    # A bit map this full would take most new stories for known ones: start over.
    if score.seen.bit_count() > _MAX_SEEN:
        score.seen = 0
    for key in unseen:
        score.seen |= 1 << key % _SEEN_BITS
    if unseen and page.fresh_story:
        return _LEADS
    if unseen:
        return 0.0
    # What nobody has fetched yet may be a section with stories.
    if page.unknown:
        return _UNKNOWN
    if page.new_folders:
        return _NEW_FOLDERS
    return _LEADS_NOWHERE if page.inside_new else 0.0
