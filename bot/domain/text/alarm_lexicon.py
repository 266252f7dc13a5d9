"""Words of English, German, Spanish, Portuguese, French and Indonesian that alarm_words.py reads a remark by.

A word ending in `*` stands for all words that begin so. Words are in lower case and without accents, as the remark is
compared. The six lists are one: a remark is short, and often mixes English with the team's language.
"""

from __future__ import annotations

from typing import Final

TROUBLE: Final = """
brute bruteforc* doubled hinterher hinken hinkt outdatedbackup quadrupl* tripled triplic* triplo* verdoppel*
verdreifach* vervierfach* runsbehind
500s 502s 503s 504s 5xx abandoned abbruch abgebroch* abgehaengt abgehangt abgekackt abgelaufen* abgelehnt* abgemahnt
abgemeldet abgeraucht abgeschaltet abgestuerzt* abgesturzt* abgewiesen* ablauf* abnormal* abort* absence absent
absturz* abuse* acabaron acabo acabou accident* accidente* achtung adulterad* advertencia* ages agot* ajena ajenas
ajeno ajenos alarm* alarma* alarme* alert alerta* alerte* alerting alerts alhei* alterad* ambles ambruk ambulance
amburadul ameaca* amenaza* amende ancaman andauernd aneh angegriff* angehalten angriff* angry anjlok anjloknya annul*
anomal* apag* apagad* aplazad* arde arden ardiendo arret arrete arretee arretees arretes asap asing assert assertion
atac* ataque* atascad* atencao atencion atras* attack* attaqu* atteintelimite attention augment* aument* aumenta*
ausfall* ausgefallen* ausgelaufen ausgesperrt auslauft ausnahme ausnahmen ausstehend* averi* avertissement* aviso
avisos awas awful backdoor backdoors backlog* backoff bad badai badly bahaya bangkrut banjir bankrupt* banned batal
bedroh* beku bengong berakhir berantakan berbahaya berhenti berisiko bermasalah bertambah beschadigt* beschwer*
besorg* betrug* beware blank blast blesse* block blocked blocker* blockiert* blocking blocks bloqu* bloquead* bloqueo*
bobol bocor bocornya borr* botched bounc* brand bravo bravos breach* break breakage breaking breaks brecha brechas
brennen brennt bricht brise* broke broken bruch brule* bug buggy bugs burglar* burned burning burnt burst buruk
bussgeld cacat caduc* cae caen caida caidas caido caidos caindo cairam caiu calient* cancelad* cancelo casse*
catastroph* caution cayeron cayo cedera cemas chaos chargeback* chatead* churn churned chute chutent chuter climb*
coince* colaps* colere colgad* collapse* complain* complaint* comprometid* compromis* concern concerning concerns
conflict conflicted conflicting conflicto* conflicts conflit* conflito* congel* congelad* constantemente constantly
contaminat* continually continuamente coredump corromp* corrompid* corrompu* corrupt* cortad* corte cortes coupe
coupee coupure coupures crack* crame crash* crashloop* crece crecen creciendo cresce crescem crescendo critica*
critico* critique* croit cuidado curang curto customerssay cve damag* danad* danger* dangling danific* danina danino
danos darurat datenleck datenverlust dauernd ddos ddosed dead deadlock* deaktiviert death deborde* debranch* debt
declin* deconnect* defaill* defaut* defect defective defects defekt* degrad* delay* delet* demais demanda demor* denda
denegad* denied denies deny denying depass* deplet* derob* derrub* desab* desaparec* desaparic* desautorizad* desbord*
desconect* desconhecid* desconocido* desgraciad* desligad* despenc* desplom* destroy* destru* destruct* detenid*
detrui* dette detuvo deuda deuxfois dibatalkan diblokir dibobol dicuri diebstahl died dihapus dihentikan dikosongkan
dikunci dilarang dipalsukan diretas disabled disalahgunakan disandera disappear* disast* disconnect* discrepanc*
diserang disparai* disparu* dissatisfied ditangguhkan ditimpa ditipu ditolak diverged divergent divida doppelt*
dosveces doublon* down downtime drift drifted dringend* dringlich* drop dropped dropping drops duakali duasvezes
duplicad* duplicate* durchgebrannt dying earthquake echec* echou* echoue* echu ecrase ecrasee ecrasees efface*
effacement* effondr* einbruch eindringling* eingebrochen eingefroren einsturz electrocut* elimin* emergenc*
emergencia* empeor* emperrad* empir* emptied endless endlessly endommag* enfadad* engano engasg* enojad* entgleist
entlaufen entwendet epuis* equivocad* eras* eror errada erradas errado errados erreur* errimagepull erro erroneo*
error errored errores erroring errors erros erschopft escalat* esgot* esquec* estafa estour* estranh* esvazi* eteint
eteinte eteints eternidad eternite etranger etrangers evacuat* evakuiert evicted ewig excecao excecoes exced* excede*
excedid* exceed* excepcion* exceptfor exception* excluid* excluiu exfiltrat* exhaust* expir* expire* explod* explodi*
exploit* explos* explot* expos* exposic* expuest* expulsad* extrana extrano extranos extravi* fache faches fail failed
failing faille* faillite fails failure failures falencia falha falham falhando falhar falharam falhas falhou falla
fallaba fallado fallan fallando fallar fallaron fallas fallida* fallido* fallo fallos fallt falsch* falta faltam
faltan faltando faltante* faltaron fatal fatally fault faults faulty fausse fausses faux fehl fehlalarm fehlen
fehlend* fehler* fehlgeschlagen* fehlt fell ferid* feu feuer fige* filtrada filtradas filtrado filtraron fined fire
fires flaky flap* flood* fogo foir* foradeservico foradoar forbid* forcepush forever fraud* fraude* freeze freezes
fremde fremden fremder froze frozen frustrated fuego fueradeservicio fuga fugas fuit* fuite* fumaca fumee funkstille
furchtbar furieu* furios* furious furt* gagal galat ganda gangguan garbage garbled gas gawat gebrochen gefaehr*
gefahr* gefalscht gehackt gekippt gekundigt gele geleert geloescht* geloscht* gempa genting geplatzt gescheitert
geschreddert gesperrt* gestaut gestiegen gestoert gestohlen gestoppt* gestorben gestort getilgt getrennt gibberish
glitch* golpe gone grandissent grandit grave graves grew grow growing grows gugur habis hack hacke* hacker* hacking
hacks haengen haengt haken hakt halt halted halting halts hancur hang hangen hanging hangs hangt hapus hazard* herid*
hijack* hilang hochwasser horsligne horsservice hospital hs humo hund* hung hurricane hurt ignored ilegal ilegible*
ilegive* illisible* imagepullbackoff impagad* impago impaired impatient impaye impayes imposible* impossible*
impossivel impostor inaccesible* inaccessible* inacessiveis inacessivel inactive inadimpl* inalcanzable* inativ*
incendie* incendio* incidencia* incident* incidente* incomplet* inconnu* inconsistenc* inconsistent incorrect*
incorret* increas* indevid* indisponible* indisponiveis indisponivel inestable* inf infect* infectad* infelizmente
injoignable* injur* inondation* inoperable inquiet* inquietant* insatisfeit* insiden insolvenz instabil* instable*
instaveis instavel insufficient insuffisant* insuficiente* interdit* interferenc* interromp* interrump* interrupt*
intrud* intrus* intrusion* intruso* inund* invadid* invalid* invalide* invasao invasor* involontaire* irregular*
irritad* issuetrouble janggal jatuh jatuhtempo jebol kacau kadaluarsa kadaluwarsa kaputt* kebakaran kebanjiran
kebocoran kecelakaan kecewa kedaluwarsa keeps kegagalan kehabisan kehilangan kekurangan kelebihan keluhan kerentanan
kerusakan kesal kesalahan keylogger khawatir kidnap* kill killed killing kills kippt klage klemmen klemmt knapp
komisch komplain kompromitt* konflik konflikt* korup kosongmelompong kritis kritisch* kurang kurzschluss lack lacking
lacks lag lagged lagging lags lahm* lamasekali lambat lamentable* langsam* lapse lapsed lapses lapsing late lauftab
lauftaus lauftvoll lawsuit leak* leaving leck lecks lectureseule ledakan leergelaufen leider lemot lent lenta lentas
lente lentes lenteur* lentidao lentitud lento lentos lents lenyap lightning limitealcanzado limiteatingido
limittercapai listrikpadam locked lockout lose loses losing loss losses lost lotad* lucke lucken lupa macet machac*
mahnung mahnungen mala malfunction* malheureusement malicios* malo malveillant* malware mangel* manipulad* manipuliert
manquant* manque manquent marah masalah mati mauvais* mecontent* melambat melampaui melebihi meledak melonjak membeku
membengkak memburuk menace* mencurigakan mendesak mengeluh menggantung meninggal meningkat menunggak merah merkwurdig
merosot mess messed misbehav* misconfigured misdeliver* misdirect* mishandl* mislabel* mismatch* misplac* mispric*
misrout* missbrauch* missed misses missing mogok molest* moroso morreu mort* muert* mulaiulang multa murio musnah
mustahil naik nan negad* neustart neustarts ngadat nichterreichbar notfall* nuked nullpointer nullptr nyangkut odd
oddly offline olvidad* olvido omitid* onlysome oom oomkilled ooms orage oranglain orphan orphaned orphans otempotodo
oubli oublie oublies outage* outbreak outnumber* outofmemory outsider outsiders overdraft overdrawn overdue overflow*
overheat* overload* overrun overwrit* overwrote p0 p1 padam palsu panas pane panic panicked panicking panics panne*
parad* pararam paro parou pegou pelan peligro* pemadaman penalty pencurian pendurad* penetr* pengecualian penipuan
penuh penyalahgunaan penyusup peor perd* perdi* perdid* perdu* peretas* perhatian perigo* peringatan perte* petir
phish* pierde* pile piled piling pior* pirat* pire pisaron plaign* plainte* plante plantee plantent platzt plummet*
poison* police poor preocup* presa preso problem* problema* probleme* prohibid* purged putus quarantined quebr* queda
quedas queim* queix* quej* quema* quiebra quit quits ralenti* rame rament rancon* ransom* rauch rausgeflogen readonly
reboot* rechaz* reclam* recusad* red redemarrage redemarre redemarrent refus* regress* regret reinicia reiniciam
reinician reiniciando reinicio reject* rejeit* rejet* removed rentan repeatedly resigned restarted restarting restarts
retard* retas retras* revert* revertid* revoke* riesgo* risco* rise rises risiko rising risk risks risky risque*
robad* robaron robb* robo roboh rogue roja rojo romp* rootkit rose rot rota rotas rote roter rotes roto rotos roub*
rouge rouges ruckgang rucklauf ruckstand ruim ruin* runtuh ruptura rusak sabotage* saccad* sakit salah saltado
saltaron sank sanscesse satur* saturat* sature* sauer sayangnya scam* scarce scary schaden schaeden scheitern
scheitert schlecht* schlimm* schreibgeschutzt schreibschutz schwer schwerwiegend* seacaba secretshown secuestr*
segfault* segv seisme seltsam semparar sequestr* serangan serious seriously sev0 sev1 sev2 severe severely shock
shortage shortfall shrink* sicherheitslucke* sicherheitsluecke* sigkill sigsegv silence silent sink sinking sinparar
skyrocket* slow slowdown slowed slower slowly slowness sluggish smoke soar* sobrecalent* sobrecarg* sobrecarreg*
sobrescri* sofort sololectura somenteleitura someoneelse sorge sorgen sorry sospechos* spam* sperrung spike* spiking
spinnt spoof* stacktrace* stall* standig starv* stau stauen staut steal* steigen steigt stillstand stoerung* stolen
stop stopped stopping stoppt stops storenfried storfall storm* storung* strafe stranded strange stranger strangers
streikt stromausfall stuck sturzen sturzt sturzte* stuttering sube suben subiendo subindo subpoena sued sumico sumindo
sumiram sumiu superad* superaquec* supero suplant* supprim* surcharge* surchauff* surge* suspect* suspeit* suspend*
suspendid* suspendu* suspens* suspicious* takdikenal taktersedia tamper* tarda tardan tardando tardou telat terancam
terbakar terblokir terceiros terekspos terganggu terhapus terhenti terinfeksi terisolasi terjebak terkunci terlambat
terlampaui terlewat terluka terlupakan terminated terpakaihabis terpotong terputus terremoto terrible tersangkut
tersendat tertimpa tertinggal tertunda terusmenerus tewas theft thrash* threat* throttl* tidaksengaja timed timeout*
timo tipu tolak tombe tombee tombees tombes tormenta tot totalausfall tote toxic traceback* trashed travad*
travamento* travando travou trespass* trojan tronqu* trouble troubles troubling trunc* truncat* tumbang tunggakan
turundrastis twice uberfallig* uberflutet uberhitz* uberlast* uberlauf* uberschreit* uberschrieb* uberschritt*
ubersehen* uberzogen ueberfaellig* ueberlast* ueberschrieb* ueberschritt* ultrapass* umgefallen unable unanswered
unauthori* unavail* unbefugt* unbekannt* unbuildable undefined undeliver* unencrypted unerreichbar* unerwartet*
unexpected* unfall* unfinished unfortunately unfunded ungueltig* ungultig* unhappy unhealthy unknown unlocked
unmoeglich unmoglich* unpaid unplugged unprocessed unprotected unreach* unresolved unrespons* unsafe unsent unstable
unsuccess* unterbrich* unterbroch* unusable unusual unvollstandig* unzufrieden unzureichend* upset upside urgence*
urgencia* urgent* urgente* usurp* utang vaciada vaciado vaciaron vandal* vanish* vazad* vazamento* vazando vazou venc*
vencid* verargert verdachtig* verfallen verfallt vergessen* vergiftet verletzt* verlier* verlor* verlust* vermelha
vermelho vermisst* veroffentlichter verpasst* verrouill* versagen versagt versagte versaumt* verschwund*
versehentlich* verseucht verspat* verstopft verweiger* verweigert* verzoger* videe videes violat* virus* volee voles
voll vorfall* vorsicht vulnerab* vulnerabilidad* vulnerabilit* vulnerad* wachsen wachst waechst warn warned warning
warnings warns warnung* waspada wedged weg weird wipe wiped wipes wiping worried worrisome worrying worse worsen*
worst wrecked wrong wrongly wutend zangad* zerbrochen zerschossen zerstort* zombie zombies zunimmt zuruckgerollt
zuruckgewiesen
"""
"""Loss, failure, inability, danger."""

