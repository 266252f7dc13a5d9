// Block Kit as DOM nodes: what a message, a dialogue or App Home shows, and what a click on it sends.
// Source: https://docs.slack.dev/reference/block-kit/blocks

import { decode, element, mrkdwn } from "./mrkdwn.js";

/** Return a text object's nodes. */
export function textNodes(text, names) {
  if (!text) return [];
  return text.type === "mrkdwn" ? mrkdwn(text.text, names) : [decode(text.text ?? "")];
}

/** Return blocks as one node. `act(action)` is told of clicks; `form` holds the inputs of a dialogue, if it is one. */
export function blockNodes(blocks, { names, act, form, errors = {} }) {
  const context = { names, act: act ?? (() => {}), form, errors };
  return element("div", "blocks", ...(blocks ?? []).map((block) => blockNode(block, context)));
}

function blockNode(block, context) {
  const { names } = context;
  const drawn = {
    header: () => element("div", "bk-header", ...textNodes(block.text, names)),
    divider: () => element("hr", "bk-divider"),
    section: () => section(block, context),
    context: () => element("div", "bk-context", ...(block.elements ?? []).map((each) => contextPart(each, names))),
    image: () => image(block.image_url, block.alt_text),
    actions: () => element("div", "bk-actions", ...(block.elements ?? []).map((each) => control(each, block, context))),
    input: () => input(block, context),
    table: () => table(block, names),
  }[block.type];
  return drawn ? drawn() : element("div", "bk-unknown", `[${block.type}]`);
}

function section(block, context) {
  const body = element("div", "bk-section-body");
  if (block.text) body.append(element("div", "bk-text", ...textNodes(block.text, context.names)));
  if (block.fields) {
    const fields = block.fields.map((field) => element("div", "bk-field", ...textNodes(field, context.names)));
    body.append(element("div", "bk-fields", ...fields));
  }
  return element("div", "bk-section", body, block.accessory ? control(block.accessory, block, context) : null);
}

function table(block, names) {
  const [head, ...rows] = block.rows ?? [];
  const row = (cells, kind) => element("tr", "", ...cells.map((cell) => element(kind, "", ...cellNodes(cell, names))));
  const body = element("tbody", "", ...rows.map((cells) => row(cells, "td")));
  return element("table", "bk-table", element("thead", "", row(head ?? [], "th")), body);
}

/** A cell holds plain text, or rich text: sections of texts, links and names. */
function cellNodes(cell, names) {
  if (cell.type !== "rich_text") return [decode(cell.text ?? "")];
  const part = (one) => {
    if (one.elements) return one.elements.flatMap(part);
    if (one.type === "user") return [`@${names.user(one.user_id)}`];
    if (one.type === "link") return mrkdwn(`<${one.url}|${one.text ?? one.url}>`, names);
    return [decode(one.text ?? "")];
  };
  return part(cell);
}

function contextPart(part, names) {
  return part.type === "image" ? image(part.image_url, part.alt_text) : element("span", "", ...textNodes(part, names));
}

function image(url, alt) {
  const made = element("img", "bk-image");
  made.src = url;
  made.alt = alt ?? "";
  return made;
}

function control(part, block, context) {
  const send = (more) =>
    confirmed(part.confirm, context.names).then((yes) => {
      if (yes) context.act({ block_id: block.block_id ?? "", action_id: part.action_id, ...more });
    });
  if (part.type === "button") return button(part, send);
  if (part.type === "image") return image(part.image_url, part.alt_text);
  if (part.type === "overflow" || part.type === "static_select") return menu(part, send);
  return element("span", "bk-unknown", `[${part.type}]`);
}

function button(part, send) {
  const made = element("button", `bk-button ${part.style ? `bk-${part.style}` : ""}`, decode(part.text.text));
  if (part.url) made.title = part.url;
  if (part.accessibility_label) made.setAttribute("aria-label", part.accessibility_label);
  made.addEventListener("click", () => send({ type: "button", value: part.value, text: part.text }));
  return made;
}

