import pMap from "p-map";
import { authorMail, commitMessage, serviceAuthor } from "../naming.ts";
import type { Edit, Meta } from "../store.ts";
import type { Head } from "./branch.ts";
import type { Github } from "./client.ts";

export interface Step {
	edits: Edit[];
	meta: Meta;
}

/** GitHub asks clients to make few writes at the same time. */
const treesAtOnce = 4;

/** Makes commits on top of each other, on no branch yet. @returns the commits of the steps for which there was time */
export async function commitEach(
	github: Github,
	head: Head,
	steps: readonly Step[],
	now: Date,
	hasTime: () => boolean,
): Promise<string[]> {
	// Each tree is the head's tree with all edits up to its step, so that no tree has to wait for another one.
	const writeStep = (_: Step, index: number) => {
		const edits = steps.slice(0, index + 1).flatMap((step) => step.edits);
		return writeTree(github, head.tree, edits);
	};
	const trees = await pMap(steps, writeStep, { concurrency: treesAtOnce });
	const commits: string[] = [];
	for (const [index, { meta }] of steps.entries()) {
		if (index > 0 && !hasTime()) break;
		const { data } = await github.rest.git.createCommit({
			...github.repo,
			message: commitMessage(meta),
			author: personAt(meta.author, new Date(meta.time)),
			committer: personAt(serviceAuthor, now),
			tree: trees[index] as string,
			parents: [commits.at(-1) ?? head.commit],
		});
		commits.push(data.sha);
	}
	return commits;
}

/** Git keeps whole seconds. */
function personAt(name: string, time: Date) {
	return { name, email: authorMail(name), date: `${time.toISOString().slice(0, 19)}Z` };
}

/** One step for all changes of a named review, since GitHub lists at most 250 commits of a pull request. */
export function joinSteps(steps: readonly Step[]): Step[] {
	const [first, second] = steps;
	if (!first || !second) return [...steps];
	const trailers = new Map(steps.flatMap(({ meta }) => meta.trailers).map((pair) => [pair.join(": "), pair]));
	const subject = `change ${steps.length} layers`;
	const meta = { ...first.meta, smallkey: null, subject, trailers: [...trailers.values()] };
	return [{ meta, edits: steps.flatMap(({ edits }) => edits) }];
}

/** With about 200 files or 2.5 MB at once GitHub times out: 502, or 422 "Sorry, your request timed out". */
const maxTreeFiles = 100;
const maxTreeBytes = 1_000_000;

/** Writes a tree, `base` with the edits, in portions. @returns its id */
async function writeTree({ rest, repo }: Github, base: string, edits: readonly Edit[]): Promise<string> {
	let tree = base;
	for (const portion of portionsOf(edits)) {
		const files = portion.map(({ path, text }) => {
			const blob = text === null ? { sha: null } : { content: text };
			return { path, mode: "100644", type: "blob", ...blob } as const;
		});
		tree = (await rest.git.createTree({ ...repo, base_tree: tree, tree: files })).data.sha;
	}
	return tree;
}

function portionsOf(edits: readonly Edit[]): Edit[][] {
	const portions: Edit[][] = [];
	let bytes = 0;
	for (const edit of edits) {
		const size = 2 * (edit.text?.length ?? 0);
		const last = portions.at(-1);
		if (last && last.length < maxTreeFiles && bytes + size <= maxTreeBytes) {
			last.push(edit);
			bytes += size;
		} else {
			portions.push([edit]);
			bytes = size;
		}
	}
	return portions;
}
