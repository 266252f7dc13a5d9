"""Who has what they need, in every language of the word lists."""

from __future__ import annotations

from bot.domain.jobs import FollowUpArrived
from bot.intake.classifier.classification import SETTLED_MAX_CHARS, classify, says_settled
from bot.intake.classifier.keywords import LANGUAGES, words
from bot.intake.classifier.rules import Rules
from tests.builders import a_sorter, an_event
from tests.tables import each_row

RULES = Rules()

SETTLED = """
never mind | nvm | Nevermind, found it | ah, figured it out | thanks! | ok thanks | Perfect, thank you so much :pray:
solved it, it was the proxy | works now | That worked, thanks | never mind <@U2> | no longer needed | thanks :tada:
never mind, it was the gateway's timeout in `config.yml` | no need, Ben told me | <@U0BOT> never mind
hat sich erledigt | hab's gefunden, danke | danke dir! | vergiss es | geht jetzt wieder
gracias! | ya lo encontré | olvídalo | resuelto, era el proxy | muchas gracias
deixa pra lá | obrigado! | já resolvi | achei, valeu | não precisa mais
merci ! | laisse tomber | j'ai trouvé | c'est réglé | ça marche maintenant
makasih ya | gak jadi | sudah ketemu | udah beres, makasih
ありがとうございます | 自己解決しました | 見つかりました、ありがとうございます | 解決しました
谢谢 | 已解决 | 找到了,谢谢 | 不用了 | 算了
"""

NOT_SETTLED = """
thanks, but why does it retry? | thanks, but it still fails | thanks in advance | ok | :+1: | still not working
it is not solved | not found it yet | never found it | why was this never solved? | tia | cc <@U2> | any news?
never mind the typo, I meant v2 | any update | that didn't work | I haven't found it | deploying now | hello
danke im voraus | funktioniert nicht | immer noch kaputt | noch nicht gelöst | leider nicht gefunden
gracias de antemano | todavía no funciona | no lo encontré | sigue sin resolver
ainda não resolvi | não funcionou | achei que era outro
merci d'avance | toujours pas résolu | je n'ai rien trouvé | n'oubliez pas le ticket
masih error | belum ketemu | makasih sebelumnya
まだ解決していません | よろしくお願いします | 解決していません
还没解决 | 提前谢谢 | 没找到 | 解决了吗？
"""


def cases(table: str) -> list[str]:
    return [text.strip() for line in table.strip().splitlines() for text in line.split(" | ")]


def settles(text: str) -> bool:
    event = an_event(text, mentions=("U0BOT",) if "<@U0BOT>" in text else ())
    sorter = a_sorter()
    work = sorter.sort(event, classify(event, sorter.rules, inflight=True))
    assert isinstance(work, FollowUpArrived)
    return work.settles


@each_row("text", cases(SETTLED))
def test_a_thread_is_settled_by(text: str) -> None:
    """Thanks, never mind, found it: said in whatever mood."""
    assert settles(text)


@each_row("text", cases(NOT_SETTLED))
def test_a_thread_is_not_settled_by(text: str) -> None:
    """A question, thanks in advance, and everything that still fails."""
    assert not settles(text)


@each_row("language", LANGUAGES)
def test_every_language_has_its_words(language: str) -> None:
    """No language of the classifier is left out."""
    assert words(language)["settled"]
    assert words(language)["unsettled"]


def test_only_the_languages_of_the_team_count() -> None:
    """A list that is switched off is not read."""
    assert not says_settled("hat sich erledigt", Rules(languages=["en"]))
    assert says_settled("hat sich erledigt", Rules(languages=["de"]))


def test_an_essay_is_no_never_mind() -> None:
    """Who has that much to say is not done."""
    assert not says_settled("never mind. " + "x" * SETTLED_MAX_CHARS, RULES)
