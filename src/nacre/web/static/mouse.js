// The mouse over a terminal, for programs that ask for it. With Shift it is the browser's, to select text.

// Left, middle and right; a program counts them from 1.
const BUTTONS = 3;
// A wheel turns by pixels, programs scroll by three lines at a time.
const LINES = 3;

/** Tells `send` of presses, moves with a button down, releases and turns of the wheel over an element.
 *
 * `view()` returns what the program wants ("mouse", "arrows" for one that only scrolls by keys, or null), the size of a
 * cell in pixels, and the numbers of columns and rows.
 */
export function forwardMouse(element, view, send, press) {
  let down = null;
  let turned = 0;

  function place(event) {
    const { cell, columns, rows } = view(), box = element.getBoundingClientRect();
    const within = (value, most) => Math.min(most - 1, Math.max(0, Math.floor(value)));
    return [within((event.clientX - box.left) / cell.width, columns), within((event.clientY - box.top) / cell.height, rows)];
  }

  function tell(action, button, event) {
    const [column, row] = place(event);
    const modifiers = [event.altKey && "alt", event.ctrlKey && "ctrl"].filter(Boolean);
    send({ mouse: [action, button, column, row], modifiers });
  }

  element.addEventListener("mousedown", (event) => {
    if (view()?.wants !== "mouse" || event.shiftKey || down || event.button >= BUTTONS) return;
    event.preventDefault();
    down = { button: event.button + 1, at: String(place(event)) };
    tell("press", down.button, event);
  });
  function release(event) {
    if (view()) tell("release", down.button, event);
    down = null;
  }

  addEventListener("mousemove", (event) => {
    if (!down || !view()) return;
    // A release outside the window is not told.
    if (!event.buttons) release(event);
    else if (String(place(event)) !== down.at) {
      down.at = String(place(event));
      tell("move", down.button, event);
    }
  });
  addEventListener("mouseup", (event) => { if (down && event.button + 1 === down.button) release(event); });
  element.addEventListener("contextmenu", (event) => { if (view()?.wants === "mouse" && !event.shiftKey) event.preventDefault(); });
  element.addEventListener("wheel", (event) => {
    const shown = view();
    if (!shown?.wants || event.shiftKey || event.ctrlKey) return;
    event.preventDefault();
    const step = LINES * shown.cell.height;
    turned += event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * shown.cell.height : event.deltaY;
    for (; Math.abs(turned) >= step; turned -= Math.sign(turned) * step) {
      if (shown.wants === "mouse") tell(turned < 0 ? "scroll_up" : "scroll_down", 0, event);
      else for (let line = 0; line < LINES; line += 1) press(turned < 0 ? "up" : "down");
    }
  }, { passive: false });
}