function menu(part, send) {
  const isOverflow = part.type === "overflow";
  const select = element("select", isOverflow ? "bk-select bk-overflow" : "bk-select");
  const placeholder = option("", isOverflow ? "⋯" : decode(part.placeholder?.text ?? "Choose"));
  select.append(placeholder, ...part.options.map((each) => option(each.value, decode(each.text.text))));
  if (part.initial_option) select.value = part.initial_option.value;
  select.setAttribute("aria-label", isOverflow ? "More actions" : placeholder.textContent);
  select.addEventListener("change", () => {
    const chosen = part.options.find((each) => each.value === select.value);
    if (isOverflow) select.value = "";
    if (chosen) send({ type: part.type, selected_option: chosen });
  });
  return select;
}

function option(value, label) {
  const made = element("option", "", label);
  made.value = value;
  return made;
}

/** Ask "are you sure" as Slack does where a block wants it; resolves to whether to go on. */
function confirmed(confirm, names) {
  if (!confirm) return Promise.resolve(true);
  return new Promise((resolve) => {
    const overlay = element("div", "modal-overlay confirm-overlay");
    const end = (yes) => {
      overlay.remove();
      resolve(yes);
    };
    const answer = (label, yes, kind) => {
      const made = element("button", `modal-btn ${kind}`, decode(label));
      made.addEventListener("click", () => end(yes));
      return made;
    };
    const foot = [
      answer(confirm.deny?.text ?? "Cancel", false, ""),
      answer(confirm.confirm?.text ?? "Yes", true, confirm.style === "danger" ? "danger" : "primary"),
    ];
    const title = element("div", "modal-head", element("span", "modal-title", decode(confirm.title.text)));
    const body = element("div", "modal-body", ...textNodes(confirm.text, names));
    overlay.append(element("div", "confirm", title, body, element("div", "modal-foot", ...foot)));
    document.body.append(overlay);
    foot[1].focus();
  });
}

function input(block, { names, form, errors }) {
  const label = element("label", "bk-label", decode(block.label?.text ?? ""));
  if (block.optional) label.append(element("span", "bk-optional", " (optional)"));
  const field = inputField(block.element, (value) => form?.set(block.block_id, block.element.action_id, value));
  const hint = block.hint ? element("div", "bk-hint", ...textNodes(block.hint, names)) : null;
  const error = errors[block.block_id] ? element("div", "modal-error", errors[block.block_id]) : null;
  field.setAttribute("aria-label", label.textContent);
  return element("div", "bk-input", label, field, error, hint);
}

function inputField(part, keep) {
  const fields = { plain_text_input: textField, static_select: choiceField, checkboxes: boxes, radio_buttons: boxes };
  const make = fields[part.type];
  return make ? make(part, keep) : element("span", "bk-unknown", `[${part.type}]`);
}

function textField(part, keep) {
  const field = element(part.multiline ? "textarea" : "input", "bk-plain-input");
  const note = () => keep({ type: part.type, value: field.value === "" ? null : field.value });
  if (part.multiline) field.rows = 8;
  if (part.max_length) field.maxLength = part.max_length;
  field.placeholder = part.placeholder?.text ?? "";
  field.value = part.initial_value ?? "";
  field.addEventListener("input", note);
  note();
  return field;
}

function choiceField(part, keep) {
  const send = (more) => keep({ type: part.type, selected_option: more.selected_option });
  keep({ type: part.type, selected_option: part.initial_option ?? null });
  return menu(part, send);
}

function boxes(part, keep) {
  const isMany = part.type === "checkboxes";
  const initial = isMany ? (part.initial_options ?? []) : part.initial_option ? [part.initial_option] : [];
  const chosen = new Set(initial.map((each) => each.value));
  const note = () => {
    const picked = part.options.filter((each) => chosen.has(each.value));
    keep(isMany ? { type: part.type, selected_options: picked } : { type: part.type, selected_option: picked[0] ?? null });
  };
  const name = `${part.action_id}-${Math.random()}`;
  const rows = part.options.map((each) => {
    const box = element("input");
    box.type = isMany ? "checkbox" : "radio";
    box.name = name;
    box.checked = chosen.has(each.value);
    box.addEventListener("change", () => {
      if (!isMany) chosen.clear();
      if (box.checked) chosen.add(each.value);
      else chosen.delete(each.value);
      note();
    });
    return element("label", "bk-option", box, " ", decode(each.text.text));
  });
  note();
  const group = element("div", "bk-options", ...rows);
  group.setAttribute("role", isMany ? "group" : "radiogroup");
  return group;
}
