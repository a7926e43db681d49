import { fork } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { spawnNginx } from "../conformance/nginx-engine.ts";
import { root } from "../helpers/process.ts";
import { openPages } from "./catalogue.ts";
import { generateLayers, renamed } from "./layers.ts";
import { newPuts, publish, pushed, putsAfter } from "./service.ts";
import { maxMegabytes, quantile, secondsOf, timed, type World, wrk } from "./world.ts";

/** One line of the table. */
export interface Row {
	/** The name for `--only`. */
	name: string;
	what: string;
	/** What it is compared with, measured in the same run. */
	reference?: string;
	unit: "s" | "ms" | "requests/s" | "changes/s" | "MB";
	/** A bound on the median of the ratio, or of our own figure. */
	goal: (layers: number) => { of: "ratio" | "ours"; most?: number; least?: number };
	/** Whether one round is enough. */
	isSlow?: boolean;
	/** Whether it is only measured at the first number of layers. */
	isOnce?: boolean;
	/** Prepares everything that is not timed. @returns what measures a round: ours, then the reference */
	prepare: (world: World) => Promise<(round: number) => Promise<[ours: number, reference?: number]>>;
}

/** The highest number of layers that the bounds of the design point are for. */
const designLayers = 20_000;

/** Runs a build as a process of its own. @returns its seconds */
const build = (...args: string[]) => timed("npm", ["run", "-s", "build", "--", ...args]);

/** A command that only starts and ends: the fixed cost of every build. */
const startOnly = () => build("--help");

/** A clone with all layers, and the output of a full build of its folder. */
const built = (world: World) =>
	world.shared("built", async () => {
		const repository = await world.clone("built");
		const out = world.path("built-out");
		await timed("sync", []);
		return { repository, out, seconds: await build("--layers", join(repository, "layers"), "--out", out) };
	});

async function copySeconds(world: World): Promise<number> {
	const copy = world.path("built-copy");
	await timed("sync", []);
	const seconds = await timed("cp", ["-r", (await built(world)).out, copy]);
	await rm(copy, { recursive: true });
	return seconds;
}

/** Commits a change of the first layer's name. */
async function changeOneLayer(world: World, repository: string, change: number): Promise<void> {
	for (const { smallkey, registration } of generateLayers(1)) {
		const path = layerPath(smallkey);
		await writeFile(join(repository, path), canonicalText(renamed(registration, `Change ${change}`)));
		await world.git(repository, "commit", "-q", "-m", `change ${change}`, "--", path);
	}
}

/** A script for wrk that asks for other keys each time. */
const otherKeys = (
	smallkeys: readonly string[],
	folder: string,
	count: number,
) => `local keys = {"${smallkeys.join('","')}"}
local at = 0
request = function()
  local list = {}
  for index = 1, ${count} do at = (at + 7919) % #keys list[index] = keys[at + 1] end
  return wrk.format("GET", "/v0.9/${folder}/en/" .. table.concat(list, ","))
end
`;

/** Starts a bare server that sends the bytes of one answer. @returns its address */
async function startBare(world: World, url: string): Promise<string> {
	const bare = fork("tests/bench/bare-server.ts", [url], { cwd: root, execArgv: ["--import", "tsx"] });
	world.endLater(() => bare.kill());
	const [origin] = (await once(bare, "message")) as [string];
	return origin;
}

/** Starts nginx, as deploy/nginx.conf sets it up, on the files of the service. @returns its address */
async function startNginx(world: World): Promise<string> {
	const { service } = await pushed(world);
	const { origin, stop } = await spawnNginx(new URL(service.url).host, join(service.dataDir, "dist"));
	world.endLater(stop);
	return origin;
}

/** A row about reads of `count` keys at once, beside the server that `start` starts. */
const reads = (
	row: Pick<Row, "name" | "what" | "reference" | "goal">,
	[folder, count]: [folder: string, count: number],
	start: (world: World, url: string) => Promise<string>,
): Row => ({
	...{ ...row, unit: "requests/s", isOnce: true },
	prepare: async (world) => {
		const { service } = await pushed(world);
		const path = `/v0.9/${folder}/en/${world.smallkeys().slice(0, count)}`;
		const origin = await start(world, service.url + path);
		const script = world.path(`${row.name}.lua`);
		await writeFile(script, otherKeys(world.smallkeys(), folder, count));
		const ours = () => (count === 1 ? wrk(service.url + path) : wrk(service.url, "-s", script));
		// Warms both servers up before the first round.
		for (const measure of [ours, () => wrk(origin + path)]) await measure();
		return async () => [await ours(), await wrk(origin + path)];
	},
});

const bareRow = (name: string, what: string, least: number) => ({
	...{ name, what, reference: "bare `node:http`" },
	goal: () => ({ of: "ratio" as const, least }),
});

/** Commits some layers, one after the other, in a clone whose git syncs. @returns milliseconds of one commit, the median */
async function commitMs(world: World, repository: string, round: number, count: number): Promise<number> {
	const times: number[] = [];
	for (const { smallkey, registration } of generateLayers(count)) {
		const path = layerPath(smallkey);
		await writeFile(join(repository, path), canonicalText(renamed(registration, `Round ${round}`)));
		const commit = () => world.git(repository, "commit", "-q", "-m", `register ${smallkey}`, "--", path);
		times.push((await secondsOf(commit)) * 1_000);
	}
	return quantile(times, 0.5);
}

