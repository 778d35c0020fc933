// Keeps the page as it is on the server: a stream tells that something is another, and what it is is asked for then.
// What comes is parsed as a document that runs nothing, and its nodes are put in the place of the old ones.
"use strict";
(() => {
  const OLD_AFTER = 15000, REST = 60000, PATIENCE = 10000, EVERY = 10;
  const page = document.documentElement;
  const pulse = document.getElementById("pulse"), old = document.getElementById("old");
  let version = page.dataset.version;
  let ahead = Number(page.dataset.now) - Date.now();
  let heard = performance.now();
  let stream = null, rest = 0, again = 1000, begun = false;

  // -- spans of time that go on ---------------------------------------------------------------------------------------

  function span(milliseconds) {
    let seconds = Math.floor(Math.max(milliseconds, 0) / 1000);
    const two = (number) => String(number).padStart(2, "0");
    const days = Math.floor(seconds / 86400);
    if (days) return days < 100 ? `${days}d${two(Math.floor((seconds % 86400) / 3600))}h` : `${days}d`;
    const hours = Math.floor(seconds / 3600), minutes = Math.floor((seconds % 3600) / 60);
    seconds %= 60;
    return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
  }

  function write(time) {
    const words = span(Date.now() + ahead - Number(time.dataset.at));
    if (time.textContent !== words) time.textContent = words;
  }

  const seen = new Set();
  const sight = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) seen.delete(target);
      else if (seen.add(target) && !isOld()) write(target);
    }
  });

  function follow(part) {
    for (const time of part.querySelectorAll("time[data-at]")) {
      write(time);
      sight.observe(time);
    }
  }

  function leave(part) {
    for (const time of part.querySelectorAll("time[data-at]")) {
      sight.unobserve(time);
      seen.delete(time);
    }
  }

  // -- what is another ------------------------------------------------------------------------------------------------

  function ask(address) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("GET", address);
      request.responseType = "document";
      request.timeout = PATIENCE;
      request.onload = () => (request.status === 200 && request.response ? resolve(request.response) : reject(request.status));
      request.onerror = request.ontimeout = () => reject(0);
      request.send();
    });
  }

  function put(before, after) {
    const opened = before.querySelector("details[data-row][open]");
    const focused = before.contains(document.activeElement) ? document.activeElement.tagName : "";
    leave(before);
    if (opened) {
      const details = after.querySelector("details[data-row]");
      details.open = true;
      const more = details.querySelector(".more");
      more.replaceChildren(...opened.querySelector(".more").childNodes);
      follow(more);
      tell(details);
    }
    before.replaceWith(after);
    if (focused) after.querySelector(focused.toLowerCase())?.focus({ preventScroll: true });
  }

  function arrange(list, ids, made) {
    let place = list.firstElementChild;
    for (const id of ids) {
      const node = made.get(id) || document.getElementById(id);
      if (!node) continue;
      if (node === place) place = place.nextElementSibling;
      else list.insertBefore(node, place);
    }
    const gone = [];
    for (; place; place = place.nextElementSibling) gone.push(place);
    for (const node of gone) {
      node.remove();
      made.set(node.id, node); // it may have a place in another list
    }
  }

  function take(answer) {
    const made = new Map();
    const lists = [...answer.querySelectorAll("[data-list]")];
    for (const block of [...answer.body.children]) {
      if (!block.id) continue;
      const after = document.importNode(block, true), before = document.getElementById(block.id);
      follow(after);
      if (before) put(before, after);
      else made.set(block.id, after);
    }
    const focus = document.activeElement;
    for (const each of lists) {
      const list = document.getElementById(each.dataset.list);
      if (list) arrange(list, each.dataset.order.split(" ").filter(Boolean), made);
    }
    for (const node of made.values()) if (!node.isConnected) leave(node);
    if (focus && focus.isConnected && focus !== document.activeElement) focus.focus({ preventScroll: true });
    version = answer.documentElement.dataset.version;
    document.title = answer.documentElement.dataset.title;
  }

  let asking = false, wanted = "";
  async function pull(latest) {
    wanted = latest;
    if (asking) return;
    asking = true;
    try {
      while (version !== wanted) {
        const before = version;
        take(await ask(`changes?since=${version}`));
        if (version === before) break;
      }
    } catch {
      // the stream tells once more what there is
    } finally {
      asking = false;
    }
  }

  // -- all that is known of one ---------------------------------------------------------------------------------------

  async function tell(details) {
    const more = details.querySelector(".more");
    try {
      const answer = await ask(`row/${details.dataset.row}`);
      const told = [...answer.querySelector("main").childNodes].map((node) => document.importNode(node, true));
      leave(more);
      more.replaceChildren(...told);
      follow(more);
    } catch {
      more.dataset.failed = "true"; // the link is still there
    }
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.matches("details[data-row]") && event.target.open) tell(event.target);
  }, true);

  // -- the stream -----------------------------------------------------------------------------------------------------

  function listen() {
    if (document.hidden) return;
    stream?.close();
    const own = (stream = new EventSource("events"));
    own.addEventListener("now", (event) => {
      const [latest, now] = event.data.split(" ");
      ahead = Number(now) - Date.now();
      heard = performance.now();
      again = 1000;
      if (!begun) {
        begun = true;
        tick();
      }
      if (latest !== version) pull(latest);
    });
    own.addEventListener("error", () => {
      if (own !== stream || own.readyState !== EventSource.CLOSED) return; // it tries again by itself
      stream = null;
      setTimeout(listen, again);
      again = Math.min(again * 2, 15000);
    });
  }

  function hush() {
    stream?.close();
    stream = null;
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(rest);
    if (document.hidden) rest = setTimeout(hush, REST);
    else if (!stream) listen();
  });

  const silence = () => performance.now() - heard;
  const isOld = () => silence() >= OLD_AFTER;
  const everyTime = () => document.querySelectorAll("time[data-at]");

  let ticks = 0;
  function tick() {
    if (document.hidden) return;
    old.hidden = !isOld();
    if (!old.hidden) {
      old.textContent = `no word for ${Math.floor(silence() / 1000)} s: what you see is old`;
      pulse.textContent = "old";
      return;
    }
    if (begun) pulse.textContent = `live · ${new Date(Date.now() + ahead).toLocaleTimeString()}`;
    // What is out of sight may be read aloud.
    for (const time of ++ticks % EVERY ? seen : everyTime()) write(time);
  }

  window.addEventListener("beforeprint", () => isOld() || everyTime().forEach(write));

  setInterval(tick, 1000);
  follow(document);
  listen();
})();
