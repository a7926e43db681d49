import { join } from "node:path";
import { installHook } from "../store/hook/install.ts";
import { generateLayers } from "./layers.ts";
import { run, timed } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Git's id of no commit. */
const none = "0".repeat(40);

/** Seconds that the hook of a repository takes for a push of one branch. */
async function judge(repository: string, from: string, to: string): Promise<number> {
	const start = performance.now();
	const input = `${from} ${to} refs/heads/main\n`;
	await run(join(repository, "hooks/pre-receive"), [], { cwd: repository, input });
	return (performance.now() - start) / 1000;
}

/** Seconds that Node takes to start and to end. */
function bareNode(): Promise<number> {
	return timed(process.execPath, ["-e", "0"]);
}

/** A bare repository with the hook, in which all layers are one commit, and a change of one layer the next. */
async function prepareRepository(world: World, name: string) {
	const clone = await world.clone(world.layers, `${name}-clone`);
	const [layer] = generateLayers(1);
	if (!layer) throw new Error("there is no layer");
	const all = (await world.git(clone, "rev-parse", "HEAD")).trim();
	const path = (await world.git(clone, "ls-files", `:(glob)layers/*/${layer.smallkey}.json`)).trim();
	// Another order of its members is another text of the same registration.
	const text = JSON.stringify(JSON.parse(await world.git(clone, "show", `HEAD:${path}`)));
	await run("tee", [join(clone, path)], { input: text });
	await world.git(clone, "commit", "-q", "-a", "-m", "one layer");
	const one = (await world.git(clone, "rev-parse", "HEAD")).trim();
	const repository = world.path(name);
	await run("git", ["clone", "-q", "--bare", "--no-hardlinks", clone, repository]);
	await world.remove(`${name}-clone`);
	await installHook(repository, (warning) => console.error(warning));
	return { repository, all, one, close: () => world.remove(name) };
}

async function prepareOne(world: World): Promise<Pair> {
	const { repository, all, one, close } = await prepareRepository(world, "hook-one");
	return {
		ours: async () => (await judge(repository, all, one)) - (await bareNode()),
		reference: bareNode,
		close,
	};
}

async function prepareAll(world: World): Promise<Pair> {
	const { repository, all, close } = await prepareRepository(world, "hook-all");
	return { ours: () => judge(repository, none, all), reference: bareNode, close };
}

/** Rows about the repository's hook. */
export const hookRows: Row[] = [
	{
		name: "hook",
		ours: "the hook for a push of one layer among all, over what node -e 0 takes",
		reference: "node -e 0",
		unit: "s",
		reach: { of: "ours", most: 0.5 },
		prepare: prepareOne,
	},
	{
		name: "hook-all",
		ours: "the hook for a push of all layers",
		reference: "node -e 0",
		unit: "s",
		reach: { of: "ours", most: 20 },
		prepare: prepareAll,
	},
];
