import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers, renamed } from "./layers.ts";
import { timed } from "./measure/process.ts";
import type { Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Runs a build as a process of its own. @returns its seconds */
export const build = (...args: string[]) => timed("npm", ["run", "-s", "build", "--", ...args]);

/** Runs a command that only starts and ends: the fixed cost of every build. @returns its seconds */
export const startOnly = () => build("--help");

/** Seconds that a build of one change may take in addition to its start. */
const allowanceSeconds = 0.3;

/** Builds a repository into a folder from which an earlier build was removed. @returns the build's seconds */
export async function buildAnew(out: string, ...source: string[]): Promise<number> {
	await removeOutput(out);
	return build(...source, "--out", out);
}

/** Removes an output and the build's records of it. Then waits until the disk has no pending writes (`sync`). */
async function removeOutput(out: string): Promise<void> {
	for (const end of ["", ".manifest", ".catalogue"]) await rm(out + end, { recursive: true, force: true });
	await timed("sync", []);
}

/** Commits a change of the first layer's name. */
async function changeOneLayer(world: World, repository: string, change: number): Promise<void> {
	for (const { smallkey, registration } of generateLayers(1)) {
		const path = layerPath(smallkey);
		await writeFile(join(repository, path), canonicalText(renamed(registration, `Change ${change}`)));
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
		prepare: async (world) => {
			const layers = join(await world.checkout(), "layers");
			const [out, copy] = [world.path("full"), world.path("full-copy")];
			return {
				ours: () => buildAnew(out, "--layers", layers),
				reference: async () => {
					await removeOutput(copy);
					return timed("cp", ["-r", out, copy]);
				},
			};
		},
	},
	{
		name: "build-again",
		ours: "build of the same commit again",
		reference: "the same full build",
		unit: "s",
		reach: { of: "ratio", most: 0.15 },
		prepare: async (world) => {
			const source = ["--repo", await world.checkout()];
			const out = world.path("again-out");
			await build(...source, "--out", out);
			return { ours: () => build(...source, "--out", out), reference: () => buildAnew(out, ...source) };
		},
	},
	{
		name: "build-commit",
		ours: "build of a commit after one layer changed",
		reference: `npx fragments build --help, plus ${allowanceSeconds} s`,
		unit: "s",
		reach: { of: "ratio", most: 1 },
		prepare: async (world) => {
			const repository = await world.clone("commit");
			const words = ["--repo", repository, "--out", world.path("commit-out")];
			await build(...words);
			return {
				ours: async (round) => {
					await changeOneLayer(world, repository, round);
					return build(...words);
				},
				reference: async () => (await startOnly()) + allowanceSeconds,
			};
		},
	},
];
