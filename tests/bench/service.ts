import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { filesBelow } from "../../store/files/below.ts";
import { eventually } from "../helpers/wait.ts";
import { built, startOnly } from "./builds.ts";
import { wrk } from "./reads.ts";
import { designLayers, type Row } from "./rows.ts";
import { maxMegabytes, run, secondsOf, timed, type World } from "./world.ts";
import { putsBefore, sendMany } from "./writes.ts";

/** Megabytes added to the fragments' size in the reference: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;

/** The commit of a service's catalogue on the disk; empty while there is none. */
function commitIn(dataDir: string): string {
	try {
		return JSON.parse(readFileSync(join(dataDir, "dist/index/index.json"), "utf8")).commit;
	} catch {
		return "";
	}
}

/** A service without layers that all layers are pushed into, and what was measured meanwhile. */
export function pushed(world: World) {
	return world.shared("pushed", async () => {
		const dataDir = world.path("pushed");
		const repository = join(dataDir, "repository.git");
		const checkout = await world.checkout();
		await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
		await world.git(checkout, "push", "-q", repository, "HEAD~1:refs/heads/main");
		const service = await world.start(dataDir);
		const last = world.smallkeys().sort().at(-1);
		const measured = { service, seconds: 0, delayMs: 0, megabytes: 0, fragments: 0 };
		/** Reads until the last layer is served, and notes the longest time of a read. */
		const readUntilServed = async () => {
			for (let status = 404; status !== 200; ) {
				const read = async () => {
					const answer = await fetch(`${service.url}/v0.9/doc/en/${last}`);
					await answer.arrayBuffer();
					({ status } = answer);
				};
				measured.delayMs = Math.max(measured.delayMs, (await secondsOf(read)) * 1_000);
				await sleep(5);
			}
		};
		await fetch(`${service.url}/v0.9/doc/en/${last}`);
		await run("sync", []);
		measured.megabytes = await maxMegabytes(service.pid, async () => {
			const reading = readUntilServed();
			await world.git(checkout, "push", "-q", repository, "main");
			measured.seconds = await secondsOf(() => reading);
			const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
			await eventually(() => commitIn(dataDir) === tip);
			const fragments = join(dataDir, "dist/v0.9/doc");
			const sizes = filesBelow(fragments).map((name) => statSync(join(fragments, name)).size);
			measured.fragments = sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
			await sendMany(service, world.layers, putsBefore);
		});
		return measured;
	});
}

/** Rows about a push of all layers at once. */
export const pushRows: Row[] = [
	{
		name: "push",
		what: "push of all layers, from git's end until the last one is served",
		reference: "the full build",
		unit: "s",
		goal: () => ({ of: "ratio", most: 1.2 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await pushed(world)).seconds,
			reference: async () => (await built(world)).seconds,
		}),
	},
	{
		name: "push-delay",
		what: "longest delay of a read meanwhile",
		reference: "",
		unit: "ms",
		goal: () => ({ of: "ours", most: 50 }),
		rounds: 1,
		prepare: async (world) => ({ ours: async () => (await pushed(world)).delayMs }),
	},
	{
		name: "push-memory",
		what: `most memory during that push and ${putsBefore.toLocaleString("en")} PUTs after it`,
		reference: `bytes of the v0.9 fragments plus ${allowanceMegabytes} MB`,
		unit: "MB",
		goal: (layers) => (layers <= designLayers ? { of: "ours", most: 330 } : { of: "ratio", most: 4 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await pushed(world)).megabytes,
			reference: async () => (await pushed(world)).fragments + allowanceMegabytes,
		}),
	},
];

/** Rows about the service's start, which end its process. */
export const startRows: Row[] = [
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
			const start = async () => {
				const { url, stop } = await world.start(service.dataDir);
				const { status } = await fetch(`${url}/healthz`);
				if (status !== 200) throw new Error(`/healthz: ${status}`);
				return stop;
			};
			return {
				ours: async () => {
					let stop: () => unknown = () => {};
					const seconds = await secondsOf(async () => {
						stop = await start();
					});
					await stop();
					return seconds;
				},
				reference: async () =>
					(await timed("git", archive, join(service.dataDir, "repository.git"))) + (await startOnly()),
			};
		},
	},
	{
		name: "memory",
		what: "memory after 3 s of reads",
		reference: "bytes of the v0.9 fragments",
		unit: "MB",
		goal: (layers) => (layers <= designLayers ? { of: "ours", most: 250 } : { of: "ratio", most: 3 }),
		rounds: 1,
		prepare: async (world) => {
			const { service, fragments } = await pushed(world);
			await service.stop();
			const ours = async () => {
				const { url, pid, stop } = await world.start(service.dataDir);
				await wrk(`${url}/v0.9/doc/en/${world.smallkeys()[0]}`);
				const megabytes = await maxMegabytes(pid, async () => {});
				await stop();
				return megabytes;
			};
			return { ours, reference: async () => fragments };
		},
	},
];
