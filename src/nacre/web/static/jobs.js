// The list of jobs, running ones first.

import { byId, button, make, seconds, setText } from "./dom.js";
import { now } from "./wire.js";
import { stop } from "./cards.js";
import { openOutput } from "./outputs.js";
import { openTerminal } from "./terminal.js";

const list = byId("job-list");
// A row stays the same element while its job is listed, so that its buttons can be pressed while the list changes.
const rows = new Map();

function build(id) {
  const named = (text, action, options = {}) => button(text, action, { "aria-label": `${text} ${id}`, ...options });
  const parts = {
    state: make("span", { class: "state" }),
    time: make("span", { class: "time" }),
    command: make("code"),
    note: make("p", { class: "quiet" }),
    // The first one stays where it is when the others go.
    log: named("Log", () => openOutput("job", id, row.data.command)),
    terminal: named("Terminal", () => openTerminal(id, id, row.data.command)),
    stop: named("Stop", (event) => stop(id, event.currentTarget), { class: "danger" }),
  };
  const element = make("li", { class: "job" },
    make("p", { class: "job-head" }, make("b", { text: id }), parts.state, parts.time),
    make("p", { class: "command" }, parts.command), parts.note,
    make("p", { class: "buttons" }, parts.log, parts.terminal, parts.stop));
  const row = { element, parts, data: null };
  return row;
}

function draw(row, data) {
  const { element, parts } = row;
  row.data = data;
  element.dataset.status = data.status;
  setText(parts.state, data.state);
  setText(parts.command, data.command);
  setText(parts.note, data.note || "");
  parts.note.hidden = !data.note;
  parts.terminal.hidden = !data.terminal;
  parts.stop.hidden = data.status !== "running";
  drawTime(row);
}

function drawTime({ data, parts }) {
  if (data.started) setText(parts.time, seconds(Math.max(0, (data.ended ?? Math.floor(now())) - data.started)));
}

export function showJobs({ jobs, problem }) {
  const count = jobs.filter((job) => job.status === "running").length;
  setText(byId("jobs-title"), jobs.length ? `Jobs · ${count} running of ${jobs.length}` : "Jobs");
  byId("no-jobs").hidden = jobs.length > 0;
  setText(byId("no-jobs"), problem || "No job.");
  const focused = document.activeElement;
  const listed = new Set(jobs.map((job) => job.id));
  for (const [id, row] of rows) {
    if (listed.has(id)) continue;
    row.element.remove();
    rows.delete(id);
  }
  let next = list.firstElementChild;
  for (const job of jobs) {
    if (!rows.has(job.id)) rows.set(job.id, build(job.id));
    const row = rows.get(job.id);
    draw(row, job);
    if (row.element === next) next = next.nextElementSibling;
    else list.insertBefore(row.element, next);
  }
  // An element that is moved loses the focus.
  if (list.contains(focused) && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

export function tickJobs() {
  for (const row of rows.values()) drawTime(row);
}
