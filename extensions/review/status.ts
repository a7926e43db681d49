import { statfs } from "node:fs/promises";
import { readHealth, readReviews, servedRef } from "../../api/service/repository.ts";
import { collectCommit, resolveCommit } from "../../publish/collect.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseHealth } from "../../registry/health.ts";
import { judgeChange, problemLine } from "../../registry/judge.ts";
import { namesOf } from "../../registry/layer-file.ts";
import { harvestedLangs } from "../../registry/registration.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { indented } from "../../scripts/send/status.ts";
import { isStale, staleText } from "./decide.ts";

/**
 * Describes the state of a catalogue, from its repository and its disk alone.
 * @param isServed whether a service runs on the repository
 * @throws {Error} if git fails
 */
export async function overviewLines(repository: string, isServed: boolean): Promise<string[]> {
	const commit = await resolveCommit(repository, servedRef);
	const neverHarvested: string[] = [];
	const files = await collectCommit(repository, commit);
	const { layers, problems } = judgeChange(namesOf(files), files, "stored");
	for (const [smallkey, { registration, description }] of layers) {
		const isAsked = harvestedLangs(registration).length > 0;
		if (isAsked && !isDescribed(registration, description)) neverHarvested.push(smallkey);
	}
	const health = parseHealth(await readHealth(repository, commit));
	const sick = [...health].sort(([, a], [, b]) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
	const sickLines = sick.map(([smallkey, { state, since }]) => `${smallkey}  ${state} since ${since}`);
	const harvestLines = neverHarvested.sort().map((smallkey) => {
		const seen = health.get(smallkey);
		return seen ? `${smallkey}  was asked: ${seen.state}` : smallkey;
	});
	const reviews = await reviewLines(repository);
	const { bavail, bsize, blocks } = await statfs(repository);
	const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
	return [
		`${counted(layers.size, "layer")} at commit ${commit.slice(0, 12)}`,
		...list("file not in order", "files not in order", problems.map(problemLine)),
		...list("sick layer", "sick layers", sickLines),
		...list("layer without a harvest", "layers without a harvest", harvestLines),
		...list("review waits", "reviews wait", reviews),
		`disk: ${gigabytes(bavail * bsize)} of ${gigabytes(blocks * bsize)} left`,
		isServed ? servedLine : "no service runs on it",
	];
}

const servedLine =
	"a service runs on it: what it finds is stored here within 10 minutes, and npx fragment-publisher status <smallkey> has it at once";

const maxLines = 20;

function list(one: string, many: string, lines: readonly string[]): string[] {
	const rest = lines.length - maxLines;
	const shown = [...lines.slice(0, maxLines), ...(rest > 0 ? [`and ${rest} more`] : [])];
	return [`${lines.length} ${lines.length === 1 ? one : many}`, ...indented(shown)];
}

/** The waiting reviews, each as one line, the oldest first. */
export async function reviewLines(repository: string): Promise<string[]> {
	const lines: string[] = [];
	for (const review of await readReviews(repository, "waiting")) {
		const { branch, author, timeMs, subject } = review;
		const day = new Date(timeMs).toISOString().slice(0, 10);
		const stale = (await isStale(repository, review)) ? `; ${staleText}` : "";
		lines.push(
			`${branch}  of ${author}, ${day}: ${subject}${stale}  (npx fragment-publisher review show ${branch})`,
		);
	}
	return lines;
}
