"""Strategies by name and options as text."""

from __future__ import annotations

import pytest

from frontier_graph import TOPIC
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import make_strategy, strategies
from qiaocrawl.options.kinds import option_defaults, plugin_options


def test_options_are_read_as_the_strategy_takes_them() -> None:
    rwb, ontology = (option_defaults(strategies.get(name)) for name in ("rwb", "ontology"))
    assert plugin_options("rwb", rwb, "") == {}
    given = plugin_options("rwb", rwb, " c = .2 ,d=5e-1,, seed=3,")
    assert given == {"c": 0.2, "d": 0.5, "seed": 3}
    assert isinstance(given["seed"], int)
    assert plugin_options("ontology", ontology, "function=linear") == {"function": "linear"}
    assert make_strategy("rwb", TOPIC, "c=.3").name == "rwb"


@pytest.mark.parametrize("name", strategies.names())
def test_every_strategy_can_be_made_with_its_own_defaults(name: str) -> None:
    defaults = option_defaults(strategies.get(name))
    text = ",".join(f"{option}={default}" for option, default in defaults.items())
    assert make_strategy(name, TOPIC, text).name == name


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [("bfs", "c=1", "strategy 'bfs' has no options, got 'c'"),
     ("amh", "z=1", r"strategy 'amh' has no option 'z' \(there are: a=0.4, b=0.4, c=0.2\)"),
     ("svm", "", None),
     ("shark_search", "gama=1", "has no option 'gama'; did you mean 'gamma'"),
     ("rwb", "c", "written NAME=VALUE,…, got 'c'"),
     ("rwb", "=1", "has no option ''"),
     ("rwb", "c=x", "'c' of strategy 'rwb' must be a number, got 'x'"),
     ("rwb", "c=nan", "'c' of strategy 'rwb' must be a number, got 'nan'"),
     ("rwb", "c=", "'c' of strategy 'rwb' must be a number, got ''"),
     ("rwb", "seed=1.5", "'seed' of strategy 'rwb' must be a whole number, got '1.5'"),
     ("rwb", "c=.1,c=.2", "'c' of strategy 'rwb' is given twice"),
     ("rwb", "c=1.01", r"'c' of strategy 'rwb' must lie in \[0, 1\], got 1.01"),
     ("ontology", "function=cubic", "cubic"),
     ("rbw", "", "unknown strategy 'rbw'; did you mean")],
)  # fmt: skip
def test_wrong_options_are_named(name: str, options: str, message: str | None) -> None:
    if message is None:
        make_strategy(name, TOPIC, options)
        return
    with pytest.raises(ConfigError, match=message):
        make_strategy(name, TOPIC, options)
