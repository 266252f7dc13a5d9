// The demo's page: what Slack's own page shows of a workspace, for the server `local-slack`, over its WebSocket.

import { blockNodes } from "./blocks.js";
import { decode, element, emoji, mrkdwn } from "./mrkdwn.js";

const RECONNECT_MS = 1_000;
const find = (selector) => document.querySelector(selector);
const settings = await (await fetch("page.json")).json();

const world = { users: [], channels: [], apps: [], messages: {}, modalStack: [], homeViews: {}, workspace: null };
const seen = { actor: settings.actor, place: settings.channel, thread: null, read: {}, errors: {} };
let socket = null;

const names = {
  user: (id) => person(id)?.real_name || person(id)?.name || app(id)?.botName || id,
  channel: (id) => world.channels.find((channel) => channel.id === id)?.name ?? id,
};
const person = (id) => world.users.find((user) => user.id === id);
const app = (id) => world.apps.find((one) => one.botUserId === id);
const isHome = () => seen.place === "home";
const channel = () => world.channels.find((one) => one.id === seen.place);
const inThread = (message) => message.thread_ts && message.thread_ts !== message.ts;
const send = (message) => socket?.send(JSON.stringify({ user: seen.actor, ...message }));

// --- what arrives

function connect() {
  socket = new WebSocket(`${settings.slack.replace(/^http/, "ws")}/ui`);
  socket.addEventListener("open", () => mark("#socket", "ui live", true));
  socket.addEventListener("close", () => {
    mark("#socket", "ui reconnecting", false);
    setTimeout(connect, RECONNECT_MS);
  });
  socket.addEventListener("message", (event) => take(JSON.parse(event.data)));
}

const TAKEN = {
  init({ state }) {
    Object.assign(world, state, { messages: state.messages ?? {}, modalStack: state.modalStack ?? [] });
    world.homeViews = state.homeViews ?? {};
    seen.errors = {};
    for (const [id, messages] of Object.entries(world.messages)) seen.read[id] ??= messages.at(-1)?.ts;
    drawPeople();
    drawDialogue();
  },
  message({ message }) {
    const known = (world.messages[message.channel] ??= []);
    if (!known.some((one) => one.ts === message.ts)) known.push(message);
  },
  message_update({ message }) {
    world.messages[message.channel] = (world.messages[message.channel] ?? []).map((one) =>
      one.ts === message.ts ? message : one,
    );
  },
  message_delete(gone) {
    world.messages[gone.channel] = (world.messages[gone.channel] ?? []).filter((one) => one.ts !== gone.ts);
  },
  channel(added) {
    if (!world.channels.some((one) => one.id === added.channel.id)) world.channels.push(added.channel);
  },
  socket_status(status) {
    for (const one of world.apps) if (one.appId === status.appId) one.connected = status.connected;
  },
  view({ stack }) {
    world.modalStack = stack ?? [];
    seen.errors = {};
    drawDialogue();
  },
  view_errors({ errors }) {
    seen.errors = errors ?? {};
    drawDialogue();
  },
  home({ user, appId, view }) {
    world.homeViews[user] = { ...world.homeViews[user], [appId]: view };
  },
};

function take(message) {
  if (!(message.t in TAKEN)) return;
  TAKEN[message.t](message);
  draw();
}

// --- what is drawn

function draw() {
  const bot = world.apps[0];
  if (bot) mark("#bot", `${bot.botName} ${bot.connected ? "connected" : "offline"}`, bot.connected);
  drawSidebar();
  drawPlace();
  drawThread();
}

function mark(selector, text, isWell) {
  find(selector).textContent = text;
  find(selector).className = `status ${isWell ? "ok" : "bad"}`;
}

function drawPeople() {
  const people = world.users.filter((user) => !user.is_bot && !app(user.id));
  if (!people.some((user) => user.id === seen.actor)) seen.actor = people[0]?.id;
  const options = people.map((user) => {
    const made = element("option", "", user.real_name || user.name);
    made.value = user.id;
    return made;
  });
  find("#actor").replaceChildren(...options);
  find("#actor").value = seen.actor;
}

