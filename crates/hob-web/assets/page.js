// Keeps what is shown up to date: the server says that something changed, and the content is read anew. Nothing happens while the page is
// not looked at, and nothing that a person types is lost: a part of the page with words in it stays as it is.
"use strict";

const PAUSE = 1000;
// A stream ends and begins again all the time; a process that is not there for longer is gone.
const GONE = 4000;
const main = document.getElementById("main");
const live = document.getElementById("live");
let source = null;
let isDue = false;
let isReading = false;
let gone = null;

const isTyped = (field) => field.value !== field.defaultValue || field === document.activeElement;
const hasWords = (part) => [...part.querySelectorAll("textarea:not([hidden]), input[type=password], select")].some(
  (field) => field.tagName === "SELECT" ? field === document.activeElement : isTyped(field),
);

function replace(fresh) {
  const isOpen = new Map([...main.querySelectorAll("details[id]")].map((part) => [part.id, part.open]));
  fresh.querySelectorAll("details[id]").forEach((part) => { part.open = isOpen.get(part.id) ?? part.open; });
  const kept = [...main.querySelectorAll(".card[id]")].filter(hasWords);
  if (kept.length === 0 && hasWords(main)) {
    says("· something changed: it is shown when you have finished writing");
    return;
  }
  // A card in which somebody writes keeps its place in the list, or goes to its beginning if the issue needs nobody any more.
  for (const card of kept) {
    const place = fresh.querySelector("#" + CSS.escape(card.id));
    const list = fresh.querySelector("ul.cards");
    if (place) place.replaceWith(card);
    else if (list) list.prepend(card);
    else { says("· something changed: it is shown when you have finished writing"); return; }
  }
  const focused = document.activeElement;
  const y = window.scrollY;
  main.replaceChildren(...fresh.childNodes);
  if (kept.some((card) => card.contains(focused))) focused.focus({ preventScroll: true });
  window.scrollTo(window.scrollX, y);
  says("· up to date");
}

function says(text, isOld = false) {
  live.textContent = text;
  live.classList.toggle("old", isOld);
}

function isGone() {
  says("Hob does not answer: what is shown is old", true);
}

async function refresh() {
  if (isReading) { isDue = true; return; }
  isReading = true;
  isDue = false;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin", redirect: "manual" });
    if (answer.type === "opaqueredirect") { location.reload(); return; }
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      replace(page.getElementById("main"));
      document.querySelector("nav").replaceChildren(...page.querySelector("nav").childNodes);
    }
  } catch {
    isGone();
  }
  setTimeout(() => { isReading = false; if (isDue) refresh(); }, PAUSE);
}

function follow() {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (!source && !document.querySelector(".sign-in")) {
    source = new EventSource("/api/v1/events?only=changes");
    source.addEventListener("changed", refresh);
    source.onopen = () => {
      clearTimeout(gone);
      gone = null;
      refresh();
    };
    source.onerror = () => {
      gone ??= setTimeout(isGone, GONE);
      if (source.readyState !== EventSource.CLOSED) return;
      // It answered something else, for example that it does not know this reader any more: the browser does not ask again.
      source = null;
      refresh();
      setTimeout(follow, GONE);
    };
  }
}

document.addEventListener("visibilitychange", follow);
follow();
