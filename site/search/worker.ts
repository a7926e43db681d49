import { Matcher } from "./matcher.ts";
import type { ToMatcher } from "./text-search.ts";

// Text search beside the page: indexing 20,000 layers takes seconds, in which the page has to answer.
const matcher = new Matcher();

addEventListener("message", ({ data }: MessageEvent<ToMatcher>) => {
	if ("add" in data) matcher.add(data.add);
	else postMessage({ serial: data.serial, ...matcher.match(data.text) });
});
