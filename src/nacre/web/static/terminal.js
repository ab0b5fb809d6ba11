// A terminal run in front of the page: the server keeps the screen and sends changed rows, keys go back in order.

import { byId, button, setText } from "./dom.js";
import { callPath, follow, post } from "./wire.js";
import { forwardMouse } from "./mouse.js";
import { whenStill } from "./still.js";

const dialog = byId("terminal"), screen = byId("terminal-screen"), cursor = byId("terminal-cursor");
const input = byId("terminal-input"), box = byId("terminal-box");
const NAMES = {
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", Home: "home", End: "end", PageUp: "pageup",
  PageDown: "pagedown", Insert: "insert", Delete: "delete", Backspace: "backspace", Enter: "enter", Tab: "tab", Escape: "escape",
};
const KEYS = [["Esc", "escape"], ["Tab", "tab"], ["Ctrl", null], ["↑", "up"], ["↓", "down"], ["←", "left"], ["→", "right"],
  ["Enter", "enter"], ["Ctrl+C", "ctrl+c"], ["Ctrl+D", "ctrl+d"]];
const SPOKEN = { up: "Up", down: "Down", left: "Left", right: "Right" };

let shown = null;
let queue = [];
let sending = false;
let held = false;

export function openTerminal(job, call, command) {
  closeStream();
  shown = { job, call, ended: null, source: null, size: null, cell: null, news: null, state: null };
  queue = [];
  setText(byId("terminal-command"), `$ ${command}`);
  setText(byId("terminal-state"), "connecting …");
  screen.replaceChildren();
  byId("terminal-stop").disabled = false;
  if (!dialog.open) dialog.showModal();
  const path = `api/terminals/${encodeURIComponent(job)}/events`;
  shown.source = follow(path, { screen: take }, (there, over) => {
    if (!shown) return;
    if (there) {
      shown.size = null;
      sendSize();
    }
    else if (!shown.ended && over) setText(byId("terminal-state"), "this program has no terminal any more");
  });
  input.focus();
}

function closeStream() {
  shown?.source?.close();
  shown = null;
}

// What is told is drawn with the browser's next frame, the newest of each row: a browser that is slow draws less often,
// and takes keys in between.

function take({ rows = {}, state }) {
  if (!shown) return;
  if (!shown.news) requestAnimationFrame(draw);
  shown.news ??= { rows: {}, state: null };
  Object.assign(shown.news.rows, rows);
  shown.news.state = state ?? shown.news.state;
  if (state && state.ended !== null) shown.source.close();
}

function draw() {
  if (!shown?.news) return;
  const { rows, state } = shown.news;
  shown.news = null;
  if (state) drawState(state);
  for (const [number, spans] of Object.entries(rows)) {
    const row = screen.children[number];
    if (row) row.replaceChildren(...spans.map(span));
  }
}

function drawState(state) {
  while (screen.children.length > state.rows) screen.lastChild.remove();
  while (screen.children.length < state.rows) screen.append(document.createElement("div"));
  const at = state.cursor;
  cursor.hidden = !at || state.ended !== null;
  if (at) {
    cursor.style.left = `${at[0]}ch`;
    cursor.style.top = `calc(${at[1]} * var(--row))`;
    input.style.left = cursor.style.left;
    input.style.top = cursor.style.top;
  }
  const asks = state.waiting ? `waits for ${state.waiting.hidden ? "hidden input" : "input"}` : "running";
  whenStill("terminal-state", () => setText(byId("terminal-state"), state.ended ?? asks));
  shown.state = state;
  if (state.ended === null) return;
  shown.ended = state.ended;
  byId("terminal-stop").disabled = true;
}

function span([text, fg = null, bg = null, bits = 0]) {
  if (fg === null && bg === null && !bits) return document.createTextNode(text);
  const element = document.createElement("span");
  element.textContent = text;
  let front = colour(fg), back = colour(bg);
  if (bits & 8) [front, back] = [back || "var(--screen)", front || "var(--ink)"];
  if (front) element.style.color = front;
  if (back) element.style.backgroundColor = back;
  const classes = [[1, "bold"], [2, "italic"], [4, "underline"], [16, "faint"], [32, "strike"]];
  for (const [bit, name] of classes) if (bits & bit) element.classList.add(name);
  return element;
}

/** A colour of the palette: the first sixteen are the theme's, the others those of every terminal. */
function colour(value) {
  if (value === null || typeof value === "string") return value;
  if (value < 16) return `var(--c${value})`;
  if (value >= 232) return `rgb(${Array(3).fill(8 + (value - 232) * 10).join(" ")})`;
  const level = (part) => (part ? 55 + part * 40 : 0), at = value - 16;
  return `rgb(${level(Math.floor(at / 36))} ${level(Math.floor(at / 6) % 6)} ${level(at % 6)})`;
}

// What is typed. Requests may overtake each other, so there is one at a time, with all that has come since.

