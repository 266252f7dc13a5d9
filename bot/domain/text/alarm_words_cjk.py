"""Whether a remark in Chinese or Japanese tells of trouble. Pure, in linear time.

Neither language has spaces, so words are looked for inside a clause. Chinese negates before a word and Japanese behind
it. A clause whose trouble is negated or over is harmless; one that denies a verb is trouble.
"""

from __future__ import annotations

import re
from typing import Final

_CLAUSE_END: Final = re.compile(r"[。．！!；;，,、\n\r\x0b\x0c\x85\u2028\u2029（）()…—]|\.(?=\s|$)")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_RESOURCE_FULL: Final = re.compile(
    r"(?:ディスク|メモリ|ストレージ|容量|磁盘|硬盘|内存|存储|空间)"
    r"[^。\n%]{0,20}?(?:9[0-9]|100)(?:\.[0-9]{1,2})? ?%(?!の?空き|空闲|可用)"
)
_STALE_BACKUP: Final = re.compile(
    r"バックアップ[^。、\n]{0,10}(?:[2-9]|[1-9][0-9])(?:日|週間|か月)前"
    r"|备份[^，。\n]{0,8}(?:[2-9]|[1-9][0-9]|[两三四五六七八九十几])(?:天|周|个月)(?:前|之前|以前)"
)


def _any(words: str) -> str:
    return "|".join(words.split())


