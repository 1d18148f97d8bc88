"""Names of people and media in bylines: split, tidied, told from other words."""

from __future__ import annotations

import re
from functools import lru_cache

from qiaocrawl.text.normalise import HAN

# --- Tells Chinese names of people from words that begin with the same characters -----------------
# **(ours)** About nine in ten names begin with one of the surnames below, but so do hundreds of
# words that stand alone in menus and headings: 文章, 简介, 时间. A name is told by what it is not:
# no such word, and no character that words have and given names lack.

# The commonest surnames of one character, in both scripts.
_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許韩韓邓鄧"
    "冯馮曹彭曾肖蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜崔谭譚陆陸范範汪"
    "廖石金韦韋贾賈夏付傅方邹鄒熊白孟秦邱侯江尹薛闫閻段雷龙龍黎史陶贺賀毛郝顾顧龚龔邵万萬"
    "覃武钱錢戴严嚴莫孔向常汤湯康易乔喬赖賴文庞龐樊兰蘭殷施洪翟安颜顏倪牛温溫芦章鲁魯葛伍"
    "申尤毕畢聂聶柴焦俞辛詹关關岳齐齊柯梅庄莊解管祝左涂凌霍阮包裴柳欧歐阎宁寧卓华華饶饒蓝"
    "藍骆駱曲苗戚单單童娄婁应應冉舒游费費桂穆卜屈冀项項甘符路宫宮盛占靳宗晏牟党滕古景房"
    "柏格仝佘幸郎郦竺闵宦麻强牧隗山储储晁艾蔚尉郁滑贡劳逄姬扶冷訾辜阙鄢盖桓揭缪干鹿蒲"
    "甄褚沙薄池诸諸东東尚巩鞏仇邢原利谷麦麥瞿米敖祁丛叢连連鲍鮑时時车車佟楚隋"
    "桑来糜边邊戈商刁权權窦竇厉厲宓简簡耿花匡胥司季项岑湛卞"
)
_COMPOUND_SURNAMES = (
    "欧阳", "歐陽", "司马", "司馬", "上官", "诸葛", "諸葛", "令狐", "皇甫", "尉迟", "尉遲", "东方",
    "東方", "赫连", "公孙", "公孫", "慕容", "司徒", "夏侯", "宇文", "长孙", "長孫", "端木", "万俟",
    "独孤", "南宫", "南宮", "申屠", "钟离", "鍾離", "轩辕", "闻人", "呼延", "司空", "澹台", "第五",
)  # fmt: skip
# Words that begin as names do; each also stands for the words that begin with it.
_WORDS = re.compile(
    "(?:张贴|陈列|陈述|黄金$|黄色|黄页|周[刊边末年期报一二三四五六日]|周围|马上|马路|"
    "胡说|胡同|何[时处以谓必]|林[业業区地场权]|高[级級清校考中端速度效铁温层兴性]|罗列|谢谢|谢绝|"
    "许可[证证协]|许多|曾经|肖像|田[径园]|董事|于是|余[额下]|杜绝|程[序式度]|任[务務何意免职期]|陆续|"
    "范[围例文本]|範圍|範例|石[油化]|金[融额属牌色]|夏[天季令]|付[款费費]|方[法案式便向面针言]|白[色天]|"
    "江[苏西湖]|段落|雷达|史[料上学]|贺[词信]|毛[病利]|顾[问客]|万[元一分]|武[汉器术]|"
    "严[格重禁肃]|莫[非名]|向[上下左右导量]|常[见見用识规務务委年州]|康复|易[用经]|"
    "文[章库庫件档檔字化学學艺本集体摘献物娱旅创科言案稿件]|施[工行政]|洪水|"
    "安[全装裝徽排卓]|颜色|顏色|牛市|温[馨度州暖]|章[节程]|申[请報报论诉]|尤其|毕[业竟]|焦[点虑]|"
    "关[于注键闭系联税]|關[於注鍵閉係聯]|齐全|解[决釋释读讀析放答压密说题決説]|管[理道制]|"
    "祝[福贺愿]|左[边侧右图起]|包[括含装裹]|欧[洲美盟]|宁[波夏愿]|华[侨人夏东北南语为文裔]|華[僑人語文裔]|"
    "游[戏客记览玩]|遊戲|费用|費用|项目|項目|甘肃|路[由径线况上过]|盛[典会况世]|占比|党[员建委史政务组报校群章]|"
    "古[代典诗文籍玩镇]|景[点区观]|房[产价屋地源]|曲[目线]|格[式局言外]|幸[福运]|麻烦|强[化调大国]|储存|"
    "东[西北南部]|干[货部净]|应[用当该急聘]|應[用當該]|单[位元机击曲]|單[位元]|舒适|成[功果立员绩语都本人长分]|"
    "车[辆型主市险]|时[间间事政尚代评刻光候装讯报]|時[間事政尚代刻光候裝訊]|"
    "来[源自信稿访电]|商[品业業城务務家标学]|权[限利威重]|簡[介單歷體報]|简[介单历体报讯明述析约]|"
    "花[卉园絮]|查[看询找阅处]|利[率用息好]|原[因创文理则标料著油創則]|连[接载续锁]|連[接載續結]|谷[歌物]|"
    "丛书|巩固|山[东西区]|沙[发龙]|季[节度]|池塘|牧场|滑雪|冷[门知]|劳[动务]|边[界缘]|米饭|"
    "温泉|互|司[法机]|尚未|干部|宗[教旨]|路演|房源)"
)
# Places whose names begin as those of people do.
_PLACES = re.compile(
    "(?:江门|金华|石家庄|张家界|张家口|张家港|马鞍山|连云港|常德|常熟|余姚|宁德|安庆|安阳|安溪|曲靖|曲阜|文山|文昌|景德镇|韩国|高雄|梅州|温岭|黄石|"
    "黄山|黄冈|黄埔|郑州|许昌|周口|商丘|孟州|鲁山|沙市|万宁|万州|陆丰|龙岩|龙海|龙泉|罗马|华盛顿|华沙|费城|金边|马尼拉|关岛|金门|白宫|白俄罗斯|贺州|"
    "项城|邓州|邢台|于都|沈阳|苏州|徐州|徐汇|杨浦|杨凌|章丘|雷州|洪江|洪湖|古巴|古田|房山|柏林|利比亚|楚雄|巩义|尚志|东莞|东京|东营|诸暨|利川|广州|"
    "福州|高州|石狮|蓝田|康定|万隆|万象|文莱|马来西亚|马里|金山|金沙|江阴|江油|武夷山|武义|武昌|林芝|梁平|陵水|昌江|黎平|岳阳|岳西|单县)$"
)
# In words, and not in given names.
_NO_GIVEN = re.compile(
    "[目录錄库庫档檔接击擊览覽载載评評页頁网網站装裝题題类類型件码碼据據量版们們的了吗嗎呢吧"
    "什怎哪她它這这您你我他把被從对對及或等也都还還该該最次些每返退册冊購购售卖賣买買券费費"
    "价價款级級性系统統者员員部需要须須用看读讀写寫做打点點更后後]"
)
# Characters that Chinese writes foreign names with.
_TRANSLITERATION = frozenset(
    "阿埃艾爱安昂奥巴芭白拜班邦保堡鲍贝本比彼毕宾滨波伯博勃布蔡查茨次达大戴丹当道德登邓迪底地蒂丁东都杜顿多厄"
    "恩尔爾法凡范方菲费芬丰冯弗夫福芙盖甘冈高戈格葛根贡古瓜圭哈海汉汗豪赫黑亨洪胡华怀惠霍基吉季加贾简江杰金京"
    "卡凯坎康考柯科克肯孔库夸奎拉莱赖兰朗劳勒雷蕾黎李里理丽利莉立连廉良列林琳龙隆卢鲁路露伦罗洛吕马玛迈麦曼"
    "芒茅梅门蒙米密敏明摩莫默姆穆拿娜纳乃南内妮尼涅宁牛纽农努诺欧帕派潘庞佩彭皮平珀普奇齐恰契强乔切琴丘让热"
    "仁日荣茹儒瑞若撒萨塞赛桑瑟森沙珊尚绍舍圣施石史什思斯丝苏索塔泰坦汤唐陶特滕提田铁廷通图土托瓦万旺威韦维卫"
    "魏温文翁沃乌武伍西希锡夏香肖辛欣兴雄休许逊雅亚延扬耶叶伊依易因英尤于约泽曾扎詹张珍芝治智朱卓兹子宗祖佐"
    "買买逊孜热提江肉克央措顿珠扎桑次旺格巴罗布仁增伊乔喬羅蘭馬麥維爾萊倫蓋亞蘇賽遜"
)
_FOREIGN_MARK = re.compile("[·•．.‧・]")
_FOREIGN_SHARE = 0.6


