// Talks with the server: live events come in, what the person does goes out.

let skew = 0;

/** Seconds since the epoch by the server's clock. */
export const now = () => Date.now() / 1000 + skew;
export const setClock = (time) => { skew = time - Date.now() / 1000; };

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("the server does not answer");
  }
  if (answer.status === 401) throw new Error("this page needs its token: open the whole address that `nacre web` printed");
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || `the server answered ${answer.status}`);
  return body;
}

export const get = (path) => request(path, {});

export const post = (path, body = {}) =>
  request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const callPath = (call, what) => `api/calls/${encodeURIComponent(call)}/${what}`;

/** Follows a stream of events; a lost connection is made again, from the last event on. */
export function follow(path, handlers, onLink = () => {}) {
  const source = new EventSource(path);
  source.onopen = () => onLink(true);
  source.onerror = () => onLink(false, source.readyState === EventSource.CLOSED);
  for (const [name, handler] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
  return source;
}
