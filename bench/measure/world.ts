import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { generateLayers, writeLayers } from "../layers.ts";
import { type Running, root, run, startProgram } from "./process.ts";

/** Longest that a catalogue may take, in milliseconds. */
const patienceMs = 600_000;

/** The one sender of every measured service. */
export const sender = "bench";

/** Whether a service keeps a catalogue. */
type Site = "on" | "off";

/** A running service. */
export interface Served extends Running {
	/** `http://127.0.0.1:<port>` */
	url: string;
	dataDir: string;
	secret: string;
}

/** Layers and repositories that rows share, below one temporary folder that goes at the end. */
export class World {
	readonly #made = new Map<string, Promise<string>>();
	readonly #secret = randomBytes(24).toString("base64url");

	private constructor(
		readonly folder: string,
		/** Number of layers. */
		readonly layers: number,
		/** Checkout of another version, with its packages, that rows are measured beside; null without one. */
		readonly beside: string | null,
	) {}

	static async open(layers: number, beside: string | null = null): Promise<World> {
		const folder = await mkdtemp(join(tmpdir(), "bench-"));
		return new World(folder, layers, beside);
	}

	async close(): Promise<void> {
		await rm(this.folder, { recursive: true, force: true });
	}

	/** The first `count` smallkeys. */
	smallkeys(count: number): string[] {
		return [...generateLayers(count)].map(({ smallkey }) => smallkey);
	}

	/** A checkout with `count` layers, committed on main. It is shared and must not be changed. */
	checkout(count: number): Promise<string> {
		return this.#once(`checkout-${count}`, async (folder) => {
			await mkdir(folder);
			await writeLayers(folder, count);
			await this.git(folder, "init", "-q", "-b", "main");
			await this.git(folder, "add", "layers");
			await this.git(folder, "commit", "-q", "-m", "layers");
			await this.git(folder, "gc", "-q");
		});
	}

	/** A clone of that checkout, for one row to change. */
	async clone(count: number, name: string): Promise<string> {
		const checkout = await this.checkout(count);
		const folder = this.path(name);
		await run("git", ["clone", "-q", "--no-hardlinks", checkout, folder]);
		return folder;
	}

	/**
	 * A service on `count` layers, with a data folder of its own, once all that is derived from them is written.
	 * @param site whether it keeps a catalogue, which affects writes
	 * @param checkout the version that is run
	 */
	async serve(count: number, name: string, site: Site = "off", checkout = root): Promise<Served> {
		const service = await startService(await this.dataFolder(count, name), this.#secret, [], site, checkout);
		await untilWritten(service);
		if (site === "on") await untilCatalogue(service.url);
		return service;
	}

	/** A data folder whose repository holds `count` layers, and nothing that a service made of them. */
	async dataFolder(count: number, name: string): Promise<string> {
		const checkout = await this.checkout(count);
		const dataDir = this.path(name);
		await mkdir(dataDir);
		const repository = join(dataDir, "repository.git");
		await run("git", ["clone", "-q", "--bare", "--no-hardlinks", checkout, repository]);
		return dataDir;
	}

	/**
	 * Starts a service on a data folder, until it has printed its address.
	 * @param preloads modules of ours that are loaded into it, to measure there
	 */
	startAgain(dataDir: string, preloads: string[] = []): Promise<Served> {
		return startService(dataDir, this.#secret, preloads);
	}

	/** A data folder whose repository holds no layer. */
	async emptyDataFolder(name: string): Promise<string> {
		const dataDir = this.path(name);
		const empty = this.path(`${name}-first`);
		await mkdir(dataDir);
		await mkdir(empty);
		await this.git(empty, "init", "-q", "-b", "main");
		await this.git(empty, "commit", "-q", "--allow-empty", "-m", "first");
		await run("git", ["clone", "-q", "--bare", empty, join(dataDir, "repository.git")]);
		await this.remove(`${name}-first`);
		return dataDir;
	}

	/** A path in the world's folder. */
	path(name: string): string {
		return join(this.folder, name);
	}

	/** Removes what is at a path in the world's folder. */
	async remove(name: string): Promise<void> {
		await rm(this.path(name), { recursive: true, force: true });
	}

	/** Runs git in a folder, with an author. */
	async git(folder: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		// Otherwise a commit starts a gc, which would run during the measurement.
		const quiet = ["-c", "gc.auto=0"];
		return run("git", [...who, ...quiet, ...args], { cwd: folder });
	}

	#once(name: string, make: (folder: string) => Promise<void>): Promise<string> {
		const folder = this.path(name);
		const made = this.#made.get(name) ?? make(folder).then(() => folder);
		this.#made.set(name, made);
		return made;
	}
}

/** Waits until the files of the fragments are written. */
async function untilWritten({ url }: Served): Promise<void> {
	const deadline = performance.now() + patienceMs;
	const isAtRest = async () => {
		const { status } = await fetch(`${url}/readyz`);
		// An earlier version has only /healthz, which says it of the files, too.
		return status === 404 ? (await fetch(`${url}/healthz`)).status === 200 : status === 200;
	};
	for (let looks = 0; looks < 2; looks = (await isAtRest()) ? looks + 1 : 0) {
		if (performance.now() > deadline) throw new Error(`files not written after ${patienceMs} ms`);
		await sleep(500);
	}
}

/** Waits for the first catalogue of all layers, which a process beside the service builds. */
async function untilCatalogue(url: string): Promise<void> {
	const deadline = performance.now() + patienceMs;
	while ((await fetch(`${url}/index/index.json`)).status !== 200) {
		if (performance.now() > deadline) throw new Error(`no catalogue after ${patienceMs} ms`);
		await sleep(200);
	}
}

async function startService(
	dataDir: string,
	secret: string,
	preloads: string[] = [],
	site: Site = "on",
	checkout = root,
): Promise<Served> {
	const env = {
		DATA_DIR: dataDir,
		HOST: "127.0.0.1",
		PORT: "0",
		HARVEST: "off",
		SENDERS: JSON.stringify({ [sender]: secret }),
		LOOP_DELAY_FILE: `${dataDir}.delay`,
		// The rows are about what the first viewers read; other targets are more of the same.
		TARGETS: "v0.9",
		SITE: site,
	};
	const ready = /(http:\/\/127\.0\.0\.1:\d+)/;
	const isOlder =
		existsSync(join(checkout, "scripts/serve.ts")) && !existsSync(join(checkout, "scripts/fragments.cjs"));
	const words = isOlder
		? (["scripts/serve.ts", []] as const)
		: (["scripts/fragments.cjs", ["serve"]] as const);
	const running = await startProgram(words[0], [...words[1]], env, ready, preloads, checkout);
	return { ...running, url: running.found, dataDir, secret };
}
