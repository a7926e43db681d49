import { isAnswered, messageOf } from "../../store/github/refusal.ts";

/** One thing that a repository needs, and whether it has it. */
export interface Outcome {
	/** `the label removal` */
	what: string;
	/** `unseen`: GitHub does not show it to this token, and a person has to look. */
	state: "right" | "set" | "would be set" | "missing" | "unseen";
	/** What was wrong, or is, or where a person looks; empty where it was right. */
	text: string;
}

/** What was found, and what puts it right; without `fix` a person has to, where anything is wrong. */
export interface Finding extends Outcome {
	fix?: () => Promise<unknown>;
}

/** It is correct. */
export function right(what: string): Finding {
	return { what, state: "right", text: "" };
}

/** A person has to do something; `text` says what. */
export function byHand(what: string, text: string): Finding {
	return { what, state: "missing", text };
}

/** GitHub does not show it to this token; `text` says where a person looks. */
export function unseen(what: string, text: string): Finding {
	return { what, state: "unseen", text };
}

/** `fix` corrects it. */
export function fixable(what: string, text: string, fix: () => Promise<unknown>): Finding {
	return { what, state: "missing", text, fix };
}

/** Puts right what can be, one after the other: GitHub asks for that. */
export async function apply(findings: readonly Finding[], isDryRun: boolean): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const { fix, ...found } of findings) {
		if (!fix) outcomes.push(found);
		else if (isDryRun) outcomes.push({ ...found, state: "would be set" });
		else outcomes.push(await attempt(found, fix));
	}
	return outcomes;
}

async function attempt(found: Outcome, fix: () => Promise<unknown>): Promise<Outcome> {
	try {
		await fix();
		return { ...found, state: "set" };
	} catch (error) {
		return { ...found, text: `${found.text}, and it cannot be set: ${reasonOf(error)}` };
	}
}

/** The findings of one check; where GitHub does not show its state, that is the finding. */
export async function inspect(what: string, find: () => Promise<Finding[]>): Promise<Finding[]> {
	try {
		return await find();
	} catch (error) {
		return [byHand(what, `cannot be checked: ${reasonOf(error)}`)];
	}
}

/** A list that GitHub does not show is taken as empty: what is missing in it is then set, or cannot be. */
export async function emptyOn404<T>(listed: Promise<T[]>): Promise<T[]> {
	return listed.catch((error: unknown) => {
		if (isAnswered(error) && error.status === 404) return [];
		throw error;
	});
}

/** GitHub, "Creating rulesets for a repository" and "Managing environments for deployment". */
const planWords = /upgrade to github|make this repository public/i;

const tokenWords = /resource not accessible by|must have admin rights|not have permission/i;

function reasonOf(error: unknown): string {
	const text = isAnswered(error)
		? `${error.status}, ${messageOf(error.response.data)}`
		: (error as Error).message;
	if (planWords.test(text))
		return `a private repository needs GitHub Pro, Team or Enterprise for it (${text})`;
	if (tokenWords.test(text)) return `the token lacks a permission (${text})`;
	if (isAnswered(error) && error.status === 404)
		return `the token may not see it (${text}): a fine-grained token needs the permissions of --help for this repository, and for one that was made after it *all repositories*`;
	return text;
}
