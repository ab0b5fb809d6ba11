// oh-my-pi's native shell, from bun: the same JSON lines as worker.py, times taken in here.
import { createInterface } from "node:readline";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [variant, directory] = process.argv.slice(2);
const SHOWN_CHARS = 2000;
const LEAST_CALLS = 3;
const home = join(process.env.BENCH_PEERS, "pi-natives");
process.chdir(directory);

const seconds = (began) => Number(process.hrtime.bigint() - began) / 1e9;
const status = (name) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;

async function load() {
  const root = join(home, "node_modules/@oh-my-pi/pi-natives");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const natives = await import(pathToFileURL(join(root, manifest.main)));
  const version = manifest.version;
  return { natives, version: `pi-natives ${version}, bun ${process.versions.bun}` };
}

const { natives, version } = await load();
const shell = variant === "session" ? new natives.Shell() : null;

async function ask(script, timeout) {
  const chunks = [];
  const keep = (error, chunk) => {
    if (error === null) chunks.push(chunk);
  };
  // A session is asked without a directory, so that its own `cd` lasts.
  const options = { command: script, timeoutMs: Math.round(timeout * 1000), ...(shell ? {} : { cwd: directory }) };
  const result = await (shell ? shell.run(options, keep) : natives.executeShell(options, keep));
  return { chunks, code: result.exitCode ?? null };
}

function holds(chunks, expected) {
  return chunks.join("").includes(expected);
}

const operations = {
  async batch({ script, expected, timeout, count, budget, pause }) {
    const times = [];
    let sum = 0;
    while (times.length < count && (times.length < LEAST_CALLS || sum < budget)) {
      await new Promise((resolve) => setTimeout(resolve, pause * 1000));
      const began = process.hrtime.bigint();
      const { chunks } = await ask(script, timeout);
      times.push(seconds(began));
      sum += times.at(-1);
      if (!holds(chunks, expected)) throw new Error(`${expected} is not in the answer`);
    }
    return { times };
  },

  async single({ script, timeout }) {
    writeFileSync("/proc/self/clear_refs", "5");
    const before = status("VmRSS");
    const began = process.hrtime.bigint();
    let answer;
    try {
      answer = await ask(script, timeout);
    } catch (error) {
      return { seconds: seconds(began), raised: String(error).slice(0, SHOWN_CHARS) };
    }
    const took = seconds(began);
    const chars = answer.chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    let text = "";
    for (const chunk of answer.chunks) {
      if (text.length >= SHOWN_CHARS) break;
      text += chunk;
    }
    const growth = Math.max(0, status("VmHWM") - before);
    return { seconds: took, growth, chars, text: text.slice(0, SHOWN_CHARS), code: answer.code };
  },

  async at_once({ script, expected, timeout, count }) {
    const began = process.hrtime.bigint();
    const calls = Array.from({ length: count }, () => ask(script, timeout));
    const answers = await Promise.allSettled(calls);
    const took = seconds(began);
    const wrong = answers.filter(({ value }) => !value || !holds(value.chunks, expected));
    return { seconds: took, wrong: wrong.length, example: wrong.length ? JSON.stringify(wrong[0]).slice(0, 200) : "" };
  },
};

const reply = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
reply({ version });
for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...request } = JSON.parse(line);
  try {
    reply(await operations[op](request));
  } catch (error) {
    reply({ error: String(error).slice(0, SHOWN_CHARS) });
  }
}
process.exit(0);
