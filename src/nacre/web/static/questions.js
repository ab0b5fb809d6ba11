// What waits for a person: approvals, and prompts of programs.

import { announceNow, byId, button, make, setText } from "./dom.js";
import { callPath, now, post } from "./wire.js";
import { openTerminal } from "./terminal.js";

const CHOICES = [["once", "Once"], ["session", "This session"], ["always", "Always, as a rule"], ["deny", "Deny"]];
const open = new Map();

export const waiting = () => open.size;

export function showQuestions(card) {
  ask(`approval ${card.call}`, card.question ? card.question.id : null, card, approval);
  ask(`prompt ${card.call}`, card.prompt ? `${card.prompt.text} ${card.prompt.hidden}` : null, card, prompt);
  byId("questions").hidden = open.size === 0;
}

/** Drops what a call asked that is not there any more. */
export function dropQuestions(call) {
  showQuestions({ call });
}

/** Shows a question once: while it is open its element stays, with what is typed into it. */
function ask(key, id, card, build) {
  const shown = open.get(key);
  if (shown && shown.id === id) return;
  if (shown) {
    shown.element.remove();
    open.delete(key);
  }
  if (id === null) return;
  const element = build(card);
  open.set(key, { id, element, deadline: card.question?.deadline });
  byId("question-list").append(element);
}

function approval(card) {
  const { question } = card;
  const [before, risky, after] = question.parts;
  const problem = make("p", { class: "problem", role: "alert", hidden: true });
  const group = make("div", { class: "buttons", role: "group", "aria-label": "Approve this command?" });
  group.append(...CHOICES.map(([decision, text]) =>
    button(text, () => send(group, problem, callPath(card.call, "decide"), { question: question.id, decision }),
      { class: decision === "deny" ? "danger" : undefined })));
  announceNow(`approval needed: ${card.command.slice(0, 120)}`);
  return make("li", { class: "question" },
    make("h3", {}, "Approve? ", make("span", { class: "message", text: question.message })),
    make("p", { class: "command" }, make("code", {}, "$ ", before, make("mark", { text: risky }), after)),
    make("p", { class: "quiet" }, `${card.origin}${question.rule ? ` · rule ${question.rule}` : ""} · `, make("span", { class: "left" })),
    group, problem);
}

function prompt(card) {
  const { prompt: asked } = card;
  const id = `prompt-${card.call}`;
  const problem = make("p", { class: "problem", role: "alert", hidden: true });
  const field = make("input", {
    id, type: asked.hidden ? "password" : "text", autocomplete: asked.hidden ? "new-password" : "off", autocapitalize: "off",
    spellcheck: "false", placeholder: asked.hidden ? "recorded nowhere" : "",
  });
  const group = make("div", { class: "answer" }, field, make("button", { type: "submit", class: "main", text: "Send" }));
  if (card.terminal) group.append(button("Terminal", () => openTerminal(card.job, card.call, card.command)));
  const form = make("form", {
    onsubmit: (event) => {
      event.preventDefault();
      const text = field.value;
      field.value = "";
      send(group, problem, callPath(card.call, "answer"), { text });
    },
  }, group, problem);
  announceNow(`waits for input: ${asked.text}`);
  return make("li", { class: "question" },
    make("h3", {}, make("label", { for: id }, "It waits for input: ", make("span", { class: "message", text: asked.text }))),
    make("p", { class: "command" }, make("code", { text: `$ ${card.command}` })),
    form);
}

async function send(group, problem, path, body) {
  for (const one of group.children) one.disabled = true;
  problem.hidden = true;
  try {
    await post(path, body);
  } catch (error) {
    setText(problem, error.message);
    problem.hidden = false;
  } finally {
    for (const one of group.children) one.disabled = false;
  }
}

export function tickQuestions() {
  for (const { element, deadline } of open.values()) {
    const left = element.querySelector(".left");
    if (left && deadline) setText(left, `${Math.max(0, Math.round(deadline - now()))} s left`);
  }
}
