// Keyboard shortcuts: presses what carries the combination in data-shortcut. Can be switched off; the Keys page lists all.

const STORE = "alttext-shortcuts";
const ARRIVAL_MS = 1500; // a second press, meant for the page before, must not save a text that nobody has read
const arrivedAt = new URLSearchParams(location.search).has("arrived") ? performance.now() : -Infinity;
const toggle = document.querySelector("[data-shortcuts-switch]");

function areOn() {
  try {
    return localStorage.getItem(STORE) !== "off";
  } catch {
    return true; // storage is blocked: the default holds
  }
}

// "Alt+Shift+S"; by the key's place, as Option changes the letter on a Mac. Only combinations, never a bare letter.
function nameOf(event) {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "Enter") return "Control+Enter";
  if (event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey && /^Key[A-Z]$/.test(event.code)) {
    return `Alt+Shift+${event.code.slice(3)}`;
  }
  return "";
}

function press(target) {
  target.closest("details")?.setAttribute("open", "");
  if (target.matches("textarea")) target.focus();
  else target.click();
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.isComposing || !areOn()) return;
  const name = nameOf(event);
  const target = name && document.querySelector(`[data-shortcut="${name}"]:not([hidden])`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("[type=submit]") && performance.now() - arrivedAt < ARRIVAL_MS) return;
  press(target);
});

function show() {
  toggle.setAttribute("aria-pressed", String(areOn()));
  toggle.textContent = areOn() ? "Keyboard shortcuts: on" : "Keyboard shortcuts: off";
}

if (toggle) {
  toggle.hidden = false;
  show();
  toggle.addEventListener("click", () => {
    try {
      localStorage.setItem(STORE, areOn() ? "off" : "on");
    } catch {
      return; // nothing can be remembered, so nothing is promised
    }
    show();
  });
}
