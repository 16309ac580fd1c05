// Sections that open and close, as the accordion plugin marks them up. They begin open: nothing is hidden from a search.

for (const button of document.querySelectorAll("[data-bs-toggle=collapse]")) {
  const section = document.querySelector(button.dataset.bsTarget);
  if (!section) continue;
  button.setAttribute("aria-expanded", "true");
  button.addEventListener("click", () => {
    section.hidden = !section.hidden;
    button.setAttribute("aria-expanded", String(!section.hidden));
  });
}
