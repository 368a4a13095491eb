"use strict";
// A form is sent once: a second click on "Allow" would replace the answer of the first by "answered already".
for (const form of document.querySelectorAll("form[method=post]:not(.passkey)")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
// Back from the history the page is as it was left.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
