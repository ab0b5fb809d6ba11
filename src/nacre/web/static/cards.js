// The transcript: a card for each call, the newest first.

import { announce, byId, button, clock, counted, make, seconds, setAttribute, setText, size } from "./dom.js";
import { callPath, now, post } from "./wire.js";
import { openOutput } from "./outputs.js";
import { openTerminal } from "./terminal.js";

const MOST = 400;

const cards = new Map();
const list = byId("cards");
let settled = false;

/** How many calls run; those that wait for a person are counted by the questions. */
export const running = () => [...cards.values()].filter((card) => card.data.status === "running").length;

function build(data) {
  const parts = {
    sign: make("span", { class: "sign", "aria-hidden": "true" }),
    state: make("span", { class: "state" }),
    origin: make("span", { class: "origin" }),
    time: make("span", { class: "time" }),
    command: make("code"),
    hint: button("", () => openOutput("call", data.call, card.data.command), { class: "hint" }),
    lines: make("pre", { class: "lines" }),
    screen: make("p", { class: "quiet" }),
    notes: make("ul", { class: "notes" }),
    facts: make("span", { class: "facts" }),
    // Made once: a button that is made anew between a press and its release is not clicked. Those that go are first, as
    // the last one keeps its place at the right.
    stop: button("Stop", (event) => stop(data.call, event.currentTarget), { class: "danger" }),
    terminal: button("Terminal", () => openTerminal(card.data.job, data.call, card.data.command)),
    output: button("Output", () => openOutput("call", data.call, card.data.command)),
  };
  parts.foot = make("div", { class: "card-foot" }, parts.facts,
    make("span", { class: "buttons" }, parts.stop, parts.terminal, parts.output));
  const id = `call-${data.call}`;
  const element = make("li", { class: "card" },
    make("article", { "aria-labelledby": id },
      make("p", { class: "card-head" }, parts.sign, parts.state, parts.origin, parts.time),
      make("h3", { class: "command", id }, parts.command),
      parts.hint, parts.lines, parts.screen, parts.notes,
      parts.foot));
  const card = { element, parts, data, stale: false };
  return card;
}

export function showCard(data) {
  let card = cards.get(data.call);
  const isNew = !card;
  if (isNew) {
    card = build(data);
    cards.set(data.call, card);
    insert(card, data.started);
    forget();
  }
  const before = isNew ? null : card.data;
  card.data = data;
  card.stale = false;
  draw(card);
  match(card);
  tell(before, data);
  byId("empty").hidden = cards.size > 0;
}

function insert(card, started) {
  // Calls come in the order in which they began, but for those that a late browser is told at once.
  const before = [...list.children].find((other) => Number(other.dataset.started) <= started) ?? null;
  card.element.dataset.started = started;
  list.insertBefore(card.element, before);
}

/** How it stands; what it asks is among the questions, and need not be said twice. */
function stateOf({ question, prompt, state }) {
  if (question) return "asks for approval";
  return prompt ? `waits for ${prompt.hidden ? "hidden input" : "input"}` : state;
}

function draw(card) {
  const { data, parts, element } = card;
  element.dataset.status = data.status;
  setText(parts.sign, data.sign);
  setText(parts.state, stateOf(data));
  setText(parts.origin, data.origin);
  setText(parts.command, (data.by === "person" ? "! " : "$ ") + data.command + (data.cut ? ` … ${counted(data.cut, "more character")}` : ""));
  parts.hint.hidden = !data.hint;
  setText(parts.hint, data.hint || "");
  const lines = data.lines.join("\n");
  parts.lines.hidden = !data.lines.length;
  setText(parts.lines, lines);
  parts.screen.hidden = !data.screen;
  setText(parts.screen, data.terminal ? "a full-screen program: Terminal shows it" : "it was a full-screen program");
  const notes = [...(data.error ? [data.error] : []), ...data.notices];
  if (notes.join("\n") !== parts.notes.dataset.shown) {
    parts.notes.dataset.shown = notes.join("\n");
    parts.notes.replaceChildren(...notes.map((text) => make("li", { text })));
  }
  parts.notes.hidden = !notes.length;
  const facts = [data.job, data.rule && `rule ${data.rule}`, data.timeout && `timeout ${data.timeout} s`,
    ...data.artifacts.map((one) => `artifact ${one}`), data.unkept && `${size(data.unkept)} of output, not kept`];
  setText(parts.facts, facts.filter(Boolean).join(" · "));
  drawButtons(card);
  parts.foot.hidden = !parts.facts.textContent && [parts.stop, parts.terminal, parts.output].every((one) => one.hidden);
  drawTime(card);
}

function drawButtons({ data, parts }) {
  // A call that is written or asks for approval does not run yet.
  parts.stop.hidden = data.ended !== null || data.status === "preview" || data.status === "asking";
  parts.terminal.hidden = !data.terminal;
  parts.output.hidden = !data.output;
  const name = data.command.slice(0, 80);
  setAttribute(parts.stop, "aria-label", `Stop ${name}`);
  setAttribute(parts.terminal, "aria-label", `Terminal of ${name}`);
  setAttribute(parts.output, "aria-label", `Whole output of ${name}`);
}

export async function stop(call, pressed) {
  pressed.disabled = true;
  try {
    await post(callPath(call, "stop"));
  } catch (error) {
    pressed.disabled = false;
    announce(error.message);
    byId("problem").textContent = error.message;
    byId("problem").hidden = false;
  }
}

function drawTime(card) {
  const { data, parts } = card;
  const took = data.seconds ?? Math.max(0, (data.ended ?? now()) - data.started);
  // Tenths of a running call would change at every look.
  const words = data.ended === null && took < 60 ? `${Math.floor(took)}s` : seconds(took);
  setText(parts.time, data.ended === null ? words : `${clock(data.started)} · ${words}`);
}

/** Screen readers are told of calls that failed; what begins and succeeds would be chatter. */
function tell(before, data) {
  const ended = before && before.ended === null && data.ended !== null;
  if (settled && ended && data.status !== "succeeded") announce(`${data.state}: ${data.command.slice(0, 80)}`);
}

function forget() {
  for (const [call, card] of cards) {
    if (cards.size <= MOST) return;
    if (card.data.ended !== null) dropCard(call);
  }
}

export function dropCard(call) {
  cards.get(call)?.element.remove();
  cards.delete(call);
}

/** A connection begins: what it does not tell is not there any more. */
export function expectCards(fresh) {
  settled = false;
  if (fresh) for (const card of cards.values()) card.stale = true;
}

/** All was told: drops the cards that were not, and returns their calls. */
export function cardsSettled() {
  settled = true;
  const gone = [...cards].filter(([, card]) => card.stale).map(([call]) => call);
  gone.forEach(dropCard);
  byId("empty").hidden = cards.size > 0;
  return gone;
}

function match(card) {
  const wanted = byId("filter").value, text = byId("find").value.toLowerCase(), { data } = card;
  const failed = data.ended !== null && data.status !== "succeeded";
  const kind = wanted === "all" || (wanted === "running" ? data.ended === null : failed);
  card.element.hidden = !(kind && (!text || `${data.command}\n${data.lines.join("\n")}`.toLowerCase().includes(text)));
}

export function matchAll() {
  list.classList.toggle("without-output", byId("density").value === "count");
  for (const card of cards.values()) match(card);
}

export function tick() {
  for (const card of cards.values()) if (card.data.ended === null) drawTime(card);
}
