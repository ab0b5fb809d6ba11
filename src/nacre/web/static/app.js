// The page: follows the server and hands what it tells to the parts.

import { byId, make, setText } from "./dom.js";
import { follow, setClock } from "./wire.js";
import { cardsSettled, dropCard, expectCards, matchAll, running, showCard, tick } from "./cards.js";
import { dropQuestions, showQuestions, tickQuestions, waiting } from "./questions.js";
import { showJobs, tickJobs } from "./jobs.js";
import { whenStill } from "./still.js";
import { drawActivity } from "./chart.js";

let source = null;
let columns = 0;

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
    hello: (hello) => whenStill("hello", () => greet(hello)),
    card: (card) => whenStill(card.call, () => { showCard(card); showQuestions(card); showHead(); }),
    gone: ({ call }) => whenStill(call, () => { dropCard(call); dropQuestions(call); showHead(); }),
    jobs: (jobs) => whenStill("jobs", () => showJobs(jobs)),
    settled: () => whenStill("settled", () => { cardsSettled().forEach(dropQuestions); showHead(); }),
    refused: ({ error }) => { source.close(); lost(error); },
  }, (there, over) => whenStill("link", () => {
    if (there) byId("problem").hidden = true;
    else lost(over ? "This page needs its token: open the whole address that `nacre web` printed." : "Connection lost; trying again.");
  }));
}

function greet(hello) {
  setClock(hello.time);
  const isHome = hello.home.length > 1 && hello.here.startsWith(hello.home);
  setText(byId("place"), isHome ? `~${hello.here.slice(hello.home.length)}` : hello.here);
  expectCards(hello.fresh);
}

function lost(text) {
  setText(byId("problem"), text);
  byId("problem").hidden = false;
  setText(byId("head"), "not connected");
}

function showHead() {
  const parts = [running() && `${running()} running`, waiting() && `${waiting()} waiting for you`].filter(Boolean);
  setText(byId("head"), parts.join(" · ") || "idle");
  byId("head").classList.toggle("asks", waiting() > 0);
  document.title = waiting() ? `(${waiting()}) nacre` : "nacre";
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
