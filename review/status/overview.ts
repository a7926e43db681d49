import { statfs } from "node:fs/promises";
import { collectCommit, resolveCommit } from "../../publish/collect.ts";
import { isDescribed } from "../../registry/description.ts";
import { parseHealth } from "../../registry/health.ts";
import { judgeFiles, problemLine } from "../../registry/judge.ts";
import { harvestedLangs } from "../../registry/registration.ts";
import { readHealth, servedRef } from "../../service/find-repository.ts";
import { type Review, readReviews } from "../../service/reviews.ts";

/** How a catalogue is, from its repository and its disk alone. */
export interface Overview {
	commit: string;
	layers: number;
	/** Files that are not in order: what was served before stays. */
	problems: string[];
	/** `<smallkey>  down since 2026-W09`, those that are sick for longest first. */
	sick: string[];
	/** Smallkeys of layers whose service is harvested, and never was. */
	neverHarvested: string[];
	reviews: Review[];
	freeBytes: number;
	sizeBytes: number;
}

/** Looks at everything. @throws {Error} where git fails */
export async function readOverview(repository: string): Promise<Overview> {
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
	const { bavail, bsize, blocks } = await statfs(repository);
	return {
		commit,
		layers,
		problems: problems.map(problemLine),
		sick: await readSick(repository, commit),
		neverHarvested: neverHarvested.sort(),
		reviews: await readReviews(repository, "waiting"),
		freeBytes: bavail * bsize,
		sizeBytes: blocks * bsize,
	};
}

async function readSick(repository: string, commit: string): Promise<string[]> {
	const sick = [...parseHealth(await readHealth(repository, commit))];
	sick.sort(([, a], [, b]) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
	return sick.map(([smallkey, { state, since }]) => `${smallkey}  ${state} since ${since}`);
}

const maxLines = 20;

export function overviewLines(overview: Overview, isServed: boolean): string[] {
	const { commit, layers, problems, sick, neverHarvested, reviews, freeBytes, sizeBytes } = overview;
	const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
	return [
		`${layers} ${layers === 1 ? "layer" : "layers"} at commit ${commit.slice(0, 12)}`,
		...list("file not in order", "files not in order", problems),
		...list("sick layer", "sick layers", sick),
		...list("layer never harvested", "layers never harvested", neverHarvested),
		...list("review waits", "reviews wait", reviews.map(reviewLine)),
		`disk: ${gigabytes(freeBytes)} of ${gigabytes(sizeBytes)} left`,
		isServed ? "a service runs on it: /readyz says whether all is well" : "no service runs on it",
	];
}

function list(one: string, many: string, lines: readonly string[]): string[] {
	const rest = lines.length - maxLines;
	return [
		`${lines.length} ${lines.length === 1 ? one : many}`,
		...lines.slice(0, maxLines).map((line) => `  ${line}`),
		...(rest > 0 ? [`  and ${rest} more`] : []),
	];
}

/** A review that waits, in a line. */
export function reviewLine({ branch, author, timeMs, subject }: Review): string {
	const day = new Date(timeMs).toISOString().slice(0, 10);
	return `${branch}  of ${author}, ${day}: ${subject}  (npx fragments review show ${branch})`;
}
