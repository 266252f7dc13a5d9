"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const marks = new Map(Object.entries(data.marks));
const STEP = 100, ANSWERS = 6;
let shown = STEP;

const byId = (id) => document.getElementById(id);
const percent = (x) => `${Math.round(100 * x)} %`;
const interval = (s) => (s.of ? `${percent(s.interval[0])} to ${percent(s.interval[1])}` : "no data");
const place = (m) => `${m.chat} ${m.id}`;
const named = (text) => text.replace(/<@(\w+)(\|[^>]*)?>/g, (_, id) => `@${data.names[id] || id}`);
const who = (id) => data.names[id] || id;

function make(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function link(cite) {
  if (!/^https?:\/\//.test(cite.link || "")) return make("code", cite.ref);
  const made = make("a", cite.ref);
  made.href = cite.link;
  made.rel = "noreferrer";
  return made;
}

function tile(value, words, more) {
  const made = make("div", undefined, "tile");
  made.append(make("b", value), make("span", words));
  if (more) made.append(make("span", more));
  byId("tiles").append(made);
}

function head() {
  const s = data.shares, all = data.standings;
  byId("title").textContent = `Backtest of ${data.source}`;
  byId("about").textContent = `${data.investigator}; rules ${data.rules}. Each question was looked into at the commit of its time.`;
  tile(data.messages, "messages", data.unreadable ? `${data.unreadable} unreadable` : "");
  tile(data.classes.actionable || 0, "heard as work", `${data.questions} questions`);
  tile(s.drafted.hits, "drafted", s.passed.of ? `${s.passed.hits} passed all checks` : "");
  tile(s.drafted.of - s.drafted.hits, "silent: no draft", data.failed ? `${data.failed} of them failed` : "");
  tile(all.right, "right", s.right.of ? `${percent(all.right / s.right.of)} of ${s.right.of} known (${interval(s.right)})` : "");
  tile(all.wrong, "wrong", "the draft names no known place");
  tile(all.missed, "missed", "no draft, answer known");
  tile(all.unknown, "not known", "nobody said what is right");
  tile(data.cost_usd === null ? "unknown" : `$${data.cost_usd.toFixed(2)}`, "cost");
  if (s.wrongly_ignored.of) tile(`${s.wrongly_ignored.hits} of ${s.wrongly_ignored.of}`, "marked: wrongly left alone", interval(s.wrongly_ignored));
  if (s.wrongly_heard.of) tile(`${s.wrongly_heard.hits} of ${s.wrongly_heard.of}`, "marked: wrongly heard", interval(s.wrongly_heard));
  const own = data.own_drafts, words = { approved: "approved unchanged", edited: "edited", auto: "sent by itself", dismissed: "dismissed" };
  const said = Object.keys(words).filter((k) => own[k]).map((k) => `${own[k]} ${words[k]}`);
  if (said.length) byId("own").textContent = `The bot's own drafts of then: ${said.join(", ")}.`;
}

function laterIn(message) {
  const made = make("ul", undefined, "soft");
  const later = data.heard.filter((m) => m.chat === message.chat && m.thread === message.thread && Number(m.id) > Number(message.id));
  made.append(...later.slice(0, ANSWERS).map((m) => make("li", `${who(m.who)}: ${named(m.text)}`)));
  return made;
}

function draftOf(row) {
  const made = make("div"), found = make("p", "Cites: ");
  made.append(make("pre", row.draft || row.problem || "(no draft)"));
  row.cites.forEach((cite, at) => found.append(at ? ", " : "", link(cite)));
  if (row.cites.length) made.append(found);
  if (row.known.length) made.append(make("p", `Known: ${row.known.map(([a, b]) => `${a} (${b.replace(/^\w+/, who)})`).join("; ")}`, "soft"));
  if (row.reasons.length && !row.passed) made.append(make("p", `Objections: ${row.reasons.join("; ")}`, "soft"));
  return made;
}

function markButtons(message, card) {
  const box = make("span", undefined, "push");
  for (const [value, word] of [[true, "Right"], [false, "Wrong"]]) {
    const button = make("button", word, value ? "right" : "wrong");
    button.onclick = () => {
      if (marks.get(place(message)) === value) marks.delete(place(message));
      else marks.set(place(message), value);
      refresh();
    };
    box.append(button);
  }
  const refresh = () => {
    const now = marks.get(place(message));
    [...box.children].forEach((b, at) => b.setAttribute("aria-pressed", String(now === (at === 0))));
    card.classList.toggle("marked", now !== undefined);
    byId("marked").textContent = `${marks.size} marked`;
  };
  refresh();
  return box;
}

function messageCard(message, isOpen) {
  const card = make("div", undefined, "card"), top = make("div", undefined, "head"), row = data.drafts[message.id];
  top.append(make("span", message.class, "badge"), make("span", `by ${message.rule}`), make("span", `#${message.channel}`),
    make("span", message.at), make("span", who(message.who)));
  if (row && message.asks) top.append(make("span", row.standing === "unknown" ? "not known" : row.standing, `badge ${row.standing}`));
  top.append(markButtons(message, card));
  card.append(top, make("p", named(message.text), "text"));
  if (row && message.asks) {
    const more = make("details"), what = row.draft ? (row.passed ? "Draft, passed all checks" : "Draft, with objections") : "No draft";
    more.open = isOpen;
    more.append(make("summary", what), draftOf(row), laterIn(message));
    card.append(more);
  }
  return card;
}

const fits = {
  all: () => true,
  heard: (m) => m.class === "actionable",
  alone: (m) => m.class !== "actionable",
  drafted: (m) => m.asks && data.drafts[m.id] && data.drafts[m.id].draft,
  unmarked: (m) => !marks.has(place(m)),
};

function list() {
  const found = data.heard.filter(fits[byId("filter").value]);
  byId("messages").replaceChildren(...found.slice(0, shown).map((m) => messageCard(m, false)));
  byId("count").textContent = `${Math.min(shown, found.length)} of ${found.length}`;
  byId("more").hidden = shown >= found.length;
}

function top10(name) {
  const found = data[name].map((id) => data.heard.find((m) => m.asks && m.id === id)).filter(Boolean);
  byId(`${name}-title`).hidden = !found.length;
  byId(name).replaceChildren(...found.map((m) => messageCard(m, true)));
}

function save() {
  const at = new Date().toISOString();
  const lines = data.heard.filter((m) => marks.has(place(m))).map((m) => JSON.stringify({
    at, by: "backtest", chat_id: m.chat, message_id: m.id, classification: m.class, classifier_version: data.rules, right: marks.get(place(m)),
  }));
  const a = make("a");
  a.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/x-ndjson" }));
  a.download = "triage-marks.ndjson";
  a.click();
  URL.revokeObjectURL(a.href);
}

byId("filter").onchange = () => { shown = STEP; list(); };
byId("more").onclick = () => { shown += STEP; list(); };
byId("save").onclick = save;
head();
top10("best");
top10("worst");
list();