def is_chinese_name(name: str) -> bool:
    """Whether *name*, of Chinese characters, is a person's: 2 to 4 with a surname first."""
    return 2 <= len(name) <= 4 and _is_name(name)


def is_surely_chinese_name(name: str) -> bool:
    """As :func:`is_chinese_name`, for a place where no label says so: of four characters, only
    with a surname of two."""
    if len(name) > 3 and not name.startswith(_COMPOUND_SURNAMES):
        return False
    return is_chinese_name(name)


@lru_cache(maxsize=4096)
def _is_name(name: str) -> bool:
    if name.startswith(_COMPOUND_SURNAMES) and len(name) > 2:
        return _NO_GIVEN.search(name, 2) is None
    if name[0] not in _SURNAMES or len(set(name)) == 1:
        return False
    if _PLACES.match(name) or _WORDS.match(name):
        return False
    return _NO_GIVEN.search(name, 1) is None


# Where papers overseas report from; a name may stand before it without a mark between.
_REPORTED_FROM = re.compile(
    "(?:[纽紐][约約]|洛杉[矶磯]|[旧舊]金山|三藩市|[华華]盛[顿頓]|芝加哥|休士[顿頓]|休斯[顿敦頓]|波士[顿頓]|[费費]城|西雅[图圖]|"
    "[达達]拉斯|[亚亞]特[兰蘭]大|[迈邁]阿密|[温溫]哥[华華]|多[伦倫]多|[满滿]地可|蒙特[利]?[尔爾]|渥太[华華]|[伦倫]敦|巴黎|柏林|"
    "[罗羅][马馬]|[马馬]德里|米[兰蘭]|布[鲁魯]塞[尔爾]|日[内內]瓦|莫斯科|悉尼|雪梨|墨[尔爾]本|奥克[兰蘭]|新加坡|吉隆坡|曼谷|"
    "[马馬]尼拉|雅加[达達]|河[内內]|胡志明市|金[边邊]|仰光|[东東]京|大阪|首[尔爾]|香港|澳[门門]|[台臺]北|[台臺]中|[台臺]南|高雄|"
    "新北|桃[园園]|新竹|花[莲蓮]|左[营營]|北京|上海|[广廣]州|深圳|福州|[厦廈][门門]|泉州|法拉盛|皇后[区區]|布[鲁魯]克林|曼哈[顿頓]|"
    "[圣聖][荷地何][西亚亞]哥?|[圣聖]谷|[圣聖]盖博|南加州?|北加州?|硅谷|[综綜]合)$"
)