const isMember = (one) => one.members.includes(seen.actor) || (!one.is_private && !one.is_im);
const other = (one) => one.members.find((id) => !app(id)) ?? "";
const titleOf = (one) => (one.is_im ? names.user(other(one)) : one.name);

function drawSidebar() {
  const mine = world.channels.filter(isMember).sort((one, two) => titleOf(one).localeCompare(titleOf(two)));
  const section = (title, rows) => (rows.length ? [element("div", "sidebar-section", title), ...rows] : []);
  const channels = mine.filter((one) => !one.is_im).map((one) => place(one.id, one.is_private ? "🔒" : "#", one.name));
  const directs = mine.filter((one) => one.is_im).map((one) => place(one.id, "●", `${bots()} · ${titleOf(one)}`));
  const homes = world.apps.map((one) => {
    const row = place("home", "🏠", one.botName);
    row.append(element("span", `app-dot ${one.connected ? "on" : "off"}`));
    return row;
  });
  find("#sidebar").replaceChildren(
    element("div", "sidebar-header", world.workspace?.name ?? "Workspace"),
    ...section("Channels", channels),
    ...section("Direct messages", directs),
    ...section("Apps", homes),
  );
}

const bots = () => world.apps[0]?.botName ?? "bot";

function place(id, sign, label) {
  const isUnread = id !== seen.place && visible(id).at(-1)?.ts > (seen.read[id] ?? "0");
  const kind = `${id === seen.place ? "active" : ""} ${isUnread ? "unread" : ""}`;
  const row = element("button", `sidebar-item ${kind}`, element("span", "hash", sign), label);
  row.addEventListener("mousedown", () => open(id)); // not "click": news may draw the row anew before the button is up
  row.addEventListener("click", (event) => event.detail === 0 && open(id)); // from the keyboard
  return row;
}

function open(id, thread = null) {
  seen.place = id;
  seen.thread = thread;
  if (isHome()) send({ t: "open_home", appId: world.apps[0]?.appId });
  find("#messages").replaceChildren();
  draw();
  toEnd(find("#messages"));
}

/** What the acting person may see in a channel: private answers only their own. */
function visible(id) {
  const isMine = (message) => message.subtype !== "ephemeral" || (message.ephemeral_to ?? seen.actor) === seen.actor;
  return (world.messages[id] ?? []).filter(isMine);
}

function drawPlace() {
  find("#home").hidden = !isHome();
  find("#messages").hidden = find("#composer").hidden = isHome();
  if (isHome()) {
    drawHome();
    return;
  }
  const here = channel();
  if (!here || !isMember(here)) {
    const first = world.channels.find((one) => isMember(one) && !one.is_im);
    if (first) open(first.id);
    return;
  }
  find("#title").textContent = here.is_im ? titleOf(here) : `${here.is_private ? "🔒" : "#"} ${here.name}`;
  find("#about").textContent = here.is_im ? `with ${bots()}` : `${here.members.length} members`;
  find("#composer textarea").placeholder = `Message ${here.is_im ? bots() : `#${here.name}`}`;
  const shown = visible(here.id);
  seen.read[here.id] = shown.at(-1)?.ts ?? seen.read[here.id];
  drawMessages(find("#messages"), shown.filter((message) => !inThread(message)), true);
}

function drawHome() {
  const bot = world.apps[0];
  const view = world.homeViews[seen.actor]?.[bot?.appId];
  find("#title").textContent = `🏠 ${bots()}`;
  find("#about").textContent = `as ${names.user(seen.actor)} sees it`;
  const act = (action) => send({ t: "block_action", channel: "", messageTs: "", action, appId: bot?.appId });
  const shown = view ? blockNodes(view.blocks, { names, act }) : element("div", "empty", "Opening …");
  keep(find("#home .home-inner"), `${seen.actor} ${JSON.stringify(view ?? null)}`, () => [shown]);
}

