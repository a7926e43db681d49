import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers, renamed } from "./layers.ts";
import { designLayers, type Row } from "./rows.ts";
import { timed, type World } from "./world.ts";

/** Runs a build as a process of its own. @returns its seconds */
const build = (...args: string[]) => timed("npm", ["run", "-s", "build", "--", ...args]);

/** Runs a command that only starts and ends: the fixed cost of every build. @returns its seconds */
export const startOnly = () => build("--help");

/** Seconds that a build of one change may take in addition to its start. */
const allowanceSeconds = 0.3;

/** A clone with all layers, and the output of a full build of its folder. */
export function built(world: World) {
	return world.shared("built", async () => {
		const repository = await world.clone("built");
		const out = world.path("built-out");
		await timed("sync", []);
		return { repository, out, seconds: await build("--layers", join(repository, "layers"), "--out", out) };
	});
}

/** Commits a change of the first layer's name. */
async function changeOneLayer(world: World, repository: string, change: number): Promise<void> {
	for (const { smallkey, registration } of generateLayers(1)) {
		const path = layerPath(smallkey);
		await writeFile(join(repository, path), canonicalText(renamed(registration, `Change ${change}`)));
		await world.git(repository, "commit", "-q", "-m", `change ${change}`, "--", path);
	}
}

/** Rows about `npx fragment-publisher build`. Each measures the whole process. */
export const buildRows: Row[] = [
	{
		name: "build-full",
		what: "full build with the catalogue",
		reference: "`cp -r` of that output",
		unit: "s",
		goal: () => ({ of: "ratio", most: 1 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await built(world)).seconds,
			reference: async () => {
				const copy = world.path("built-copy");
				await timed("sync", []);
				const seconds = await timed("cp", ["-r", (await built(world)).out, copy]);
				await rm(copy, { recursive: true });
				return seconds;
			},
		}),
	},
	{
		name: "build-commit",
		what: "build after one change",
		reference: `\`npx fragment-publisher build --help\`, plus ${allowanceSeconds} s`,
		unit: "s",
		goal: (layers) => ({ of: "ratio", most: layers <= designLayers ? 1.5 : 3 }),
		prepare: async (world) => {
			const { repository, out } = await built(world);
			return {
				ours: async (round) => {
					await changeOneLayer(world, repository, round);
					return build("--repo", repository, "--out", out);
				},
				reference: async () => (await startOnly()) + allowanceSeconds,
			};
		},
	},
];
