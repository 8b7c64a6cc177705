(function () {
  "use strict";
  var tip = document.getElementById("tip"), on = null;
  // With a script the values are shown at once, and not a second time by the browser.
  document.querySelectorAll("svg .hit").forEach(function (hit) {
    var title = hit.querySelector("title");
    if (title) { hit.setAttribute("data-tip", title.textContent); title.remove(); }
  });
  // The line that is pointed at stands out among the others of its picture.
  function single(hit, faded) {
    var series = hit.getAttribute("data-s");
    if (series === null) { return; }
    hit.ownerSVGElement.querySelectorAll("[data-s]:not(.hit)").forEach(function (one) {
      one.style.opacity = faded && one.getAttribute("data-s") !== series ? ".15" : "";
    });
  }
  function hide() {
    if (on) { on.classList.remove("on"); single(on, false); on = null; }
    tip.hidden = true;
  }
  function show(hit, x, y) {
    if (on !== hit) { hide(); on = hit; hit.classList.add("on"); single(hit, true); tip.textContent = hit.getAttribute("data-tip"); }
    tip.hidden = false;
    var box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(x + 12, document.documentElement.clientWidth - box.width - 8)) + "px";
    tip.style.top = (y - box.height - 12 < 8 ? y + 18 : y - box.height - 12) + "px";
  }
  function pointed(event) {
    var hit = event.target.closest && event.target.closest(".hit");
    if (hit) { show(hit, event.clientX, event.clientY); } else { hide(); }
  }
  document.addEventListener("pointermove", pointed, { passive: true });
  document.addEventListener("pointerdown", pointed, { passive: true });
  document.addEventListener("scroll", hide, { passive: true, capture: true });
  // The arrow keys walk through the values of the picture that has the focus.
  document.addEventListener("keydown", function (event) {
    var figure = document.activeElement;
    if (event.key === "Escape") { hide(); return; }
    var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !figure || figure.tagName !== "FIGURE") { return; }
    var hits = Array.prototype.slice.call(figure.querySelectorAll(".hit"));
    if (!hits.length) { return; }
    event.preventDefault();
    var at = hits.indexOf(on), next = at < 0 ? (step > 0 ? 0 : hits.length - 1) : (at + step + hits.length) % hits.length;
    var box = hits[next].getBoundingClientRect();
    show(hits[next], box.left + Math.min(box.width, 60) / 2, box.top);
  });
  document.addEventListener("focusout", hide);
  // What a link leads to, and what is printed, is not folded.
  function unfold() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    for (var at = target; at; at = at.parentElement) { if (at.tagName === "DETAILS") { at.open = true; } }
  }
  window.addEventListener("hashchange", unfold);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
  unfold();
})();
