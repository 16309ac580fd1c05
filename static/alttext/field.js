// The workbench's panel in a CMS's own form: <div data-alttext-field="ID" data-alttext-url="..."> beside the alt field.
// Loads and keeps the panel; "Use this text" writes into the field as typing would. Saves nothing: the form does.
//
// data-alttext-field  id of the input or textarea of the alternative text
// data-alttext-url    address of the panel; set it anew to load another one, empty to show none
// data-alttext-ask    ask for a suggestion by itself, once, where none is there

const SWITCHED_OFF = "Not written: the field is switched off. Is the image marked as decorative?";
const CHECK_AFTER_MS = 500;
const segmenter = "Segmenter" in Intl ? new Intl.Segmenter() : null;
const shown = new WeakMap(); // container -> address that its panel was loaded from
const timers = new WeakMap();
let newest = null; // the container that was swapped last

const fieldOf = (container) => document.getElementById(container.dataset.alttextField);
const containerOf = (element) => element?.closest?.("[data-alttext-field]") ?? null;
const panelIn = (container) => container.querySelector(".alttext-panel");

function furnish(container) {
  if (container.querySelector(":scope > .alttext-slot")) return;
  const status = document.createElement("p");
  status.className = "alttext-status";
  status.setAttribute("role", "status");
  const slot = document.createElement("div");
  slot.className = "alttext-slot";
  container.classList.add("alttext-field");
  container.setAttribute("role", "group");
  container.setAttribute("aria-label", "Suggested alternative text");
  container.append(slot, status);
}

function say(container, message) {
  container.querySelector(":scope > .alttext-status")?.replaceChildren(message);
}

function load(container) {
  const url = container.dataset.alttextUrl ?? "";
  if (shown.get(container) === url) return;
  shown.set(container, url);
  furnish(container);
  const slot = container.querySelector(":scope > .alttext-slot");
  say(container, "");
  if (url) window.htmx.ajax("GET", url, { target: slot, source: slot });
  else slot.replaceChildren();
}

function askOnce(container) {
  const button = container.querySelector("[data-alttext-ask-button]");
  if (!("alttextAsk" in container.dataset) || !button) return;
  delete container.dataset.alttextAsk;
  if (!container.querySelector(".offered, .reason")) button.click();
}

// A field that a person cannot change, "decorative" for one, is not changed by a button either.
function use(container, text) {
  const field = fieldOf(container);
  if (!field) return;
  if (field.disabled || field.readOnly) {
    say(container, SWITCHED_OFF);
    return;
  }
  field.focus();
  field.select?.();
  // keeps the browser's own undo, so that a typed text can be brought back with Ctrl+Z
  if (!document.execCommand("insertText", false, text)) field.value = text;
  if (field.value !== text) field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
  say(container, "The suggestion stands in the field. Change what is wrong; it is saved with this form.");
}

function check(container) {
  const panel = panelIn(container);
  const field = fieldOf(container);
  const target = panel && document.getElementById(panel.dataset.findings ?? "");
  if (!panel?.dataset.check || !field || !target) return;
  window.htmx.ajax("POST", panel.dataset.check, {
    source: panel,
    target,
    swap: "outerHTML",
    values: { text: field.value },
  });
}

function checkSoon(container) {
  clearTimeout(timers.get(container));
  timers.set(container, setTimeout(() => check(container), CHECK_AFTER_MS));
}

function reveal(root) {
  for (const button of root.querySelectorAll("[data-use][hidden]")) button.hidden = false;
}

function all(root = document) {
  for (const container of root.querySelectorAll("[data-alttext-field]")) load(container);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-use]");
  const container = containerOf(button);
  if (!container) return;
  event.preventDefault();
  use(container, button.dataset.use);
});

document.addEventListener("input", (event) => {
  if (!event.target.id) return;
  for (const container of document.querySelectorAll(`[data-alttext-field="${CSS.escape(event.target.id)}"]`)) {
    checkSoon(container);
  }
});

// once "decorative" is taken back, what was said of it no longer holds
document.addEventListener("change", () => {
  for (const container of document.querySelectorAll("[data-alttext-field]")) {
    const said = container.querySelector(":scope > .alttext-status")?.textContent;
    if (said === SWITCHED_OFF && !fieldOf(container)?.disabled) say(container, "");
  }
});

// A swap that takes the focused element away must not leave focus on the body: the panel itself takes it.
let left = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const container = containerOf(event.target);
  left = container?.contains(document.activeElement) ? container : null;
});
document.addEventListener("htmx:afterSettle", () => {
  if (!left || document.activeElement !== document.body) return;
  left.tabIndex = -1;
  left.focus();
});

// htmx:load comes for each new piece, once its own attributes work
document.addEventListener("htmx:load", (event) => {
  const container = containerOf(event.target);
  if (!container) return;
  newest = container;
  reveal(container);
  askOnce(container);
});

// what asked has often been swapped away by then: the event comes from the body, and is about the newest piece
document.addEventListener("alttext:say", (event) => {
  const container = containerOf(event.target) ?? newest;
  if (container) say(container, event.detail.message);
});

document.addEventListener("htmx:responseError", (event) => {
  const container = containerOf(event.target);
  if (!container || event.detail.elt.hasAttribute("data-quiet")) return;
  const words = {
    401: "Your session has ended. Sign in in another tab, then try again.",
    403: "The page is too old for that. Save it, load it anew, and try again.",
    404: "There is no suggestion here: you may not edit this image, or it is gone.",
  };
  say(container, words[event.detail.xhr.status] ?? "The workbench did not answer. Try again in a moment.");
});

document.addEventListener("htmx:sendError", (event) => {
  const container = containerOf(event.target);
  if (container) say(container, "No connection to the site. Your text is still in the field.");
});

new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "attributes") load(change.target);
    for (const node of change.addedNodes) {
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (node.matches("[data-alttext-field]")) load(node);
      all(node);
    }
  }
}).observe(document.documentElement, {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ["data-alttext-url"],
});

all();
