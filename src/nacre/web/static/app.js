// The page: follows the server and hands what it tells to the parts.

import { byId, button, make, seconds, setText } from "./dom.js";
import { follow, now, setClock } from "./wire.js";
import { cardsSettled, dropCard, expectCards, matchAll, running, showCard, stop, tick } from "./cards.js";
import { clearQuestions, showQuestions, tickQuestions, waiting } from "./questions.js";
import { openOutput } from "./outputs.js";
import { openTerminal } from "./terminal.js";
import { drawActivity } from "./chart.js";

let source = null;
let columns = 0;
let jobs = [];

/** How many characters of output fit into a card. */
function measure() {
  const probe = make("pre", { class: "lines probe", text: "0".repeat(100) });
  byId("calls").append(probe);
  const cell = probe.getBoundingClientRect().width / 100;
  probe.remove();
  const style = getComputedStyle(byId("cards"));
  const room = byId("cards").clientWidth - parseFloat(style.getPropertyValue("--card-room"));
  return Math.max(20, Math.floor(room / cell));
}

function connect() {
  const fitting = measure();
  if (source && fitting === columns) return;
  columns = fitting;
  source?.close();
  source = follow(`api/events?columns=${columns}`, {
    hello: (hello) => {
      setClock(hello.time);
      const home = hello.home.length > 1 && hello.here.startsWith(hello.home) ? `~${hello.here.slice(hello.home.length)}` : hello.here;
      setText(byId("place"), home);
      expectCards(hello.fresh);
      if (hello.fresh) clearQuestions();
    },
    card: (card) => { showCard(card); showQuestions(card); showHead(); },
    gone: ({ call }) => dropCard(call),
    jobs: showJobs,
    settled: () => { cardsSettled(); showHead(); },
    refused: ({ error }) => { source.close(); lost(error); },
  }, (there, over) => {
    if (there) byId("problem").hidden = true;
    else lost(over ? "This page needs its token: open the whole address that `nacre web` printed." : "Connection lost; trying again.");
  });
}

function lost(text) {
  setText(byId("problem"), text);
  byId("problem").hidden = false;
  setText(byId("head"), "not connected");
}

function showHead() {
  const parts = [running() ? `${running()} running` : "idle"];
  if (waiting()) parts.push(`${waiting()} waiting for you`);
  setText(byId("head"), parts.join(" · "));
  byId("head").classList.toggle("asks", waiting() > 0);
  document.title = waiting() ? `(${waiting()}) nacre` : "nacre";
}

function showJobs(told) {
  jobs = told.jobs;
  const count = jobs.filter((job) => job.status === "running").length;
  setText(byId("jobs-title"), jobs.length ? `Jobs · ${count} running of ${jobs.length}` : "Jobs");
  byId("no-jobs").hidden = jobs.length > 0 && !told.problem;
  setText(byId("no-jobs"), told.problem || "No job.");
  const focused = document.activeElement?.dataset?.name;
  byId("job-list").replaceChildren(...jobs.map(jobRow));
  if (focused) byId("job-list").querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
  tickJobs();
}

function jobRow(job) {
  const named = (text, action, options = {}) =>
    button(text, action, { "data-name": `${job.id} ${text}`, "aria-label": `${text} ${job.id}`, ...options });
  return make("li", { class: "job", "data-status": job.status },
    make("p", { class: "job-head" }, make("b", { text: job.id }), make("span", { class: "state", text: job.state }),
      make("span", { class: "time" })),
    make("p", { class: "command" }, make("code", { text: job.command })),
    job.note ? make("p", { class: "quiet", text: job.note }) : null,
    make("p", { class: "buttons" },
      job.terminal ? named("Terminal", () => openTerminal(job.id, job.id, job.command)) : null,
      named("Log", () => openOutput("job", job.id, job.command)),
      job.status === "running" ? named("Stop", (event) => stop(job.id, event.currentTarget), { class: "danger" }) : null));
}

function tickJobs() {
  [...byId("job-list").children].forEach((row, at) => {
    const job = jobs[at];
    if (job?.started) setText(row.querySelector(".time"), seconds(Math.max(0, (job.ended ?? Math.floor(now())) - job.started)));
  });
}

for (const id of ["filter", "density"]) byId(id).addEventListener("change", matchAll);
byId("find").addEventListener("input", matchAll);
byId("range").addEventListener("change", drawActivity);
let resizing = 0;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(connect, 300); });
setInterval(() => { tick(); tickQuestions(); tickJobs(); }, 1000);
setInterval(() => { if (!document.hidden) drawActivity(); }, 15000);
connect();
drawActivity();
