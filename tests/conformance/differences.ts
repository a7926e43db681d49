import type { Candidate } from "./engine.ts";

/** What engines do that the Node server does not do, by the names of the table in docs/hosting.md. */
export const differences = {
	/** URL parsing in front of the worker resolves `..` and `.`, plain or percent-encoded. */
	"dot segments": ["Workers", "Workers with R2"],
	/** nginx refuses a `%` that no two hex digits follow: 400, with an empty body. */
	"malformed percent-encoding": ["nginx"],
	/** Static assets know one tag and `W/` before it; a list or `*` is answered with 200. */
	"If-None-Match lists": ["Workers"],
	/** Static assets answer another method without `Allow`. */
	"Allow of a file": ["Workers"],
} as const satisfies Record<string, readonly Candidate["name"][]>;

/** Whether an engine has a known difference. */
export function differs(candidate: Candidate, name: string): boolean {
	const engines = (differences as Record<string, readonly string[]>)[name] ?? [];
	return engines.includes(candidate.name);
}