function type(item) {
  if (!shown || shown.ended !== null) return;
  const last = queue.at(-1);
  if (item.text !== undefined && last?.text !== undefined) last.text += item.text;
  else if (item.mouse?.[0] === "move" && last?.mouse?.[0] === "move") last.mouse = item.mouse;
  else queue.push(item);
  if (!sending) flush();
}

async function flush() {
  sending = true;
  while (queue.length && shown) {
    const items = queue;
    queue = [];
    try {
      await post(`api/terminals/${encodeURIComponent(shown.job)}/input`, { input: items });
    } catch (error) {
      if (shown && shown.ended === null) setText(byId("terminal-state"), error.message);
    }
  }
  sending = false;
}

function press(name) {
  const isCtrl = held && !name.startsWith("ctrl+");
  type({ key: isCtrl ? `ctrl+${name}` : name });
  hold(false);
}

function hold(down) {
  held = down;
  byId("terminal-ctrl").setAttribute("aria-pressed", String(down));
}

input.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.ctrlKey && event.key === "]") {
    event.preventDefault();
    dialog.close();
    return;
  }
  // The browser's own copy and paste.
  if ((event.ctrlKey && event.shiftKey && /^[cv]$/i.test(event.key)) || event.metaKey) return;
  const plain = event.key.length === 1;
  const name = plain ? event.key : NAMES[event.key] || (/^F\d+$/.test(event.key) ? event.key.toLowerCase() : null);
  if (name === null) return;
  if (plain && !event.ctrlKey && !event.altKey && !held) return; // it comes as input, as from a phone
  event.preventDefault();
  const modifiers = [event.ctrlKey && "ctrl", event.altKey && "alt", event.shiftKey && !plain && "shift"].filter(Boolean);
  if (held) press(name);
  else type({ key: [...modifiers, name === " " ? "space" : name].join("+") });
});

function takeText() {
  const text = input.value;
  input.value = "";
  if (!text) return;
  if (held && text.length === 1) press(text);
  else type({ text: text.replaceAll("\n", "\r") });
}

input.addEventListener("input", (event) => { if (!event.isComposing) takeText(); });
input.addEventListener("compositionend", takeText);
input.addEventListener("beforeinput", (event) => {
  // The erase key of a phone's keyboard sends no key.
  if (event.inputType === "deleteContentBackward" && !input.value) {
    event.preventDefault();
    type({ key: "backspace" });
  }
});
input.addEventListener("paste", (event) => {
  event.preventDefault();
  type({ paste: event.clipboardData.getData("text/plain") });
});
screen.addEventListener("mouseup", () => { if (getSelection().isCollapsed) input.focus({ preventScroll: true }); });
forwardMouse(screen, () => {
  if (!shown?.state || !shown.cell || shown.ended !== null) return null;
  const { mouse, fullScreen, columns, rows } = shown.state;
  // Programs with a screen of their own get the wheel as arrow keys, as from other terminals.
  return { wants: mouse ? "mouse" : fullScreen ? "arrows" : null, cell: shown.cell, columns, rows };
}, type, (key) => type({ key }));

function sendSize() {
  const probe = document.createElement("div");
  probe.textContent = "0".repeat(100);
  probe.className = "probe";
  screen.append(probe);
  const { width, height } = probe.getBoundingClientRect();
  probe.remove();
  shown.cell = { width: width / 100, height };
  const columns = Math.floor((box.clientWidth - 16) / (width / 100)), rows = Math.floor((box.clientHeight - 12) / height);
  const size = `${columns}x${rows}`;
  if (columns <= 0 || rows <= 0 || size === shown.size) return;
  shown.size = size;
  type({ size: [columns, rows] });
}

for (const [text, name] of KEYS) {
  const key = button(text, () => { if (name) press(name); else hold(!held); input.focus({ preventScroll: true }); },
    { "aria-label": SPOKEN[name] || text, id: name ? undefined : "terminal-ctrl", "aria-pressed": name ? undefined : "false" });
  byId("terminal-keys").append(key);
}
byId("terminal-close").addEventListener("click", () => dialog.close());
byId("terminal-stop").addEventListener("click", async (event) => {
  event.currentTarget.disabled = true;
  try {
    await post(callPath(shown.call, "stop"));
  } catch (error) {
    byId("terminal-stop").disabled = false;
    setText(byId("terminal-state"), error.message);
  }
});
dialog.addEventListener("close", closeStream);
let resizing = 0;
new ResizeObserver(() => { clearTimeout(resizing); resizing = setTimeout(() => { if (shown) sendSize(); }, 200); }).observe(box);
// Where a phone's keyboard covers the page instead of making it smaller, the terminal stays above the keyboard.
visualViewport?.addEventListener("resize", () => {
  const covered = innerHeight - visualViewport.height > 80;
  dialog.style.height = covered ? `${visualViewport.height}px` : "";
});
