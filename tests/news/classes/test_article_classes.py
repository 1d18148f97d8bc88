"""Classes of articles: from the terms, from people's examples, and none where none is sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from qiaocrawl.language import CHINESE, using_language
from qiaocrawl.news.classes import learn_classes
from qiaocrawl.storage.topics.classes import MarkedArticle, class_label, class_named, class_names
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from qiaocrawl.topic.tree import read_golden

TERMS = load_pack(SHIPPED_PACKS / "qiaoqing").terms
GROUPS = {
    "机构与政策": "policy", "华文教育": "education", "侨商与侨资": "business",
    "文化与节庆": "culture", "海外安全": "safety", "华文媒体与研究": "media",
}  # fmt: skip


def test_classes_are_the_kinds_of_terms_that_say_what_a_text_is_about() -> None:
    names = class_names(term.kind for term in TERMS)
    assert set(names) == {"policy", "education", "business", "culture", "safety", "media"}
    assert class_names(["core"], ["选举", "选举"]) == ("选举",)
    assert class_named("教育") == class_named(" Education ") == "education"
    assert class_named("unsure") == class_named("没有把握") == ""
    with using_language(CHINESE):
        assert class_label("education") == "教育"
        assert class_label("选举") == "选举"


def test_terms_alone_give_a_class_and_nothing_gives_none() -> None:
    model = learn_classes(TERMS)
    found = model.judge("槟城独中迎百年校庆", "这所华文独中的华文教师说，华文教育不易。")
    assert (found.name, found.words[0]) == ("education", "独中")
    traditional = model.judge("檳城獨中迎百年校慶", "這所華文獨中的華文教師說，華文教育不易。")
    assert traditional.name == "education"
    nothing = model.judge("天气晴好", "今天天气晴好。")
    assert (nothing.name, nothing.words) == ("", ())
    assert nothing.certainty < 0.3
    both = model.judge("", "华文教育与领事保护：华文教育和领事保护的座谈会。")
    assert both.name == "", "two classes alike"


def test_what_people_mark_teaches_the_others() -> None:
    election = [
        MarkedArticle(f"选民投票选出新议员{number}", "选区的选票今晚点算，候选人承认败选。", "大选")
        for number in range(6)
    ]
    school = [
        MarkedArticle("孩子们开学", f"教室里{number}名孩子领到了新课本，老师点名。", "education")
        for number in range(6)
    ]
    before, after = learn_classes(TERMS), learn_classes(TERMS, [*election, *school])
    text = ("选票点算结束", "候选人承认败选，在选区里感谢选民，选民投票选出新议员。")
    assert before.judge(*text).name == ""
    assert after.judge(*text).name == "大选"
    school_text = "老师点名，给孩子们发新课本，教室里坐满了开学的孩子。"
    assert after.judge("新学年", school_text).name == "education"
    assert after.judge("领事提醒", "使馆发布领事提醒，领事保护热线开通。").name == "safety"
    assert before.digest != after.digest
    again = learn_classes(TERMS, [*election, *school])
    assert again.digest == after.digest
    assert again.judge(*text) == after.judge(*text)


def test_the_project_s_own_headlines() -> None:
    """Half of them teach the other half; what is given is mostly right."""
    golden = [own for own in read_golden(SHIPPED_PACKS / "qiaoqing" / "golden.csv")
              if own.group in GROUPS and own.relevant]  # fmt: skip
    assert len(golden) > 60
    taught = learn_classes(TERMS, [
        MarkedArticle(own.title, "", GROUPS[own.group]) for own in golden[::2]
    ])  # fmt: skip
    figures = []
    for model in (learn_classes(TERMS), taught):
        found = [(model.judge(own.title, "").name, GROUPS[own.group]) for own in golden[1::2]]
        given = [name == wanted for name, wanted in found if name]
        figures.append((len(given) / len(found), sum(given) / len(given)))
    (share, right), (taught_share, taught_right) = figures
    assert right >= 0.8
    assert taught_right >= 0.8
    assert taught_share >= share


@pytest.mark.parametrize("terms", [(), TERMS[:1]])
def test_a_topic_without_classes_has_none(terms: tuple[object, ...]) -> None:
    model = learn_classes(terms)  # type: ignore[arg-type]
    assert model.names == ()
    assert model.judge("华文教育", "华文教育").name == ""


def test_the_packs_are_where_they_are_looked_for() -> None:
    assert Path(SHIPPED_PACKS / "qiaoqing" / "terms.csv").is_file()