def without_place(name: str) -> str:
    """*name* without a place that papers report from, which follows it without a mark."""
    place = _REPORTED_FROM.search(name)
    is_name = place is not None and is_chinese_name(name[: place.start()])
    return name[: place.start()] if place is not None and is_name else name


def name_before_place(run: str) -> str:
    """The Chinese name that *run* begins with, where any place may follow without a mark; ""."""
    if (name := without_place(run)) != run:
        return name
    sizes = (3, 2, 4) if not run.startswith(_COMPOUND_SURNAMES) else (4, 3)
    for size in sizes:
        rest = len(run) - size  # of the place: 巴黎 at least
        if (rest == 0 or rest > 1) and is_surely_chinese_name(run[:size]):
            return run[:size]
    return ""


def is_foreign_name(name: str) -> bool:
    """Whether *name*, in parts with a dot between, is a foreign name in Chinese characters."""
    parts = [part for part in _FOREIGN_MARK.split(name) if part]
    if len(parts) < 2 or max(map(len, parts)) > 8:
        return False
    letters = HAN.findall(name)
    share = sum(letter in _TRANSLITERATION for letter in letters) / max(1, len(letters))
    return share >= _FOREIGN_SHARE


_LATIN_NAME = re.compile(
    r"(?:[A-ZÀ-ÞŁŚŽČ][\w'’.\-]*|de|del|della|di|da|dos|du|la|le|van|der|den|von|bin|binti|al|el|ul|ibn|y|ter|O'[A-Z]\w+)"
    r"(?:\s(?:[A-ZÀ-ÞŁŚŽČ0-9][\w'’.\-]*|de|del|della|di|da|dos|du|la|le|van|der|den|von|bin|binti|al|el|ul|ibn|y|ter))"
    r"{1,5}"
)
_HAN_NAME = re.compile(
    r"[\u3400-\u9fff]{2,4}|[\u3400-\u9fff]{1,8}[·•．.‧・][\u3400-\u9fff·•．.‧・]{1,16}"
)
_FOREIGN_HAN = re.compile(r"[·•．‧・]")
_SPLIT = re.compile(
    r"\s*(?:[,，、;；|/／+\n\t]|(?<=\s)[&＆](?=\s)|(?<=[A-Za-z])&(?=[A-Z])|"
    r"(?<![A-Za-z])(?:and|with)(?![A-Za-z])|\sy\s)\s*",
    re.IGNORECASE,
)
_GLUED = re.compile(
    r"(?<=[a-zà-ÿ])"
    r"(?<!\b(?:Mc|De|Di|Da|Do|Du|La|Le|Lo|Jo|St|El|Al|Ab))(?<!\b(?:Mac|Van|Von|Del|Des|Den|Der|San|Ann))"
    r"(?<!\b(?:Fitz|Dela))(?<!\bDella)(?<!\bVander)[A-Z].*$"
)
"""What follows a name without a space: markup put it beside, not the writer."""
_LABEL = re.compile(
    r"^(?:(?:(?:written|posted|published|words|story|reported|text|review(?:ed)?)\s)?by(?:\s?by)?\b|authors?\b|"
    r"(?:文章|本文|图文|圖文)?作\s*者|撰稿人?|撰文|本[报報网網刊台社][讯訊]?|记者|記者|通讯员|通訊員|文(?=\s*[：:/])|特约|实习|见习|"
    r"原创|楼主|编辑|編輯|责任编辑|責任編輯|责编)\s*[：:/／|｜丨︱]?\s*",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NO_LETTER_BEFORE = r"(?:(?<![a-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
"""Before the name of a month: no letter, or a small one that markup put beside it."""
_REPORTER_OF = re.compile(
    r"^[\u3400-\u9fff]{2,8}?(?:[见見实實][习習]|特[约約派]|首席)?[记記]者[\s：:/／]{1,3}(?=\S)"
)
_WORK_BEHIND = re.compile("(?:记者|記者|编辑|編輯|摄影|攝影|摄|攝|撰|报道|報導|報道|整理|编制)$")
# What ends a name in a line that goes on.
_CUT = re.compile(
    r"(?:作者|(?:编辑|編輯)(?!部)|责编|責編|记者|記者|通讯员|责任|責任|发布|發布|发表|時間|时间|点击|點擊|"
    r"浏览|瀏覽|阅读|閱讀|字号|字體|打印|分享|来源|來源|稿源|日期|评论|評論|我要|摄影|攝影|校对|校對|"
    r"[发發]自|出处|出處|审核|审校|人气|关注|收藏|回复|发表于|于\s?\d|更新|文章|查看|收听|"
    r"译者|譯者|翻译|选题|題图|题图|配图|监制|策划|出品|设计|制作|排版|主编|统筹|美编|值班|"
    r"(?<=\s)[\u3400-\u9fff]{1,5}\s?[：:]|[链鏈]接|連結|地址|版[权權]|声明|聲明|转载|轉載|标[签籤]|標籤|分[类類]|[上下]一?[篇页頁]|本文|目[录錄]|"
    r"返回|首[页頁]|字[数數]|举报|点赞|[私来來][信自]|粉[丝絲]|[订訂][阅閱]|[简簡]介|[专專][栏欄]|[位次]置|"
    r"\d[\d.,]*\s?(?:万|k)?\s?(?:次|条|條|字|分[钟鐘]|人|篇|个|(?:views?|comments?|min(?:ute)?s?|h(?:ou)?rs?|days?|shares?)\b)|"
    rf"{_NO_LETTER_BEFORE}{_MONTH}\.?\s\d|\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}\b|"
    r"\s(?:on|at|in|for|from|published|updated|posted|is|has|was|who|reports?|follow|email|contact|last)\s|"
    r"\s(?:photo(?:graph)?s?|photography|pictures?|illustrations?|images?|video|graphics?)\sby\s|"
    r"\s[-–—|•·]\s|[（(](?![A-Z][\w .]{2,30}[）)]\s*$)|[\[【\]】>《》「|｜丨•]|"
    r"\d{1,4}[-/.年月:]|\d{4}|https?:|www\.|@|。|(?-i:(?<!\b[A-Z])\.\s[A-Z][a-z]+\s[a-z])).*",
    re.IGNORECASE | re.DOTALL,
)
_NO_NAME = re.compile(
    r"^(?:admin\w*|root|editors?|staff|unknown|author|none|null|user|guest|anonymous|by|and|"
    r"佚名|未知|不详|不詳|网络|網絡|匿名|管理员|管理員|小编|本站|本网|本報|本报|原创|转载|轉載|"
    r"网友|網友|编辑|編輯|综合|互联网|无|暂无|系统管理员|webmaster|system|view|all posts|follow|"
    r"share|subscribe|theme|wordpress|wp|more|read more|about|comments?|advertisement|see more|"
    r"bio|profile|n/?a|default|hexo|hugo|jekyll|typecho|z-?blog\w*|dede\w*|织梦\w*|帝国\w*|phpcms|ecms|"
    r"vuepress|gitbook|ghost|drupal|blogger|discuz!?.*|comsenz.*|phpwind.*|joomla.*|microsoft.*|"
    r"站长|站長|博主|作者|编者|編者|记者|記者|游客|遊客|用户|用戶|匿名用户|默认|未命名|公众号|微信|登录|登錄|"
    r"bootstrap|colorlib|your name|author name|name|company|test|demo|首次|最后|最近|"
    r"最初|最新|上次|置顶|精华|沙发|板凳|只看该作者|电梯直达|匿名|原文|已|"
    r"点击|目录|目錄|互动|互動|文库|文庫|本刊|我们|关于|關於|"
    r"[整综綜]合|整理|[编編][译譯]|采[写寫访訪]|[摄攝]影|[摄攝]像|[报報][道导導]|[图圖文]{1,2}|制[图圖]|剪[辑輯]|[撰编編]写|供稿|"
    r"[专專][电電]|[实實]习生?|[见見][习習]|[经經][历歷]|[学學][历歷]|[专專][长長]|[现現][职職]|[证證]照|地板|楼层|[热熱]度|"
    r"(?:last\s)?(?:posted|published|updated|modified|reviewed|edited|filed|written|created)(?:\s(?:on|at|in|by))?)$|"
    r"^[\W\d_]*$|[{}=<>]|\((?-i:[a-z])|\.(?:com|cn|net|org)\b|\S@\S",
    re.IGNORECASE,
)
_DESK = (
    r"(?:senior|staff|chief|politic(?:s|al)|health|science|deputy|associate|assistant|managing|special|"
    r"news|online|digital|foreign|national|local|contributing|royal|crime|sports?|business|web|us|uk|"
    r"education|environment|technology|tech|city|world|audience|features?|investigative|consumer|"
    r"breaking|live|multimedia|content|social|media|freelance|medical|executive|guest|economics?|"
    r"finance|financial|culture|arts?|travel|opinion|metro|global|international|general|community|"
    r"entertainment|lead|junior|white house|washington|china|asia|europe|data|climate|energy|legal)"
)
_ROLE = re.compile(
    rf"^(?:{_DESK}[\s-]+)*"
    r"(?:editors?|reporters?|writers?|correspondents?|journalists?|columnists?|contributors?|"
    r"staff|producers?|director|photographer|chief|m\.?d\.?|ph\.?d\.?|rd|cnn|bbc|jr\.?|"
    r"(?-i:M\.?S|M\.?A|RDN|RN|MPH|BSc|MSc|MBA|CPA|J\.?D|Esq|DDS|LCSW|CFP)$|"
    r"associate professor|professor|analyst|author|blogger|fellow|"
    r"partner|critic|team)\b.*$",
    re.IGNORECASE,
)
_ROLE_BEHIND = re.compile(
    rf"(?<=\w)(?:\s?[-–—,|(])?\s(?:{_DESK}[\s-]+)*"
    r"(?:editor|reporter|writer|correspondent|journalist|columnist|contributor|producer|photographer|"
    r"anchor|blogger|intern)s?\b.*$|"
    r"\s(?:(?-i:CNN|BBC|AFP|NPR|AP|UPI)|reuters|bloomberg|247sports|usa today|"
    r"(?:the\s)?associated press|"
    r"(?:nbc|abc|cbs|fox|sky|ctv|cbc|yahoo|bbc|cnn)\s(?:news|sports?)|e! news)$",
    re.IGNORECASE,
)
"""A role or a network that follows a name without a mark between."""
_MEDIUM = re.compile(
    r"\b(?:mail|news|press|times|post|herald|guardian|telegraph|mirror|express|standard|tribune|journal|"
    r"gazette|chronicle|observer|independent|examiner|courier|bulletin|daily|sunday|evening|online|radio|"
    r"television|tv|agency|media|magazine|wire|web)\b",
    re.IGNORECASE,
)
"""What names a medium: its reporter is nobody by name (Daily Mail Reporter)."""
_PROFESSIONS = (
    "(?:中[医醫][师師]|[营營][养養][师師]|[\u3400-\u9fff][师師]|[医醫]生|工程[师師]|理[财財][师師]|"
    "教授|主任|[会會院校馆館所台局部社处處]长|[会會院校馆館所局部社处處]長|研究[员員生]|[学學作画畫专專]{1,2}[者家]|博士|"
    "[评評]论?論?[员員]|分析[师師]|主[编編]|[编編]剧|[顾顧][问問]|[协協][会會]|[总總][监監裁]|[经經]理|主持人|志愿者|志工|"
    "治療師|治疗师|社工|[书書][记記])"
)
_PROFESSION = re.compile(f"{_PROFESSIONS}$")
"""What somebody is, and no name of somebody."""
_PROFESSION_BEFORE = re.compile(
    rf"^[\u3400-\u9fff]{{0,8}}?{_PROFESSIONS}\s?(?=[\u3400-\u9fff]{{2,4}}$)"
)
_OFFICE = re.compile(
    "^(?:系|係|是|为|為|现任|現任|时任|時任|曾任|供职|任职|就职|来自|來自|单位|單位)(?=.{3})"
)
_NO_LATIN_NAME = re.compile(
    r"\b(?:Correspondent|Reporter|Date|Updated|Published|Staff|Desk|News|Posted|Comments?|Share|"
    r"Read|View|Editorial|Team|Press|Agency|Today|January|February|March|(?<=\s)(?:April|June|August)|July|"
    r"September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|"
    r"Sunday|Getty|Images|Photo)\b"
)
_COUNTRY = re.compile("[\\[［（(【〔][美英法德日韩韓俄加澳意西荷印苏蘇]国?[\\]］）)】〕]")
"""Before the name of a foreign author."""
_SENTENCE_MARK = re.compile("[。！？!?…：；~～]")
"""What stands in mottos and questions, and in no name."""
_MAX_HAN_CHARS = 8
"""A longer text of Chinese characters is a sentence, or the name of an office."""
_ORGANISATION = re.compile(
    r"[\u4e00-\u9fff]{2}(?:网|網|报|報|社|台|臺|站|公司|中心|局|办|辦|部|委|会|會|会议|會議|频道|頻道|编辑部|編輯部|杂志|雜誌|"
    r"周刊|週刊|日报|晚报|政府|学院|學院|大学|大學|医院|醫院|协会|協會|客户端|平台|在线|在線|论坛|論壇|工作室)$"
)
_MAX_NAME_CHARS = 40
_MAX_WORDS = 5
_MAX_REMEMBERED_CHARS = 200


def split_names(written: str, is_labelled: bool = False) -> list[str]:
    """The names in *written*, tidied, in order; without roles, labels and fillers.

    Args:
        is_labelled: a label stands before *written*, and other words of the line may follow;
            the first name that is none ends the list.
    """
    if len(written) > _MAX_REMEMBERED_CHARS:
        return _split(written, is_labelled)
    return list(_names_in(written, is_labelled))


# A page names its author several times, and a site's pages have the same authors.
@lru_cache(maxsize=4096)
def _names_in(written: str, is_labelled: bool) -> tuple[str, ...]:
    return tuple(_split(written, is_labelled))


def _split(written: str, is_labelled: bool) -> list[str]:
    if is_labelled:
        written = _LABEL.sub("", _REPORTER_OF.sub("", written.strip()))
        written = _CUT.sub("", _COUNTRY.sub("", written))
    names: list[str] = []
    for part in _SPLIT.split(" ".join(written.split())):
        if not part or _ROLE.match(part):
            continue
        pieces = part.split() if _is_han_list(part) else [part]
        for piece in pieces:
            name = tidy_name(piece)
            if name:
                names.append(name)
            elif is_labelled and (names or _is_sentence(piece)):
                return names
    return names


def _is_han_list(part: str) -> bool:
    """Whether *part* begins with Chinese names with spaces between (and no name in two parts)."""
    pieces = part.split()
    if len(pieces) < 2:
        return False
    # Beside a person's name stands what the person is.
    is_name = all(map(HAN.match, pieces)) and any(map(is_person, pieces))
    return is_name or all(_HAN_NAME.fullmatch(piece) for piece in pieces)


def tidy_name(written: str) -> str:
    """*written* without labels, brackets and what follows a name; "" if it is no name."""
    if "@" in written.strip()[1:]:
        return ""  # an address
    name = _LABEL.sub("", written.strip())
    if HAN.search(name):
        name = _LABEL.sub("", name)
        name = _WORK_BEHIND.sub("", name.strip())
    name = _CUT.sub("", name)
    name = name.strip(" \t-—_·.、:：\"'“”‘’*]】[【�")
    if name.endswith(("）", ")")) and "(" not in name and "（" not in name:
        name = name[:-1].rstrip()
    elif not name.isascii() or " " in name:
        name = _GLUED.sub("", name)
    name = _without_role(name)
    if not name or len(name) > _MAX_NAME_CHARS or len(name.split()) > _MAX_WORDS:
        return ""
    return "" if len(name) < 2 or _NO_NAME.search(name) or _is_sentence(name) else name


def name_behind_profession(text: str) -> str:
    """The Chinese name in *text*, before which only stands what its bearer is; "" for none."""
    before = _PROFESSION_BEFORE.match(text)
    name = text[before.end() :] if before is not None else ""
    return name if is_surely_chinese_name(name) else ""


def _without_role(name: str) -> str:
    """*name* without what its bearer is; "" where it says nothing else."""
    if name.isascii() or not HAN.search(name):
        # Twice at most: a role, and the agency before it.
        for _ in range(2):
            role = _ROLE_BEHIND.search(name)
            if role is None or " " not in name[: role.start()]:
                break
            is_nobody = role[0].lower().rstrip("s").endswith("reporter")
            if is_nobody and _MEDIUM.search(name[: role.start()]):
                break
            name = name[: role.start()]
        return name
    if _OFFICE.match(name) and (_PROFESSION.search(name) or is_organisation(name)):
        return ""
    if behind := name_behind_profession(name):
        return behind
    profession = _PROFESSION.search(name)
    if profession is None or is_person(name):
        return name
    rest = name[: profession.start()].rstrip()
    return rest if is_person(rest) else name if rest in _SURNAMES else ""


def _is_sentence(name: str) -> bool:
    """Whether *name*, with Chinese characters, is a motto or another sentence."""
    if name.isascii() or not HAN.search(name):
        return False
    if _SENTENCE_MARK.search(name):
        return True
    if len(HAN.findall(name)) <= _MAX_HAN_CHARS or is_organisation(name):
        return False
    return not (_HAN_NAME.fullmatch(name) and is_foreign_name(name))


def is_person(name: str) -> bool:
    """Whether *name* looks like a person's: a Chinese surname first, or capitalised words."""
    if HAN.search(name):
        if _FOREIGN_HAN.search(name):
            return _HAN_NAME.fullmatch(name) is not None and is_foreign_name(name)
        return is_chinese_name(name)
    return _LATIN_NAME.fullmatch(name) is not None and not _NO_LATIN_NAME.search(name)


def is_organisation(name: str) -> bool:
    """Whether *name* is a medium's or an office's by its last characters."""
    return _ORGANISATION.search(name) is not None