/** Concurrent publishers in the row with many, and their PUTs in a round; PUTs of one publisher alone in a round. */
const [publishers, putsPerRound, putsAlone] = [32, 3_000, 100];

/** Megabytes added to the fragments' size in the reference: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;

/** In the order in which they are measured: the service that has got the push ends before its start is measured. */
export const rows: Row[] = [
	{
		name: "build-full",
		what: "full build with the catalogue",
		reference: "`cp -r` of that output",
		unit: "s",
		goal: () => ({ of: "ratio", most: 1 }),
		isSlow: true,
		prepare: async (world) => async () => [(await built(world)).seconds, await copySeconds(world)],
	},
	{
		name: "build-commit",
		what: "build after one change",
		reference: "`npx fragment-publisher build --help`, plus 0.3 s",
		unit: "s",
		goal: (layers) => ({ of: "ratio", most: layers <= designLayers ? 1.5 : 3 }),
		prepare: async (world) => {
			const { repository, out } = await built(world);
			return async (round) => {
				await changeOneLayer(world, repository, round);
				return [await build("--repo", repository, "--out", out), (await startOnly()) + 0.3];
			};
		},
	},
	{
		name: "push",
		what: "push of all layers, from git's end until the last one is served",
		reference: "the full build",
		unit: "s",
		goal: () => ({ of: "ratio", most: 1.2 }),
		isSlow: true,
		prepare: async (world) => async () => [(await pushed(world)).seconds, (await built(world)).seconds],
	},
	{
		name: "push-delay",
		what: "longest delay of a read meanwhile",
		unit: "ms",
		goal: () => ({ of: "ours", most: 50 }),
		isSlow: true,
		prepare: async (world) => async () => [(await pushed(world)).delayMs],
	},
	{
		name: "push-memory",
		what: `most memory during that push and ${putsAfter.toLocaleString("en")} PUTs after it`,
		reference: `bytes of the v0.9 fragments plus ${allowanceMegabytes} MB`,
		unit: "MB",
		goal: (layers) => (layers <= designLayers ? { of: "ours", most: 330 } : { of: "ratio", most: 4 }),
		isSlow: true,
		prepare: async (world) => async () => {
			const { megabytes, fragments } = await pushed(world);
			return [megabytes, fragments + allowanceMegabytes];
		},
	},
	reads(bareRow("doc", "`doc`, one fragment", 0.85), ["doc", 1], startBare),
	reads(
		{ ...bareRow("doc-nginx", "`doc`, one fragment", 0.5), reference: "nginx with the same files" },
		["doc", 1],
		startNginx,
	),
	reads(bareRow("docs-10", "`docs`, each time 10 other keys", 0.45), ["docs", 10], startBare),
	reads(bareRow("docs-50", "`docs`, each time 50 other keys", 0.3), ["docs", 50], startBare),
	{
		name: "put-alone",
		what: "one PUT alone, until its 201",
		reference: "`git commit`",
		unit: "ms",
		goal: () => ({ of: "ours", most: 30 }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const clone = await world.clone("alone");
			return async (round) => [
				quantile((await publish(service, newPuts(putsAlone), 1)).milliseconds, 0.5),
				await commitMs(world, clone, round, putsAlone),
			];
		},
	},
	{
		name: "puts",
		what: `PUTs of ${publishers} publishers`,
		unit: "changes/s",
		goal: () => ({ of: "ours", least: 250 }),
		isOnce: true,
		prepare: async (world) => {
			const { service } = await pushed(world);
			return async () => {
				const count = Math.min(putsPerRound, world.layers);
				const { seconds, milliseconds } = await publish(service, newPuts(count), publishers);
				return [milliseconds.length / seconds];
			};
		},
	},
	{
		name: "start",
		what: "start until `/healthz`",
		reference: "`git archive` to nowhere + `npx fragment-publisher build --help`",
		unit: "s",
		goal: () => ({ of: "ratio", most: 2 }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			await service.stop();
			const archive = ["archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
			const repository = join(service.dataDir, "repository.git");
			return async () => {
				let stop: () => unknown = () => {};
				const seconds = await secondsOf(async () => {
					const started = await world.start(service.dataDir, { HARVEST: "off" });
					stop = started.stop;
					const { status } = await fetch(`${started.url}/healthz`);
					if (status !== 200) throw new Error(`/healthz: ${status}`);
				});
				await stop();
				return [seconds, (await timed("git", archive, repository)) + (await startOnly())];
			};
		},
	},
	{
		name: "memory",
		what: "memory after 3 s of reads",
		reference: "bytes of the v0.9 fragments",
		unit: "MB",
		goal: (layers) => (layers <= designLayers ? { of: "ours", most: 250 } : { of: "ratio", most: 3 }),
		isSlow: true,
		prepare: async (world) => {
			const { service, fragments } = await pushed(world);
			await service.stop();
			return async () => {
				const { url, pid, stop } = await world.start(service.dataDir, { HARVEST: "off" });
				await wrk(`${url}/v0.9/doc/en/${world.smallkeys()[0]}`);
				const megabytes = await maxMegabytes(pid, async () => {});
				await stop();
				return [megabytes, fragments];
			};
		},
	},
	{
		name: "first-rows",
		what: "until the catalogue's first rows, over slow 3G (400 kbit/s, 400 ms)",
		reference: "limit",
		unit: "s",
		goal: () => ({ of: "ratio", most: 1 }),
		isSlow: true,
		prepare: async (world) => {
			const secondsToRows = await openPages(world);
			return async () => [await secondsToRows(), 6];
		},
	},
];
