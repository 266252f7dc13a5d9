// Slack's mrkdwn as DOM nodes. Text only ever becomes text nodes, so nothing a message says is run.
// Source: https://docs.slack.dev/messaging/formatting-message-text

const EMOJI = {
  "+1": "👍", "-1": "👎", arrow_up: "⬆️", bell: "🔔", bulb: "💡", double_vertical_bar: "⏸️", eyes: "👀", file_cabinet: "🗄️",
  file_folder: "📁", globe_with_meridians: "🌐", grey_question: "❔", heart: "❤️", heavy_check_mark: "✔️",
  heavy_minus_sign: "➖", hourglass_flowing_sand: "⏳", information_source: "ℹ️", large_green_circle: "🟢", mag: "🔍",
  mag_right: "🔎", busts_in_silhouette: "👥", leftwards_arrow_with_hook: "↩️",
  memo: "📝", no_entry: "⛔", no_entry_sign: "🚫", page_facing_up: "📄", pencil2: "✏️", red_circle: "🔴",
  robot_face: "🤖", ghost: "👻",
  rotating_light: "🚨", scissors: "✂️", seedling: "🌱", speech_balloon: "💬", tada: "🎉", thumbsup: "👍", warning: "⚠️",
  white_check_mark: "✅", white_circle: "⚪", wrench: "🔧", x: "❌", zzz: "💤",
};
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const TOKEN = /```([\s\S]+?)```|`([^`\n]+)`|<([^<>\n]+)>|:([a-z0-9_+-]+):|([*_~])(?=\S)((?:(?!\5)[^\n])+?)\5(?![\p{L}\p{N}])/giu;

export function decode(text) {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity]);
}

export function emoji(name) {
  return EMOJI[name] ?? `:${name}:`;
}

export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** Return a text as nodes. `names` gives {user(id), channel(id)}; quoted lines (`>`) become block quotes. */
export function mrkdwn(text, names) {
  const nodes = [];
  for (const part of withFences(text)) {
    if (part.fence !== undefined) {
      nodes.push(element("pre", "mrkdwn-fence", decode(part.fence.replace(/^\n|\n$/g, ""))));
      continue;
    }
    for (const run of quotedRuns(part.text)) {
      const content = lines(run.lines, names);
      nodes.push(...(run.quoted ? [element("blockquote", "mrkdwn-quote", ...content)] : content));
    }
  }
  return nodes;
}

function withFences(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(/```([\s\S]+?)```\n?/g)) {
    parts.push({ text: text.slice(from, found.index).replace(/\n$/, "") }, { fence: found[1] });
    from = found.index + found[0].length;
  }
  parts.push({ text: text.slice(from) });
  return parts.filter((part) => part.fence !== undefined || part.text !== "");
}

function quotedRuns(text) {
  const runs = [];
  for (const line of text.split("\n")) {
    const sign = /^(?:&gt;|>) ?/.exec(line);
    const quoted = sign !== null;
    const shown = quoted ? line.slice(sign[0].length) : line;
    const last = runs.at(-1);
    if (last && last.quoted === quoted) last.lines.push(shown);
    else runs.push({ quoted, lines: [shown] });
  }
  return runs;
}

function lines(all, names) {
  return all.flatMap((line, index) => (index ? [element("br"), ...inline(line, names)] : inline(line, names)));
}

function inline(text, names) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, , code, special, name, sign, inner] = found;
    if (sign && /[\p{L}\p{N}]/u.test(text[found.index - 1] ?? "")) continue;
    if (name && !(name in EMOJI)) continue;
    nodes.push(decode(text.slice(from, found.index)));
    if (code !== undefined) nodes.push(element("code", "", decode(code)));
    else if (special !== undefined) nodes.push(reference(special, names));
    else if (name) nodes.push(emoji(name));
    else nodes.push(element({ "*": "strong", _: "em", "~": "del" }[sign], "", ...inline(inner, names)));
    from = found.index + whole.length;
  }
  nodes.push(decode(text.slice(from)));
  return nodes.filter((node) => node !== "");
}

function reference(special, names) {
  const [target, label] = split(special);
  if (target.startsWith("@")) return element("span", "mention", `@${names.user(target.slice(1))}`);
  if (target.startsWith("#")) return element("span", "mention", `#${label || names.channel(target.slice(1))}`);
  if (target.startsWith("!date^")) return element("time", "", date(target, label));
  if (target.startsWith("!subteam^")) return element("span", "mention", label || "@group");
  if (target.startsWith("!")) return element("span", "mention", `@${target.slice(1)}`);
  if (!/^(https?|mailto):/i.test(target)) return element("span", "", `<${decode(special)}>`);
  const link = element("a", "", decode(label || target));
  link.href = decode(target);
  link.target = "_blank";
  link.rel = "noreferrer";
  return link;
}

function split(special) {
  const bar = special.indexOf("|");
  return bar < 0 ? [special, ""] : [special.slice(0, bar), special.slice(bar + 1)];
}

function date(target, fallback) {
  const [, seconds, format] = target.split("^");
  const at = new Date(Number(seconds) * 1000);
  if (Number.isNaN(at.getTime()) || !format) return decode(fallback);
  return decode(format).replace(/\{(\w+)\}/g, (token, name) => dateToken(name, at) ?? token);
}

function dateToken(name, at) {
  const as = (options) => at.toLocaleString("en-GB", options);
  const pretty = prettyDay(at);
  const day = {
    date: { year: "numeric", month: "long", day: "numeric" },
    date_num: null,
    date_short: { year: "numeric", month: "short", day: "numeric" },
    date_long: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  };
  if (name === "time") return as({ hour: "2-digit", minute: "2-digit" });
  if (name === "time_secs") return as({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  if (name === "date_num") return at.toISOString().slice(0, 10);
  const plain = name.replace(/_pretty$/, "");
  if (!day[plain]) return undefined;
  return plain !== name && pretty ? pretty : as(day[plain]);
}

function prettyDay(at) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - midnight) / 86_400_000);
  return { "-1": "yesterday", 0: "today", 1: "tomorrow" }[days];
}
