import type { ToMatcher } from "./loaded-catalogue.ts";
import { Matcher } from "./matcher.ts";

// Indexing 20,000 layers takes seconds, and the page has to stay responsive.
const matcher = new Matcher();

addEventListener("message", ({ data }: MessageEvent<ToMatcher>) => {
	if ("add" in data) matcher.add(data.add);
	else postMessage({ serial: data.serial, ...matcher.match(data.text) });
});