DEMAND: Final = """
aide ajuda approuv* approval approve aprob* aprova* aprove aprueb* asap asked asking asks attention ayuda bantuan
begging begs benoetig* benotig* besoin bestatig* bitte bittet brauch* butuh callback confirm confirmar confirmation
confirme confirmez debe deben deberia* decida decide decidez decidir decision decisions demand demandait demande
demanded demandent demands deve devem deveria* devez devrait dibutuhkan doit doivent entscheid* fautil fordert fragt
freigabe freigeben gebeten gefragt genehmig* hacefalta handlungsbedarf harap harus hayque help hilfe ilfaut
immediately inquiries inquiry keputusan konfirmasi membutuhkan meminta menunggujawaban menyetujui merci minta mohon
muessen muss mussen must necesit* necessaria necessario need needed needs openrequest ouvrez pede pedem pergunta
perguntam perlu persetujuan pide piden please porfavor precisa precisam precisamos pregunta preguntan rappeler
rappelez requested requesting requier* requis requise requises ruckmeld* ruckruf setujui should silvousplait solicita*
sollte sollten svp temque tienenque tieneque tolong verlangt waitingfor waitsforyou wants
"""
"""Somebody is to do something; no word of repair takes that back."""

ABLE: Final = """
abgeschlossen able abre abrem abren accessible activa activo aktif alcanza alive aman angekommen ankommt anmelden
answered antworten antwortet arranca arrancan arrive arrived arrivee arrivent arrives ativo ausreichend available
bagus baik behoben bekommt bem bereit berfungsi berhasil berjalan bestanden bestehen besteht bestellen bezahlen bien
bisa boot booted boots build builds buy can carga cargan carrega carregam certa certo charge chargent chega chegam
chegaram chegou compila compilan compile compilent compiles complet completa complete completed completes completo
conecta conectan connect connected connects consegue conseguem conseguimos conseguiram conseguiu consistent correct
correcta correcte correcto cukup dapat darf deliver delivered delivers demarre demarrent deploys dibuka diperbaiki
disponible disponibles disponiveis disponivel durch durfen einloggen ejecuta ejecutan ejecuto encrypted enough entra
entran entrar erfolgreich erhalt erhalten erreichbar erreichen erreicht estable estables estavel executa executou
fertig fine finish finished finishes fix fixed fonctionne fonctionnent funciona funcionan funciono funcionou
functional funktionieren funktioniert gehen geht gelaufen gelost genug geoffnet gestartet gesund gesunde good green
greifen greift grun grune gultig gut health healthy hidup hijau improve improved improves inicia iniciam inician
intact jalan joignable kann kannst kaufen klappen klappt koennen kommen kommt konnen konnte konnten korrekt laden ladt
laedt laeuft lassen lasst laufen lauft lengkap lief liefen lista listas listo listos llega llegan llegaron llego load
loaded loads logra logran logro lulus mampu marche marchent masuk membuka menjawab menyala merespon merespons
moglich normal offnen ok okay online operational ordnung ouvre ouvrent pasa pasan pasaron paso pass passa passam
passaram passe passed passee passent passes passing passou pay persisted peut peuvent pode podem podemos podido
pouvons pret prete pretes prets process processed pronta prontas pronto prontos protected pu pudieron pudo puede
pueden pulih ran reach reachable reached reaches ready reagieren reagiert recebe recebem recebeu receive received
recibe reciben recibio recoit recover recovered recovers recu recue reicht render renders replicating replied repond
repondent repondu resolu resolue resolve resolved resolvida resolvido respond responde responded respondem responden
respondeu responding respondio responds restored resuelta resuelto roda rodam rodou run running runs safe sain saine
saines sains sale salen sampai sana sanas sano sanos saudaveis saudavel saved secure sehat selesai send sent siap
sicher sinkron sirve sirven stabil stable stables start started starten startet starts succeed succeeded succeeds
success successful successfully sufficient sukses sync synced synchronisiert syncs teratasi terbuka terhubung terkirim
termina termine terminee termino terminou tersambung tersedia tiba tourne tournent up usable valid valide valido verde
verfuegbar verfugbar vert verte vollstandig vuelve well work worked working works zugestellt zustande
"""
"""What works or is well; denied, it is trouble."""

