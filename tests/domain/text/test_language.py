"""A text is recognised in each of the eight languages, and not taken for another."""

from __future__ import annotations

import pytest

from bot.domain.text.language import is_in_language

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


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_in_its_language(language: str) -> None:
    """Regional subtags and case make no difference."""
    assert is_in_language(TEXTS[language], language) is True
    assert is_in_language(TEXTS[language], f"{language.upper()}-XX") is True


@pytest.mark.parametrize(("claimed", "real"), [(a, b) for a in TEXTS for b in TEXTS if a != b])
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
