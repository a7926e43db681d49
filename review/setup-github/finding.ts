import { isAnswered, messageOf } from "../../store/github/answer.ts";

/** One thing that a repository needs, and whether it has it. */
export interface Outcome {
	/** `the label removal` */
	what: string;
	/** `unseen`: GitHub does not show it to this token, and a person has to look. */
	state: "right" | "set" | "would be set" | "missing" | "unseen";
	/** What was or is wrong, or where a person has to look; empty if it was right. */
	text: string;
}

/** A check's result, and the function that corrects it. If it is wrong and has no `fix`, a person has to correct it. */
export interface Finding extends Outcome {
	fix?: () => Promise<unknown>;
}

/** @param problem what is wrong, or what a person has to do; false if it is right */
export function check(what: string, problem: string | false, fix?: () => Promise<unknown>): Finding {
	if (problem === false) return { what, state: "right", text: "" };
	return { what, state: "missing", text: problem, ...(fix && { fix }) };
}

/** Runs the fixes one after the other, as GitHub asks for requests that write ("Best practices for using the REST API"). */
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

/** The findings of one check; if the check fails, one finding that says so. */
export async function inspect(what: string, find: () => Promise<Finding[]>): Promise<Finding[]> {
	return find().catch((error: unknown) => [check(what, `cannot be checked: ${reasonOf(error)}`)]);
}

/** Takes a list that GitHub does not show as empty. The fix then sets what is missing, or its failure is reported. */
export async function emptyOn404<T>(listed: Promise<T[]>): Promise<T[]> {
	return listed.catch((error: unknown) => {
		if (isAnswered(error) && error.status === 404) return [];
		throw error;
	});
}

/** GitHub's messages for a plan without the feature ("Creating rulesets for a repository", "Managing environments"). */
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
