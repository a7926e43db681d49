import { fork } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { spawnNginx } from "../conformance/nginx-engine.ts";
import { root } from "../helpers/process.ts";
import { secondsToRows } from "./catalogue.ts";
import {
	maxMegabytes,
	median,
	publish,
	secondsOf,
	timed,
	type World,
	withName,
	wrk,
	wrkLists,
} from "./world.ts";

export interface Row {
	/** The name for `--only`. */
	name: string;
	what: string;
	/** What it is compared with, measured in the same run. */
	reference?: string;
	unit: "s" | "ms" | "requests/s" | "changes/s" | "MB";
	/** A bound: of our own figure where it has a unit, else of the ratio. */
	goal?: string;
	measure: (world: World) => Promise<[ours: number, reference?: number]>;
}

/** Runs a build as a process of its own. @returns its seconds */
const build = (...args: string[]) => timed("npm", "run", "-s", "build", "--", ...args);

/** A command that only starts and ends: the fixed cost of every build. */
const startOnly = () => build("--help");

/** A clone with all layers, and its full build. */
const built = (world: World) =>
	world.shared("built", async () => {
		const repository = await world.clone("built");
		const out = world.path("built-out");
		await timed("sync");
		return { repository, out, seconds: await build("--layers", join(repository, "layers"), "--out", out) };
	});

/** Renames the layer with this index. @returns the seconds of `git commit`, which syncs */
async function commit(world: World, repository: string, index: number) {
	const { smallkey, registration } = world.layers[index] as World["layers"][number];
	const path = layerPath(smallkey);
	await writeFile(join(repository, path), canonicalText(withName(registration, "Changed")));
	return secondsOf(() => world.git(repository, "commit", "-q", "-m", "Changed", "--", path));
}

/** A server that sends the bytes of one answer from memory. @returns its address */
async function startBare(world: World, url: string) {
	const bare = fork("tests/bench/bare-server.ts", [url], { cwd: root, execArgv: ["--import", "tsx"] });
	world.endLater(() => bare.kill());
	return (await once(bare, "message"))[0];
}

/** nginx by deploy/nginx.conf, on the files of the service. @returns its address */
async function startNginx(world: World) {
	const { service } = await pushed(world);
	const { origin, stop } = await spawnNginx(new URL(service.url).host, join(service.dataDir, "dist"));
	world.endLater(stop);
	return origin;
}

/** A row about reads of `count` keys at once, beside a bare server or nginx. */
function reads(name: string, count: number, goal?: string, start = startBare): Row {
	const isOne = count === 1;
	return {
		name,
		what: isOne ? "`doc`, one fragment" : `\`docs\`, each time ${count} other keys`,
		reference: start === startBare ? "bare `node:http`" : "nginx with the same files",
		...(goal && { goal }),
		unit: "requests/s",
		measure: async (world) => {
			const { url } = (await pushed(world)).service;
			const path = `/v0.9/${isOne ? "doc" : "docs"}/en/`;
			const list = path + world.smallkeys.slice(0, count);
			const reference = (await start(world, url + list)) + list;
			const ours = () =>
				isOne ? wrk(url + list) : wrkLists(world.path(`${name}.lua`), url + path, world.smallkeys, count);
			// Warms both servers up.
			await ours();
			await wrk(reference);
			return [await ours(), await wrk(reference)];
		},
	};
}

const putsAfter = 4_000;

const pushed = (world: World) => world.pushed(putsAfter);

const restarted = (world: World) =>
	world.shared("restarted", async () => {
		const { service, fragments } = await pushed(world);
		await service.stop();
		const start = performance.now();
		const { url, pid } = await world.start(service.dataDir);
		const { status } = await fetch(`${url}/healthz`);
		if (status !== 200) throw new Error(`/healthz: ${status}`);
		return { url, pid, fragments, dataDir: service.dataDir, seconds: (performance.now() - start) / 1_000 };
	});

const [publishers, putsOfMany, putsAlone] = [32, 3_000, 100];

