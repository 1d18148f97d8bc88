"""What articles of a topic are about, judged once, and again when people said more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from qiaocrawl.analysis.classes.model import ClassModel, learn_classes
from qiaocrawl.storage.analysis import classes

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.runtime import Runtime
    from qiaocrawl.topic.pack import TopicPack

_AT_A_TIME = 200
_EACH_COUNTS, _STEP = 10, 10


def topic_model(c: Connection, pack: TopicPack) -> ClassModel:
    """What is learnt of a topic's classes.

    The first ten examples count at once, later ones in tens, so that all articles are not judged
    anew after each.
    """
    marked = classes.marked_articles(c, pack.name)
    count = len(marked) if len(marked) < _EACH_COUNTS else len(marked) - len(marked) % _STEP
    return learn_classes(pack.terms, marked[:count])


def topic_models(runtime: Runtime) -> dict[str, ClassModel]:
    """The models of all topics that have classes."""
    models = {
        name: runtime.reader.run(partial(topic_model, pack=pack))
        for name, pack in runtime.catalogue.packs.items()
    }
    return {name: model for name, model in models.items() if model.names}


def count_waiting(c: Connection, models: dict[str, ClassModel]) -> int:
    """How many articles are to be judged."""
    return sum(classes.count_stale(c, name, model.digest) for name, model in models.items())


def judge_classes(
    runtime: Runtime, models: dict[str, ClassModel], advance: Callable[[int], bool]
) -> int:
    """Judge all articles on topic that no person and not this model judged; returns how many.

    A kill costs two hundred articles at most. Two workers that judge the same article write the
    same.

    Args:
        advance: called with the number of articles just judged; False asks to stop.
    """
    done = 0
    for name, model in models.items():
        after = -1
        while True:
            waiting = runtime.reader.run(partial(
                classes.stale, topic_name=name, model=model.digest, after=after, most=_AT_A_TIME,
            ))  # fmt: skip
            if not waiting:
                break
            judged = [(url_id, model.judge(title, body)) for url_id, title, body in waiting]
            runtime.write_now(partial(
                classes.keep_classes, topic_name=name, model=model.digest, judged=judged,
            ))  # fmt: skip
            after, done = waiting[-1][0], done + len(waiting)
            if not advance(len(waiting)):
                return done
    return done
