"""What stands around an article on real pages: menus, rankings, notices, footers, comments.

Pages of ``hard_cases/`` ask for it as servers do, ``<!--#hot 20 今日热点-->``: the name of a
function here, then its arguments. The same page gets the same furniture every time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

_INCLUDE = re.compile(r"<!--#(\w+)([^>]*?)-->")

_CHANNELS = (
    "首页 要闻 时政 国内 国际 侨界 侨乡 华社 社区 教育 文化 财经 产经 房产 汽车 科技 健康 体育 娱乐 旅游 "
    "图片 视频 专题 评论 访谈 直播 论坛 博客 数字报 手机版 客户端 广东 福建 浙江 海南 广西 港澳 台湾 "
    "东南亚 北美 欧洲 非洲 大洋洲 南美 招聘 亲子 美食 读书 收藏 公益 法治 环保 三农 军事 历史 天气"
).split()
_WHO = (
    "市侨联", "多家侨企", "归侨侨眷", "省侨办", "华文学校", "海外社团", "新归国学子", "青年志愿者",
    "当地商会", "文旅部门", "体育局", "两名高三学生", "七旬老人", "高铁站", "乡村医生", "返乡创业者",
)  # fmt: skip
_DID = (
    "举办中秋联谊", "发布年度报告", "走进社区问需", "获评先进集体", "启动暑期夏令营", "签下亿元订单",
    "捐建乡村图书室", "讲述家族往事", "开通线上办事窗口", "迎来客流高峰", "推出便民新举措",
    "排演传统剧目", "深夜救助迷路老人", "公布整改结果", "热议新规落地", "寻亲三十年终团圆",
)  # fmt: skip
_TAILS = ("", "", "（图）", "，网友点赞", "：一个都不能少", "，你怎么看？", "　专家解读", "[视频]")
_NOTES = (
    "说得好，支持一下，希望真的能落实到我们这些普通人身上。",
    "我家就住在附近，去年这时候还不是这样的，变化真快啊！",
    "楼上的说法不敢苟同，数据是哪里来的？能不能贴个出处。",
    "顶。老一辈人看到这个消息应该会很欣慰吧。",
    "呵呵，年年都这么说，等办成了再报道也不迟。",
    "请问外地户口可以参加吗？在哪里报名？有知道的朋友回复一下，谢谢。",
    "转给我爸妈看了，他们当年就是从那个码头走的，看完半天没说话。",
    "文章写得不错，就是配图少了点，建议小编多放几张现场照片。",
)  # fmt: skip
_MEMBERS = ("南风过境", "老榕树下", "阿榄", "珠江钓客", "一杯工夫茶", "Lily_wong", "埔仔", "过番客")
_TOPICS = ("Council", "Harbour museum", "Local bakers", "Ferry operator", "School board",
           "Volunteers", "City library", "Night market traders")  # fmt: skip
_EVENTS = ("approves new budget after long debate", "reopens following two-year restoration",
           "wins regional award for third year", "warns of delays this weekend",
           "welcomes record number of visitors", "seeks stories from older residents",
           "drops plan to raise fees", "celebrates Lunar New Year with parade")  # fmt: skip


def furnished(markup: str, seed: str) -> str:
    """*markup* with its includes replaced; *seed* (a page's name) settles all chance."""
    random = Random(seed)

    def include(match: re.Match[str]) -> str:
        return _FURNITURE[match[1]](random, *match[2].split())

    return _INCLUDE.sub(include, markup)


def _headline(random: Random) -> str:
    return random.choice(_WHO) + random.choice(_DID) + random.choice(_TAILS)


def _headline_en(random: Random) -> str:
    return f"{random.choice(_TOPICS)} {random.choice(_EVENTS)}"


def _href(random: Random) -> str:
    return f"/{random.randint(2012, 2024)}/{random.randint(101, 1228):04}/{random.randrange(10**7)}.html"


def _nav(random: Random, count: str = "40", form: str = "ul") -> str:
    names = (_CHANNELS * 2)[: int(count)]
    links = [f'<a href="/{random.choice("abcdef")}{i}/">{name}</a>' for i, name in enumerate(names)]
    if form == "td":
        cells = "".join(f'<td align="center"><font size="2">{link}</font></td>' for link in links)
        return f'<table width="778" border="0" cellpadding="0"><tr>{cells}</tr></table>'
    if form == "line":
        return " | ".join(links)
    return '<div class="nav"><ul>' + "\n".join(f"<li>{link}</li>" for link in links) + "</ul></div>"


def _hot(random: Random, count: str = "10", heading: str = "热点排行") -> str:
    rows = [
        f'<li><em>{i + 1}</em><a href="{_href(random)}" title="">{_headline(random)}</a></li>'
        for i in range(int(count))
    ]
    return f"<h3>{heading}</h3>\n<ol>\n" + "\n".join(rows) + "\n</ol>"


def _related(random: Random, count: str = "8", heading: str = "相关阅读") -> str:
    rows = [
        f'<li>·<a href="{_href(random)}">{_headline(random)}</a> '
        f"<span>({random.randint(1, 12):02}-{random.randint(1, 28):02})</span></li>"
        for _ in range(int(count))
    ]
    return f"<p><strong>{heading}</strong></p>\n<ul>\n" + "\n".join(rows) + "\n</ul>"


def _list(random: Random, count: str = "20") -> str:
    rows = [
        f'<li><a href="{_href(random)}">{_headline(random)}</a>'
        f"<i>2023-{random.randint(1, 12):02}-{random.randint(1, 28):02}</i></li>"
        for _ in range(int(count))
    ]
    return "<ul>\n" + "\n".join(rows) + "\n</ul>"


def _teasers(random: Random, count: str = "10") -> str:
    return "\n".join(
        f'<div class="item"><h3><a href="{_href(random)}">{_headline(random)}</a></h3>'
        f"<p>{_headline(random)}。{random.choice(_NOTES)}{_headline(random)}……</p>"
        f"<span>2023-{random.randint(1, 12):02}-{random.randint(1, 28):02} 08:30</span></div>"
        for _ in range(int(count))
    )


def _share(_random: Random) -> str:
    return (
        '<div class="bdsharebuttonbox">分享到：<a href="#">微信</a><a href="#">微博</a>'
        '<a href="#">QQ空间</a> <a href="javascript:;">收藏</a> <a href="javascript:window.print()">'
        '打印</a> 字号：<a href="#">大</a> <a href="#">中</a> <a href="#">小</a></div>'
    )


def _login(_random: Random) -> str:
    return (
        '<form action="/login.php" method="post">用户名：<input type="text" name="u" size="10"> '
        '密码：<input type="password" name="p" size="10"> <input type="submit" value="登录"> '
        '<a href="/reg.php">免费注册</a> <a href="/lost.php">忘记密码？</a></form>'
    )


def _disclaimer(_random: Random) -> str:
    return (
        "<p>免责声明：凡本网注明“来源：XXX（非本网）”的作品，均转载自其它媒体，转载目的在于传递更多信息，"
        "并不代表本网赞同其观点和对其真实性负责。如因作品内容、版权和其它问题需要同本网联系的，请在30日内"
        "进行。</p>\n<p>凡本网注明“本网讯”的所有作品，版权均属于本网，未经本网授权不得转载、摘编或利用其它"
        "方式使用上述作品。违反上述声明者，本网将追究其相关法律责任。</p>"
    )


def _footer(_random: Random, kind: str = "news") -> str:
    links = " | ".join(
        f'<a href="/about/{i}.html">{name}</a>'
        for i, name in enumerate(("关于我们", "广告服务", "联系我们", "网站地图", "法律声明", "招聘信息"))
    )
    lines = {
        "news": (links, "本网站所刊载信息，不代表本网观点。刊用本网站稿件，务经书面授权。",
                 "未经授权禁止转载、摘编、复制及建立镜像，违者将依法追究法律责任。",
                 "[网上传播视听节目许可证（0100000）] [京ICP证000000号] [京公网安备 11010000000000号]",
                 "违法和不良信息举报电话：010-00000000　举报邮箱：jubao@example.test",
                 "Copyright ©1999-2024 example.test. All Rights Reserved"),
        "government": (links, "主办单位：某某市人民政府办公室　承办单位：某某市大数据中心",
                       "网站标识码：4400000000　粤ICP备00000000号-1　粤公网安备 44000000000000号",
                       "联系电话：0000-0000000（仅受理网站建设维护相关事宜）　邮编：000000"),
        "old": ("版权所有 某某在线　建议使用1024*768分辨率、IE6.0以上浏览器浏览本站",
                "粤ICP备05000000号　技术支持：某某网络公司　您是第 1286532 位访客"),
        "hant": ('<a href="/about">關於我們</a>．<a href="/ad">刊登廣告</a>．<a href="/p">隱私權聲明</a>',
                 "本網站之文字及圖片皆受著作權法保護，未經同意不得轉載", "© 2020 All Rights Reserved"),
        "en": ('<a href="/about">About us</a> <a href="/contact">Contact</a> <a href="/terms">Terms '
               'of use</a> <a href="/privacy">Privacy policy</a> <a href="/jobs">Careers</a>',
               "© 2024 Example Media Group. All rights reserved. This material may not be published,"
               " broadcast, rewritten or redistributed without permission."),
    }  # fmt: skip
    return '<div class="b_txt">' + "<br>\n".join(lines[kind]) + "</div>"


def _comments(random: Random, count: str = "10") -> str:
    return "\n".join(
        f'<li class="c-item"><a href="/u/{random.randrange(99999)}">{random.choice(_MEMBERS)}</a> '
        f"<span>2023-05-{random.randint(10, 28)} {random.randint(7, 23)}:{random.randint(10, 59)}"
        f"</span><p>{random.choice(_NOTES)}{random.choice(_NOTES)}</p>"
        f'<a href="#">顶({random.randrange(40)})</a> <a href="#">回复</a></li>'
        for _ in range(int(count))
    )


def _script(random: Random, lines: str = "30") -> str:
    calls = "\n".join(
        f'  _track.push(["event", "m{random.randrange(999)}", {{"p": {random.random():.6f}}}]);'
        for _ in range(int(lines))
    )
    return f"<script>\nvar _track = _track || [];\n(function(){{\n{calls}\n}})();\n</script>"


def _ad(_random: Random) -> str:
    return (
        '<div class="gg"><span>广告</span><a href="http://ad.example.test/c?id=7" target="_blank">'
        '<img src="/ad/7.gif" width="300" height="250"></a></div>'
    )


def _nav_en(_random: Random) -> str:
    names = ("Home", "News", "UK", "World", "Business", "Politics", "Tech", "Science", "Health",
             "Family", "Education", "Entertainment", "Sport", "Weather", "Travel", "Culture",
             "Opinion", "Video", "Podcasts", "Newsletters", "Games", "Subscribe", "Sign in")  # fmt: skip
    rows = "".join(f'<li><a href="/{name.lower()}">{name}</a></li>' for name in names)
    return f'<nav aria-label="Main"><ul>{rows}</ul></nav>'


def _hot_en(random: Random, count: str = "8", *heading: str) -> str:
    rows = "\n".join(
        f'<li><a href="{_href(random)}"><h4>{_headline_en(random)}</h4></a></li>'
        for _ in range(int(count))
    )
    return f"<section><h3>{' '.join(heading) or 'Most read'}</h3><ul>\n{rows}\n</ul></section>"


def _newsletter(_random: Random) -> str:
    return (
        '<div class="nl-box"><h4>Get the Morning Briefing</h4><p>Start every weekday with the '
        "stories you need to know, delivered straight to your inbox. You can unsubscribe at any "
        'time.</p><form><input type="email" placeholder="Email address"><button>Sign up</button>'
        "</form><p>By signing up you agree to our privacy policy and terms of use.</p></div>"
    )


def _cookies(_random: Random) -> str:
    return (
        '<div id="consent-wall" role="dialog"><h2>We value your privacy</h2><p>We and our 842 '
        "partners store and access information on a device, such as cookies, and process personal "
        "data to provide personalised ads and content, ad measurement and audience research. With "
        "your permission we may use precise location data. You may click to consent to our "
        "processing, or refuse, at any time.</p><button>Accept all</button></div>"
    )


_FURNITURE: dict[str, Callable[..., str]] = {
    "nav": _nav, "hot": _hot, "related": _related, "list": _list, "teasers": _teasers,
    "share": _share, "login": _login, "disclaimer": _disclaimer, "footer": _footer,
    "comments": _comments, "script": _script, "ad": _ad, "nav_en": _nav_en, "hot_en": _hot_en,
    "newsletter": _newsletter, "cookies": _cookies,
}  # fmt: skip
