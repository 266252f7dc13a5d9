"""How people say "look into this" and "approve it" to the bot in the shipped languages but English. Pure.

A mention is "look into this" if it holds one of a language's `looks` and no word that is not in its lists: whatever has
a word of its own stays a question, so that a list may be short and its order does not matter. All in lower case.
English, where the same words begin many a question, has rules in bot/domain/commands/mention_instructions.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class _Lists:
    """`looks` and `little` as they are written, with blanks between; `decides` are whole messages, commas between."""

    looks: str
    little: str
    decides: str
    has_blanks: bool = True


_LANGUAGES: Final[Mapping[str, _Lists]] = {
    "de": _Lists(
        "schau schaut schaue sieh seht guck guckt ansehen anschauen angucken prüf prüfe prüfen check checken "
        "untersuche untersuchen nachsehen nachschauen reinschauen beantworten beantworte übernimm übernehmen hilf "
        "helfen hilfe idee ideen meinst denkst nochmal nochmals",
        "bitte hallo hi hey moin danke mal dir euch das dies es hier dazu dabei damit doch kurz noch einmal an "
        "rein drauf auf in kannst könntest könnt du ihr sie mir uns eine irgendeine irgendwelche was der die den "
        "diese diesen frage thread problem oben darüber davon gerne jemand",
        "genehmigt,genehmige,genehmigen,freigeben,freigegeben,gib frei,verwerfen,ablehnen,abgelehnt,passt so",
    ),
    "es": _Lists(
        "mira míralo mirar ver mirarlo revisa revísalo revisar revisarlo investiga investígalo investigar "
        "investigarlo comprueba comprobar vistazo ojo ayuda ayúdame ayúdanos ayudar ayudarme ayudarnos responde "
        "responder idea ideas opinas piensas",
        "por favor porfa hola gracias puedes podrías puede podéis echa échale echar echarle dale darle un una a al "
        "con esto eso este esta ese esa hilo pregunta problema aquí lo de arriba nos me te tú qué otra vez nuevo "
        "alguna tienes",
        "aprobado,aprueba,apruébalo,aprobar,rechaza,rechazado,descarta,publícalo,envíalo",
    ),
    "pt": _Lists(
        "olha olhe olhada olhadinha olhar ver veja verifica verifique verificar investiga investigue investigar "
        "ajuda ajude ajudar responde responda responder ideia ideias acha acham achas",
        "por favor oi olá obrigado obrigada dá dar uma um isso isto nisso nisto aqui esse essa este esta pergunta "
        "thread problema você vocês pode podes poderia consegue me nos com o que de novo outra vez alguma tem",
        "aprovado,aprova,aprovar,aprove,rejeita,rejeitado,descarta,publica,envia",
    ),
    "fr": _Lists(
        "regarde regardez regarder vérifie vérifiez vérifier examine examiner œil oeil aide aidez aider réponds "
        "répondre idée idées penses penses-tu pensez pensez-vous réessaie réessaye",
        "bonjour salut merci svp stp s'il te vous plaît plait tu peux peux-tu pouvez pouvez-vous pourrais "
        "pourrais-tu pourriez-vous jette jeter jetez un une coup d'œil des ça cela ceci là là-dessus dessus à ce "
        "cette fil question problème ici en qu'en quoi nous moi m'aider nous encore fois de nouveau as t'as avez",
        "approuvé,approuve,approuver,valide,validé,rejette,rejeté,publie,envoie",
    ),
    "id": _Lists(
        "lihat dilihat cek dicek periksa diperiksa selidiki bantu dibantu jawab dijawab ide menurutmu",
        "tolong mohon halo hai ya dong bisa boleh coba kamu ini itu yang di atas thread pertanyaan masalah terima "
        "kasih makasih lagi sekali ada bagaimana gimana kami saya",
        "setuju,setujui,disetujui,tolak,ditolak",
    ),
    "ja": _Lists(
        "見て 調べて 確認 調査 チェック 回答 対応 教えて 助けて 手伝って お願い どう思う どう思います",
        "これ こちら この 件 質問 スレッド 問題 エラー 上 上記 を の も について に ついて ちょっと して し みて "
        "ください 下さい くれます もらえます いただけます くれませんか もらえませんか いただけませんか でしょう か "
        "ます です いたし 致し ご すみません もう一度 再 ね",
        "承認,承認します,承認する,却下,却下します",
        has_blanks=False,
    ),
    "zh": _Lists(
        "看 查 调查 調查 研究 检查 檢查 处理 處理 回答 解答 帮忙 幫忙 帮 幫 想法 思路 头绪 頭緒 怎么看 怎麼看",
        "请 請 麻烦 麻煩 你 您 能 不能 可以 不可以 我 我们 我們 一下 下 一看 这 这个 这条 这里 這 這個 問題 问题 "
        "上面 的 消息 帖子 吗 嗎 吧 呢 谢谢 謝謝 有 有没有 没有 什么 什麼 任何 再 次 一次",
        "批准,同意,通过,驳回,拒绝",
        has_blanks=False,
    ),
}
_MARKS: Final = re.compile(r"[¡¿?!.,;:…。、]+")
_DECIDES: Final = frozenset(words for lists in _LANGUAGES.values() for words in lists.decides.split(","))


def means_look(said: str) -> bool:
    """Whether a message asks, in one of the languages here, to look at what stands above it, and says nothing else.

    >>> means_look("schau dir das bitte mal an"), means_look("¿puedes mirar esto?"), means_look("これを見てください")
    (True, True, True)
    >>> means_look("schau dir die Retries an"), means_look("warum geht das nicht?")
    (False, False)
    """
    words = _plain(said).split()
    return any(_is_only(lists, words if lists.has_blanks else ["".join(words)]) for lists in _LANGUAGES.values())


def means_decision(said: str) -> bool:
    """Whether a message is "approve it" or "reject it" in one of the languages here, and says nothing else."""
    return _plain(said) in _DECIDES


def _plain(said: str) -> str:
    return " ".join(_MARKS.sub(" ", unicodedata.normalize("NFKC", said).casefold()).split())


def _is_only(lists: _Lists, words: Sequence[str]) -> bool:
    """Whether every word is listed, or without blanks is made of listed pieces, and one asks to look."""
    looks, little = lists.looks.split(), lists.little.split()
    if lists.has_blanks:
        return not set(words).isdisjoint(looks) and set(words) <= {*looks, *little}
    pieces = "|".join(sorted({*looks, *little}, key=len, reverse=True))
    return any(look in words[0] for look in looks) and bool(re.fullmatch(f"(?>(?:{pieces})+)", words[0]))
