import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { canonicalText, type Registration1 } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { cleanEnvironment, descendantsOf, readIfThere, root, ServerProcess } from "../helpers/process.ts";
import { writeFiles } from "../helpers/world.ts";

/** Of all measured processes: git has no configuration of this machine. */
const environment = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };

/** Runs a command. @returns its standard output @throws {Error} with its standard error, if it fails */
export async function run(command: string, args: string[], cwd = root): Promise<string> {
	const options = { cwd, env: cleanEnvironment(environment), timeout: 600_000, maxBuffer: Infinity };
	return (await promisify(execFile)(command, args, options)).stdout;
}

/** The quantile of some figures: `part` 0 is the minimum, 0.5 the median, 1 the maximum. */
export function quantile(figures: readonly number[], part: number): number {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) * part)] as number;
}

/** With three significant digits; from 100 on whole. */
export function short(figure: number): string {
	return Math.abs(figure) >= 100
		? Math.round(figure).toLocaleString("en")
		: String(Number(figure.toPrecision(figure < 10 ? 2 : 3)));
}

/** Requests an address for 3 s, by 64 connections. Every answer must be 200. @returns the answers per second */
export async function wrk(url: string, ...more: string[]): Promise<number> {
	// The default time-out, two seconds, is too short for a machine with other work.
	const args = ["-t1", "-c64", "-d3s", "--timeout", "30s", ...more, url];
	const printed = await run("wrk", args).catch((error: NodeJS.ErrnoException) => {
		throw error.code === "ENOENT" ? new Error("wrk is not installed: apt-get install wrk") : error;
	});
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return perSecond;
}

/** As `wrk`, of `count` of the keys at once, each time others. @param script a new file for wrk's script */
export async function wrkLists(script: string, url: string, keys: readonly string[], count: number) {
	const lines = `local keys = {"${keys.join('","')}"}
local at = 0
request = function()
  local list = {}
  for index = 1, ${count} do at = (at + 7919) % #keys list[index] = keys[at + 1] end
  return wrk.format("GET", "${new URL(url).pathname}" .. table.concat(list, ","))
end
`;
	await writeFile(script, lines);
	return wrk(url, "-s", script);
}

/** Measures a task. @returns its seconds */
export async function secondsOf(task: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await task();
	return (performance.now() - start) / 1_000;
}

/** Runs a command. @returns its seconds */
export const timed = (command: string, args: string[]) => secondsOf(() => run(command, args));

export interface Layer {
	smallkey: string;
	registration: Registration1;
}

function registrationOf(smallkey: string, index: number): Registration1 {
	const isWms = index % 10 < 7;
	const entry = (place: string, service_name: string) => {
		if (isWms) {
			const service_url = `https://maps${index % 97}.example.ca/wms/${place}`;
			return { service_url, layer: `layer_${index}`, service_name };
		}
		const folder = `https://gis${index % 89}.example.ca/arcgis/rest/services/${place}`;
		return { service_url: `${folder}/MapServer/${index % 9}`, service_name };
	};
	const en = entry(`${smallkey}_en`, `Layer ${index} of Canada`);
	const fr = entry(`${smallkey}_fr`, `Couche ${index} du Canada, été`);
	return { version: "1.0.0", payload_type: isWms ? "wms" : "feature", en, fr } as Registration1;
}

/** Generates `count` layers, the same each time: seven of ten are wms, the others feature. */
function generateLayers(count: number): Layer[] {
	return Array.from({ length: count }, (_, index) => {
		// Multiplication by this prime (Knuth) spreads the smallkeys over the folders.
		const smallkey = `${(Math.imul(index, 2_654_435_761) >>> 0).toString(36)}-${index}`;
		return { smallkey, registration: registrationOf(smallkey, index) };
	});
}

/** The registration with another English name. */
export function renamed(registration: Registration1, service_name: string): Registration1 {
	return { ...registration, en: { ...registration.en, service_name } };
}

/** The maximum of memory of a process and its descendants during a task, in megabytes. Shared pages are counted once (PSS). */
export async function maxMegabytes(pid: number, task: () => Promise<unknown>): Promise<number> {
	let max = 0;
	const look = () => {
		let kilobytes = 0;
		for (const member of [pid, ...descendantsOf(pid)]) {
			// Empty for a process that has ended.
			const text = readIfThere(`/proc/${member}/smaps_rollup`);
			kilobytes += Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
		}
		max = Math.max(max, (kilobytes * 1024) / 1_000_000);
	};
	const timer = setInterval(look, 200);
	await task().finally(() => clearInterval(timer));
	look();
	return max;
}

/** A running service, and the one sender that it knows. */
export type Served = Awaited<ReturnType<World["start"]>>;

/** The layers, repositories and services of the rows, in one temporary folder that is removed at the end. */
export class World {
	readonly #ends: (() => unknown)[] = [];
	readonly #shared = new Map<string, Promise<unknown>>();
	readonly layers;
	readonly smallkeys: readonly string[];

	private constructor(
		readonly folder: string,
		readonly count: number,
	) {
		this.layers = generateLayers(count);
		this.smallkeys = this.layers.map(({ smallkey }) => smallkey);
	}

	static async open(count: number): Promise<World> {
		return new World(await mkdtemp(join(tmpdir(), "bench-")), count);
	}

	path(name: string): string {
		return join(this.folder, name);
	}

	/** Makes something that takes long at the first call, and gives it to all rows. */
	shared<T>(name: string, make: () => Promise<T>): Promise<T> {
		const value = this.#shared.get(name) ?? make();
		this.#shared.set(name, value);
		return value as Promise<T>;
	}

	/** Registers what has to end at the end. */
	endLater(end: () => unknown): void {
		this.#ends.push(end);
	}

	async close(): Promise<void> {
		await Promise.all(this.#ends.splice(0).map((end) => end()));
		await rm(this.folder, { recursive: true, force: true });
	}

	/** Runs git in a folder, with an author, and without a gc that would run during the measurement. */
	git(cwd: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		return run("git", [...who, "-c", "gc.auto=0", ...args], cwd);
	}

	/** A checkout with all layers, committed on main after an empty commit. The rows must not change it. */
	checkout(): Promise<string> {
		return this.shared("checkout", async () => {
			const checkout = this.path("checkout");
			for (const { smallkey, registration } of this.layers)
				writeFiles(checkout, { [layerPath(smallkey)]: canonicalText(registration) });
			await this.git(checkout, "init", "-q", "-b", "main");
			await this.git(checkout, "commit", "-q", "--allow-empty", "-m", "first");
			await this.git(checkout, "add", "layers");
			await this.git(checkout, "commit", "-q", "-m", "layers");
			await this.git(checkout, "gc", "-q");
			return checkout;
		});
	}

	/** A clone of that checkout, which one row may change. */
	async clone(name: string): Promise<string> {
		await run("git", ["clone", "-q", "--no-hardlinks", await this.checkout(), this.path(name)]);
		return this.path(name);
	}

	/** Starts a service on a data folder, and waits until it has printed its address. */
	async start(dataDir: string, more: Record<string, string> = {}) {
		const [sender, secret] = ["bench", randomBytes(24).toString("base64url")];
		const settings = { SITE: "on", DATA_DIR: dataDir, SENDERS: JSON.stringify({ [sender]: secret }) };
		const server = await ServerProcess.start({ ...environment, ...settings, ...more });
		const stop = () => server.stop();
		this.endLater(stop);
		return { url: server.url, pid: server.pid, stop, dataDir, sender, secret };
	}
}