function drawThread() {
  const pane = find("#thread");
  const all = isHome() ? [] : visible(seen.place);
  const root = all.find((message) => message.ts === seen.thread);
  pane.hidden = !root;
  if (root) {
    const replies = all.filter((message) => inThread(message) && message.thread_ts === root.ts);
    drawMessages(pane.querySelector(".thread-body"), [root, ...replies], false);
  }
}

/** Draw messages, each anew only when it changed, and stay at the end where one was there. */
function drawMessages(into, messages, hasThreads) {
  const wasAtEnd = into.scrollTop + into.clientHeight >= into.scrollHeight - 40;
  const before = new Map([...into.children].map((node) => [node.dataset.ts, node]));
  const nodes = messages.map((message) => {
    const replies = hasThreads ? visible(message.channel).filter((one) => inThread(one) && one.thread_ts === message.ts) : [];
    const state = JSON.stringify([message, replies.length, seen.actor, hasThreads]);
    const known = before.get(message.ts);
    return known?.dataset.state === state ? known : messageNode(message, replies, state, hasThreads);
  });
  if (nodes.length !== into.children.length || nodes.some((node, index) => into.children[index] !== node)) {
    into.replaceChildren(...nodes);
  }
  if (wasAtEnd) toEnd(into);
}

/** Go to the last message; of one that is higher than the window to its beginning. */
function toEnd(into) {
  const last = into.lastElementChild;
  const isHigh = last && last.offsetHeight > into.clientHeight;
  into.scrollTop = isHigh ? last.offsetTop - into.offsetTop : into.scrollHeight;
}

function keep(into, state, make) {
  if (into.dataset.state === state) return;
  into.dataset.state = state;
  into.replaceChildren(...make());
}

function messageNode(message, replies, state, hasThreads) {
  const author = message.username || names.user(message.user);
  const head = element("div", "msg-head", element("span", "msg-name", author));
  if (message.bot_id) head.append(element("span", "badge-app", "APP"));
  head.append(element("span", "msg-time", clock(message.ts)));
  if (message.edited) head.append(element("span", "msg-edited", "(edited)"));
  const body = element("div", "msg-body", head);
  if (message.subtype === "ephemeral") body.prepend(element("div", "badge-eph", "👁 Only visible to you"));
  body.append(...contents(message));
  if (replies.length) body.append(threadButton(message, replies));
  const avatar = element("div", "msg-avatar", message.bot_id ? "🤖" : initials(author));
  avatar.style.background = message.bot_id ? "#e8e8e8" : colour(message.user);
  const node = element("div", "msg", avatar, body, hoverActions(message, hasThreads));
  node.dataset.ts = message.ts;
  node.dataset.state = state;
  return node;
}

function contents(message) {
  const act = (action) => send({ t: "block_action", channel: message.channel, messageTs: message.ts, action });
  const parts = [];
  if (message.blocks?.length) parts.push(blockNodes(message.blocks, { names, act }));
  else if (message.text) parts.push(element("div", "msg-text", ...mrkdwn(message.text, names)));
  for (const file of message.files ?? []) parts.push(fileNode(file));
  if (message.reactions?.length) {
    const marks = message.reactions.map((one) => element("span", "reaction", `${emoji(one.name)} ${one.count}`));
    parts.push(element("div", "msg-reactions", ...marks));
  }
  return parts;
}

function fileNode(file) {
  const path = file.permalink ? new URL(file.permalink).pathname : "";
  const link = element("a", "file", file.title || file.name || "file");
  link.href = settings.slack + path;
  link.target = "_blank";
  if (file.mimetype?.startsWith("image/")) {
    const picture = element("img", "file-image");
    picture.src = link.href;
    picture.alt = file.alt_txt ?? file.title ?? "";
    link.append(picture);
  }
  return link;
}