/** In the order in which they are measured: the service that has got the push ends before its start is measured. */
export const rows: Row[] = [
	{
		name: "build-full",
		what: "full build with the catalogue",
		reference: "`cp -r` of that output",
		unit: "s",
		goal: "≤ 2",
		measure: async (world) => {
			const { out, seconds } = await built(world);
			const copy = world.path("built-copy");
			await timed("sync");
			const reference = await timed("cp", "-r", out, copy);
			await rm(copy, { recursive: true });
			return [seconds, reference];
		},
	},
	{
		name: "build-commit",
		what: "build after one change",
		reference: "`npx fragment-publisher build --help`, plus 0.3 s",
		unit: "s",
		goal: "≤ 1.5",
		measure: async (world) => {
			const { repository, out } = await built(world);
			await commit(world, repository, 0);
			return [await build("--repo", repository, "--out", out), (await startOnly()) + 0.3];
		},
	},
	{
		name: "push",
		what: "push of all layers, from git's end until the last one is served",
		reference: "the full build",
		unit: "s",
		goal: "≤ 1.2",
		measure: async (world) => [(await pushed(world)).seconds, (await built(world)).seconds],
	},
	{
		name: "push-delay",
		what: "longest delay of a read meanwhile",
		unit: "ms",
		goal: "≤ 250 ms",
		measure: async (world) => [(await pushed(world)).delayMs],
	},
	{
		name: "push-memory",
		what: `most memory during that push and ${putsAfter.toLocaleString("en")} PUTs after it`,
		unit: "MB",
		goal: "≤ 1000 MB",
		measure: async (world) => [(await pushed(world)).megabytes],
	},
	reads("doc", 1, "≥ 0.5"),
	reads("doc-nginx", 1, "≥ 0.5", startNginx),
	reads("docs-10", 10),
	reads("docs-50", 50),
	{
		name: "put-alone",
		what: "one PUT alone, until its 201",
		reference: "`git commit`",
		unit: "ms",
		goal: "≤ 100 ms",
		measure: async (world) => {
			const { service } = await pushed(world);
			const clone = await world.clone("alone");
			const { milliseconds } = await publish(service, world.puts(putsAlone), 1);
			const commits: number[] = [];
			for (let index = 0; index < Math.min(putsAlone, world.count); index += 1)
				commits.push((await commit(world, clone, index)) * 1_000);
			return [median(milliseconds), median(commits)];
		},
	},
	{
		name: "puts",
		what: `PUTs of ${publishers} publishers`,
		unit: "changes/s",
		goal: "≥ 100 changes/s",
		measure: async (world) => {
			const puts = world.puts(putsOfMany);
			return [puts.length / (await publish((await pushed(world)).service, puts, publishers)).seconds];
		},
	},
	{
		name: "start",
		what: "start until `/healthz`",
		reference: "`git archive` to nowhere + `npx fragment-publisher build --help`",
		unit: "s",
		goal: "≤ 2",
		measure: async (world) => {
			const { seconds, dataDir } = await restarted(world);
			const repository = join(dataDir, "repository.git");
			const archive = ["-C", repository, "archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
			return [seconds, (await timed("git", ...archive)) + (await startOnly())];
		},
	},
	{
		name: "memory",
		what: "memory after 3 s of reads",
		reference: "bytes of the v0.9 fragments",
		unit: "MB",
		goal: "≤ 500 MB",
		measure: async (world) => {
			const { url, pid, fragments } = await restarted(world);
			await wrk(`${url}/v0.9/doc/en/${world.smallkeys[0]}`);
			return [await maxMegabytes(pid, async () => {}), fragments];
		},
	},
	{
		name: "first-rows",
		what: "until the catalogue's first rows, over slow 3G (400 kbit/s, 400 ms)",
		reference: "limit",
		unit: "s",
		goal: "≤ 1",
		measure: async (world) => [await secondsToRows(world), 6],
	},
];
