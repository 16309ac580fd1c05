// The text box: drafts that survive a reload, characters counted as readers see them, active time, "Use this text".
// Works on data attributes; what is saved and what it means is the server's business.

const IDLE_SECONDS = 30; // a longer pause is not work on the text
const segmenter = "Segmenter" in Intl ? new Intl.Segmenter() : null;
let inFlight = null; // the box's text when its form was sent

const forms = () => document.querySelectorAll("form[data-editor]");
const boxOf = (form) => form.elements.text;
const PREFIX = `alttext-draft:${document.body.dataset.user}:`; // a draft is nobody else's, also in the same tab
const keyOf = (form) => PREFIX + form.dataset.editor;
const form = () => document.querySelector("form[data-editor]");

const SEEN = ["version", "content_hash", "context_hash", "alt_hash"];

// A draft keeps what was on screen when it was written, so that a text saved meanwhile by somebody else is noticed.
const drafts = {
  read: (key) => tryStorage(() => JSON.parse(sessionStorage.getItem(key))),
  write: (key, draft) => tryStorage(() => sessionStorage.setItem(key, JSON.stringify(draft))),
  forget: (key) => tryStorage(() => sessionStorage.removeItem(key)),
};

const seenIn = (target) => Object.fromEntries(SEEN.map((name) => [name, target.elements[name].value]));

function tryStorage(act) {
  try {
    return act();
  } catch {
    return null; // storage is blocked or full: the text is still in the box
  }
}

function count(box) {
  const counter = document.querySelector(`#count-${box.form.dataset.editor} [data-count]`);
  const length = segmenter ? [...segmenter.segment(box.value)].length : [...box.value].length;
  if (counter) counter.textContent = String(length);
}

function fill(box, text) {
  box.focus();
  box.select();
  // keeps the browser's own undo, so that a typed text can be brought back with Ctrl+Z
  if (!document.execCommand("insertText", false, text)) box.setRangeText(text, 0, box.value.length, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function restore(target) {
  const box = boxOf(target);
  const draft = drafts.read(keyOf(target));
  if (draft === null || draft.text === box.value) return;
  box.value = draft.text;
  for (const [name, value] of Object.entries(draft.seen ?? {})) target.elements[name].value = value;
  box.dispatchEvent(new Event("input", { bubbles: true })); // counter and notes follow
  say("Your unsaved text is back in the box.");
}

function say(message) {
  document.body.dispatchEvent(new CustomEvent("alttext:say", { detail: { message } }));
}

function prepare() {
  for (const button of document.querySelectorAll("[data-use][hidden]")) button.hidden = false;
  for (const target of forms()) {
    if (target.dataset.ready) continue;
    target.dataset.ready = "yes";
    restore(target);
    watchTime(target);
  }
}

function watchTime(target) {
  let seconds = 0;
  let last = performance.now();
  const tick = () => {
    const now = performance.now();
    seconds += Math.min((now - last) / 1000, IDLE_SECONDS);
    last = now;
    target.elements.active_seconds.value = seconds.toFixed(1);
  };
  for (const name of ["keydown", "pointerdown", "input", "focusin"]) target.addEventListener(name, tick, { passive: true });
  target.addEventListener("submit", tick, { passive: true }); // a shortcut pressed outside the form counts as well
  target.addEventListener("htmx:configRequest", (event) => {
    tick();
    if ("active_seconds" in event.detail.parameters) event.detail.parameters.active_seconds = target.elements.active_seconds.value;
  });
}

document.addEventListener("input", (event) => {
  const box = event.target;
  if (!box.matches("form[data-editor] textarea[name=text]")) return;
  if (box.value === "") box.form.elements.cleared.value = "1";
  drafts.write(keyOf(box.form), { text: box.value, seen: seenIn(box.form) });
  count(box);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-use]");
  if (button && form()) fill(boxOf(form()), button.dataset.use);
});

document.body.addEventListener("alttext:settled", (event) => drafts.forget(PREFIX + event.detail.placement));

document.body.addEventListener("htmx:beforeSend", (event) => {
  const { elt } = event.detail;
  const sender = elt.form?.matches("[data-editor]") ? elt.form : elt.closest("form[data-editor]"); // some stand outside it
  if (sender && !event.detail.elt.hasAttribute("data-quiet")) inFlight = boxOf(sender).value;
});

// What was typed after the request left belongs to the next version of the page, caret and all.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const old = event.detail.target?.querySelector?.("form[data-editor]");
  if (!old || inFlight === null || !event.detail.shouldSwap) return;
  const box = boxOf(old);
  const typedOn = box.value !== inFlight;
  const caret = [box.selectionStart, box.selectionEnd];
  const hadFocus = document.activeElement === box;
  inFlight = null;
  if (!typedOn) return;
  drafts.write(keyOf(old), { text: box.value }); // the answer shows what stands there now
  document.body.addEventListener("htmx:afterSettle", () => {
    const fresh = form();
    if (!fresh || !hadFocus) return;
    boxOf(fresh).focus();
    boxOf(fresh).setSelectionRange(...caret);
  }, { once: true });
});

document.body.addEventListener("htmx:afterSwap", prepare);
window.addEventListener("pageshow", prepare);
prepare();