SUPPLY: Final = """
leader primary quorum
acces acceso access acesso akses answer answers antwort backup backups balasan besserung cadangan capacity conexao
conexion connection connections connectivity connexion copia copias corriente courant dados data daten datos donnees
electricite electricity energia erholung espace espacio espaco heartbeat heartbeats idea improvement improvements
internet jaringan jawaban koneksi lebenszeichen listrik login logins luz memoire memori memoria memory metrics network
netz netzwerk platz power progress reaktion recovery red rede replies reply reponse reponses reseau respaldo respaldos
respite respons response resposta respostas respuesta respuestas route ruang sauvegarde sauvegardes senal senales
sicherung sicherungen signal signes sinal sinyal solution space speicher strom tanda traffic verbindung verbindungen
way zugang zugriff
"""
"""What a system lives on; where there is none of it, there is trouble."""

SILENCING: Final = """
aucun aucune aucuns bukan cero free kein keine keinem keinen keiner keinerlei keines nada neither nem nenhum nenhuma
nenhumas nenhuns ni nichts nihil ningun ninguna ningunas ninguno ningunos no nol none nor nothing nul null nulle ohne
pasde plusde rien sans sem sin tanpa tidakada weder without zero
"""
"""What negates a noun. Alone ("no new commits") it says that there is nothing to tell."""

