// Puts the workbench's panel beside each alternative text in Wagtail's forms: blocks, fields, rich text, the library.
// Which image stands where is asked of the site, as it was last saved; nothing is saved from here.

const own = document.querySelector("script[data-alttext-uses]").dataset;
const ALT_NAME = /^(?:(.+)_)?alt(?:_text)?$/;
const DIALOG_ALT = "id_image-chooser-insertion-alt_text";
const LATER = "A suggestion can be asked for once this image is saved here. Drafts save themselves after a moment.";
const LATER_BY_HAND = "Save the page as a draft to get a suggestion for this image.";

let known = null; // what the site answered last; null before it did
let asking = null;
let due = 0;
let lastEditor = null; // the rich text that had the focus before a dialog opened

const form = () => document.querySelector("form[data-edit-form]");
const savesItself = () => form()?.matches('[data-controller~="w-autosave"]');
const pathOf = (element) => {
  const parts = [];
  for (let at = element; at; at = at.parentElement?.closest("[data-contentpath], [data-contentpath-disabled]")) {
    if (at.hasAttribute("data-contentpath-disabled")) return null; // the site has given it no id yet
    parts.unshift(at.dataset.contentpath);
  }
  return parts;
};

// Each alt input with an image chooser of its own: { input, holder, chooser, paths }.
function* places() {
  for (const holder of document.querySelectorAll("[data-contentpath]")) {
    const name = holder.dataset.contentpath;
    const match = ALT_NAME.exec(name);
    const input = match && holder.querySelector('input[type="text"], textarea');
    if (!input?.id.endsWith(name)) continue;
    const stem = input.id.slice(0, -name.length);
    const chooser = chooserBeside(stem, match[1]);
    const path = pathOf(holder)?.slice(0, -1);
    if (chooser) yield { input, holder, chooser, paths: path && [path.join("."), [...path, chooser.id.slice(stem.length)].join(".")] };
  }
}

function chooserBeside(stem, name) {
  if (name) return inputOf(document.getElementById(`${stem}${name}-chooser`));
  for (const chooser of document.querySelectorAll(`.image-chooser[id^="${CSS.escape(stem)}"]`)) {
    if (/^[^-]+-chooser$/.test(chooser.id.slice(stem.length))) return inputOf(chooser);
  }
  return null;
}

const inputOf = (chooser) =>
  chooser?.classList.contains("image-chooser") ? document.getElementById(chooser.id.replace(/-chooser$/, "")) : null;

function panelFor(input, after) {
  const found = document.querySelector(`[data-alttext-field="${CSS.escape(input.id)}"]`);
  if (found) return found;
  const container = document.createElement("div");
  container.dataset.alttextField = input.id;
  container.dataset.alttextUrl = "";
  // the panel asks by forms of its own; those around it must not take their sending for their own
  container.addEventListener("submit", (event) => event.stopPropagation());
  const note = document.createElement("p");
  note.className = "alttext-later";
  note.hidden = true;
  after.after(container, note);
  return container;
}

function show(container, url, later = "") {
  const note = container.nextElementSibling;
  if (note.textContent !== later) note.textContent = later; // each change is seen by the observer below
  note.hidden = !later;
  if (container.dataset.alttextUrl !== url) container.dataset.alttextUrl = url;
}

// Panels for all that is in the form now; true where an image waits to be saved.
function furnish() {
  if (!known) return false;
  let waits = false;
  for (const { input, holder, chooser, paths } of places()) {
    const container = panelFor(input, holder);
    const use = paths && known.uses.find((item) => item.image === plain(chooser.value) && paths.includes(item.path));
    const unsaved = Boolean(chooser.value) && !use && !known.closed;
    waits ||= unsaved;
    if (unsaved && "alttextAutomatic" in own) container.dataset.alttextAsk = ""; // chosen just now, by this author
    show(container, use?.url ?? "", unsaved ? (savesItself() ? LATER : LATER_BY_HAND) : "");
  }
  for (const [id, url] of Object.entries(known.fields)) {
    const input = document.getElementById(id);
    if (input) show(panelFor(input, input.closest(".w-field__wrapper") ?? input), url);
  }
  furnishDialog();
  return waits;
}

const plain = (pk) => pk.replaceAll("-", ""); // as UUIDs are written in keys

// An image that is in the rich text already has a panel of its own; one that is about to be, that of the library.
function furnishDialog() {
  const input = document.getElementById(DIALOG_ALT);
  const image = /\/([^/]+)\/select_format\//.exec(input?.form?.action ?? "")?.[1];
  if (!image) return;
  const within = lastEditor && pathOf(lastEditor.closest("[data-contentpath]"))?.join(".");
  const here = known.uses.filter((item) => within && item.path.startsWith(`${within}#${plain(image)}.`));
  const url = here.length === 1 ? here[0].url : known.library.replace("{}", plain(image));
  show(panelFor(input, input.closest(".w-field__wrapper") ?? input), url);
}

async function ask() {
  const action = form()?.action;
  if (!action || asking) return;
  const url = `${own.alttextUses}?at=${encodeURIComponent(new URL(action, location.href).pathname)}`;
  asking = fetch(url, { headers: { Accept: "application/json" } });
  try {
    const answer = await asking;
    if (answer.ok && answer.headers.get("Content-Type")?.includes("json")) known = await answer.json();
  } catch {
    // no connection: asked again after the next save
  } finally {
    asking = null;
  }
  furnish();
}

function soon() {
  clearTimeout(due);
  due = setTimeout(furnish, 100);
}

function loadHtmx() {
  if (window.htmx) return Promise.resolve();
  if (!document.querySelector('meta[name="htmx-config"]')) {
    const meta = document.createElement("meta");
    meta.name = "htmx-config";
    meta.content = JSON.stringify({
      includeIndicatorStyles: false,
      allowEval: false,
      allowScriptTags: false,
      selfRequestsOnly: true,
      historyEnabled: false,
      defaultSettleDelay: 0,
    });
    document.head.append(meta);
  }
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = own.alttextHtmx;
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

document.addEventListener("focusin", (event) => {
  const editor = event.target.closest?.(".Draftail-Editor");
  if (editor) lastEditor = editor;
});
document.addEventListener("change", soon);
document.addEventListener("w-autosave:success", () => {
  if (furnish()) ask();
});

if (form()) {
  await loadHtmx();
  await import(own.alttextPanel);
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  await ask();
}
