"""What a remark measures before and after, in the units people write; the other way round it got better."""

from bot.domain.text.alarm_words import has_alarm_word
from tests.tables import each_row

MOVES = [
    ("The nightly job's duration went from {} to {}", [("50 seconds", "2 minutes"), ("90 min", "3 hours")]),
    ("Response time: {} -> {}", [("800 ms", "2 s"), ("50 secs", "2 mins"), ("900 msec", "1.5 sec")]),
    ("The runtime went from {} to {}", [("20 hrs", "2 days"), ("5 days", "2 weeks"), ("900 ms", "2 seconds")]),
    ("Memory usage went from {} to {}", [("900 MB", "2 GB"), ("800 kb", "2 mb")]),
    ("Die Laufzeit stieg von {} auf {}", [("50 Sekunden", "2 Minuten"), ("50 Sek", "2 Min"), ("90 Minuten", "3 Std")]),
    ("El tiempo de carga pasó de {} a {}", [("50 segundos", "2 minutos"), ("90 min", "3 horas")]),
    ("Le temps de réponse est passé de {} à {}", [("50 secondes", "2 minutes"), ("20 heures", "2 jours")]),
    ("O tempo de build foi de {} para {}", [("50 segundos", "2 minutos"), ("90 minutos", "3 horas")]),
    ("Waktu build dari {} menjadi {}", [("50 detik", "2 menit"), ("90 menit", "3 jam"), ("20 jam", "2 hari")]),
    ("バッチの時間が{}から{}に", [("50秒", "2分"), ("90分", "3時間"), ("800ミリ秒", "2秒")]),
    ("构建时间从{}到{}", [("50秒", "2分钟"), ("90分钟", "3小时"), ("800毫秒", "2秒")]),
]
WAS = [
    ("The backup takes {} now, it was {}", [("2 minutes", "50 seconds"), ("3 hours", "90 min")]),
    ("Der Import dauert jetzt {}, vorher {}", [("2 Minuten", "50 Sekunden"), ("3 Stunden", "90 Min")]),
    ("La copia dura ahora {}, antes {}", [("2 minutos", "50 segundos")]),
    ("Impor sekarang {}, sebelumnya {}", [("2 jam", "50 menit")]),
]
PAIRS = [(said, *pair) for said, pairs in [*MOVES, *WAS] for pair in pairs]


@each_row("said, first, second", PAIRS)
def test_longer_is_trouble_and_shorter_is_not_whatever_the_units(said: str, first: str, second: str) -> None:
    """Both directions of each pair: the same words, the amounts changed over."""
    assert (has_alarm_word(said.format(first, second)), has_alarm_word(said.format(second, first))) == (True, False)


def test_amounts_of_different_kinds_are_not_compared() -> None:
    """A share is no time."""
    assert not has_alarm_word("Load went from 5 ms to 80 %")
