// npx fragment-publisher status: how the layers of a repository are, from git alone
import { statfs } from "node:fs/promises";
import type { RunningService, Started } from "../../api/service/extensions.ts";
import { gitInTime, historyMs, isoTime } from "../../api/service/layer-status.ts";
import { readConfiguration, withoutStore } from "../../api/service/settings.ts";
import { collectSource, resolveCommit } from "../../publish/collect.ts";
import { parseHealth } from "../../registry/health.ts";
import { judgeChange, namesOf, problemLine } from "../../registry/judge.ts";
import type { LayerStatus } from "../../registry/schemas/answers.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { counted, plain } from "../../registry/untrusted-text.ts";
import { createRun } from "../../scripts/terminal/command-line.ts";
import { gitText } from "../../store/git/commands/run.ts";
import { isDescribed } from "../harvest/description.ts";
import { findRepository, readHealth, servedRef } from "../harvest/repository.ts";
import { isStale, staleText } from "./decide.ts";
import { readReviews } from "./waiting.ts";

async function overviewLines(repository: string): Promise<string[]> {
	const commit = await resolveCommit(repository, servedRef);
	const [files, healthText, reviews, { bavail, bsize, blocks }] = await Promise.all([
		collectSource({ repository, ref: commit }),
		readHealth(repository, commit),
		reviewLines(repository),
		statfs(repository),
	]);
	const { layers, problems } = judgeChange(namesOf(files), files, "stored");
	const health = parseHealth(healthText);
	const sick = [...health]
		.sort(([, a], [, b]) => a.since.localeCompare(b.since))
		.map(([smallkey, { state, since }]) => `${smallkey}  ${state} since ${since}`);
	// What is not harvested at all is described.
	const unharvested = [...layers.values()]
		.filter(({ registration, description }) => !isDescribed(registration, description))
		.map(({ smallkey }) => smallkey);
	const megabytes = (blocksLeft: number) =>
		`${Math.floor((blocksLeft * bsize) / 1e6).toLocaleString("en")} MB`;
	return [
		`${counted(layers.size, "layer")} at commit ${commit.slice(0, 12)}`,
		...list(`${counted(problems.length, "file")} not in order`, problems.map(problemLine)),
		...list(counted(sick.length, "sick layer"), sick),
		...list(`${counted(unharvested.length, "layer")} without a harvest`, unharvested.sort()),
		...list(`${counted(reviews.length, "review")} ${reviews.length === 1 ? "waits" : "wait"}`, reviews),
		`disk: ${megabytes(bavail)} of ${megabytes(blocks)} left`,
	];
}

export function indented(lines: readonly string[]): string[] {
	return lines.map((line) => `  ${line}`);
}

const maxLines = 20;

function list(title: string, lines: readonly string[]): string[] {
	const rest = lines.length - maxLines;
	return [title, ...indented([...lines.slice(0, maxLines), ...(rest > 0 ? [`and ${rest} more`] : [])])];
}

/** The waiting reviews, each as one line, the oldest first. */
export async function reviewLines(repository: string): Promise<string[]> {
	const lines: string[] = [];
	for (const review of await readReviews(repository, "waiting")) {
		const { branch, author, timeMs, subject } = review;
		const stale = (await isStale(repository, review)) ? `; ${staleText}` : "";
		const about = `${branch}  of ${author}, ${isoTime(timeMs).slice(0, 10)}: ${subject}${stale}`;
		lines.push(`${about}  (npx fragment-publisher review show ${branch})`);
	}
	return lines;
}

/** For the status of a layer: the change that waits for a review, or the last one that was declined. */
export function startReviews({ repository }: RunningService): Started {
	if (repository === null) return { close: () => undefined };
	return {
		layer: async (smallkey, layer) => {
			const review = await reviewOf(repository, smallkey);
			const declined = review ? null : await declinedOf(repository, smallkey);
			return layer || review || declined ? () => ({ review, declined }) : null;
		},
		close: () => undefined,
	};
}

async function reviewOf(repository: string, smallkey: string): Promise<LayerStatus["review"]> {
	const newest = (await readReviews(repository, "waiting", smallkey, historyMs)).at(-1);
	return newest ? { branch: newest.branch, commit: newest.commit, since: isoTime(newest.timeMs) } : null;
}

/** The newest declined change of a layer; null if there is none, or the layer has changed since. */
async function declinedOf(repository: string, smallkey: string): Promise<LayerStatus["declined"]> {
	const newest = (await readReviews(repository, "declined", smallkey, historyMs)).at(-1);
	if (!newest?.main) return null;
	// Without the commit of that time, such as in an older copy of the branch, any commit of the layer is newer.
	const newer = ["rev-list", "-1", "--first-parent", "--ignore-missing", servedRef, `^${newest.main}`];
	const later = await gitInTime(repository, [...newer, "--", layerPath(smallkey)]);
	if (later !== "") return null;
	const commit = await gitText(repository, ["rev-parse", `${newest.commit}^`], { limitMs: historyMs });
	return { commit, at: isoTime(newest.timeMs), reason: newest.reason };
}

export const run = createRun(async ({ read, environment, io }) => {
	await read((line) => line);
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path, name } = await findRepository(dataDir);
	io.warn(`Looking at the branch main of ${name}`);
	for (const text of await overviewLines(path)) io.print(plain(text));
});
