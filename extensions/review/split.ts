import { findWaiting, type Review, servedRef } from "../../api/service/repository.ts";
import { importCommit } from "../../store/git/commands/commits.ts";
import { gitText, runGit } from "../../store/git/commands/run.ts";
import { messageOf, type OpenRepair, readOpen, subjectOf } from "../../store/git/repair-branches.ts";
import { repairBranch } from "../../store/store.ts";

/**
 * Splits a repair that waits, so that a decision can be about some of its layers: they get a branch of their own, and the others
 * keep theirs, or get one if it had the name of a chosen layer. Both happen, or neither.
 * @param only the chosen smallkeys
 * @returns the repair of the chosen layers
 * @throws {Error} if a smallkey is not of this repair
 */
export async function splitRepair(
	repository: string,
	review: Review,
	only: readonly string[],
): Promise<Review> {
	const { branch, commit } = review;
	const open = (await readOpen(repository, servedRef)).find((one) => one.branch === branch);
	if (!open) throw new Error(`--only: ${branch} is no repair`);
	const strange = only.filter((smallkey) => !open.smallkeys.includes(smallkey));
	if (strange.length > 0)
		throw new Error(`--only: ${strange.join(" ")}: not in ${branch}, which has ${open.smallkeys.join(" ")}`);
	const isChosen = (smallkey: string) => only.includes(smallkey);
	if (open.smallkeys.every(isChosen)) return review;
	const chosen = await partOf(repository, open, isChosen);
	const others = await partOf(repository, open, (smallkey) => !isChosen(smallkey));
	const updates = [`delete refs/heads/${branch} ${commit}`, `create ${others.ref} ${others.commit}`];
	if (others.ref === `refs/heads/${branch}`)
		updates.splice(0, 2, `update ${others.ref} ${others.commit} ${commit}`);
	if (chosen.ref === `refs/heads/${branch}`)
		updates.splice(0, 1, `update ${chosen.ref} ${chosen.commit} ${commit}`);
	else updates.push(`create ${chosen.ref} ${chosen.commit}`);
	await runGit(repository, ["update-ref", "--stdin"], { input: updates.map((line) => `${line}\n`).join("") });
	return findWaiting(repository, chosen.ref.slice("refs/heads/".length));
}

/** Writes the commit of some layers of a repair, on the same commit, with the evidence for them. */
async function partOf(repository: string, open: OpenRepair, isOwn: (smallkey: string) => boolean) {
	const base = `${open.commit}^`;
	const smallkeys = open.smallkeys.filter(isOwn);
	const evidence = open.evidence.filter((_, at) => isOwn(open.smallkeys[at] as string));
	const paths = (await text(repository, ["diff", "--name-only", "-z", base, open.commit])).split("\0");
	const isOwnPath = (path: string) => isOwn(path.slice(path.lastIndexOf("/") + 1).split(".", 1)[0] as string);
	const edits = [];
	for (const path of paths.filter(Boolean).filter(isOwnPath))
		edits.push({ path, text: await text(repository, ["cat-file", "blob", `${open.commit}:${path}`]) });
	const body = await text(repository, ["show", "-s", "--format=%B", open.commit]);
	// The evidence of each layer begins with a line that names it.
	const sections = body.split(/^(?=Layer \S+$)/m).slice(1);
	const own = sections.filter((section) => isOwn(section.split("\n", 1)[0]?.slice("Layer ".length) ?? ""));
	const lines = own.map((section) => section.replace(/^(?:Repairs|Evidence|Certainty|Choice): .*\n?/gm, ""));
	const subject = subjectOf(smallkeys, open.sure);
	const message = messageOf({ ...open, subject, smallkeys, evidence }, lines.join(""));
	const person = await gitText(repository, ["show", "-s", "--format=%an <%ae> %at +0000", open.commit]);
	const from = await gitText(repository, ["rev-parse", base]);
	const commit = await importCommit(repository, from, { author: person, committer: person, message, edits });
	return { commit, ref: `refs/heads/${repairBranch(smallkeys[0] as string)}` };
}

async function text(repository: string, words: string[]): Promise<string> {
	return (await runGit(repository, words)).toString("utf8");
}
