import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../registry/canonical.ts";
import { layerPath } from "../registry/smallkey.ts";
import { generateLayers } from "./layers.ts";
import { timed } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Runs a build as a process of its own. @returns its seconds */
export const build = (...args: string[]) => timed("npm", ["run", "-s", "build", "--", ...args]);

/** Runs a command that only starts and ends: the fixed cost of every build. @returns its seconds */
export const startOnly = () => build("--help");

/** Seconds that a build of one change may take in addition to its start. */
const allowanceSeconds = 0.3;

/** Removes an output and the build's records of it. Then waits until the disk has no pending writes (`sync`). */
export async function removeOutput(out: string): Promise<void> {
	await rm(out, { recursive: true, force: true });
	for (const beside of [".manifest", ".catalogue"]) await rm(out + beside, { force: true });
	await timed("sync", []);
}

async function prepareFull(world: World): Promise<Pair> {
	const layers = join(await world.checkout(world.layers), "layers");
	const out = world.path("full");
	const copy = world.path("full-copy");
	return {
		ours: async () => {
			await removeOutput(out);
			return build("--layers", layers, "--out", out);
		},
		reference: async () => {
			await removeOutput(copy);
			return timed("cp", ["-r", out, copy]);
		},
	};
}

async function prepareAgain(world: World): Promise<Pair> {
	const repository = await world.checkout(world.layers);
	const out = world.path("again-out");
	await build("--repo", repository, "--out", out);
	return {
		ours: () => build("--repo", repository, "--out", out),
		reference: async () => {
			await removeOutput(out);
			return build("--repo", repository, "--out", out);
		},
	};
}

async function prepareCommit(world: World): Promise<Pair> {
	const repository = await world.clone(world.layers, "commit");
	const out = world.path("commit-out");
	await build("--repo", repository, "--out", out);
	let changes = 0;
	return {
		ours: async () => {
			changes += 1;
			await changeOneLayer(world, repository, changes);
			return build("--repo", repository, "--out", out);
		},
		reference: async () => (await startOnly()) + allowanceSeconds,
	};
}

/** Commits a change of the first layer's name. */
async function changeOneLayer(world: World, repository: string, change: number): Promise<void> {
	for (const { smallkey, registration } of generateLayers(1)) {
		const en = { ...registration.en, service_name: `Change ${change}` };
		const path = layerPath(smallkey);
		await writeFile(join(repository, path), canonicalText({ ...registration, en }));
		await world.git(repository, "commit", "-q", "-m", `change ${change}`, "--", path);
	}
}

/** Rows about `npx fragments build`. Each measures the whole process. */
export const buildRows: Row[] = [
	{
		name: "build-full",
		ours: "full build, empty output",
		reference: "cp -r of that output",
		unit: "s",
		reach: { of: "ratio", most: 1 },
		prepare: prepareFull,
	},
	{
		name: "build-again",
		ours: "build of the same commit again",
		reference: "the same full build",
		unit: "s",
		reach: { of: "ratio", most: 0.15 },
		prepare: prepareAgain,
	},
	{
		name: "build-commit",
		ours: "build of a commit after one layer changed",
		reference: `npx fragments build --help, plus ${allowanceSeconds} s`,
		unit: "s",
		reach: { of: "ratio", most: 1 },
		prepare: prepareCommit,
	},
];