_JA_TROUBLE: Final = re.compile(
    _any(
        """
        エラー 障害 故障 失敗 異常 不具合 バグ 例外 警告 注意 危険 危機 緊急 至急 重大 深刻
        致命 問題 事故 事件 火災 火事 停電 浸水 水害 地震 負傷 怪我 死亡 死ん 盗 侵入 攻撃
        不正 詐欺 漏洩 漏えい 流出 漏れ 脆弱 改ざん 乗っ取 ハッキング ウイルス マルウェア
        ランサム 不審 怪しい 知らない人 見知らぬ 削除 消え 消失 消去 失われ 失い 失った 紛失
        破損 損失 喪失 破壊 壊れ 壊し 欠落 欠損 欠け 停止 止ま 落ち ダウン クラッシュ フリーズ 固ま
        ハング 応答なし 中断 中止 打ち切 切断 切れ 途絶 遅い 遅く 遅れ 遅延 遅滞 重い 詰ま
        滞 溜ま 溜り たまっ 増え続け 増加 急増 上昇 高騰 膨ら 不足 枯渇 満杯 いっぱい 逼迫
        限界 超え 超過 上回 期限切れ 失効 延滞 未着 未完了 未対応 未解決 未処理 拒否 却下
        拒絶 禁止 ブロック ロックされ 閉め出 締め出 不能 不可 不健全 不良 不通 不達 不一致
        矛盾 競合 衝突 誤っ 誤り 誤送 誤配 間違 違う 違って 二重 重複 苦情 クレーム 不満
        怒っ 悪化 劣化 低下 急落 激減 困っ 助けて タイムアウト 拒まれ 弾かれ 戻され
        ロールバック 取り消され キャンセルされ 空っぽ 真っ白 赤い 赤です 赤に 消し 飛んだ 飛び
        荒らさ 奪わ 燃え 発火 煙 爆発 過負荷 過熱 暴走 無効 無応答 圏外 沈黙 放置 見当たら
        行方不明 大変 まずい ひどい 最悪 5xx 再起動 何度も 延々 丸見え 平文 空にな なくな
        無くな だめ ダメ 駄目 赤$ 赤。 に達し かかりす 過ぎる すぎる 他人 第三者 部外者 除い
        以外 読み取り専用 読めな 急停 事情聴取 警察 救急 病院 倒れ 倒産 罰金 借金 請求漏 漏水
        雷 嵐 台風 避難 有毒 感染 汚染 なりすまし 踏み台 上書き 途切れ 欠航 遅刻 忘れ 抜け
        破綻 破裂 割れ 折れ 曲がっ 焦げ 残念 心配 懸念 不安 変です おかし 文字化け 見えな
        押せな 動かな 減っ 減り 激増 倍に NG ng 打撃 止め 締切 締め切り 間に合わ 未読 未返信
        未回答 未承認 未払 未確認 未検証 未送信 未配信 未修正 不明 不法 不当 不備 不整 不意
        不適 不合格 不発 炎上 流失 偽 詐称 切迫 急病 危篤
        """,
    )
)
_JA_DEMAND: Final = re.compile(
    _any(
        """
        ください 下さい お願い 頼 必要があ 必要です 要対応 要確認 べき ほしい 欲しい ますか
        ですか でしょうか せんか 依頼 承認待ち 返事待ち 返信待ち 回答待ち 承認を 承認が 返事を
        対応を 確認を求 求め 急いで 早急 今すぐ 直ちに
        """
    )
)
_JA_NEGATED: Final = re.compile(
    r"(?:なし|無し|ない|なく|無く|ません|ゼロ|(?<![0-9.])0(?:件|つ|個|回|本|%|に|で|$)|ず$|ずに|不要|なかっ|無い|ぬ$|皆無|無$)"
)
_JA_OVER: Final = re.compile(
    r"解決(?:済|しま|した|され)|復旧(?:しま|した|済|され|し)|解消(?:しま|した|され|済)|修正(?:済|しま|した|され)|直(?:りま|った|しま|した)|"
    r"収ま(?:りま|った)|回復(?:しま|した)|なくな(?:りま|った)|無くな(?:りま|った)|対応済|対処済|クローズ"
)
_JA_PERSISTS: Final = re.compile(
    r"(?:消え|直ら|治ら|止まら|収まら|減ら|解消|解決|復旧|回復|修正|対応|終わら|なくなら|無くなら|戻ら|おさまら|抜け|避け)"
    r"(?:し|され|でき|て|れ|い|せ|き|に){0,4}(?:ない|ません|なかっ|ず$)|まだ|再び|(?<!ま)また(?!は)"
)
_JA_HARMLESS_DENIAL: Final = re.compile(
    r"変わ(?:ら|って|り)|変化|変更|(?:必要|要|用)(?:は|が|も)?(?:あり|ない|なし)|急ぎでは|急ぎじゃ|何もな|特に|ありませんでし|"
    r"するこ|やるこ|新し|新規|予定|気にな|心配|かまわ|構わ|差し支え|問題"
)
_JA_VERB_DENIED: Final = re.compile(
    r"(?:[\u3041-\u3093](?<![はがもにでのと])(?<!あり)(?<!ござい))(?:ない|なかっ|ません|ませんでし)|れな|(?:て|で)(?:い)?(?:ない|ません|なかっ)|"
    r"(?:出|来|見|得|着|寝)(?:ない|ません|なかっ)|誰も[^。、]{0,16}(?:ない|ません)|(?:でき|出来)(?:な|ま?せん|ず)|しません|しない|せず|られず|(?:れ|え|け|め|べ|げ|せ|て|ね|り|き|み|ち|し|か)ず(?:$|に)"
)
_JA_CALM_AFTER: Final = re.compile(r"(?:率|ログ)は(?:0|空|正常)|ゼロ|0件|0に|緑")
_JA_CALM: Final = re.compile(r"(?:ログ|キュー|率|件数|一覧|リスト)[はがも、]?(?:空|正常|通常|平常|低い|0|ゼロ|変わ)")
_JA_ONLY: Final = re.compile(
    r"しか[^。、]{0,16}(?:ない|ません|なかっ)|だけが?(?:動|応答|正常|稼働)|5[0-9]{2}(?:を返|が返|エラー)"
)
_JA_LACK: Final = re.compile(
    r"(?:返事|応答|返信|反応|回答|バックアップ|接続|アクセス|空き|容量|余裕|権限|データ|通信|トラフィック|電源|電力|見込み|見通し|手段|"
    r"連絡|音沙汰|信号|ハートビート|ログ|ネットワーク|メモリ|在庫|正常|健全|健康|安全|安定|無事|万全|正しく|順調|良く|十分|稼働)"
    r"(?:して|では|じゃ|で|が|は|も|に|の)?(?:は|も)?(?:い)?(?:ありません|ない|なし|無し|無い|なく|ません|ゼロ)"
)

