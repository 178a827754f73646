// A button on each block of code that copies it, without prompts and without what a command prints.
"use strict";

function codeOf(block) {
  const lines = block.querySelector("pre").textContent.trimEnd().split("\n");
  const typed = lines.filter((line) => /^(\$|>>>|\.\.\.)( |$)/.test(line));
  return typed.length ? typed.map((line) => line.replace(/^(\$|>>>|\.\.\.) ?/, "")).join("\n") : lines.join("\n");
}

async function copy(event) {
  const button = event.currentTarget;
  await navigator.clipboard.writeText(codeOf(button.parentElement));
  button.textContent = "copied";
  setTimeout(() => (button.textContent = "copy"), 1500);
}

document.addEventListener("DOMContentLoaded", () => {
  // Browsers offer the clipboard only to pages from disk, from this machine or over https.
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.addEventListener("click", copy);
    block.append(button);
  }
});
