// The script of the root page: goes to the browser's preferred language, with the query and the fragment.
const lang = navigator.languages
	.map((code) => code.slice(0, 2).toLowerCase())
	.find((code) => code === "en" || code === "fr");
location.replace(new URL(`${lang ?? "en"}/${location.search}${location.hash}`, location.href));