DENYING: Final = """
apenas arent barely belum cannot cant couldnt didnt doesnt dont fails hardly hasnt havent isnt jamais jamas kaum n
nadie nao ne never nicht nie niemals niemand ninguem nobody nolonger non noone not noverb nunca pas personne scarcely
tak tidak wasnt wont
"""
"""What negates a verb. Alone ("they cannot sign") it is trouble."""

NEUTRAL: Final = """
actualizac* aender* aktualisierung* ander* any anything apapun applicable atualizac* baru berubah cambi* chang*
change* due erforderlich expected geaend* geander* ha haviam hay houve hubo include includes lain matter mind mise
mud* necessaire necessary neu neue neuen neuer neues new newer noetig notig notwendig nouveau* nouveaute* nouvelle*
nov* novedad* nuev* pembaruan pendient* perubahan release releases relevant required tem there touch touched touches
touching tun unchanged update updates upgrade upgrades verander* version versions worry ya yet
"""
"""What is well when it is not so: nothing changed, nothing is new."""

FOUND: Final = """
appear* aufgetreten bemerkt constat* detect* dilaporkan ditemukan encontr* entdeckt ereignet erkannt exist*
festgestellt find finds found gefunden gemeldet hall* happen* hubo muncul notice* observ* observe* occur* ocorr*
ocurr* passiert present produit* produj* raised registr* relat* report* saw see seen signal* spot spotted survenu*
tercatat terdeteksi terjadi trouv* vorgefallen vorhanden
"""
"""Trouble that was not found is none."""

MOOT: Final = """
arreglad* behoben* cerrada cerrado cerrados cleared clos close closed consertad* corregida corregido corregidos
corrig* diperbaiki disappeared diselesaikan ditangani ditutup erledigt fechada fechado fix fixed fixes geloest gelost*
geschlossen* gone healed mitigated normalizada normalizado patched pulih recovered recuperada recuperado repaired
repar* resolu* resolve resolved resolves resolvid* resolvio restored resuelt* retabl* sanado solucion* solved teratasi
terselesaikan tertangani uberstanden vanished verschwunden weg wiederhergestellt
"""
"""What takes trouble of the same clause back."""

