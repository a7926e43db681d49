import { type Github, isAnswered, messageOf } from "../../../store/github/answer.ts";

/** One thing that a repository needs, and whether it has it. */
export interface Outcome {
	/** `the label removal` */
	what: string;
	/** `unseen`: GitHub does not show it to this token, and a person has to look. */
	state: "right" | "set" | "would be set" | "missing" | "unseen";
	/** What was or is wrong, or where a person has to look; empty if it was right. */
	text: string;
}

/**
 * Makes the function that notes in a list whether something is right. If it is not, `fix` corrects it; without one a person
 * has to. Fixes run one after the other, as GitHub asks for requests that write ("Best practices for using the REST API").
 */
export function checkInto(outcomes: Outcome[], isDryRun: boolean) {
	/** @param problem what is wrong, or what a person has to do; false if it is right */
	return async (what: string, problem: string | false, fix?: () => Promise<unknown>): Promise<void> => {
		const outcome: Outcome = { what, state: problem === false ? "right" : "missing", text: problem || "" };
		outcomes.push(outcome);
		if (problem === false || !fix) return;
		const failure = isDryRun ? null : await fix().then(() => null, reasonOf);
		if (failure === null) outcome.state = isDryRun ? "would be set" : "set";
		else outcome.text = `${problem}, and it cannot be set: ${failure}`;
	};
}

export type Target = Pick<
	Awaited<ReturnType<Github["rest"]["repos"]["get"]>>["data"],
	| "name"
	| "private"
	| "allow_squash_merge"
	| "fork"
	| "archived"
	| "html_url"
	| "clone_url"
	| "default_branch"
	| "delete_branch_on_merge"
	| "has_issues"
> & { owner: { login: string; type: string } };

export interface App {
	id: number;
	login: string | null;
}

/** What the checks of a repository need. */
export interface Setup {
	check: ReturnType<typeof checkInto>;
	/** Outcomes of all checks up to now. */
	outcomes: Outcome[];
	github: Github;
	target: Target;
	/** The branch of the layers. */
	branch: string;
	/** The two Apps; null for one that is not known yet. */
	apps: Readonly<Record<"service" | "workflow", App | null>>;
	/** Names that the options give to Apps, by which GitHub shows none. */
	unknownApps: ReadonlyMap<"service" | "workflow", string>;
	/** Variables of the workflows that the fixes set. */
	wanted: ReadonlyMap<string, string>;
	/** The settings of the workflows, in this clone's file. */
	published: ReadonlyMap<string, string>;
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

export function reasonOf(error: unknown): string {
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
