// Zoom and search in flame graphs. A click on a frame makes it as wide as the picture, a click
// on the outermost one or Escape goes back. Frames of which the name contains what is typed are
// marked, and their share of the picture is told.
"use strict";

const slack = 0.002; // percent, by which rounded places may be off
const room = 24; // pixels, that text needs

document.documentElement.setAttribute("width", "100%");

// Places are percentages of the picture; callers come before what they call, from left to right.
const frames = [...document.querySelectorAll(".frame")].map((el) => ({
  el,
  graph: el.parentNode,
  name: el.querySelector("text").textContent.toLowerCase(),
  left: parseFloat(el.getAttribute("x")),
  right: parseFloat(el.getAttribute("x")) + parseFloat(el.getAttribute("width")),
  y: Number(el.getAttribute("y")),
}));

const covers = (a, b) => a.left <= b.left + slack && a.right >= b.right - slack;

// show puts a frame where it is if the picture goes from left to right.
function show(frame, left, right) {
  const scale = 100 / (right - left);
  const from = Math.max(0, (frame.left - left) * scale);
  const width = Math.min(100, (frame.right - left) * scale) - from;
  frame.el.setAttribute("x", from + "%");
  frame.el.setAttribute("width", width + "%");
  frame.el.classList.toggle("narrow", (width / 100) * frame.graph.getBoundingClientRect().width < room);
}

function zoom(to) {
  for (const frame of frames.filter((frame) => frame.graph === to.graph)) {
    const caller = frame.y > to.y && covers(frame, to);
    const inside = frame === to || (frame.y < to.y && covers(to, frame));
    frame.el.classList.toggle("around", caller);
    frame.el.classList.toggle("hidden", !caller && !inside);
    if (caller || inside) show(frame, to.left, to.right);
  }
  zoomed.set(to.graph, to);
}

// zoomed is the frame that each graph is filled by: at first the outermost.
const zoomed = new Map();

function unzoom() {
  for (const frame of frames.toReversed()) zoomed.set(frame.graph, frame);
  zoomed.forEach(zoom);
}

// search marks frames. One that is called by a marked one adds nothing to the share.
function search(text) {
  const share = new Map(), end = new Map();
  for (const frame of frames) {
    const found = text !== "" && frame.name.includes(text);
    frame.el.classList.toggle("found", found);
    if (found && frame.left >= (end.get(frame.graph) ?? 0) - slack) {
      share.set(frame.graph, (share.get(frame.graph) ?? 0) + frame.right - frame.left);
      end.set(frame.graph, frame.right);
    }
  }
  for (const graph of zoomed.keys()) {
    const told = text === "" ? "" : (share.get(graph) ?? 0).toFixed(1) + "% found";
    graph.parentNode.querySelector(".matched").textContent = told;
  }
}

const field = document.querySelector("input");
for (const frame of frames) frame.el.addEventListener("click", () => zoom(frame));
field.addEventListener("input", () => search(field.value.toLowerCase()));
addEventListener("resize", () => zoomed.forEach(zoom));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  field.value = "";
  search("");
  unzoom();
});
unzoom();
