"""Whether a remark in Chinese or Japanese tells of trouble. Pure, in linear time.

Neither language has spaces, so words are looked for inside a clause. Chinese negates before a word and Japanese behind
it. A clause whose trouble is negated or over is harmless; one that denies a verb is trouble.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from bot.domain.tables import AnyWord, Pattern, read_table

_CLAUSE_END: Final = re.compile(r"[。．！!；;，,、\n\r\x0b\x0c\x85\u2028\u2029（）()…—]|\.(?=\s|$)")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_RESOURCE_FULL: Final = re.compile(
    r"(?:ディスク|メモリ|ストレージ|容量|磁盘|硬盘|内存|存储|空间)"
    r"[^。\n%]{0,20}?(?:9[0-9]|100)(?:\.[0-9]{1,2})? ?%(?!の?空き|空闲|可用)"
)
_LITTLE_LEFT: Final = re.compile(
    r"(?:残り|残量|空き|剩余|只剩|还剩|仅剩|可用|空闲)[^。，,\n%0-9]{0,12}(?:[0-9]|1[0-5])(?:\.[0-9]{1,2})? ?%"
    r"|(?<![0-9.])(?:[0-9]|1[0-5])(?:\.[0-9]{1,2})? ?%[^。，,\n]{0,6}(?:しか残|残って|の?空き|空闲|可用|剩)"
)
_SECRET_SHOWN: Final = re.compile(
    r"(?:キー|鍵|トークン|パスワード|シークレット|認証情報|[a-z]key|密钥|密码|令牌|凭证|凭据|口令|token)[^。，,\n]{0,16}"
    r"(?:プッシュ|コミット|公開|アップロード|載|貼|push|commit|推送|提交|上传|公开|贴|发到|传到)"
    r"|(?:推送|提交|上传|公开|贴出?|push|commit)[^。，,\n]{0,12}(?:密钥|密码|令牌|凭证|凭据|口令|token|api key)"
)
_NOT_SIMPLIFIED: Final = re.compile(
    "[敗遅異発応満続証認働処済検閉開変円図売読転説調問題関間時帯機動費払価領買録連絡業務員]"
)
"""Characters of Japanese that simplified Chinese writes in another way: kanji alone may be either language."""

_STALE_BACKUP: Final = re.compile(
    r"バックアップ[^。、\n]{0,10}(?:[2-9]|[1-9][0-9]|[二三四五六七八九十数]|[一1](?=週|か月|ヶ月|年))(?:日|週間|か月|ヶ月|年)前"
    r"|备份[^，。\n]{0,8}(?:[2-9]|[1-9][0-9]|[两三四五六七八九十几])(?:天|周|个月)(?:前|之前|以前)"
)


_SHARED_ACCOUNT: Final = re.compile(
    r"(?:アカウント|パスワード|账号|账户|密码)[^。，,\n]{0,10}(?:共有(?!フォルダ|ドライブ)|使い回|共用|共享(?!给))"
    r"|(?:共有|共用|共享)[^。，,\n]{0,6}(?:アカウント|パスワード|账号|账户|密码)(?!は?(?:廃止|禁止|已?停用|已?取消|已?删))"
)
_TOO_LONG: Final = re.compile(
    r"(?:バッチ|ジョブ|インポート|処理|クエリ)[^。、\n]{0,10}[0-9一二三四五六七八九十数](?:時間|日)(?:間|も|以上)?(?:動き続|動いてい|走り続|走ってい|実行中|かかってい)"
    r"|(?:任务|作业|报表|导入|查询|迁移|备份)[^。，\n]{0,4}(?:跑|运行|执行)了[^。，\n]{0,4}(?:小时|天)"
    r"(?![^。\n没未不]{0,4}(?:完成|成功|结束|跑完)|没有?(?:错|问题|异常))"
)
_STOPPED: Final = re.compile(
    r"(?:から|以降|以来)[^。、\n]{0,8}(?:注文|支払い?|決済|入金|登録|アクセス|データ|トラフィック)[^。、\n異問エ損障失変欠]{0,3}"
    r"(?:ない|なし|ありません|ゼロ|(?:来|来てい|入ってい|入ら)(?:ない|ません))"
)


_ANY_SIGN: Final = (
    _RESOURCE_FULL,
    _STALE_BACKUP,
    _LITTLE_LEFT,
    _SECRET_SHOWN,
    _SHARED_ACCOUNT,
    _TOO_LONG,
    _STOPPED,
)


class _Japanese(NamedTuple):
    trouble: AnyWord
    demand: AnyWord
    negated: Pattern
    over: Pattern
    persists: Pattern
    harmless_denial: Pattern
    verb_denied: Pattern
    calm_after: Pattern
    calm: Pattern
    only: Pattern
    lack: Pattern


class _Chinese(NamedTuple):
    trouble: AnyWord
    demand: Pattern
    negated_before: Pattern
    list: Pattern
    counted_none: Pattern
    over: Pattern
    not_over: Pattern
    denial: Pattern
    harmless_denial: Pattern
    since: Pattern
    may_stop: Pattern
    flow: AnyWord
    handled: Pattern
    health: Pattern


class _AlarmWordsCjkTable(NamedTuple):
    ja: _Japanese
    zh: _Chinese


@cache
def _lists() -> _AlarmWordsCjkTable:
    return read_table(__file__, "alarm_words_cjk.yml", _AlarmWordsCjkTable)


def tells_of_trouble(said: str) -> bool:
    """Whether a remark in lower case, of compatible characters (NFKC), tells of trouble in Chinese or Japanese.

    >>> tells_of_trouble("認証失敗 3件"), tells_of_trouble("障害 0件"), tells_of_trouble("没有失败")
    (True, False, False)
    >>> tells_of_trouble("ログインできません"), tells_of_trouble("エラーなし"), tells_of_trouble("无法登录")
    (True, False, True)
    """
    if not (_HAN.search(said) or _KANA.search(said)):
        return False
    if any(pattern.search(said) for pattern in _ANY_SIGN):
        return True
    clauses = [clause.strip() for clause in _CLAUSE_END.split(said) if clause.strip()]
    if _KANA.search(said):
        return any(map(_ja_clause, clauses))
    if any(map(_zh_clause, clauses)):
        return True
    return _NOT_SIMPLIFIED.search(said) is not None and any(map(_ja_clause, clauses))


def _ja_clause(clause: str) -> bool:
    ja = _lists().ja
    demand = ja.demand.search(clause)
    if demand and not ja.negated.search(clause, demand.end()):
        return True
    if ja.only.search(clause):
        return True
    found = list(ja.trouble.finditer(clause))
    if found:
        if ja.persists.search(clause):
            return True
        calm = (ja.negated, ja.over, ja.calm_after)
        return not (ja.calm.search(clause) or any(pattern.search(clause, found[-1].end()) for pattern in calm))
    if ja.lack.search(clause):
        return True
    return ja.verb_denied.search(clause) is not None and not ja.harmless_denial.search(clause)


def _zh_clause(clause: str) -> bool:
    zh = _lists().zh
    demand = zh.demand.search(clause)
    if demand and not zh.negated_before.search(clause, max(0, demand.start() - 24), demand.start()):
        return True
    harmless_until = -1
    found = False
    for word in zh.trouble.finditer(clause):
        found = True
        handled = zh.handled.search(clause, max(0, word.start() - 8), word.end() + 2)
        listed = harmless_until >= 0 and zh.list.match(clause[harmless_until : word.start()])
        negated = zh.negated_before.search(clause, max(0, word.start() - 24), word.start())
        if not (listed or negated or handled or _zh_is_over(clause, word.end())):
            return True
        harmless_until = word.end()
    if found and harmless_until >= 0:
        return False
    return _zh_denies(clause)


def _zh_is_over(clause: str, at: int) -> bool:
    zh = _lists().zh
    if zh.counted_none.match(clause, at):
        return True
    return zh.over.search(clause, at) is not None and not zh.not_over.search(clause)


def _zh_denies(clause: str) -> bool:
    """Whether what is negated is health or an ability."""
    zh = _lists().zh
    if zh.since.search(clause) and (zh.flow.search(clause) or not zh.may_stop.search(clause)):
        return True
    for denial in zh.denial.finditer(clause):
        if zh.harmless_denial.match(clause, denial.start()):
            continue
        if denial[0] not in ("没有", "没", "无", "非") or zh.health.search(clause, denial.end(), denial.end() + 10):
            return True
        if denial[0] == "无" and clause.startswith("法", denial.end()):
            return True
    return False
