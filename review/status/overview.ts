import { statfs } from "node:fs/promises";
import { collectCommit, resolveCommit } from "../../publish/collect.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseHealth } from "../../registry/health.ts";
import { judgeFiles, problemLine } from "../../registry/judge.ts";
import { harvestedLangs } from "../../registry/registration.ts";
import { readHealth, servedRef } from "../../service/find-repository.ts";
import { type Review, readReviews } from "../../service/reviews.ts";
import { counted } from "../../terminal/plain.ts";

/**
 * Describes the state of a catalogue, from its repository and its disk alone.
 * @param isServed whether a service runs on the repository
 * @throws {Error} if git fails
 */
export async function overviewLines(repository: string, isServed: boolean): Promise<string[]> {
	const commit = await resolveCommit(repository, servedRef);
	const neverHarvested: string[] = [];
	let layers = 0;
	const problems = judgeFiles(
		await collectCommit(repository, commit),
		({ smallkey, registration, description }) => {
			layers += 1;
			const isAsked = harvestedLangs(registration).length > 0;
			if (isAsked && !isDescribed(registration, description)) neverHarvested.push(smallkey);
		},
	);
	const sick = [...parseHealth(await readHealth(repository, commit))];
	sick.sort(([, a], [, b]) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
	const sickLines = sick.map(([smallkey, { state, since }]) => `${smallkey}  ${state} since ${since}`);
	const reviews = await readReviews(repository, "waiting");
	const { bavail, bsize, blocks } = await statfs(repository);
	const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
	return [
		`${counted(layers, "layer")} at commit ${commit.slice(0, 12)}`,
		...list("file not in order", "files not in order", problems.map(problemLine)),
		...list("sick layer", "sick layers", sickLines),
		...list("layer never harvested", "layers never harvested", neverHarvested.sort()),
		...list("review waits", "reviews wait", reviews.map(reviewLine)),
		`disk: ${gigabytes(bavail * bsize)} of ${gigabytes(blocks * bsize)} left`,
		isServed ? "a service runs on it: /readyz says whether all is well" : "no service runs on it",
	];
}

const maxLines = 20;

function list(one: string, many: string, lines: readonly string[]): string[] {
	const rest = lines.length - maxLines;
	return [
		`${lines.length} ${lines.length === 1 ? one : many}`,
		...lines.slice(0, maxLines).map((line) => `  ${line}`),
		...(rest > 0 ? [`  and ${rest} more`] : []),
	];
}

/** A waiting review as one line. */
export function reviewLine({ branch, author, timeMs, subject }: Review): string {
	const day = new Date(timeMs).toISOString().slice(0, 10);
	return `${branch}  of ${author}, ${day}: ${subject}  (npx fragments review show ${branch})`;
}
