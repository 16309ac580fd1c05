// Plugin forms of django CMS: the counter, the box while "decorative" is ticked, and the panel of an image just chosen.
// Works on data attributes of the panel's container; the panel itself is field.js's business.

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter() : null;
const FILER_CLEARS = ".filerClearer";
const latest = new WeakMap(); // container -> number of the image that was asked for last

const byId = (id) => (id ? document.getElementById(id) : null);
const containers = () => document.querySelectorAll("[data-alttext-new-key-url]");

function count(box) {
  const counter = document.querySelector(`[data-alttext-count="${CSS.escape(box.id)}"]`);
  if (counter) counter.textContent = String(segmenter ? [...segmenter.segment(box.value)].length : [...box.value].length);
}

// The text stays in the box, and comes back into force when the tick is taken off.
function switchBox(container) {
  const tick = byId(container.dataset.alttextDecorative);
  const box = byId(container.dataset.alttextField);
  if (tick && box) box.readOnly = tick.checked;
}

function show(container, url, key) {
  const input = byId(container.dataset.alttextKey);
  if (input) input.value = key;
  container.dataset.alttextUrl = url;
}

async function follow(container) {
  const chosen = byId(container.dataset.alttextImage)?.value ?? "";
  if (latest.get(container) === chosen) return;
  latest.set(container, chosen);
  if (!chosen) return show(container, "", "");
  if (chosen === container.dataset.alttextSavedFile) return show(container, container.dataset.alttextSavedUrl, "");
  const address = container.dataset.alttextNewKeyUrl;
  if (!address) return show(container, "", "");
  try {
    const answer = await fetch(`${address}&file=${encodeURIComponent(chosen)}`, { credentials: "same-origin" });
    const found = answer.ok ? await answer.json() : { url: "", key: "" };
    if (latest.get(container) !== chosen) return undefined; // another image was chosen meanwhile
    container.dataset.alttextAsk = ""; // an author waits: ask at once
    show(container, found.url, found.key);
  } catch {
    show(container, "", ""); // no connection: the form works without the panel
  }
  return undefined;
}

for (const container of containers()) {
  latest.set(container, byId(container.dataset.alttextImage)?.value ?? "");
  switchBox(container);
}

document.addEventListener("input", (event) => {
  if (event.target.matches("textarea[id]")) count(event.target);
});

document.addEventListener("change", (event) => {
  for (const container of containers()) {
    if (event.target.id && event.target.id === container.dataset.alttextImage) follow(container);
    if (event.target.id && event.target.id === container.dataset.alttextDecorative) switchBox(container);
  }
});

// The library's widget tells nobody that it was emptied.
document.addEventListener("click", (event) => {
  if (event.target.closest?.(FILER_CLEARS)) setTimeout(() => containers().forEach(follow), 0);
});
