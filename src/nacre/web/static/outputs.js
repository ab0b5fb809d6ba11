// The whole output of a call, a job or an artifact, page by page.

import { byId, setText, size } from "./dom.js";
import { get } from "./wire.js";

const dialog = byId("output");
let shown = null;

export async function openOutput(kind, name, command) {
  shown = { kind, name, page: null, starts: [] };
  setText(byId("output-command"), command);
  setText(byId("output-text"), "");
  if (!dialog.open) dialog.showModal();
  await load(0);
  byId("output-text").focus();
}

async function load(offset) {
  const wanted = shown;
  let page;
  try {
    page = await get(`api/output/${wanted.kind}/${encodeURIComponent(wanted.name)}?offset=${offset}`);
  } catch (error) {
    if (wanted === shown) setText(byId("output-place"), error.message);
    return;
  }
  if (wanted !== shown) return;
  shown.page = page;
  const text = byId("output-text");
  const dropped = page.droppedBytes ? `[… ${size(page.droppedBytes)} dropped before this …]\n` : "";
  text.textContent = dropped + page.text;
  text.scrollTop = offset < 0 ? text.scrollHeight : 0;
  const notices = (page.notices || []).map((one) => ` · ${one}`).join("");
  const all = page.offset === 0 && page.next >= page.end;
  const place = all ? `all ${size(page.end)}` : `${size(page.offset)} to ${size(page.next)} of ${size(page.end)}`;
  setText(byId("output-place"), (page.end || page.text ? place : "no output is kept") + notices);
  byId("output-first").disabled = byId("output-previous").disabled = page.offset === 0;
  byId("output-next").disabled = page.next >= page.end;
}

const PAGE = 65536;
const previous = () => (shown.starts.length ? shown.starts.pop() : Math.max(0, shown.page.offset - PAGE));

byId("output-first").addEventListener("click", () => { shown.starts = []; load(0); });
byId("output-previous").addEventListener("click", () => shown.page && load(previous()));
byId("output-next").addEventListener("click", () => {
  if (!shown.page) return;
  shown.starts.push(shown.page.offset);
  load(shown.page.next);
});
byId("output-last").addEventListener("click", () => { shown.starts = []; load(-1); });
byId("output-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => { shown = null; byId("output-text").textContent = ""; });
