// The script of the root page: it goes to the browser's preferred language and keeps the query and the fragment.
const wanted = navigator.languages
	.map((one) => one.slice(0, 2).toLowerCase())
	.find((one) => one === "en" || one === "fr");
const here = location.href.split(/[?#]/)[0];
location.replace(new URL(`${wanted ?? "en"}/${location.search}${location.hash}`, here));