function threadButton(message, replies) {
  const count = `${replies.length} ${replies.length === 1 ? "reply" : "replies"}`;
  const made = element("button", "thread-summary", element("span", "thread-summary-count", count));
  made.append(element("span", "thread-summary-time", `Last reply ${clock(replies.at(-1).ts)}`));
  made.addEventListener("click", () => openThread(message.ts));
  return made;
}

function openThread(ts) {
  seen.thread = ts;
  draw();
}

function hoverActions(message, hasThreads) {
  const bar = element("div", "msg-hover-actions");
  const add = (sign, title, act) => {
    const made = element("button", "msg-hover-btn", sign);
    made.title = title;
    made.addEventListener("click", act);
    bar.append(made);
  };
  if (hasThreads && message.subtype !== "ephemeral") add("💬", "Reply in thread", () => openThread(message.ts));
  if (message.user === seen.actor && !message.bot_id) {
    add("✏️", "Edit message", () => editMessage(message));
    add("🗑️", "Delete message", () => send({ t: "delete_message", channel: message.channel, ts: message.ts }));
  }
  return bar;
}

function editMessage(message) {
  const node = document.querySelector(`.msg[data-ts="${CSS.escape(message.ts)}"] .msg-text`);
  const field = element("textarea", "msg-edit-input");
  field.value = decode(message.text);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.replaceWith(node);
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send({ t: "edit_message", channel: message.channel, ts: message.ts, text: written(field.value) });
    field.replaceWith(node);
  });
  node?.replaceWith(field);
  field.focus();
}

