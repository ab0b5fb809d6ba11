// Makes and changes elements. Texts go in as text, never as HTML.

export const byId = (id) => document.getElementById(id);

export function make(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (text, action, options = {}) => make("button", { type: "button", text, onclick: action, ...options });

/** Changes a text only if it is another one, so that a selection stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function seconds(value) {
  if (value < 60) return `${value.toFixed(1)}s`;
  const whole = Math.round(value);
  const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}h${two(minutes)}m` : `${minutes}m${two(whole % 60)}s`;
}

/** The time of day, with the day where it is another one. */
export function clock(time) {
  const when = new Date(time * 1000);
  const isToday = when.toDateString() === new Date().toDateString();
  const day = isToday ? {} : { day: "numeric", month: "short" };
  return when.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

export const counted = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;

let waiting = [];
let timer = 0;
const QUIET_MS = 8000;

function say() {
  timer = 0;
  if (!waiting.length) return;
  const more = waiting.length - 2;
  byId("announcer").textContent = more > 1 ? `${waiting.slice(0, 2).join(". ")}. And ${more} more.` : waiting.join(". ");
  waiting = [];
  timer = setTimeout(say, QUIET_MS);
}

/** Says something to screen readers: at once after a silence, else together with what else happens meanwhile. */
export function announce(text) {
  waiting.push(text);
  if (!timer) say();
}

/** Says what a person is waited for: at once. */
export function announceNow(text) {
  clearTimeout(timer);
  waiting.push(text);
  say();
}
