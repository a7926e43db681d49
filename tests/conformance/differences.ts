import type { Candidate } from "./engine.ts";

/** What engines do before the service's own code runs, by their names in docs/hosting.md. */
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
	/** workerd takes spaces, control characters and bytes above 7F in a target for a path; others refuse the request. */
	"bytes in a target": ["Workers", "Workers with R2"],
	/** workerd answers 501 to what has no method that it knows. */
	"unknown methods": ["Workers", "Workers with R2"],
	/** The development server in front of workerd fails at `*` and at an address as a target, with a 500 of its own. */
	"targets that are no path": ["Workers", "Workers with R2"],
	/** nginx hands on the path of an address as a target. */
	"addresses as targets": ["nginx"],
	/** nginx refuses `*` as a target, and TRACE, itself. */
	"* and TRACE": ["nginx"],
} as const satisfies Record<string, readonly Candidate["name"][]>;

/** Whether an engine has a known difference. */
export function differs(candidate: Candidate, name: keyof typeof differences): boolean {
	return (differences[name] as readonly string[]).includes(candidate.name);
}
