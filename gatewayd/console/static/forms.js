"use strict";
// What forms and lists are without a script too, made quicker by one.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// A form is sent once: a second click on "Allow" would replace the answer of the first by "answered already".
for (const form of all("form[method=post]:not(.passkey, .drop)")) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
// Back from the history the page is as it was left.
window.addEventListener("pageshow", () => {
  for (const form of all("form[data-sent]")) delete form.dataset.sent;
});

// What is to be kept on paper.
for (const button of all("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// Copy buttons. Without https a browser has no clipboard to give.
for (const button of navigator.clipboard ? all("[data-copy]") : []) {
  button.hidden = false;
  const text = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = text), 2000);
  });
}

// Lists whose rows are ticked: all at once, and how many.
for (const box of all("[data-all]")) {
  const form = box.closest("form") || document;
  const rows = all("tbody .tick input", box.closest("table"));
  const told = form.querySelector("[data-selected]");
  const tell = () => {
    const count = rows.filter((each) => each.checked).length;
    box.checked = count > 0 && count === rows.length;
    box.indeterminate = count > 0 && count < rows.length;
    if (told) told.textContent = count ? `${count} selected` : "";
  };
  box.hidden = false;
  box.addEventListener("change", () => {
    for (const each of rows) each.checked = box.checked;
    tell();
  });
  for (const each of rows) each.addEventListener("change", tell);
  tell();
}

// A long list of names, narrowed by what is typed.
for (const input of all("[data-narrows]")) {
  const select = document.getElementById(input.dataset.narrows);
  const options = [...select.options];
  input.hidden = false;
  input.addEventListener("input", () => {
    const [wanted, chosen] = [input.value.trim().toLowerCase(), select.value];
    const fits = options.filter((each) => each.value && each.text.toLowerCase().includes(wanted));
    select.replaceChildren(...options.filter((each) => !each.value || each.value === chosen || fits.includes(each)));
    select.value = wanted && fits.length === 1 ? fits[0].value : chosen;
  });
}

// Fields that stand in rows: one more or less where one is. What cannot be is left to the server, which says why.
for (const group of all(".several")) {
  const { rows: path, one, most } = group.dataset;
  const rows = () => all(".row", group);
  const add = group.querySelector("[value^='add ']");
  let next = rows().length;
  const number = () => {
    for (const [at, row] of rows().entries()) {
      row.querySelector("legend").textContent = `${one[0].toUpperCase()}${one.slice(1)} ${at + 1}`;
      row.querySelector("[name=rows]").ariaLabel = `Remove ${one} ${at + 1}`;
    }
  };
  const more = (before) => {
    const row = before.cloneNode(true);
    const old = row.querySelector("[name=rows]").value.split(" ")[2];
    for (const each of all(".error, input[type=hidden]", row)) each.remove();
    for (const each of all("*", row)) {
      each.removeAttribute("aria-invalid");
      for (const name of ["id", "name", "for", "aria-describedby", "data-narrows"]) {
        const value = each.getAttribute(name);
        if (value) each.setAttribute(name, value.replaceAll(`${path}.${old}.`, `${path}.${next}.`).replace(/ ?\S+-error$/, ""));
      }
      if (each.matches("input, textarea") && each.type !== "checkbox") each.value = "";
      if (each.type === "checkbox") each.checked = false;
      if (each.matches("select")) each.selectedIndex = 0;
    }
    row.querySelector("[name=rows]").value = `remove ${path} ${next++}`;
    before.after(row);
    row.querySelector("input, select, textarea").focus();
  };
  group.addEventListener("click", (event) => {
    const button = event.target.closest("[name=rows]");
    const there = rows();
    if (!button || (button === add ? most && there.length >= most : there.length < 2)) return;
    event.preventDefault();
    if (button === add) more(there.at(-1));
    else {
      button.closest(".row").remove();
      add.focus();
    }
    number();
  });
}

// Menus that lie over the page close where one clicks beside them, and by Escape.
for (const menu of all("details.switch")) {
  document.addEventListener("click", (event) => menu.contains(event.target) || (menu.open = false));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// A box that a key leads to, wherever nothing is being typed.
for (const box of all("[data-key]")) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== box.dataset.key || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    box.focus();
  });
}

// Uploads: dropped files, and how far it is.
for (const form of all("form.drop")) {
  const input = form.querySelector("input[type=file]");
  const [progress, problem] = ["progress", ".error"].map((each) => form.querySelector(each));
  const most = Number(form.dataset.most);
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
  for (const kind of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.toggle("over", kind === "dragover");
    });
  }
  form.addEventListener("drop", (event) => (input.files = event.dataTransfer.files));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.files[0].size > most) return say("This file is too large.");
    say("");
    const request = new XMLHttpRequest();
    const failed = () => {
      progress.hidden = true;
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      say(page.querySelector("main p")?.textContent || "The file did not arrive. Try again.");
    };
    request.open("POST", form.action);
    request.setRequestHeader("X-Upload", "yes");
    request.upload.onprogress = (sent) => (progress.value = (100 * sent.loaded) / sent.total);
    request.onerror = failed;
    request.onload = () => {
      const there = request.getResponseHeader("Location");
      if (request.status < 400 && there) location.assign(there);
      else failed();
    };
    progress.hidden = false;
    request.send(new FormData(form));
  });
}