AUXILIARY: Final = """
a all alle already are been beide bereits both deja esta estan estao est ete foi foram fue fueron ha han has hat have
inzwischen is ist ja jetzt kini maintenant now ont schon semua sido since sind sont sudah telah todos tous was were
wurde wurden ya
"""
"""May stand before a word of repair that goes on about what was named before a comma: "…, is already fixed"."""

UNSETTLED: Final = """
again ainda akan attempt attempts aun being denovo encore erneut immer lagi masih mencoba noch nouveau novamente
nuevamente otravez sedang sera seran sigue siguen still todavia toujours tries trying unless until versucht werden
wieder will wird working would
"""
"""Beside trouble: it is not over."""

CALM: Final = """
baixa baixo baja bajo basse bersih clean empty estable estavel faible fine flat green grun kosong leer limpa limpia
limpio limpo low niedrig normal propre rendah sauber stabil stable steady unchanged unverandert vacia vacio vazia
vazio vide
"""
"""What is said of a measure of errors that is well."""

MEASURE: Final = """
antrean budget cola compteur contador contagem count counter counts fehlerlog fehlerprotokoll fehlerquote fehlerrate
fehlerwarteschlange fehlerzahl fila file journal jumlah level log logs niveau nivel queue rasio rate rates ratio
registro tasa taux taxa tingkat
"""

NOT_ALL: Final = """
all alle apenas every hanya jede just merely nur only semua seulement so solamente solo todas todo todos tous tout
toutes
"""
"""After "not": it denies nothing of what follows."""

BREAKS: Final = """
aber after although apart aunque because besides but car depuis desde despite doch embora enquanto however instead
jedoch karena mais malgre mas mientras namun obwohl padahal parce pero porem porque pourtant sedangkan seit sejak
since sino sondern tapi tetapi though trotz wegen weil when whereas while yet
"""
"""A clause ends before one of these."""

LINKS: Final = "or nor and oder und noch o u ni y e ou nem et atau dan maupun"
OPEN_LINKS: Final = "or nor oder noch o u ni ou nem atau maupun"
"""Links that carry a negation over an adjective, too: "no errors or merge conflicts"."""

RESOURCES: Final = """
almacenamiento arbeitsspeicher armazenamento cpu disco disk disks disque festplatte filesystem heap inode inodes
memoire memori memoria memory partition penyimpanan platte quota ram speicher stockage storage swap volume
"""

PRUNED: Final = """
alte alten anciennes anciens antigas antigos antiguas antiguos completed done expired finished gemergte lama merged
obsoletas obsolete obsoletes obsoletos old outdated stale temp temporary unused usang velhas veraltete veralteten
viejas viejos
"""
"""What may be deleted without anybody's alarm."""

DELETED: Final = (
    "deleted delete removed remove purged geloscht geloeschte geloescht entfernt eliminadas eliminados"
    " eliminado borradas"
    " borrados borrado excluidas apagadas removidas supprimees supprimes dihapus"
)

_SOME: Final = (
    r"(?:[2-9]|[1-9][0-9]{1,4}|two|three|four|five|six|seven|eight|nine|ten|several|zwei|drei|vier|funf|sechs|sieben"
    r"|acht|neun|zehn|mehrere\w{0,2}|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|varios|dois|duas|quatro|sete|oito"
    r"|nove|dez|deux|trois|quatre|cinq|sept|huit|neuf|dix|plusieurs|dua|tiga|empat|lima|enam|tujuh|delapan|sembilan"
    r"|sepuluh|beberapa)"
)
"""More than one."""
_DAYS: Final = (
    r"(?:days?|weeks?|months?|tagen?|tage|wochen?|monaten?|monate|dias|semanas|mes(?:es)?|jours|semaines|mois|hari|minggu"
    r"|bulan)"
)
_REPAIRS: Final = r"(?:fixing|addressing|repairing|resolving|that (?:fix|address|repair|resolve)(?:es)?)"
_LEASED: Final = r"(?:licen[cs]e|contract|trial|domain|subscription|support|certificate|token|key)"