_ZH_TROUBLE: Final = re.compile(
    _any(
        """
        错误 出错 报错 故障 失败 异常 问题 缺陷 漏洞 例外 警告 告警 报警 警报 注意 小心
        危险 危急 紧急 严重 致命 重大 关键 事故 事件 火灾 着火 起火 失火 冒烟 断电 停电
        进水 洪水 地震 受伤 死亡 死了 被盗 盗 偷 入侵 攻击 黑客 非法 诈骗 欺诈 泄露 泄漏
        外泄 公开了 暴露 脆弱 篡改 病毒 木马 勒索 可疑 陌生 不明 删除 删了 删掉 清空 抹掉
        丢失 丢了 丢掉 遗失 消失 损坏 破坏 毁 坏了 坏掉 崩 损失 缺失 缺少 少了 停止 停了
        停机 停摆 宕 挂了 挂掉 挂起 死机 死锁 中断 中止 终止 断开 断了 断线 掉线 离线 下线
        脱机 慢 延误 迟到 拖延 延期 晚点 堵 阻塞 积压 堆积 一直在增 持续增 不断增 增长 激增
        飙升 上升 上涨 暴涨 猛增 不足 耗尽 用完 用尽 满了 爆满 爆了 占满 超过 超出 超限
        超时 超载 过载 过热 过期 到期 失效 逾期 欠 未付 拒绝 被拒 禁止 封 锁定 锁住 被锁
        屏蔽 不稳 冲突 误 错了 不对 不一致 矛盾 重复 两次 投诉 抱怨 不满 生气 恶化 下降
        下跌 骤降 暴跌 劣化 糟 麻烦 求助 救命 回滚 撤销 取消了 被取消 空白 红色 变红 红了
        返回5 报5 报4 客户看到 用户看到 客户反映 用户反映 用户报告 客户报告 强推 强制推送
        起爆 爆炸 烧 沉默 无声 失联 失控 失窃 失灵 隐患 风险 威胁 嫌疑 脱落 漏了 漏掉 遗漏
        被撤 被驱逐 被杀 退款失 风暴 抖动 重启 不停 反复 明文 空了 没了 红$ 到上限 达到限
        太久 太慢 太多 太高 别人 他人 外人 第三方窃 除了 只读 无法 警察 救护 医院 破产 罚款
        债 雷 台风 疏散 有毒 感染 污染 劫持 冒充 覆盖 漏发 忘了 忘记 破裂 断裂 遗憾 担心
        担忧 奇怪 乱码 只有 只剩 仅剩 仅有 减少 骤减 未读 未回 未批 未确认 未发送 未发出
        未发货 未送达 非授权 未授权 未经授权 伪造 假冒 紧迫 倒闭 晕倒 昏迷 乱了 乱套 炸 塌
        垮 废 歇 断供 停服 停工 瘫 卡 挤爆 打爆 刷爆 被黑 被骗 被刷 告急 告罄 见底 用光
        落后 滞后 翻倍 翻了 成倍 两倍 三倍 增加了 快满 已满(?!足|意) 将满 写满
        没电 没钱 没人 未解决 未处理 未恢复 无响应 无人 5xx
        """
    )
)
_ZH_DEMAND: Final = re.compile(
    r"请(?!求)|需要|必须|应该|应当|得有人|要求(?!已|都|均|全)|等待(?:批准|回复|审批|答复|你|您)|等(?:你|您)|批准|审批|谁|吗|呢$|麻烦你|麻烦您|尽快|马上|立即|立刻|催|帮忙|帮我"
)
_ZH_NEGATED_BEFORE: Final = re.compile(
    r"(?:没有|没|未|无|零|(?<![0-9.])0|并无|毫无|不再|不|避免|免于|防止|绝无)(?:任何|什么|出|新的?|人|发现|检测到?|出现|发生|报告|收到|再|有|一个|存在|"
    r"看到|见|到|未?解决的|需要?处理的|个|条|次|项|起|处|件|名|任务|测试|构建|日志|是|太|很|或|和|及|与|的|因|作业|请求|待|在|造成|引起|引发|遇到|构成|进行|用户|[a-z0-9_.-]{1,20}){0,6}$"
)
_ZH_LIST: Final = re.compile(r"^(?:的?|或者?|和|及|与|以及|、|也没有?|也无)$")
_ZH_COUNTED_NONE: Final = re.compile(
    r"[^,，]{0,10}(?:降|减|变|归)(?:到|至|为)?(?:0(?![0-9.]*[1-9])|零)|(?:日志|队列|列表)?(?:是|为)?空的?$|"
    r"(?:为|降到|降至|降为|是|：|:|数|率|=|归|清|共|有|条|到|至|数量|总数|次数|\s|仍|都|均){0,4}(?:(?<![0-9.])0(?![0-9.]*[1-9])|零|无$|没有$|均无|都没有)"
)
_ZH_OVER: Final = re.compile(
    r"(?:已经?|都|均|被|完全|全部|成功|得到){0,3}(?:解决|修复|恢复|排除|消除|关闭|处理好|修好|结束|解除)(?!不|失败)|不再(?:出现|发生|有)|(?:消失|没)了$"
)
_ZH_NOT_OVER: Final = re.compile(
    r"(?:没有?|未|无法|不能|还没有?|尚未|仍未|正在|等待|待|需要?|尝试|难以|无人|没人)[^，。]{0,6}?(?:解决|修复|恢复|排除|消除|处理|关闭)|仍|又|还在|依然|再次"
)
_ZH_DENIAL: Final = re.compile(r"不|没有|没|未(?!来)|无(?!线|锡|论|须|需)|非(?!常|洲|同)|别(?!的)|莫")
_ZH_HARMLESS_DENIAL: Final = re.compile(
    r"(?:没有?|未|无)(?:任何|什么|其他|别的|有){0,2}(?:新|变|改|更新|动|更改|更|待|需|事|人报告|人反映|人提|要|特别|特殊|别|内容|动静|消息|提交|活动|过时|陈旧|"
    r"旧|打开|开放|未|可|安排|计划|会议|邮件|排队)|不(?:变|需|用|必|错|急|影响|大|多|少|仅|只|同|过$|要紧|受|算|妨|再需|超过|含)|无(?:变|更|新|待|需|须|所谓|关|碍|恙|事)|"
    r"未(?:变|改|更改|读)|什么都没变|没什么|没事|没变|不是很?急|差不多|不久|不断"
)
_ZH_SINCE: Final = re.compile(r"(?:以来|之后|起)[^，。]{0,12}(?:没有|没|未)")
_ZH_MAY_STOP: Final = re.compile(r"新|变|改|提交|推送|合并|提问|评论|部署|发布|任务|分支|活动|消息")
_ZH_HEALTH: Final = re.compile(
    r"健康|正常|响应|回应|回复|回答|反应|反馈|运行|启动|工作|成功|通过|完成|到达|收到|送达|恢复|就绪|可用|可达|稳定|安全|备份|连接|网络|访问|登录|权限|数据|流量|信号|"
    r"心跳|电力|空间|内存|容量|余量|办法|人能|人可|绿|在线|足够|执行|触发|同步|保存|发送|生效|更新成|到账|一个|发货|发出|寄|付|退|跑|生成|创建|写入|读|解析|加载|显示|部署|上线|交付|处理|签|打开|传|来电|接|下单|结算|扣|补|修|审|批|答|救|进展|起色|好转|改善|退路|余地|保障|保护|加密|锁|授权|许可"
)


