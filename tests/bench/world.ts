import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { canonicalText, type Registration1 } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { filesBelow } from "../../store/files/files.ts";
import { descendantsOf, exits, readIfThere, root, runProgram, ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { writeFiles } from "../helpers/world.ts";

/** Of all measured processes: git has no configuration of this machine. */
const environment = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };

export async function run(command: string, args: string[], cwd = root) {
	return (await exits(runProgram(command, args, environment, cwd), 0)).stdout;
}

export function median(figures: readonly number[]) {
	return figures.toSorted((a, b) => a - b)[Math.round((figures.length - 1) / 2)] as number;
}

/** Requests an address for 3 s, by 64 connections. @returns the answers per second, all of them 200 */
export async function wrk(url: string, ...more: string[]) {
	// The default time-out, two seconds, is too short for a machine with other work.
	const printed = await run("wrk", ["-t1", "-c64", "-d3s", "--timeout", "30s", ...more, url]);
	const perSecond = Number(/^Requests\/sec:\s+([\d.]+)$/m.exec(printed)?.[1]);
	if (/Non-2xx|Socket errors/.test(printed) || Number.isNaN(perSecond))
		throw new Error(`wrk: ${url}: ${printed}`);
	return perSecond;
}

/** As `wrk`, each time of `count` other keys. @param script a new file for wrk's script */
export function wrkLists(script: string, url: string, keys: readonly string[], count: number) {
	writeFileSync(
		script,
		`local keys = {"${keys.join('","')}"}
local at = 0
request = function()
  local list = {}
  for index = 1, ${count} do at = (at + 7919) % #keys list[index] = keys[at + 1] end
  return wrk.format("GET", "${new URL(url).pathname}" .. table.concat(list, ","))
end
`,
	);
	return wrk(url, "-s", script);
}

export async function secondsOf(task: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await task();
	return (performance.now() - start) / 1_000;
}

export const timed = (command: string, ...args: string[]) => secondsOf(() => run(command, args));

/** The most memory of a process and its descendants during a task. Shared pages are counted once (PSS). */
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

/** The same each time; seven of ten are wms, the others feature. */
function layerAt(index: number): { smallkey: string; registration: Registration1 } {
	// Multiplication by this prime (Knuth) spreads the smallkeys over the folders.
	const smallkey = `${(Math.imul(index, 2_654_435_761) >>> 0).toString(36)}-${index}`;
	const isWms = index % 10 < 7;
	const entry = (lang: string, service_name: string) => ({
		service_url: isWms
			? `https://maps${index % 97}.example.ca/wms/${smallkey}_${lang}`
			: `https://gis${index % 89}.example.ca/arcgis/${smallkey}_${lang}/MapServer/${index % 9}`,
		...(isWms && { layer: `layer_${index}` }),
		service_name,
	});
	const [en, fr] = [entry("en", `Layer ${index} of Canada`), entry("fr", `Couche ${index} du Canada, été`)];
	return { smallkey, registration: { version: "1.0.0", payload_type: isWms ? "wms" : "feature", en, fr } };
}

export function withName(registration: Registration1, service_name: string): Registration1 {
	return { ...registration, en: { ...registration.en, service_name } };
}

export interface Target {
	url: string;
	sender: string;
	secret: string;
}

/** Path below the service's address, and payload. */
export type Put = [path: string, body: string];

/**
 * Sends signed PUTs as fast as a service answers, each publisher one after the other.
 * @returns the seconds of all, and the milliseconds of each
 * @throws {Error} unless every answer is 201
 */
export async function publish({ url, ...signer }: Target, puts: Put[], publishers: number) {
	const milliseconds: number[] = [];
	// All publishers take their payloads from the same iterator. Each signs as it sends.
	const waiting = puts.values();
	const sendAll = async () => {
		for (const [path, body] of waiting) {
			const address = new URL(url + path);
			const request = await signed(address.pathname, body, signer);
			const taken = await secondsOf(async () => {
				const answer = await fetch(address, request).catch(({ cause }) => {
					throw new Error(`${address}: ${cause.message}`);
				});
				const receipt = await answer.text();
				if (answer.status !== 201) throw new Error(`${address}: ${answer.status} ${receipt}`);
			});
			milliseconds.push(taken * 1_000);
		}
	};
	const seconds = await secondsOf(() => Promise.all(Array.from({ length: publishers }, sendAll)));
	return { seconds, milliseconds };
}

