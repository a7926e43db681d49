import { fork } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { spawnNginx } from "../conformance/nginx-engine.ts";
import { root } from "../helpers/process.ts";
import { openPages } from "./catalogue.ts";
import { newPuts, publish, pushed, putsAfter } from "./service.ts";
import {
	type Layer,
	maxMegabytes,
	quantile,
	renamed,
	secondsOf,
	timed,
	type World,
	wrk,
	wrkLists,
} from "./world.ts";

/** One line of the table. */
export interface Row {
	/** The name for `--only`. */
	name: string;
	what: string;
	/** What it is compared with, measured in the same run. */
	reference?: string;
	unit: "s" | "ms" | "requests/s" | "changes/s" | "MB";
	/** A bound on the median: of our own figure where it has a unit, else of the ratio. */
	goal?: string;
	/** Prepares everything that is not timed. @returns what measures ours, then the reference */
	prepare: (world: World) => Promise<() => Promise<[ours: number, reference?: number]>>;
}

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

/** Commits a new name of a layer. @returns the seconds of `git commit`, which syncs */
async function commit(world: World, repository: string, layer: Layer, name: string): Promise<number> {
	const path = layerPath(layer.smallkey);
	await writeFile(join(repository, path), canonicalText(renamed(layer.registration, name)));
	return secondsOf(() => world.git(repository, "commit", "-q", "-m", name, "--", path));
}

/** Starts a bare server that sends the bytes of one answer from memory. @returns its address */
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

/** A row about reads of `count` keys at once, beside a bare server or nginx. */
function reads(name: string, count: number, goal: string, start = startBare): Row {
	return {
		name,
		what: count === 1 ? "`doc`, one fragment" : `\`docs\`, each time ${count} other keys`,
		reference: start === startBare ? "bare `node:http`" : "nginx with the same files",
		goal,
		unit: "requests/s",
		prepare: async (world) => {
			const { url } = (await pushed(world)).service;
			const path = `/v0.9/${count === 1 ? "doc" : "docs"}/en/`;
			const list = path + world.smallkeys.slice(0, count);
			const reference = (await start(world, url + list)) + list;
			const script = world.path(`${name}.lua`);
			const ours = () =>
				count === 1 ? wrk(url + list) : wrkLists(script, url + path, world.smallkeys, count);
			// Warms both servers up.
			for (const measure of [ours, () => wrk(reference)]) await measure();
			return async () => [await ours(), await wrk(reference)];
		},
	};
}

/** Concurrent publishers in the row with many, and their PUTs; PUTs of one publisher alone. */
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
		goal: "≤ 1.4",
		prepare: async (world) => async () => [(await built(world)).seconds, await copySeconds(world)],
	},
	{
		name: "build-commit",
		what: "build after one change",
		reference: "`npx fragment-publisher build --help`, plus 0.3 s",
		unit: "s",
		goal: "≤ 1.5",
		prepare: async (world) => {
			const { repository, out } = await built(world);
			return async () => {
				await commit(world, repository, world.layers[0] as Layer, "Changed");
				return [await build("--repo", repository, "--out", out), (await startOnly()) + 0.3];
			};
		},
	},
	{
		name: "push",
		what: "push of all layers, from git's end until the last one is served",
		reference: "the full build",
		unit: "s",
		goal: "≤ 1.2",
		prepare: async (world) => async () => [(await pushed(world)).seconds, (await built(world)).seconds],
	},
	{
		name: "push-delay",
		what: "longest delay of a read meanwhile",
		unit: "ms",
		goal: "≤ 50 ms",
		prepare: async (world) => async () => [(await pushed(world)).delayMs],
	},
	{
		name: "push-memory",
		what: `most memory during that push and ${putsAfter.toLocaleString("en")} PUTs after it`,
		reference: `bytes of the v0.9 fragments plus ${allowanceMegabytes} MB`,
		unit: "MB",
		goal: "≤ 330 MB",
		prepare: async (world) => async () => {
			const { megabytes, fragments } = await pushed(world);
			return [megabytes, fragments + allowanceMegabytes];
		},
	},
	reads("doc", 1, "≥ 0.85"),
	reads("doc-nginx", 1, "≥ 0.5", startNginx),
	reads("docs-10", 10, "≥ 0.45"),
	reads("docs-50", 50, "≥ 0.3"),
	{
		name: "put-alone",
		what: "one PUT alone, until its 201",
		reference: "`git commit`",
		unit: "ms",
		goal: "≤ 30 ms",
		prepare: async (world) => {
			const { service } = await pushed(world);
			const clone = await world.clone("alone");
			return async () => {
				const { milliseconds } = await publish(service, newPuts(world, putsAlone), 1);
				const commits: number[] = [];
				for (const layer of world.layers.slice(0, putsAlone))
					commits.push((await commit(world, clone, layer, "Changed")) * 1_000);
				return [quantile(milliseconds, 0.5), quantile(commits, 0.5)];
			};
		},
	},
	{
		name: "puts",
		what: `PUTs of ${publishers} publishers`,
		unit: "changes/s",
		goal: "≥ 250 changes/s",
		prepare: async (world) => {
			const { service } = await pushed(world);
			return async () => {
				const puts = newPuts(world, putsPerRound);
				return [puts.length / (await publish(service, puts, publishers)).seconds];
			};
		},
	},
	{
		name: "start",
		what: "start until `/healthz`",
		reference: "`git archive` to nowhere + `npx fragment-publisher build --help`",
		unit: "s",
		goal: "≤ 2",
		prepare: async (world) => {
			const { service } = await pushed(world);
			await service.stop();
			const repository = join(service.dataDir, "repository.git");
			const archive = ["-C", repository, "archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
			return async () => {
				let stop: () => unknown = () => {};
				const seconds = await secondsOf(async () => {
					const started = await world.start(service.dataDir);
					stop = started.stop;
					const { status } = await fetch(`${started.url}/healthz`);
					if (status !== 200) throw new Error(`/healthz: ${status}`);
				});
				await stop();
				return [seconds, (await timed("git", archive)) + (await startOnly())];
			};
		},
	},
	{
		name: "memory",
		what: "memory after 3 s of reads",
		reference: "bytes of the v0.9 fragments",
		unit: "MB",
		goal: "≤ 250 MB",
		prepare: async (world) => {
			const { service, fragments } = await pushed(world);
			await service.stop();
			return async () => {
				const { url, pid, stop } = await world.start(service.dataDir);
				await wrk(`${url}/v0.9/doc/en/${world.smallkeys[0]}`);
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
		goal: "≤ 1",
		prepare: async (world) => {
			const secondsToRows = await openPages(world);
			return async () => [await secondsToRows(), 6];
		},
	},
];
