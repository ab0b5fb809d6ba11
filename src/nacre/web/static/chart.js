// Two small charts: calls over time, and the tokens that models were shown.

import { byId, counted, setText } from "./dom.js";
import { get } from "./wire.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320, HEIGHT = 56, GAP = 1;

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Draws bars; `part` is the share of each bar that is marked. */
function bars(place, values, part, label) {
  const most = Math.max(1, ...values), step = WIDTH / values.length;
  const drawing = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  drawing.append(shape("line", { x1: 0, y1: HEIGHT - 0.5, x2: WIDTH, y2: HEIGHT - 0.5, class: "axis" }));
  values.forEach((value, at) => {
    if (!value) return;
    const height = Math.max(2, (value / most) * (HEIGHT - 4)), x = at * step, y = HEIGHT - 1 - height;
    drawing.append(shape("rect", { x, y, width: step - GAP, height, class: "bar-all" }));
    const marked = part ? (part[at] / value) * height : 0;
    if (marked) drawing.append(shape("rect", { x, y: HEIGHT - 1 - marked, width: step - GAP, height: marked, class: "bar-failed" }));
  });
  place.replaceChildren(drawing);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

export async function drawActivity() {
  let found;
  try {
    found = await get(`api/activity?range=${byId("range").value}`);
  } catch (error) {
    setText(byId("calls-caption"), error.message);
    return;
  }
  const calls = sum(found.calls), failed = sum(found.failed), tokens = sum(found.tokens);
  const words = found.problem || `${counted(calls, "call")}, ${failed.toLocaleString("en")} failed`;
  bars(byId("calls-chart"), found.calls, found.failed, words);
  setText(byId("calls-caption"), words);
  const shown = `about ${counted(tokens, "token")} shown to models`;
  bars(byId("tokens-chart"), found.tokens, null, shown);
  setText(byId("tokens-caption"), shown);
}
