import { layerPaths } from "../../registry/smallkey.ts";
import { counted } from "../../registry/untrusted.ts";
import { trailersOf } from "../../store/git/commands/commits.ts";
import { gitText, runGit } from "../../store/git/commands/run.ts";
import { listBranches } from "../../store/git/review-branches.ts";
import { importCommit } from "../../store/git/writer.ts";
import {
	declinedFolder,
	mainTrailer,
	repairBranch,
	repairedTrailer,
	serviceIdentity,
} from "../../store/naming.ts";
import type { Edit } from "../../store/store.ts";

/** Trailers of a proposal's commit. */
const evidenceTrailer = "Evidence";
const sureTrailer = "Certainty";

export interface Proposal {
	branch: string;
	smallkeys: string[];
	sure: "same" | "perhaps";
	subject: string;
	/** The evidence: `text` in plain English for the commit, `markdown` in both languages for a pull request. */
	text: string;
	markdown: string;
	/** A hash for each layer: what was declined is not proposed again on the same evidence. */
	evidence: string[];
	edits: Edit[];
}

export type OpenRepair = Awaited<ReturnType<typeof readOpen>>[number];

/** @param base the branch or commit into which the proposals would be merged */
export async function readOpen(repository: string, base: string) {
	const branches = await listBranches(repository, [`--no-merged=${base}`], [repairBranch("")]);
	return branches.map(({ name: branch, commit, message }) => {
		const isSure = trailersOf(message, sureTrailer).includes("same");
		const sure: Proposal["sure"] = isSure ? "same" : "perhaps";
		const [smallkeys, evidence] = [
			trailersOf(message, repairedTrailer),
			trailersOf(message, evidenceTrailer),
		];
		return { branch, commit, smallkeys, sure, evidence };
	});
}

/** Whether a layer of a proposal has changed since. */
export async function isStale(repository: string, commit: string, smallkeys: string[], main: string) {
	const paths = smallkeys.flatMap(layerPaths);
	const output = await runGit(repository, ["diff", "--name-only", `${commit}^`, main, "--", ...paths]);
	return output.length > 0;
}

/** A proposal whose layer had changed could not be accepted, and is left out. */
export async function declinedEvidence(repository: string): Promise<Set<string>> {
	const evidence: string[] = [];
	const folder = `${declinedFolder}/${repairBranch("")}`;
	for (const { commit, message: words } of await listBranches(repository, [], [folder])) {
		// The head of a closed pull request on GitHub; on one machine, a commit upon it says who declined it.
		const isProposal = trailersOf(words, evidenceTrailer).length > 0;
		const proposal = isProposal ? commit : `${commit}^`;
		const message = await gitText(repository, ["show", "-s", "--format=%B", proposal]);
		const [main] = trailersOf(words, mainTrailer);
		const smallkeys = trailersOf(message, repairedTrailer);
		const wasStale = main !== undefined && (await isStale(repository, proposal, smallkeys, main));
		if (!wasStale) evidence.push(...trailersOf(message, evidenceTrailer));
	}
	return new Set(evidence);
}

/** @param before the earlier proposal: git fails if its branch has moved since */
export async function writeProposal(
	repository: string,
	base: string,
	proposal: Proposal,
	before: OpenRepair | undefined,
	now: Date,
): Promise<void> {
	const identity = `${serviceIdentity} ${Math.floor(now.getTime() / 1000)} +0000`;
	const { branch, text, edits } = proposal;
	const change = { author: identity, committer: identity, message: messageOf(proposal, text), edits };
	const commit = await importCommit(repository, base, change);
	await runGit(repository, ["update-ref", `refs/heads/${branch}`, commit, before?.commit ?? ""]);
}

export function messageOf({ subject, smallkeys, evidence, sure }: Proposal, text = ""): string {
	const lines = [
		...smallkeys.map((smallkey) => `${repairedTrailer}: ${smallkey}`),
		...evidence.map((hash) => `${evidenceTrailer}: ${hash}`),
		`${sureTrailer}: ${sure}`,
	];
	return `${[subject, text.trim(), lines.join("\n")].filter(Boolean).join("\n\n")}\n`;
}

export function subjectOf(smallkeys: readonly string[], sure: Proposal["sure"]): string {
	const [first, ...others] = smallkeys;
	const what = others.length === 0 ? first : `${first} and ${counted(others.length, "other layer")}`;
	return `repair ${what}: ${sure === "same" ? "" : "perhaps "}the same layer at another place`;
}
