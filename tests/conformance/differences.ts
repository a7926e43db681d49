import type { Candidate } from "./engine.ts";

export const differences = {
	/** URL parsing in front of the worker resolves `..` and `.`, makes `\` a `/`, and cuts at `#`. */
	"dot segments": ["Workers", "Workers with R2"],
	/** nginx refuses a `%` that no two hex digits follow: 400, with an empty body. */
	"malformed percent-encoding": ["nginx"],
	/** Static assets know one tag and `W/` before it; a list or `*` is answered with 200. */
	"If-None-Match lists": ["Workers"],
	/** A static asset has no query. */
	"callback of a file": ["Workers"],
	/** Static assets answer another method without `Allow`. */
	"Allow of a file": ["Workers"],
	/** Static assets know GET and HEAD only. */
	"preflight of a file": ["Workers"],
} as const satisfies Record<string, readonly Candidate["name"][]>;

export function differs(candidate: Candidate, name: keyof typeof differences): boolean {
	return (differences[name] as readonly string[]).includes(candidate.name);
}
