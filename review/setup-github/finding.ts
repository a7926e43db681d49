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

/** What was found, and what corrects it; without `fix` a person has to, where anything is wrong. */
export interface Finding extends Outcome {
	fix?: () => Promise<unknown>;
}

/** @param problem what is wrong, or what a person has to do; false where it is right */
export function check(what: string, problem: string | false, fix?: () => Promise<unknown>): Finding {
	if (problem === false) return { what, state: "right", text: "" };
	return { what, state: "missing", text: problem, ...(fix && { fix }) };
}

/** Corrects what can be, one after the other: GitHub asks for that. */
export async function apply(findings: readonly Finding[], isDryRun: boolean): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (const { fix, ...found } of findings) {
		if (!fix) outcomes.push(found);
		else if (isDryRun) outcomes.push({ ...found, state: "would be set" });
		else {
			const failure = await fix().then(() => null, reasonOf);
			outcomes.push(
				failure === null
					? { ...found, state: "set" }
					: { ...found, text: `${found.text}, and it cannot be set: ${failure}` },
			);
		}
	}
	return outcomes;
}

/** The findings of one check; where GitHub does not show its state, that is the finding. */
export async function inspect(what: string, find: () => Promise<Finding[]>): Promise<Finding[]> {
	return find().catch((error: unknown) => [check(what, `cannot be checked: ${reasonOf(error)}`)]);
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
