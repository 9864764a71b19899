// On the page of the search: messages that the query is, with names and numbers of its own in them.
"use strict";

// The share of a message's own letters that a query has, in their order.
function shareFound(message, query) {
    const pieces = message.toLowerCase().split("…").map((piece) => piece.trim());
    let [place, found, all] = [0, 0, 0];
    for (const piece of pieces.filter((each) => each.length > 2)) {
        const next = query.indexOf(piece, place);
        all += piece.length;
        if (next >= 0) {
            place = next + piece.length;
            found += piece.length;
        }
    }
    return all > 4 ? found / all : 0;
}

// The messages, as [text, anchor], that a query most likely is, the likeliest first.
function bestOf(messages, query) {
    const ranked = messages.map(([text, anchor]) => [shareFound(text, query), text, anchor]);
    const first = (each, place) => ranked.findIndex((other) => other[1] === each[1]) === place;
    const likely = ranked.filter((each, place) => each[0] > 0.7 && first(each, place));
    likely.sort((a, b) => b[0] - a[0] || b[1].length - a[1].length);
    return likely.slice(0, 3).map(([, text, anchor]) => [text, anchor]);
}

function showSentences() {
    const results = document.getElementById("search-results");
    const query = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase();
    if (!results || query.split(/\s+/).length < 3) {
        return;
    }
    const best = bestOf(SENTENCES, query);
    const list = document.createElement("ul");
    list.id = "sentences";
    for (const [text, anchor] of best) {
        const link = document.createElement("a");
        link.href = `reference/messages.html#${anchor}`;
        link.textContent = text;
        list.appendChild(document.createElement("li")).appendChild(link);
    }
    if (best.length) {
        const title = document.createElement("h2");
        title.textContent = "What Blender showed";
        results.before(title, list);
    }
}

document.addEventListener("DOMContentLoaded", showSentences);
