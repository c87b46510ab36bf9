// Keys go to the room from the first one on, and again when its page is looked at anew.
function hear() {
  document.querySelector("#terminal textarea")?.focus();
}
window.addEventListener("load", () => setTimeout(hear, 0));
window.addEventListener("focus", hear);
