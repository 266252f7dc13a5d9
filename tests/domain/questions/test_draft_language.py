"""The draft's own words are told from code and quotations, counted and judged."""

from __future__ import annotations

from bot.domain.questions.draft_language import (
    hedges,
    is_in_language,
    overclaims,
    own_sentences,
    sentences,
    tone_faults,
    without_quotes,
    word_count,
)
from tests.domain.questions.risk_data import read_risk_data
from tests.tables import each_row

TEXTS = {
    "en": "The scheduler reads the playbook and decides which tier is due when it starts.",
    "es": "El planificador lee el archivo y decide qué nivel toca cuando se inicia la tarea.",
    "pt": "O agendador lê o arquivo e decide qual nível está pendente quando a tarefa é iniciada, mas não o executa.",
    "de": "Der Planer liest die Datei und entscheidet, welche Stufe fällig ist, wenn er startet.",
    "fr": "Le planificateur lit le fichier et décide quel niveau est dû quand il démarre, mais pas avant.",
    "id": "Penjadwal membaca berkas dan menentukan tingkat yang harus dijalankan saat dimulai, juga jika ada galat.",
    "ja": "スケジューラはファイルを読み、起動時にどの段階を実行するかを決めます。",
    "zh": "调度程序读取文件并决定启动时要运行哪个级别。重试次数为五次。",
    "ru": "Планировщик читает файл и решает, какой уровень нужен.",
}


def test_code_quotations_and_evidence_are_not_the_draft_s_own_words() -> None:
    """What is left are the sentences somebody would be held to."""
    draft = "It retries.\n\n```py\nmaybe()\n```\n> perhaps\n\nSee `x = might()`. RETRY_LIMIT = maybe_five"
    assert own_sentences(draft, ["RETRY_LIMIT = maybe_five"]) == ["It retries", "See ‹code›"]


def test_a_short_quote_is_not_struck_from_the_draft() -> None:
    """A citation of one word must not blank that word everywhere."""
    assert without_quotes("the limit is five, the limit", ["the"]) == "the limit is five, the limit"


@each_row(
    "text, count",
    [
        ("One.", 1),
        ("One. Two! Three?", 3),
        ("In v1.2.3 of bot/app.py it is 5.", 1),
        ("Use e.g. this one. Or i.e. that.", 2),
        ("一つ。二つ。", 2),
        ("line one\nline two", 2),
        ("", 0),
        ("Wait... what", 2),
    ],
)
def test_sentences_end_where_a_reader_would_stop(text: str, count: int) -> None:
    """Versions, file names and abbreviations hold dots that end nothing."""
    assert len(sentences(text)) == count


@each_row("text, count", [("a b  c\n", 3), ("", 0), ("検索します", 3), ("run 検索 now", 3)])
def test_words_are_counted_in_any_script(text: str, count: int) -> None:
    """Two characters of an unspaced script weigh as much as a word."""
    assert word_count(text) == count


@each_row(
    "text",
    ["definitely", "sin duda", "com certeza", "auf jeden Fall", "sans aucun doute", "pasti", "間違いなく", "毫无疑问"],
)
def test_certainty_is_understood_in_eight_languages(text: str) -> None:
    """Each language the bot answers in has its words for being sure."""
    assert overclaims([f"… {text} …"])


@each_row("text", ["not sure", "tal vez", "talvez", "vielleicht", "peut-être", "mungkin", "かもしれない", "也许"])
def test_doubt_is_understood_in_eight_languages(text: str) -> None:
    """Each language the bot answers in has its words for doubt."""
    assert hedges([f"… {text} …"])


@each_row("text", ["not guaranteed", "isn't guaranteed", "the undefinitelys", "mightier", "whenever"])
def test_words_that_only_look_alike_are_left_alone(text: str) -> None:
    """Negated certainty is none, and a word inside a word is another word."""
    assert overclaims([text]) == hedges([text]) == []


def test_one_doubt_is_honest_and_two_are_hedging() -> None:
    """A sentence may be unsure once."""
    assert tone_faults(["It might work"]) == []
    assert tone_faults(["It might perhaps work"])
    assert tone_faults(["It might work", "It perhaps works"]) == []


_FINDERS = {"certain": overclaims, "doubtful": hedges, "smells": tone_faults}


@each_row("kind", _FINDERS)
@each_row("language", ["de", "en", "es", "fr", "id", "ja", "pt", "zh"])
def test_each_language_has_its_own_ways_to_sound(language: str, kind: str) -> None:
    """Certainty, doubt and stock phrases are found; a plain sentence has none, a negated certainty neither."""
    said = read_risk_data("tone")[language]
    assert [text for text in said[kind] if not _FINDERS[kind]([text.rstrip(".。")])] == []
    assert [text for text in said["plain"] if _FINDERS[kind]([text])] == []


@each_row("language", TEXTS)
def test_a_text_is_in_its_language(language: str) -> None:
    """Regional subtags and case make no difference."""
    assert is_in_language(TEXTS[language], language) is True
    assert is_in_language(TEXTS[language], f"{language.upper()}-XX") is True


@each_row("claimed, real", [(a, b) for a in TEXTS for b in TEXTS if a != b])
def test_a_text_is_never_taken_for_another_language(claimed: str, real: str) -> None:
    """A false claim is refused, or at worst left undecided."""
    assert is_in_language(TEXTS[real], claimed) is not True


def test_a_few_words_prove_nothing() -> None:
    """Too short, or made of names only: undecided."""
    for text in ("ok", "RETRY_LIMIT 5", "", "`x`"):
        assert is_in_language(text, "en") is None


def test_technical_terms_do_not_make_a_text_english() -> None:
    """Japanese and Chinese answers are full of names in Latin letters."""
    assert is_in_language("RetryPolicy の limit は config.py で設定されています。デフォルトは5です。", "ja") is True


def test_a_language_nobody_listed_is_undecided() -> None:
    """Dutch is in Latin letters, which is all that can be said."""
    assert is_in_language("De planner leest het bestand en beslist welke taak aan de beurt is.", "nl") is None
