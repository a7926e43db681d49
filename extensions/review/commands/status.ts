// npx fragment-publisher status
import { statfs } from "node:fs/promises";
import { collectSource, resolveCommit } from "../../../publish/collect.ts";
import { judgeStored, problemLine } from "../../../registry/judge.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { parseHealth } from "../../../site/data/health.ts";
import { isDescribed } from "../../harvest/description.ts";
import { findRepositoryOf, readHealth, servedRef } from "../../harvest/repository.ts";
import { indent, reviewLines } from "../terminal.ts";

async function overviewLines(repository: string): Promise<string[]> {
	const commit = await resolveCommit(repository, servedRef);
	const [files, healthText, reviews, { bavail, bsize, blocks }] = await Promise.all([
		collectSource({ repository, ref: commit }),
		readHealth(repository, commit),
		reviewLines(repository),
		statfs(repository),
	]);
	const { layers, problems } = judgeStored(files);
	const sick = [...parseHealth(healthText)]
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

const maxLines = 20;

function list(title: string, lines: readonly string[]): string[] {
	const rest = lines.length - maxLines;
	return [title, ...indent([...lines.slice(0, maxLines), ...(rest > 0 ? [`and ${rest} more`] : [])])];
}

export const run = createRun(async ({ read, environment, io }) => {
	await read((line) => line);
	const { repository, name } = await findRepositoryOf(environment);
	io.warn(`Looking at the branch main of ${name}`);
	for (const text of await overviewLines(repository)) io.print(plain(text));
});