const clock = (ts) => new Date(Number(ts) * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
const initials = (name) => name.split(/\s+/).slice(0, 2).map((word) => word[0]?.toUpperCase() ?? "").join("");
const colour = (id) => ["#4a154b", "#2eb67d", "#b7791f", "#c2185b", "#1264a3"][[...String(id)].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % 5];

// --- dialogues

function drawDialogue() {
  const view = world.modalStack.at(-1);
  const into = find("#dialogue");
  const state = JSON.stringify([view ?? null, seen.errors]);
  if (into.dataset.state === state) return;
  into.dataset.state = state;
  into.replaceChildren(...(view ? [dialogue(view, into.typed)] : []));
  into.querySelector("textarea, input, select, .modal-body")?.focus();
  if (!view) into.typed = null;
}

/** Draw a dialogue; after a refusal what was typed stays, with the errors beside it. */
function dialogue(view, typed) {
  const values = {};
  const form = { set: (block, action, value) => ((values[block] ??= {})[action] = value) };
  const blocks = typed?.id === view.id && Object.keys(seen.errors).length ? filled(view.blocks, typed.values) : view.blocks;
  const body = element("div", "modal-body", blockNodes(blocks, { names, form, errors: seen.errors }));
  const shown = new Set((view.blocks ?? []).map((block) => block.block_id));
  for (const [block, error] of Object.entries(seen.errors)) {
    if (!shown.has(block)) body.prepend(element("div", "modal-error", error));
  }
  find("#dialogue").typed = { id: view.id, values };
  const close = () => send({ t: "view_close" });
  const foot = element("div", "modal-foot", dialogueButton(view.close?.text ?? "Close", "", close));
  const submit = () => {
    const empty = (block) => block.type === "input" && !block.optional && isEmpty(values[block.block_id]?.[block.element.action_id]);
    const missing = blocks.filter(empty).map((block) => [block.block_id, "Please complete this required field."]);
    if (!missing.length) return send({ t: "view_submit", values });
    seen.errors = Object.fromEntries(missing);
    drawDialogue();
  };
  if (view.submit) foot.append(dialogueButton(view.submit.text, "primary", submit));
  const cross = element("button", "modal-x", "✕");
  cross.setAttribute("aria-label", "Close");
  cross.addEventListener("click", close);
  const title = decode(view.title?.text ?? "");
  const head = element("div", "modal-head", element("span", "modal-title", title), cross);
  const shownDialogue = element("div", "modal", head, body, foot);
  for (const [name, value] of [["role", "dialog"], ["aria-modal", "true"], ["aria-label", title]]) shownDialogue.setAttribute(name, value);
  body.tabIndex = 0;
  return element("div", "modal-overlay", shownDialogue);
}

const isEmpty = (given) => !(given?.value ?? given?.selected_option ?? given?.selected_options?.length);

function dialogueButton(label, kind, act) {
  const made = element("button", `modal-btn ${kind}`, decode(label));
  made.addEventListener("click", act);
  return made;
}

function filled(blocks, values) {
  return blocks.map((block) => {
    const value = block.type === "input" ? values[block.block_id]?.[block.element.action_id] : null;
    if (!value) return block;
    const initial = {
      initial_value: value.value ?? undefined,
      initial_option: value.selected_option ?? undefined,
      initial_options: value.selected_options ?? undefined,
    };
    return { ...block, element: { ...block.element, ...initial } };
  });
}

// --- what people type

/** Return what Slack makes of typed text: its three signs escaped, names of people, channels and bots as references. */
function written(text) {
  const escaped = text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const ids = Object.fromEntries([...world.users, ...world.apps].map((one) => [one.name ?? one.botName, one.id ?? one.botUserId]));
  return escaped
    .replace(/(^|\s)@([\w.'-]+)/g, (whole, before, name) => (ids[name] ? `${before}<@${ids[name]}>` : whole))
    .replace(/(^|\s)#([\w.-]+)/g, (whole, before, name) => {
      const named = world.channels.find((one) => one.name === name && !one.is_im);
      return named ? `${before}<#${named.id}|${name}>` : whole;
    })
    .trim();
}

function composer(form, threadOf) {
  const field = element("textarea", "composer-input");
  field.rows = 1;
  const button = element("button", "composer-send", "Send");
  form.append(field, button);
  const submit = () => {
    const text = field.value.trim();
    if (!text) return;
    const [command] = text.split(/\s/, 1);
    const thread_ts = threadOf() ?? undefined;
    if (command.startsWith("/")) {
      const more = { t: "slash_command", appId: world.apps[0]?.appId, channel: seen.place };
      send({ ...more, command, text: written(text.slice(command.length)) });
    } else send({ t: "post_message", channel: seen.place, text: written(field.value), thread_ts });
    field.value = "";
    grow();
  };
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 180)}px`;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    }
  });
}

/** A link to a message of the workspace leads there inside the page. */
function followed(event) {
  const link = event.target.closest?.("a");
  const found = /^https?:\/\/[^/]+\/archives\/(\w+)(?:\/p(\d{10})(\d+))?/.exec(link?.href ?? "");
  if (!found || !world.channels.some((one) => one.id === found[1])) return;
  event.preventDefault();
  const ts = found[2] ? `${found[2]}.${found[3]}` : null;
  const target = (world.messages[found[1]] ?? []).find((message) => message.ts === ts);
  open(found[1], new URL(link.href).searchParams.get("thread_ts") ?? (target && inThread(target) ? target.thread_ts : null));
  const node = ts && find(`.msg[data-ts="${CSS.escape(ts)}"]`);
  node?.scrollIntoView({ block: "center" });
  node?.classList.add("highlighted");
}

find("#actor").addEventListener("change", (event) => {
  seen.actor = event.target.value;
  seen.thread = null;
  open(seen.place);
});
find("#thread .thread-x").addEventListener("click", () => openThread(null));
document.addEventListener("click", followed);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && world.modalStack.length) send({ t: "view_close" });
});
composer(find("#composer"), () => null);
composer(find("#thread .composer"), () => seen.thread);
find("#thread .composer-input").placeholder = "Reply in thread";
connect();
