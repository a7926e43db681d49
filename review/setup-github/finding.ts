import { isAnswered, messageOf } from "../../store/github/refusal.ts";

/** One thing that a repository needs, and whether it has it. */
export interface Finding {
	/** `the label removal` */
	what: string;
	/** What is wrong with it; null where it is right. */
	problem: string | null;
	/** Puts it right; null where a person has to. */
	fix: (() => Promise<unknown>) | null;
	/** GitHub does not show it to this token: a person has to look, and it counts neither as right nor as missing. */
	isUnseen?: boolean;
}

/** It is as it has to be. */
export function right(what: string): Finding {
	return { what, problem: null, fix: null };
}

/** A person has to do something; `problem` says what. */
export function byHand(what: string, problem: string): Finding {
	return { what, problem, fix: null };
}

/** GitHub does not show it to this token; `where` says where a person looks. */
export function unseen(what: string, where: string): Finding {
	return { what, problem: where, fix: null, isUnseen: true };
}

/** It is put right by `fix`. */
export function fixable(what: string, problem: string, fix: () => Promise<unknown>): Finding {
	return { what, problem, fix };
}

/** How it is with one of the things that a repository needs, once it was tried to put it right. */
export interface Outcome {
	what: string;
	state: "right" | "set" | "would be set" | "missing" | "unseen";
	/** What was wrong, or is; empty where it was right. */
	text: string;
}

/** Puts right what can be, one after the other: GitHub asks for that. */
export async function apply(findings: readonly Finding[], isDryRun: boolean): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const { what, problem, fix, isUnseen } of findings) {
		if (isUnseen) outcomes.push({ what, state: "unseen", text: problem ?? "" });
		else if (problem === null) outcomes.push({ what, state: "right", text: "" });
		else if (fix === null) outcomes.push({ what, state: "missing", text: problem });
		else if (isDryRun) outcomes.push({ what, state: "would be set", text: problem });
		else outcomes.push(await attempt(what, problem, fix));
	}
	return outcomes;
}

async function attempt(what: string, problem: string, fix: () => Promise<unknown>): Promise<Outcome> {
	try {
		await fix();
		return { what, state: "set", text: problem };
	} catch (error) {
		return { what, state: "missing", text: `${problem}, and it cannot be set: ${reasonOf(error)}` };
	}
}

/** What is found of something; where GitHub does not show it, that is what is found. */
export async function inspect(what: string, find: () => Promise<Finding[]>): Promise<Finding[]> {
	try {
		return await find();
	} catch (error) {
		return [byHand(what, `cannot be looked at: ${reasonOf(error)}`)];
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
