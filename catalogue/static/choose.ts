// The page at the root: on to the language that the browser asks for, with everything that the address says.
const wanted = navigator.languages
	.map((one) => one.slice(0, 2).toLowerCase())
	.find((one) => one === "en" || one === "fr");
location.replace(
	new URL(`${wanted ?? "en"}/${location.search}${location.hash}`, location.href.split(/[?#]/)[0]),
);