def tells_of_trouble(said: str) -> bool:
    """Whether a remark in lower case, of compatible characters (NFKC), tells of trouble in Chinese or Japanese.

    >>> tells_of_trouble("ログインできません"), tells_of_trouble("エラーなし"), tells_of_trouble("无法登录")
    (True, False, True)
    """
    if not (_HAN.search(said) or _KANA.search(said)):
        return False
    if _RESOURCE_FULL.search(said) or _STALE_BACKUP.search(said):
        return True
    clause_tells = _ja_clause if _KANA.search(said) else _zh_clause
    return any(clause_tells(clause.strip()) for clause in _CLAUSE_END.split(said) if clause.strip())


def _ja_clause(clause: str) -> bool:
    demand = _JA_DEMAND.search(clause)
    if demand and not _JA_NEGATED.search(clause, demand.end()):
        return True
    if _JA_ONLY.search(clause):
        return True
    found = list(_JA_TROUBLE.finditer(clause))
    if found:
        if _JA_PERSISTS.search(clause):
            return True
        calm = (_JA_NEGATED, _JA_OVER, _JA_CALM_AFTER)
        return not (_JA_CALM.search(clause) or any(pattern.search(clause, found[-1].end()) for pattern in calm))
    if _JA_LACK.search(clause):
        return True
    return _JA_VERB_DENIED.search(clause) is not None and not _JA_HARMLESS_DENIAL.search(clause)


def _zh_clause(clause: str) -> bool:
    demand = _ZH_DEMAND.search(clause)
    if demand and not _ZH_NEGATED_BEFORE.search(clause, max(0, demand.start() - 24), demand.start()):
        return True
    harmless_until = -1
    found = False
    for word in _ZH_TROUBLE.finditer(clause):
        found = True
        listed = harmless_until >= 0 and _ZH_LIST.match(clause[harmless_until : word.start()])
        negated = _ZH_NEGATED_BEFORE.search(clause, max(0, word.start() - 24), word.start())
        if not (listed or negated or _zh_is_over(clause, word.end())):
            return True
        harmless_until = word.end()
    if found and harmless_until >= 0:
        return False
    return _zh_denies(clause)


def _zh_is_over(clause: str, at: int) -> bool:
    if _ZH_COUNTED_NONE.match(clause, at):
        return True
    return _ZH_OVER.search(clause, at) is not None and not _ZH_NOT_OVER.search(clause)


def _zh_denies(clause: str) -> bool:
    """Whether what is negated is health or an ability."""
    if _ZH_SINCE.search(clause) and not _ZH_MAY_STOP.search(clause):
        return True
    for denial in _ZH_DENIAL.finditer(clause):
        if _ZH_HARMLESS_DENIAL.match(clause, denial.start()):
            continue
        if denial[0] not in ("没有", "没", "无", "非") or _ZH_HEALTH.search(clause, denial.end(), denial.end() + 10):
            return True
        if denial[0] == "无" and clause.startswith("法", denial.end()):
            return True
    return False
