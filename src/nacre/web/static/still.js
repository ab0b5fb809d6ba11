// Keeps the page still under a finger: a click is lost when its element moves or goes between the press and the release,
// so what the server tells in between is shown after it.

// A click on a touch screen comes a little after the release.
const CLICK_MS = 50;
// A release outside the window may never be told; a pointer that moves with no button down was released.
const MOST_MS = 60000;

const held = new Map();
let timer = 0;

/** Makes a change now, or after the release; of changes with one key the newest is made. */
export function whenStill(key, change) {
  if (!timer) {
    change();
    return;
  }
  held.delete(key);
  held.set(key, change);
}

function release() {
  timer = 0;
  const changes = [...held.values()];
  held.clear();
  for (const change of changes) change();
}

function releaseAfter(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(release, milliseconds);
}

addEventListener("pointerdown", (event) => { if (event.button === 0) releaseAfter(MOST_MS); }, true);
for (const name of ["pointerup", "pointercancel", "pointermove"]) {
  addEventListener(name, (event) => { if (timer && !event.buttons) releaseAfter(CLICK_MS); }, true);
}