PHRASES: Final = {
    rf"(?:back ?up|snapshot|sync|dump|heartbeat|sicherung|replikat|copia|respaldo|sauvegarde|cadangan)\w{{0,3}}:?"
    rf" (?:(?!every|alle|cada)[^\W\d_]{{1,20}} ){{0,6}}?(?:{_SOME} {_DAYS} (?:old|ago|alt|yang lalu|lalu)"
    rf"|(?:hace|date de|il y a|remonte a|tem|ha|faz|vor) {_SOME} {_DAYS})": "outdatedbackup",
    r"heartbeats? (?:[\w-]{1,20} ){0,6}?(?:minutes|hours|an hour) ago": "outdatedbackup",
    r"(?:seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|sprints?|messages?|events?|records?|offsets?) behind"
    r"|(?:falls?|falling|fell|lags?|lagging|far|way) behind|behind (?:schedule|plan|the (?:primary|leader|master))"
    r"|(?:segundos?|minutos?|horas?|dias?) (?:por )?(?:detras|atras)": "runsbehind",
    r"(cron ?job|cron|scheduler|timer|job|trigger|webhook|hook|task|pipeline|workflow)(s?"
    r" (?:[\w']{1,12} ){0,3})(?:fired?|fires)": r"\1\2run",
    r"(?:[0-9]{1,4} ?x|[0-9]{1,4} ?times|(?:two|three|four|five|six|eight|ten|several|many) times)"
    r" (?:the (?:usual|normal|average)|as (?:high|slow|long|many|much)|higher|slower|longer|more|larger)"
    r"|(?:two|three|four|five|ten)fold|(?:dua|tiga|empat|lima|[0-9]{1,4}) kali lipat"
    r"|(?:a|ont) (?:double|triple|quadruple)": "rises",
    r"(latency|lag|error rate|errors|memory|cpu|load|costs?|response times?|queue (?:length|size|depth)|failures?)"
    r" (?:is|are|goes|go|went|has gone|have gone|keeps going) up": r"\1 rises",
    r"(queue) (?:is up (?:to|by)|goes up|went up|has gone up|keeps going up)": r"\1 rises",  # "is up": it runs
    r"(?<=\bnot )full(?! backup)|(?<=\byet )full|(?<=\bpas )pleine?s?|(?:esta|estan|casi) llen[oa]s?"
    r"|(?:est|sont|presque|quasiment) pleine?s?|(?:esta|estao|quase) chei[oa]s?": "exhausted",
    rf"{_LEASED}s? (?:\w{{1,20}} ){{0,5}}?(?:ends|ending|up for renewal)": "expires",
    rf"(?:merged|landed|shipped|released|deployed) (?:[\w']{{1,20}} ){{0,6}}?{_REPAIRS}"
    rf"|{_REPAIRS}(?= (?:[\w-]{{1,20}} ){{1,6}}(?:is|was|are|were|got|has been|have been) (?:merged|released|shipped"
    r"|deployed|live))": "fixed",
    r"(?:root|admin|administrator) logins?|logins? from (?!the |our |all )\w{1,20}|logged out at random": "intrusion",
    r"only (?:\w{1,10} ){1,4}(?:left|remain(?:s|ing)?)|nur noch (?:\w{1,10} ){1,4}(?:frei|ubrig)": "onlysome",
    r"at (?:its|the|their) (?:maximum|max|limit|capacity|ceiling)"
    r"|(?:9[0-9]|100)(?:[.,][0-9]{1,3})? ?% of (?:\w{1,20} ){0,3}?(?:quota|limit|plan|budget|capacity)": "exceeded",
    r"(?:pending|queued|waiting|initiali[sz]ing|still (?:running|starting|queued))"
    r" (?:for|since|after) (?:over |more than |about )?(?:[0-9]{1,6}|an?|\w{3,10}) (?:minutes?|hours?|days?)": "stuck",
    r"no longer|not any ?more|ya no|ja nao|no longer": "nolonger",
    r"no one|no-one|no body|tidak ada yang|belum ada yang|tak seorang": "nobody",
    r"tidak ada|tak ada|belum ada": "tidakada",
    r"nothing more|nothing else": "nothing",
    r"not (?:a|one) single|not one|kein\w{0,2} einzig\w{1,3}|ni una? sol[oa]|nem uma? s[oo]|pas une? seule?"
    r"|tidak satu pun"
    r"|tidak seorang pun|tak satu pun|belum satu pun": "nobody",
    r"se (?:vacio|vaciaron)|wurde\w? geleert": "emptied",
    r"(?:door|window|gate|safe) (?:\w{1,20} ){0,5}open|(?:tur|fenster) (?:\w{1,20} ){0,3}offen": "exposed",
    r"ended up on|turned up on|for sale on|pastebin|dark ?(?:web|net)|wikileaks": "leaked",
    r"pas d[e']?(?= |')": "pasde",
    r"plus d[e']?(?= |')(?! [0-9])": "plusde",
    r"(?:il )?n'y a(?: pas| plus)?(?: eu)?(?: de| d')?|(?:il )?n'y a eu(?: de| d')?": "aucun",
    r"no (?:hay|hubo|habia|ha habido|existen?)": "ningun",
    r"nao (?:ha|houve|havia|tem|tinha|existem?)": "nenhum",
    r"out of (?:memory|disk|space|order|stock|sync|date|service|control|quota)|ran out|run out|runs out": "exhausted",
    r"time[sd]? outs?|timing out": "timeout",
    r"on fire|caught fire": "fire",
    r"locked out|lock(?:s|ed)? up": "locked",
    r"rolled back|roll(?:s|ing)? back": "reverted",
    r"(?:is|are|almost|nearly|completely|disk|storage|volume|inbox|quota|queue) full(?! backup)": "exhausted",
    r"(?:return(?:s|ed|ing)?|show(?:s|ed|ing)?) (?:an? )?(?:empty|blank|nothing)|(?:empty|blank) (?:results?"
    r"|page)": "wrong",
    r"(?:http|status|code|return(?:s|ed|ing)?|respond(?:s|ed|ing)?(?: with)?|gives?|gets?|getting|antwortet mit"
    r"|liefert"
    r"|devuelve|responde|retorna|renvoie|repond|mengembalikan) (?:an? |un |eine? )?[45][0-9][0-9](?:er)?": "errors",
    r"(?:an?|has|have|having|had|some|serious|major|experienc(?:e|es|ing)|with|reported|known|critical) issues?"
    r"|issues? (?:with|in|on|at|accessing|affecting)": "issuetrouble",
    r"open requests?|requests? (?:from|by)|request is open": "openrequest",
    r"call(?:s|ed)? (?:\w{1,20} )?back|get back to|reply to|respond to|look at (?:it|this)|take a look": "callback",
    r"(?:wait(?:s|ing)?|blocked) (?:for|on) (?!(?:a )?(?:review|ci|checks|merge|the next|tests))"
    r"|awaits? your|awaiting your": "waitingfor ",
    r"[45][0-9][0-9](?:s|er)|[45]xx|back ?off": "errors",
    r"force[- ]?push\w{0,3}": "forcepush",
    r"(?:customers?|users?|people|kunden|nutzer|benutzer|clientes|usuarios|clients|utilisateurs|pelanggan|pengguna)"
    r" (?:\w{1,12} )?(?:see|report|get|say|complain|melden|sehen|berichten|sagen|ven|reportan|dicen|veem"
    r"|relatam|dizem|voient"
    r"|signalent|disent|melihat|melaporkan|bilang)": "customerssay",
    r"(?:ete|est|sont|fut) vole\w{0,2}": "stolen",
    r"dead[- ]letter|dead code|critical path|alert rules?|error handling|error messages?|risk assessment|red hat"
    r"|brand new|brand-new|bug fix(?:es)?|breaking changes?: none|full backup|stop ?words?|fire ?wall"
    r"|fire ?fox": "thing",
    r"up and running|working (?:tree|copy|directory|hours|day|set)|in order|as expected|on time": "thing",
    r"error[- ]free|fehlerfrei|problemlos|reibungslos|libre de errores|livre de erros": "thing",
    r"(?:limit|quota|cap|threshold|ceiling) (?:was |is |has been |were )?(?:reached|hit|crossed|breached)"
    r"|(?:reached|hit|hits|crossed) (?:the|its|our|a) (?:\w{1,20} )?(?:limit|quota|cap|threshold|ceiling)"
    r"|limit (?:wurde |ist )?erreicht|(?:alcanz|lleg)\w{1,8} (?:el |al )?limite|limite alcanzado"
    r"|limite (?:foi )?atingid[oa]"
    r"|atingi\w{1,5} o limite|limite (?:est |a ete )?atteinte?|batas tercapai|mencapai batas": "exceeded",
    r"(?:is|are|was|were) over": "resolved",
    r"rate limits?": "limit",
    r"read[- ]only|solo lectura|somente leitura|lecture seule|hanya baca": "readonly",
    r"(?:someone|somebody|anyone|nobody|one) else|other people'?s?|others' (?:data|invoices|orders)"
    r"|orang lain": "stranger",
    r"(?:startet|starten|startete|gestartet) (?:\w{1,20} ){0,3}neu|neu gestartet|memulai ulang"
    r"|mulai ulang": "restarts",
    r"(?:lauft|laeuft|laufen) (?:\w{1,20} ){0,4}aus": "expires",
    r"(?:produktion|server|dienst|system|anlage|band|queue|seite|cluster|import|build) (?:steht|stehen)(?= *$"
    r"|,)": "stopped",
    r"sin parar|sem parar|sans cesse|sans arret|en boucle|todo el tiempo|o tempo todo|una y otra vez|tout le temps"
    r"|all the time|over and over|again and again|immer wieder|terus[- ]menerus|berkali-kali"
    r"|a cada minuto": "constantly",
    r"terus (?=\w)(?!(?:hijau|normal|stabil|berjalan|berhasil|lulus))": "constantly ",
    r"keeps? (?=\w{1,20}ing)(?!(?:passing|running|working|improving))": "constantly ",
    r"fuera de (?:servicio|linea)|fora de servico|hors (?:service|ligne)|ausser betrieb|tidak beroperasi": "offline",
    r"lama sekali|terlalu lama|kelamaan": "slow",
    r"en colere|en rouge|au rouge|en rojo|no vermelho|em vermelho|im roten": "red",
    r"except(?: for)?|other than|apart from|aside from|bis auf|a excepcion de|con excepcion de|com excecao de"
    r"|a l'exception de|hormis|selain": "exceptfor",
    r"excepto|salvo|exceto|menos (?:el|la|los|las|o|a|os|as)|sauf|kecuali|ausser": "exceptfor",
    r"only (?:\w{1,10} )?(?:[0-9]{1,6}|one|two|three|half|some|a few)(?: of| out of| in|/)"
    r"|nur (?:noch )?(?:[0-9]{1,6}|eine?[rsn]?|zwei|drei|die halfte)(?: \w{1,20})? (?:von|der|aller)"
    r"|(?:solo|solamente|so|somente|apenas) (?:[0-9]{1,6}|un[oa]?|uma?|dos|dois|duas|la mitad|metade) (?:de|das|dos)"
    r"|(?:un|une) seule?s? des?|seule?(?:ment)? (?:[0-9]{1,6}|une?|deux) (?:de|des|sur)"
    r"|hanya (?:[0-9]{1,6}|satu|dua|tiga|setengah) dari": "onlysome",
    r"(?:offene|unbeantwortete) anfragen?|solicitud(?:es)? (?:abierta|pendiente)s?|solicitac\w{1,5} (?:aberta"
    r"|pendente)s?"
    r"|permintaan terbuka|demandes? (?:ouverte|en attente)s?": "openrequest",
    r"(?:menunggu|tunggu) (?:jawaban|balasan|persetujuan|keputusan)|wartet? (?:\w{1,20} ){0,2}auf (?:eine |die "
    r"|deine |ihre )?"
    r"(?:antwort|freigabe|ruckmeldung|entscheidung)|(?:esper|aguard)\w{1,5} (?:\w{1,20} ){0,2}(?:respuesta"
    r"|resposta|aprobacion"
    r"|aprovacao)|attend(?:ent)? (?:\w{1,20} ){0,2}(?:reponse|accord|decision)": "waitingfor",
    r"yang terbuka": "thing",
    r"signes? de vie|senal(?:es)? de vida|sinal de vida|sinais de vida|tanda(?:-tanda)? kehidupan"
    r"|signs? of life": "signal",
    r"too (?:many|much|long|high|low|slow|large|big|few)|zu (?:viele?|lange?|hoch|gross|wenig)"
    r"|demasiad[oa]s?|trop (?:de|long|haut)|terlalu": "wrong",
    r"(?:lauft|laeuft|laufen) (?:\w{1,20} ){0,4}ab|am ablaufen": "expires",
    r"(?:lauft|laeuft|laufen) (?:\w{1,20} ){0,3}voll": "exhausted",
    r"steht still|stehen still|still gestanden|stillgelegt": "stopped",
    r"(?:fallt|fallen|faellt|fiel|fielen) (?:\w{1,20} ){0,4}aus": "ausfall",
    r"dos veces|por duplicado": "dosveces",
    r"duas vezes": "duasvezes",
    r"deux fois|en double": "deuxfois",
    r"dua kali": "duakali",
    r"fora d[oe] (?:ar|servico)": "foradoar",
    r"por favor": "porfavor",
    r"hay que": "hayque",
    r"tiene que|tienen que": "tieneque",
    r"hace falta": "hacefalta",
    r"tem (?:que|de)|tera (?:que|de)": "temque",
    r"il faut|faudra(?:it)?": "ilfaut",
    r"s'il (?:vous|te) plait": "silvousplait",
    r"jatuh tempo": "jatuhtempo",
    r"tak dikenal|tidak dikenal|tidak sah|tidak wajar": "takdikenal",
    r"tidak sengaja": "tidaksengaja",
    r"tidak lagi": "nolonger",
    r"otra vez|de nuevo|una vez mas": "again",
    r"de novo|outra vez": "again",
    r"de nouveau|a nouveau": "again",
    r"rien (?:de|a) (?:nouveau|signaler|faire|dire)": "nothing",
    r"nada (?:de novo|nuevo|que hacer|a fazer|que reportar)": "nothing",
    r"nichts neues|nichts zu (?:tun|melden|berichten)": "nothing",
    r"tidak ada yang (?:baru|perlu|mendesak)|tidak perlu": "nothing perlu",
    r"nothing (?:to|new|of note)": "nothing new",
    r"caidas? de tension|en panne|au vol": "panne",
    r"se vino abajo|se cayo|se cayeron": "caida",
    r"(?:esta|estan|va|van|marcha|vai|vao|fonctionne|marche) mal": "mala",
    r"salah satu": "thing",
    r"am boden|down gegangen": "down",
    r"not ?fall": "notfall",
    r"data center|centro de datos|centre de donnees|pusat data|data centers?": "site",
    r"base de datos|base de donnees|basis data|banco de dados|data ?base|data ?base": "database",
}
"""Several words that count as one; patterns over the prepared remark."""

