import { fileURLToPath } from "node:url";

/** A value of GitHub's REST API. */
// biome-ignore lint/suspicious/noExplicitAny: the members are GitHub's, and each check compares those it names
export type Json = any;

/** What a repository has otherwise than it has to be. */
export interface Difference {
	/** `ruleset layers` */
	what: string;
	problem: string;
	/** The command that sets it right; none where a person has to decide. */
	line?: string | undefined;
}

export interface Target {
	/** `owner/name`. */
	repository: string;
	/** The branch of the layers. */
	branch: string;
}

/** What a check looks at, and notes in. */
export interface Look extends Target {
	/** Reads a path below the repository; null where it is not. */
	get: (path: string) => Promise<Json>;
	/** Notes the outcome of a check: a problem, or false. */
	check: (what: string, problem: string | false, line?: string) => void;
	/** The settings of the workflows, in this clone's file. */
	published: ReadonlyMap<string, string>;
}

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Identifies an element of a list: by the type of a rule, the name of a check, or itself. */
const identityOf = (value: Json) => JSON.stringify(value?.type ?? value?.context ?? value);

/**
 * Whether GitHub's value has all that a file wants. Other members and elements may be there, and what the file leaves off (false,
 * 0, an empty list) may be on.
 */
export function has(value: Json, target: Json): boolean {
	if (target === false || target === 0) return true;
	if (Array.isArray(target)) {
		const elements: Json[] = Array.isArray(value) ? value : [];
		return target.every((part) =>
			elements.some((element) => identityOf(element) === identityOf(part) && has(element, part)),
		);
	}
	if (typeof target !== "object" || target === null) return value === target;
	return Object.entries(target).every(([name, part]) => has(value?.[name], part));
}
