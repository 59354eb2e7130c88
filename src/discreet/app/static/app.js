// Progress of long work, files that are chosen or dropped, and sliders. Everything else works without a script.
"use strict";

function follow(box) {
  const source = new EventSource(box.dataset.events);
  const stage = box.querySelector("[data-stage]");
  const bar = box.querySelector("[data-share]");
  const left = box.querySelector("[data-left]");
  source.onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (!state.running) {
      source.close();
      window.location.replace(box.dataset.then);
      return;
    }
    if (stage.textContent !== state.stage) stage.textContent = state.stage;
    bar.value = state.share;
    left.textContent = state.left === null ? "" : `about ${state.left} s left`;
  };
  source.onerror = () => {
    source.close();
    window.setTimeout(() => window.location.reload(), 2000);
  };
}

function upload(card, input, file) {
  const status = card.querySelector("[data-status]");
  const request = new XMLHttpRequest();
  request.open("PUT", `${input.dataset.upload}&name=${encodeURIComponent(file.name)}`);
  request.upload.onprogress = (event) => {
    if (event.lengthComputable) status.textContent = `${Math.round((100 * event.loaded) / event.total)} % copied`;
  };
  request.onload = () => {
    let answer = {};
    try {
      answer = JSON.parse(request.responseText);
    } catch {
      answer = { fault: "the app did not understand this file" };
    }
    if (answer.next) window.location.assign(answer.next);
    else status.textContent = answer.fault;
  };
  request.onerror = () => {
    status.textContent = "the file could not be copied; open it by its path";
  };
  status.textContent = "copying";
  request.send(file);
}

// A promise is parts joined by " & "; the part of a slider takes the place of one of the same name.
function take(field, name, promise) {
  const parts = field.value.split("&").map((part) => part.trim()).filter(Boolean);
  const at = parts.findIndex((part) => part.split("(")[0] === name);
  if (at < 0) parts.push(promise);
  else parts[at] = promise;
  field.value = parts.join(" & ");
  field.focus();
}

function slide(card) {
  const steps = JSON.parse(card.dataset.scale);
  const input = card.querySelector("input");
  const promise = card.querySelector("[data-promise]");
  const sentence = card.querySelector("[data-sentence]");
  const button = card.querySelector("[data-take]");
  const show = () => {
    const step = steps[input.value];
    promise.textContent = step.promise;
    sentence.textContent = step.sentence;
    sentence.classList.toggle("later", !step.feasible);
    button.disabled = !step.feasible;
    input.setAttribute("aria-valuetext", step.promise);
  };
  for (const hidden of card.querySelectorAll(".scripted")) hidden.hidden = false;
  input.addEventListener("input", show);
  button.addEventListener("click", () => {
    take(document.getElementById("promise"), button.dataset.take, promise.textContent);
  });
  show();
}

for (const card of document.querySelectorAll("[data-scale]")) slide(card);
for (const box of document.querySelectorAll("[data-events]")) follow(box);
for (const card of document.querySelectorAll("[data-drop]")) {
  const input = card.querySelector("[data-upload]");
  input.addEventListener("change", () => input.files.length && upload(card, input, input.files[0]));
  card.addEventListener("dragover", (event) => {
    event.preventDefault();
    card.classList.add("over");
  });
  card.addEventListener("dragleave", () => card.classList.remove("over"));
  card.addEventListener("drop", (event) => {
    event.preventDefault();
    card.classList.remove("over");
    if (event.dataTransfer.files.length) upload(card, input, event.dataTransfer.files[0]);
  });
}
