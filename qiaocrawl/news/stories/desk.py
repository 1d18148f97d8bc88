"""The desk at which articles come in minute by minute and become stories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from qiaocrawl.news.stories.linking import (
    Join,
    LinkSettings,
    Pairs,
    StoryLinks,
    is_grown,
    product_of,
    put_together,
    taken_out,
)
from qiaocrawl.news.stories.lookup import DAY_MINUTES, Sleepers
from qiaocrawl.news.stories.story import Change, ChangeKind, Correction, Item, Story, story_of
from qiaocrawl.news.stories.voices import Background, VoiceReader

_MINUTE_SECONDS = 60.0
_SHARED_WORDS = 5
# Of so few texts of one minute no story becomes large.
_FEW = 16
# A correction by hand moves the threshold by so much, as far as _MOST_LEARNT corrections do.
_LEARNT_STEP, _MOST_LEARNT = 0.02, 10


@dataclass(slots=True)
class DeskState:
    """What a desk knows besides its stories and the background.

    Args:
        next_id: the number of the next story.
        minute: the last one that was taken; -1 before the first.
        day: the last day at whose beginning stories were put to sleep.
        learnt: splits by hand less merges by hand.
    """

    next_id: int = 1
    minute: int = -1
    day: int = -1
    learnt: int = 0


@dataclass(slots=True)
class Minute:
    """What a minute changed.

    Args:
        changes: in the order they came about.
        stories: the numbers of all stories that are new, changed, asleep or gone.
        slept: those that sleep now.
    """

    changes: list[Change] = field(default_factory=list)
    stories: set[int] = field(default_factory=set)
    slept: dict[int, Story] = field(default_factory=dict)


class StoryDesk:
    """Takes articles minute by minute: each joins a story or opens one.

    The result depends on what came in which minute, never on the order within one. The last
    minute may be taken again and again with more articles: what it did before is taken back.

    Args:
        settings: how alike stories must be.
        background: how common terms are; it is counted on.
        words: the terms of topics, which are kept whole and weigh little.
        recall: gives a sleeping story back by its number; None: the desk keeps them itself.
    """

    def __init__(
        self,
        settings: LinkSettings | None = None,
        background: Background | None = None,
        words: Sequence[str] = (),
        recall: Callable[[int], Story] | None = None,
    ) -> None:
        self.settings = settings or LinkSettings()
        self.state = DeskState()
        self.background = background or Background()
        self.voices = VoiceReader(self.background, words)
        self._pairs = Pairs()
        self._links = StoryLinks(self.settings, self._pairs)
        self.sleepers = Sleepers(recall)
        self._story_of: dict[str, int] = {}
        self._before: dict[int, Story | None] = {}
        self._state_before = replace(self.state)
        self._minute = Minute()

    @property
    def stories(self) -> dict[int, Story]:
        """The stories that are awake, by number."""
        return self._links.stories

    @property
    def threshold(self) -> float:
        """The score that joins: the one of the settings, moved by what corrections taught."""
        learnt = max(-_MOST_LEARNT, min(self.state.learnt, _MOST_LEARNT))
        return self.settings.threshold * (1 + _LEARNT_STEP * learnt)

    def restore(self, state: DeskState, stories: Iterable[Story]) -> None:
        """Go on from stored stories; sleepers are put into :attr:`sleepers`."""
        self.state = replace(state)
        self._state_before = replace(state)
        for story in stories:
            self._put(story.id, story)
        self._before.clear()

    def take(
        self, minute: int, items: Sequence[Item], corrections: Sequence[Correction] = ()
    ) -> Minute:
        """Take the articles of *minute* (since the epoch), all there are so far.

        Args:
            corrections: what people said; it is done before the articles come.

        Raises:
            ValueError: the minute is before the last one.
        """
        if minute < self.state.minute:
            raise ValueError(f"minute {minute} comes after {self.state.minute}")
        self._begin(minute)
        for correction in corrections:
            self._correct(correction)
        fresh = self._open(sorted(items, key=lambda item: item.key))
        self._join(fresh)
        left = self._put_together()
        if len(fresh) > _FEW:
            # Of many that come at once some are like what others became, and like none of them.
            left |= set(fresh)
        self._settle(sorted(number for number in left if self._is_lone(number)))
        return self._minute

    # --- one minute ---------------------------------------------------------------------------

    def _begin(self, minute: int) -> None:
        if minute == self.state.minute:
            self._take_back()
        self._before.clear()
        self.sleepers.begin()
        self._state_before = replace(self.state)
        self._minute = Minute()
        self.state.minute = minute
        day = minute // DAY_MINUTES
        if day > self.state.day:
            self.state.day = day
            self._put_to_sleep(minute)

    def _take_back(self) -> None:
        """Undo all that the last minute did, its putting to sleep too."""
        before = dict(self._before)
        for number in before:
            self._put(number, None)
        for number, story in before.items():
            self._put(number, story)
        self.sleepers.take_back()
        self.background.forget_minute()
        minute = self.state.minute
        self.state = replace(self._state_before)
        self.state.minute = minute

    def _open(self, items: Sequence[Item]) -> list[int]:
        """Stories of the new texts; reprints of known ones join these.

        Returns:
            The numbers of the new ones.
        """
        texts: dict[str, list[str]] = {}
        heads: dict[str, str] = {}
        minute = self.state.minute
        for item in items:
            if item.key in self._story_of:
                continue
            like = min(
                (self._story_of[key] for key in item.reprints if key in self._story_of),
                default=None,
            )
            if like is not None:
                self._put(like, self.stories[like].with_reprint(item.key, item.reprints, minute))
                self._tell(Change("joined", like, minute, keys=(item.key,)))
                continue
            head = next((heads[key] for key in item.reprints if key in heads), item.key)
            heads[item.key] = head
            texts.setdefault(head, []).append(item.key)
        read = [item for item in items if item.key in texts]
        fresh = []
        for voice in self.voices.read(read, minute * _MINUTE_SECONDS):
            fresh.append(self._number())
            with_all = replace(voice, articles=tuple(texts[voice.key]), minute=minute)
            self._put(fresh[-1], story_of(fresh[-1], with_all, minute))
        return fresh

    def _join(self, fresh: Sequence[int]) -> None:
        self._wake(fresh)
        self._settle(fresh, frozenset(fresh))
        for number in fresh:
            if number in self.stories:
                story = self.stories[number]
                self._tell(Change("opened", number, self.state.minute, keys=story.articles))

    def _settle(self, numbers: Sequence[int], untold: frozenset[int] = frozenset()) -> None:
        """Join stories with what they are like; *untold*: those nobody was told of yet."""
        for join in self._links.settle(numbers, self.threshold):
            # Of several joins of one story the first knows what it was before.
            self._before.setdefault(join.kept, join.before)
            self._before.setdefault(join.gone, join.taken)
            self._minute.stories.add(join.gone)
            self._note(join.kept, join.taken.articles)
            self._tell_join(join, untold)

    def _is_lone(self, number: int) -> bool:
        """Whether a story is one text that may still be of another one."""
        story = self.stories.get(number)
        return story is not None and len(story.voices) == 1 and not story.by_hand

    def _tell_join(self, join: Join, untold: frozenset[int]) -> None:
        if join.kept in untold:
            return
        is_fresh = join.gone in untold
        self._tell(
            Change(
                "joined" if is_fresh else "merged",
                join.kept,
                self.state.minute,
                None if is_fresh else join.gone,
                join.taken.articles,
                join.score,
                _common_words(join.before, join.taken),
            )
        )

    def _put_together(self) -> set[int]:
        """Stories that grew, or that something was nearly joined with, are looked at anew.

        So it does not matter what came first: texts join as they would if all came at once.

        Returns:
            The numbers of those that were made on the way.
        """
        pools = {
            number: {number}
            for number in sorted(self._minute.stories & self.stories.keys())
            if is_grown(self.stories[number])
        }
        for one, other in self._links.doubtful:
            both = [self.stories[number] for number in (one, other) if number in self.stories]
            # Of two single texts there is nothing to put together otherwise.
            if len(both) == 2 and sum(len(story.voices) for story in both) > 2:
                pools.setdefault(one, {one}).add(other)
        made = set[int]()
        for numbers in pools.values():
            stories = [self.stories[number] for number in sorted(numbers & self.stories.keys())]
            # What a person said stands.
            stories = [story for story in stories if not (story.by_hand or story.apart)]
            if stories:
                made |= self._rearrange(stories)
        return made

    def _rearrange(self, stories: Sequence[Story]) -> set[int]:
        made = put_together(stories, self.settings, self.threshold, self._pairs)
        if made is None:
            for story in stories:
                if is_grown(story):
                    self._put(story.id, replace(story, checked=len(story.voices)))
            return set()
        was = {key: story.id for story in stories for key in story.articles}
        for story in stories:
            self._put(story.id, None)
        numbered = [replace(story, id=story.id or self._number()) for story in made]
        for story in numbered:
            self._put(story.id, story)
        left = {story.id for story in numbered}
        for story in numbered:
            came: dict[int, list[str]] = {}
            for key in story.articles:
                if was[key] != story.id:
                    came.setdefault(was[key], []).append(key)
            for origin, keys in came.items():
                kind: ChangeKind = "split" if origin in left else "merged"
                self._tell(Change(kind, story.id, self.state.minute, origin, tuple(keys)))
        return left - {story.id for story in stories}

    # --- corrections --------------------------------------------------------------------------

    def _correct(self, correction: Correction) -> None:
        for number in correction.asleep:
            if number not in self.stories:
                self._put(number, self.sleepers.recall_story(number))
                self.sleepers.take(number)
        own = sorted({self._story_of[key] for key in correction.keys if key in self._story_of})
        others = sorted({self._story_of[key] for key in correction.others if key in self._story_of})
        if not own or not others:
            return
        if correction.kind == "merge":
            self._merge_by_hand(sorted({*own, *others}))
        else:
            self._split_by_hand(frozenset(correction.keys), own, others[0])

    def _merge_by_hand(self, numbers: Sequence[int]) -> None:
        kept, *gone = numbers
        for number in gone:
            story, other = self.stories[kept], self.stories[number]
            joined = story.joined_with(other, product_of(story, other, self._pairs))
            self._put(number, None)
            self._put(kept, replace(joined, by_hand=True, apart=joined.apart - {kept, *numbers}))
            self._tell(
                Change("merged", kept, self.state.minute, number, other.articles, by_hand=True)
            )
            self.state.learnt -= 1

    def _split_by_hand(self, keys: frozenset[str], numbers: Sequence[int], rest: int) -> None:
        new = self._number()
        moved: Story | None = None
        for number in numbers:
            part, left = taken_out(self.stories[number], keys, self._pairs)
            if left is None and number == rest:
                continue
            self._put(number, None if left is None else replace(left, by_hand=True))
            if moved is None:
                moved = replace(part, id=new)
            else:
                moved = moved.joined_with(part, product_of(moved, part, self._pairs))
        if moved is None:
            return
        self._put(new, replace(moved, by_hand=True, apart=moved.apart | {rest}))
        if rest in self.stories:
            story = self.stories[rest]
            self._put(rest, replace(story, by_hand=True, apart=story.apart | {new}))
        self._tell(Change("split", new, self.state.minute, rest, moved.articles, by_hand=True))
        self.state.learnt += 1

    # --- sleep --------------------------------------------------------------------------------

    def _put_to_sleep(self, minute: int) -> None:
        for number in self.sleepers.end(minute):
            self._tell(Change("ended", number, minute))
        due = [story for story in self.stories.values() if self.sleepers.is_due(story, minute)]
        for story in sorted(due, key=lambda story: story.id):
            self._put(story.id, None)
            if len(story.voices) > 1 or story.by_hand:
                self.sleepers.put(story)
                self._minute.slept[story.id] = story
                self._tell(Change("slept", story.id, minute))
            else:
                self._tell(Change("ended", story.id, minute))

    def _wake(self, fresh: Sequence[int]) -> None:
        """Wake the sleepers that a new text is like."""
        for number in fresh:
            text = self.stories[number]
            for near in self.sleepers.like(text):
                story = self.sleepers.recall_story(near)
                score = self._links.score(story, text)
                if score >= self.threshold:
                    self._put(near, story)
                    self.sleepers.take(near)
                    self._tell(
                        Change(
                            "woke",
                            near,
                            self.state.minute,
                            score=score,
                            words=_common_words(story, text),
                        )
                    )

    # --- books --------------------------------------------------------------------------------

    def _number(self) -> int:
        number = self.state.next_id
        self.state.next_id += 1
        return number

    def _tell(self, change: Change) -> None:
        self._minute.changes.append(change)
        self._minute.stories.add(change.story)

    def _put(self, number: int, story: Story | None) -> None:
        old = self.stories.get(number)
        if old is story:
            return
        self._before.setdefault(number, old)
        for key in old.articles if old else ():
            self._story_of.pop(key, None)
        self._links.put(number, story)
        self._minute.stories.add(number)
        self._note(number, story.articles if story else ())

    def _note(self, number: int, articles: Iterable[str]) -> None:
        """Have *articles* lead to their story."""
        self._story_of |= dict.fromkeys(articles, number)


def _common_words(one: Story, other: Story) -> tuple[str, ...]:
    """The words both say, by those of their latest texts."""
    said = {word for voice in one.voices[-_SHARED_WORDS:] for word in voice.words}
    words = dict.fromkeys(word for voice in other.voices for word in voice.words if word in said)
    return tuple(words)[:_SHARED_WORDS]
