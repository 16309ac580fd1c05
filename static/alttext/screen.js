// The status line, what a failed request means in words, a new sign-in, and focus after a swap.
// Knows no field of the editor; other modules speak to it through the event "alttext:say".

const line = document.getElementById("status");
const MESSAGES = {
  403: "Not saved: the page was signed in anew. It is being renewed; press the button once more in a moment.",
  404: "Not saved: this image is no longer there, or you may no longer edit it. Your text is still in the box.",
  413: "Not saved: that is too much text for this site. Your text is still in the box.",
  503: "Not saved: the database is busy. Your text is still in the box; press again in a moment.",
  429: "Not saved: too many requests. Wait a moment and try again; your text is still in the box.",
};
const BROKEN = "Not saved: the site made a mistake. Your text is still in the box; try again in a moment.";
const OFFLINE = "Not saved: no connection to the site. Your text is still in the box; try again when you are online.";
let signedOut = false;

function say(message, { isError = false, item = "", link = null } = {}) {
  const paragraph = document.createElement("p");
  paragraph.textContent = item ? `${item}: ${message} ` : `${message} `;
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = link.href;
    anchor.target = "_blank";
    anchor.rel = "noopener";
    anchor.textContent = link.text;
    paragraph.append(anchor);
  }
  line.classList.toggle("is-error", isError);
  line.replaceChildren(paragraph);
}

function askToSignIn(item) {
  if (signedOut) return; // a page that polls would say it every two seconds
  signedOut = true;
  const link = { href: document.body.dataset.login, text: "Sign in (new tab)" };
  say("Not saved: your session has ended. Your text is still in the box. Sign in, come back, and save again.", {
    isError: true,
    item,
    link,
  });
}

// Signing in changes the secret in the forms: take the new one from a fresh copy of this page.
async function renewForms() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (answer.redirected || !answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("input[name=csrfmiddlewaretoken]");
  if (!fresh) return false;
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = fresh.value;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": fresh.value }));
  return true;
}

async function comeBack() {
  if (!signedOut || document.visibilityState !== "visible") return;
  try {
    if (await renewForms()) {
      signedOut = false;
      say("You are signed in again. Your text is still in the box: save it now.");
    }
  } catch {
    // still offline: the message about the session stays
  }
}

function itemOf(element) {
  return element?.closest("[data-item]")?.dataset.item ?? "";
}

document.addEventListener("visibilitychange", comeBack);
window.addEventListener("focus", comeBack);
document.body.addEventListener("alttext:say", (event) => say(event.detail.message, { isError: event.detail.isError }));

document.body.addEventListener("htmx:responseError", (event) => {
  const { elt, xhr } = event.detail;
  const item = itemOf(elt);
  if (xhr.status === 401) return askToSignIn(item);
  if (elt.hasAttribute("data-quiet")) return undefined; // a poll or a check: nothing of the author's is lost
  if (xhr.status === 403) {
    // no new secret to be had: the sign-in is gone as well
    renewForms().then((renewed) => renewed || askToSignIn(item)).catch(() => false);
  }
  return say(MESSAGES[xhr.status] ?? BROKEN, { isError: true, item });
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(name, (event) => {
    if (!event.detail.elt.hasAttribute("data-quiet")) say(OFFLINE, { isError: true, item: itemOf(event.detail.elt) });
  });
}

// A swap that takes the focused element away must not leave focus on the body. Who had no focus gets none.
let hadFocus = false;
document.body.addEventListener("htmx:beforeSwap", () => {
  hadFocus = document.activeElement !== document.body;
});
document.body.addEventListener("htmx:afterSettle", () => {
  if (hadFocus && document.activeElement === document.body) document.querySelector("main h1")?.focus();
});

// A message that was there when the page loaded is not announced; put in again it is.
if (line.children.length) {
  const waiting = [...line.children];
  setTimeout(() => line.replaceChildren(...waiting), 200);
}