FORMS: Final = (
    r"un(?!chang|affect|disturb|interrupt|limit|modif|touch|read(?!able)|it|ified|ique|iversal|der|til|less"
    r"|block|pack|lock|ifi"
    r"|fortunate)[a-z]{3,20}(?:able|ably|ed)",
    r"in(?!valuable|credible|dispens|stallable|evitab)[a-z]{3,20}(?:able|ible)s?",
    r"un(?!ver|auff|kriti|bed|beruh|abhang|problem|gefahr|gebr|ter|gefaehr)[a-z]{3,20}(?:bar|lich"
    r"|lesbar)(?:e[nrs]?)?",
    r"i(?:n(?!creib|dependent|cre|mejor|superab|cluib)|m(?!pecab|pecav|mut)|l|r(?!reproch))[a-z]{3,20}(?:ble"
    r"|bles|vel|veis)",
)
"""Words that deny by their form: unreadable, unpatched, unlesbar, ilegible, illisible."""

CREDENTIAL: Final = (
    r"\b(?:passwords?|passphrases?|credentials?|secrets?"
    r"|(?:api|private|signing|ssh|encryption|deploy)[- ]?keys?|tokens?|passw[oö]rt(?:er)?"
    r"|zugangsdaten"
    r"|schlussel|contrasenas?|claves?|credenciales|senhas?|chaves?|credenciais|mots? de passe|cles?|identifiants"
    r"|kata sandi|kunci|kredensial)\b"
)
IS_SHOWN: Final = (
    r"\b(?:public|publicly|visible|plain ?text|clear ?text|committed|posted|shared|published|pushed"
    r"|on git ?(?:hub|lab)|sichtbar|offen"
    r"|offentlich|klartext|veroffentlicht|eingecheckt|a la vista|visibles?|publicad[oa]s?|publico|texto plano"
    r"|texto puro"
    r"|visive(?:l|is)|publies?|publiees?|en clair|publics?|publiques?|terlihat|publik|terbuka|dipublikasikan)\b"
)
"""A secret that is shown is trouble."""

SINCE: Final = "since seit desde depuis sejak"
"""Nothing since then: what used to come has stopped."""

MAY_STOP: Final = (
    r"commit\w*|pr|prs|push\w*|merge\w*|mention\w*|question\w*|comment\w*|deploy\w*|release\w*|task\w*"
    r"|branch\w*|nothing"
    r"|nichts|nada|rien|chang\w*|cambi\w*|mudan\w*|anderung\w*|perubahan|report\w*|activity|news"
)
"""What may well be none since then."""
