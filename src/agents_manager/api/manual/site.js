// A button on each block of code that copies it, without the prompts of a terminal.
for (const block of document.querySelectorAll("div.code")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = block.querySelector("code").textContent;
    const typed = text.split("\n").filter((line) => line.startsWith("$ "));
    await navigator.clipboard.writeText(
      typed.length ? typed.map((line) => line.slice(2)).join("\n") : text.trimEnd(),
    );
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  block.append(button);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input")) return;
  event.preventDefault();
  document.querySelector("header input").focus();
});
