// What the pages have beside their text. A button on each block of code: it copies the commands of a session, and else all of the block.
document.addEventListener("DOMContentLoaded", () => {
  // Two parts beside the text, told apart by those who hear them.
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  // A table that is wider than a phone is moved by keys, too.
  for (const table of document.querySelectorAll("table.docutils")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
  for (const block of document.querySelectorAll("div.highlight")) {
    const text = block.querySelector("pre").innerText;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = text.split("\n");
      const commands = lines.filter((line) => /^[$>] /.test(line)).map((line) => line.slice(2));
      const session = lines[0].startsWith("$ ");
      await navigator.clipboard.writeText(session ? commands.join("\n") : text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
});