export class World {
	readonly folder = mkdtempSync(join(tmpdir(), "bench-"));
	readonly layers: ReturnType<typeof layerAt>[];
	readonly smallkeys: string[];
	readonly #ends: (() => unknown)[] = [];
	readonly #shared = new Map<string, Promise<unknown>>();
	#orders = 0;

	constructor(readonly count: number) {
		this.layers = Array.from({ length: count }, (_, index) => layerAt(index));
		this.smallkeys = this.layers.map(({ smallkey }) => smallkey);
	}

	path(name: string) {
		return join(this.folder, name);
	}

	/** Makes something once, for all rows. */
	shared<T>(name: string, make: () => Promise<T>): Promise<T> {
		const value = this.#shared.get(name) ?? make();
		this.#shared.set(name, value);
		return value as Promise<T>;
	}

	endLater(end: () => unknown): void {
		this.#ends.push(end);
	}

	async close() {
		await Promise.all(this.#ends.splice(0).map((end) => end()));
		await rm(this.folder, { recursive: true, force: true });
	}

	/** With an author, and without a gc during the measurement. */
	git(cwd: string, ...args: string[]) {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"];
		return run("git", [...who, "-c", "gc.auto=0", ...args], cwd);
	}

	/** All layers, committed on main after an empty commit. No row changes it. */
	checkout() {
		return this.shared("checkout", async () => {
			const checkout = this.path("checkout");
			for (const { smallkey, registration } of this.layers)
				writeFiles(checkout, { [layerPath(smallkey)]: canonicalText(registration) });
			for (const line of [
				"init -q -b main",
				"commit -q --allow-empty -m first",
				"add layers",
				"commit -q -m layers",
				"gc -q",
			])
				await this.git(checkout, ...line.split(" "));
			return checkout;
		});
	}

	async clone(name: string) {
		await run("git", ["clone", "-q", "--no-hardlinks", await this.checkout(), this.path(name)]);
		return this.path(name);
	}

	async start(dataDir: string, more: Record<string, string> = {}) {
		const [sender, secret] = ["bench", "a secret of this bench only"];
		const senders = JSON.stringify({ [sender]: secret });
		const settings = { HARVEST: "on", SITE: "on", DATA_DIR: dataDir, SENDERS: senders };
		const server = await ServerProcess.start({ ...environment, ...settings, ...more });
		const stop = () => server.stop();
		this.endLater(stop);
		return { url: server.url, pid: server.pid, stop, dataDir, sender, secret };
	}

	/** PUTs of the first layers: of the same keys each time, with new payloads. */
	puts(count: number): Put[] {
		this.#orders += 1;
		const name = `Published in order ${this.#orders}.`;
		return this.layers
			.slice(0, count)
			.map(({ smallkey, registration }) => [
				`/register/${smallkey}`,
				JSON.stringify(withName(registration, name)),
			]);
	}

	/** A service that all layers are pushed into, and what was measured meanwhile and during PUTs after it. */
	pushed(puts: number) {
		return this.shared("pushed", async () => {
			const dataDir = this.path("pushed");
			const repository = join(dataDir, "repository.git");
			const checkout = await this.checkout();
			await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
			await this.git(checkout, "push", "-q", repository, "HEAD~1:refs/heads/main");
			const service = await this.start(dataDir);
			const last = `${service.url}/v0.9/doc/en/${this.smallkeys.toSorted().at(-1)}`;
			let [seconds, delayMs] = [0, 0];
			const readUntilServed = async () => {
				for (let status = 404; status !== 200; await sleep(5)) {
					const taken = await secondsOf(async () => {
						const answer = await fetch(last);
						await answer.arrayBuffer();
						({ status } = answer);
					});
					delayMs = Math.max(delayMs, taken * 1_000);
				}
			};
			await fetch(last);
			await run("sync", []);
			const megabytes = await maxMegabytes(service.pid, async () => {
				const reading = readUntilServed();
				await this.git(checkout, "push", "-q", repository, "main");
				seconds = await secondsOf(() => reading);
				const tip = (await this.git(checkout, "rev-parse", "main")).trim();
				await eventually(() => readIfThere(join(dataDir, "dist/index/index.json")).includes(tip));
				// Ready once all files are written; meanwhile, writing them takes the time of later rows.
				await eventually(async () => (await fetch(`${service.url}/readyz`)).ok);
				await publish(service, this.puts(puts), 32);
			});
			const folder = join(dataDir, "dist/v0.9/doc");
			const sizes = filesBelow(folder).map((name) => statSync(join(folder, name)).size);
			const fragments = sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
			return { service, seconds, delayMs, megabytes, fragments };
		});
	}
}
