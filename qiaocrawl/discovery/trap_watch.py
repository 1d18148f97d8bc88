"""Traps of one crawl: learns from its pages which URLs not to fetch."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from qiaocrawl.discovery.static_traps import (
    BOUNDS,
    NEW_BRANCH,
    TRAP,
    TrapTrials,
    UrlLimits,
    group_of,
    section_of,
    static_trap,
    url_forms,
)
from qiaocrawl.discovery.trap_scores import (
    NEW_BRANCH_POINTS,
    START_POINTS,
    PageEffects,
    PageValue,
    PatternScore,
    StoredPatternScore,
    cut_by,
    is_section,
    judge_texts,
    record_page,
    redirect,
    revoke_story,
)
from qiaocrawl.urls import canonical_host

# --- Which address of a host showed a text first; other addresses with the same text are
# doubles

MAX_DIGESTS = 200_000


class FirstAddresses:
    """Texts of a crawl, by host, and the address that stands for each.

    The same text on two hosts is a reprint, not a trap: neither host makes endless copies.
    """

    def __init__(self) -> None:
        self._urls: dict[int, str] = {}

    def other_address(self, url: str, digest: bytes) -> tuple[str, bool]:
        """The other address on the host of *url* that shows the text *digest* stands for.

        Args:
            digest: of the page's text; b"" for a page without any.

        Returns:
            The address ("" for none), and whether *url* is the double of the two.
        """
        if not digest:
            return "", False
        # A number of 64 bits instead of the pair: 200,000 of them stay small. Two texts meet by
        # chance once in 2^64.
        key = hash((canonical_host(url), digest))
        first_url = self._urls.get(key)
        if first_url is None:
            self._urls[key] = url
            if len(self._urls) > MAX_DIGESTS:
                del self._urls[next(iter(self._urls))]
            return "", False
        if first_url == url:
            return "", False
        # The shorter address counts as the original: traps lengthen URLs, they do not shorten them.
        if len(url) >= len(first_url) or url_forms(first_url)[0] == url_forms(url)[0]:
            return first_url, True
        self._urls[key] = url
        return first_url, False


# --- What a fetched page tells about traps --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """A fetched page, as far as traps are concerned.

    Attributes:
        url: canonical.
        value: what it is.
        digest: of title and text; b"" where it tells none. Compared within its host.
        closed: canonical URLs that it leads to and that are of a trap, seen for the first time.
        trial: the reason for which it had been closed, where it was taken up; else "".
        sample: of its text, see :func:`qiaocrawl.discovery.text_sample.text_sample`.
        links: canonical URLs on the sites of the crawl that it leads to.
        fresh: those of them that were seen for the first time.
    """

    url: str
    value: PageValue
    digest: bytes = b""
    links: Sequence[str] = ()
    fresh: frozenset[str] = frozenset()
    sample: bytes = b""
    closed: Collection[str] = ()
    trial: str = ""


class EvidentLink(NamedTuple):
    """A link of a page, with what each of the page's groups asks about it.

    Attributes:
        key: a hash of it.
        form, forms: its groups, and the first of them.
        is_fresh: seen for the first time.
        is_itself: leads to the page it stands on.
    """

    key: int
    form: str
    forms: tuple[str, ...]
    is_fresh: bool
    is_itself: bool


def links_of(page: PageEvidence) -> list[EvidentLink]:
    """The links of *page*, each looked up once."""
    return [
        EvidentLink(
            hash(link), (forms := url_forms(link))[0], forms, link in page.fresh, link == page.url
        )
        for link in page.links
    ]


def text_digest(title: str, body_digest: bytes) -> bytes:
    """A digest of 8 bytes by which two addresses of one text are found; b"" without text."""
    if not body_digest:
        return b""
    return blake2b(title.encode("utf-8", "replace") + b"\0" + body_digest, digest_size=8).digest()


def effects_of_double(effects: PageEffects, form: str, url: str, other: str) -> PageEffects:
    """*effects* on the group *form* of a page at *url* whose text was met at *other* before."""
    # A double under another query string blames forms with a query, not the folders above.
    return replace(effects, is_double=True, same_path="?" in form and is_same_path(other, url))


def is_same_path(one: str, other: str) -> bool:
    """Whether two URLs differ in their parameters at most."""
    return one.partition("?")[0] == other.partition("?")[0]


# --- Traps of one crawl: learns from its pages which URLs not to fetch ----------------------------

MAX_SCORES = 100_000
MAX_TEXT_GROUPS = 256
"""Groups whose texts are in memory: 25 MB at most."""
CUT = "barren"
"""What a group that was cut is counted under."""


class TrapWatch:
    """Learns from pages and judges URLs; thread-safe.

    Args:
        limits: of single URLs.
        allowed: patterns of ``host/path`` (``*`` for anything) that are never traps.
        learns: cut groups by what they brought; off, only single URLs are judged.
    """

    def __init__(
        self, limits: UrlLimits, allowed: Iterable[str] = (), *, learns: bool = True
    ) -> None:
        self._allowed = re.compile("|".join(map(translate, allowed)))
        # None for what is allowed. Cached: the links of a site's navigation stand on every page.
        self._word_of = lru_cache(8_192)(
            lambda url: None if self.is_allowed(url) else static_trap(url, limits)
        )
        self._learns = learns
        self._lock = threading.Lock()
        self._scores: dict[str, PatternScore] = {}
        self._first_addresses = FirstAddresses()
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
        word = self._word_of(url)
        # Without the lock: this is asked for every link, and before the first cut it is all.
        if word is None or (not word and not self._scores):
            return "", ""
        with self._lock:
            return self._reason(url, word)

    def _reason(self, url: str, word: str) -> tuple[str, str]:
        if word:
            group = f"{canonical_host(url)}/({word.replace('_', ' ')})"
            if self._is_closed(group):
                return word, f"{TRAP}{group}"
        cut = cut_by(self._known_scores(self._forms(url)))
        return (CUT, f"{TRAP}{cut[0]}") if cut is not None else ("", "")

    def _is_closed(self, group: str) -> bool:
        """Whether *group*, named in a reason, is; those of single URLs are at first."""
        score = self._scores.get(group)
        return score.is_cut if score is not None else group.endswith(")")

    def _known_scores(self, forms: Sequence[str]) -> Iterator[tuple[str, PatternScore]]:
        for form in forms:
            if (score := self._scores.get(form)) is not None:
                yield form, score

    def is_allowed(self, url: str) -> bool:
        """Whether the operator has declared *url* to be no trap."""
        return bool(self._allowed.pattern and self._allowed.match(url.partition("://")[2]))

    # --- learning -----------------------------------------------------------------------------

    def learn(self, page: PageEvidence) -> list[str]:
        """Count *page* in the scores of its groups; returns the groups it cuts."""
        if not self._learns:
            return []
        with self._lock:
            other, is_double = self._first_addresses.other_address(page.url, page.digest)
            self.counts["doubles"] += bool(other)
            forms = self._forms(page.url)
            links = links_of(page)
            self._try(page, forms, links, is_double=is_double)
            # Report only groups that this page cuts.
            before = [form for form in forms if self._is_cut(form)]
            for form in forms:
                effects = self._effects(form, forms[0], page, links)
                if is_double:
                    effects = effects_of_double(effects, form, page.url, other)
                record_page(self._score(form), effects)
                self._changed.add(form)
                if page.sample:
                    self._keep_texts(form)
            self._judge_texts(forms)
            if page.value is PageValue.LIST:
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
            score = self._scores.get(oldest)
            if score is not None and score.story_stats is not None:
                score.story_stats.forget_texts()

    def note_redirect(self, url: str, target: str) -> list[str]:
        """*url* redirects to *target*, another page; the groups that are cut by it."""
        if not self._learns:
            return []
        cut = []
        with self._lock:
            # A redirect blames the URL's own form and its path, never a broader folder.
            for form in url_forms(url)[:2]:
                score = self._score(form)
                was_cut = score.is_cut
                redirect(score, hash(target))
                self._changed.add(form)
                if score.is_cut and not was_cut:
                    cut.append(form)
            self.counts["cut"] += len(cut)
        return cut

    def _try(
        self,
        page: PageEvidence,
        forms: Sequence[str],
        links: Sequence[EvidentLink],
        *,
        is_double: bool,
    ) -> None:
        """Count the page for the trial it was taken up for, or for its host."""
        group = group_of(page.trial)
        if not group or not self._is_closed(group):
            self._trials.count_page(canonical_host(page.url))
            return
        effects = self._effects(forms[0], forms[0], page, links)
        tells = page.value is PageValue.STORY and not is_double
        leads = page.value is PageValue.LIST and effects.fresh_story
        score = self._scores.get(group)
        is_proven_trap = score is not None and bool(score.cut)
        self._trials.count_trial(
            group,
            is_good=(tells or leads) and not page.closed,
            # Texts that were proven to be made up pay for nothing.
            has_text=page.value in (PageValue.STORY, PageValue.WEAK)
            and not (is_double or is_proven_trap),
            repeats=is_double or page.value is PageValue.GONE,
            new_closed=len(page.closed),
        )

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
                # The operator's own bounds are no guess, so they get no trial.
                if not group or group.endswith(BOUNDS):
                    continue
                if "/" in group and self._is_closed(group):
                    closed[group] = closed.get(group, 0) + rows
                    reasons[group] = reason
                else:
                    rows_by_reason[reason] = rows
            shares = self._trials.shares(closed)
            return rows_by_reason | {reasons[group]: rows for group, rows in shares.items() if rows}

    def note_round(self, reason: str, good: int, tried: int) -> None:
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
        self._score(group).reopen()
        self._changed.add(group)
        self._opened.append(group)

    def take_opened(self) -> list[str]:
        """The groups that were opened again since the last call."""
        with self._lock:
            opened, self._opened = self._opened, []
            return opened

    def describe(self, form: str) -> str:
        """The score of *form* in words."""
        with self._lock:
            return score.describe() if (score := self._scores.get(form)) is not None else ""

    # --- lists and texts ----------------------------------------------------------------------

    def note_listed(self, urls: Iterable[str], page: str = "") -> None:
        """A sitemap, a feed or the list at *page* names *urls*; what is cut may open again."""
        with self._lock:
            self._note_listed(urls, url_forms(page)[0] if page else "")

    def _note_listed(self, urls: Iterable[str], own: str) -> None:
        for url in urls:
            forms = self._forms(url)
            for form in forms if forms[0] != own else ():
                if form.endswith(NEW_BRANCH):
                    continue
                score = self._score(form)
                score.add_listed(hash(url))
                self._changed.add(form)
                if score.cut and is_section(score):
                    self._open(form)

    def _judge_texts(self, forms: Sequence[str]) -> None:
        """Cut the narrowest group with generated texts; broader ones forget these texts."""
        scores = list(self._known_scores(forms))
        cut = next((at for at, (_, score) in enumerate(scores) if judge_texts(score)), None)
        for _, score in scores[cut + 1 :] if cut is not None else ():
            if score.story_stats is not None:
                score.story_stats.forget_texts()

    def _blame(self, url: str, better: str) -> list[str]:
        """The story at *url* also stands at *better*: returns the groups this cuts."""
        cut: list[str] = []
        same_path = is_same_path(url, better)
        # If only the parameters differ, the program at that path is to blame as well.
        for form in url_forms(url)[: 1 + same_path]:
            score = self._score(form)
            if not score.is_cut:
                revoke_story(score, same_path=same_path)
                self._changed.add(form)
                if score.is_cut:
                    cut.append(form)
        return cut

    def _effects(
        self, form: str, own: str, page: PageEvidence, links: Sequence[EvidentLink]
    ) -> PageEffects:
        new = 0
        unknown = fresh_story = False
        unread: Counter[str] = Counter()
        known_keys: list[int] = []
        stories: list[int] = []
        is_branch = form.endswith(NEW_BRANCH)
        # A page is told to three or four groups, and may have hundreds of links.
        for key, link_form, forms, is_fresh, is_itself in links:
            inside = form in forms or (is_branch and self._is_new_branch(form, forms))
            if inside and not is_itself:
                new += is_fresh
                if not is_fresh:
                    known_keys.append(key)
            if link_form == own:
                continue
            score = self._scores.get(link_form)
            if score is not None and score.stories:
                stories.append(key)
                fresh_story |= is_fresh
            elif is_fresh and (score is None or not score.fetched):
                unknown |= not inside
                unread[link_form] += 1
        # A list leads to many of one kind; what may be stories of its own section counts as well.
        unknown |= max(unread.values(), default=0) > len(page.fresh) / 2
        return PageEffects(
            page.value,
            inside_new=new,
            inside_known=known_keys,
            stories=stories,
            fresh_story=fresh_story,
            unknown=unknown,
            new_folders=new > 0 and is_branch,
            sample=page.sample,
        )

    def _is_new_branch(self, form: str, forms: tuple[str, ...]) -> bool:
        """Whether *form*, of new branches, is a group of the URL of *forms* too."""
        section = section_of(forms)
        if not section or form != f"{section.partition('/')[0]}{NEW_BRANCH}":
            return False
        score = self._scores.get(section)
        return score is None or not score.stories

    # --- scores -------------------------------------------------------------------------------

    def _forms(self, url: str) -> tuple[str, ...]:
        forms = url_forms(url)
        section = section_of(forms)
        if not section:
            return forms
        score = self._scores.get(section)
        if score is not None and score.stories:
            return forms
        return (*forms, f"{canonical_host(url)}{NEW_BRANCH}")

    def _score(self, form: str) -> PatternScore:
        score = self._scores.get(form)
        if score is None:
            score = PatternScore(NEW_BRANCH_POINTS if form.endswith(NEW_BRANCH) else START_POINTS)
            self._scores[form] = score
            if len(self._scores) > MAX_SCORES:
                self._forget()
        return score

    def _forget(self) -> None:
        """Drop the oldest score that says nothing."""
        # Scores that cut or proved something are what a later run needs; the others start anew.
        useless = (
            form for form, score in self._scores.items() if not score.is_cut and not score.stories
        )
        oldest = next(useless, next(iter(self._scores)))
        del self._scores[oldest]
        self._changed.discard(oldest)

    def _is_cut(self, form: str) -> bool:
        score = self._scores.get(form)
        return score is not None and score.is_cut

    # --- keeping ------------------------------------------------------------------------------

    def take_changes(self) -> list[StoredPatternScore]:
        """The scores that changed since the last call, as they are now."""
        with self._lock:
            forms = sorted(form for form in self._changed if form in self._scores)
            changed = [_stored_score(form, self._scores[form]) for form in forms]
            self._changed.clear()
            return changed

    def restore(self, stored: Iterable[StoredPatternScore]) -> None:
        """Take over stored scores, except where this process has counted more pages."""
        with self._lock:
            for entry in stored:
                own_score = self._scores.get(entry.form)
                if own_score is None or own_score.fetched < entry.fetched:
                    score = self._scores[entry.form] = entry.score()
                    if own_score is not None:
                        score.seen, score.story_stats = own_score.seen, own_score.story_stats

    def numbers(self) -> dict[str, int]:
        """Figures for the run's statistics."""
        return {
            "qiaocrawl/traps/groups_cut": sum(map(self._is_cut, self._scores)),
            "qiaocrawl/traps/groups": len(self._scores),
            "qiaocrawl/traps/doubles": self.counts["doubles"],
            "qiaocrawl/traps/urls_closed": self.counts["closed"],
        }


def _stored_score(form: str, a: PatternScore) -> StoredPatternScore:
    counts = a.points, a.fetched, a.stories, a.trees, a.listed
    return StoredPatternScore(form.partition("/")[0], form, *counts, a.cut)
