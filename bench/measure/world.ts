import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateLayers, writeLayers } from "../layers.ts";
import { type Running, root, run, startProgram, stopAll, until } from "./process.ts";

/** Id of the only sender of every measured service. */
export const sender = "bench";

/** A running service. */
export interface Served extends Running {
	/** `http://127.0.0.1:<port>` */
	url: string;
	dataDir: string;
	secret: string;
}

/** How a service is started. */
interface ServeOptions {
	/** Whether it has a catalogue, which affects writes. */
	site?: "on" | "off";
	/** Path of the checkout whose service is started. */
	checkout?: string;
	/** Modules that are loaded into its process, to measure there. */
	preloads?: string[];
}

/**
 * Layers, repositories and services for the rows, in one temporary folder that is removed at the end. The rows share the
 * checkouts. Everything else that a row makes or starts is removed after the row.
 */
export class World {
	readonly #made = new Map<string, Promise<string>>();
	readonly #secret = randomBytes(24).toString("base64url");

	private constructor(
		readonly folder: string,
		/** Number of layers. */
		readonly layers: number,
		/** Checkout of another version, with its packages, with which rows are compared; null without one. */
		readonly beside: string | null,
	) {}

	static async open(layers: number, beside: string | null = null): Promise<World> {
		const world = new World(await mkdtemp(join(tmpdir(), "bench-")), layers, beside);
		await mkdir(world.path(""));
		return world;
	}

	/** Stops everything that a row has started, and removes everything that it has made. */
	async clear(): Promise<void> {
		await stopAll();
		await this.remove("");
		await mkdir(this.path(""));
	}

	async close(): Promise<void> {
		await stopAll();
		await rm(this.folder, { recursive: true, force: true });
	}

	/** The first `count` smallkeys. */
	smallkeys(count: number): string[] {
		return [...generateLayers(count)].map(({ smallkey }) => smallkey);
	}

	/** A checkout with `count` layers, committed on main. The rows share it and must not change it. */
	checkout(count: number): Promise<string> {
		const folder = join(this.folder, `checkout-${count}`);
		const made = this.#made.get(folder) ?? this.#makeCheckout(folder, count);
		this.#made.set(folder, made);
		return made;
	}

	async #makeCheckout(folder: string, count: number): Promise<string> {
		await mkdir(folder);
		await writeLayers(folder, count);
		await this.git(folder, "init", "-q", "-b", "main");
		await this.git(folder, "add", "layers");
		await this.git(folder, "commit", "-q", "-m", "layers");
		await this.git(folder, "gc", "-q");
		return folder;
	}

	/** A clone of that checkout, which one row may change. */
	async clone(count: number, name: string): Promise<string> {
		await run("git", ["clone", "-q", "--no-hardlinks", await this.checkout(count), this.path(name)]);
		return this.path(name);
	}

	/** Starts a service on `count` layers, with its own data folder, and waits until all derived files are written. */
	async serve(count: number, name: string, options: ServeOptions = {}): Promise<Served> {
		const service = await this.start(await this.dataFolder(count, name), { site: "off", ...options });
		await untilWritten(service);
		// A process beside the service builds the first catalogue.
		const index = `${service.url}/index/index.json`;
		if (options.site === "on") await until("the catalogue", async () => (await fetch(index)).status === 200);
		return service;
	}

	/** A data folder whose repository has `count` layers, without any file that a service derives from them. */
	async dataFolder(count: number, name: string): Promise<string> {
		return this.#bareClone(await this.checkout(count), name);
	}

	/** A data folder whose repository has no layer. */
	async emptyDataFolder(name: string): Promise<string> {
		const empty = this.path(`${name}-first`);
		await mkdir(empty);
		await this.git(empty, "init", "-q", "-b", "main");
		await this.git(empty, "commit", "-q", "--allow-empty", "-m", "first");
		return this.#bareClone(empty, name);
	}

	async #bareClone(repository: string, name: string): Promise<string> {
		const dataDir = this.path(name);
		await mkdir(dataDir);
		const own = join(dataDir, "repository.git");
		await run("git", ["clone", "-q", "--bare", "--no-hardlinks", repository, own]);
		return dataDir;
	}

	/** Starts a service on a data folder, and waits until it has printed its address. */
	async start(
		dataDir: string,
		{ site = "on", checkout = root, preloads = [] }: ServeOptions = {},
	): Promise<Served> {
		const env = {
			DATA_DIR: dataDir,
			HOST: "127.0.0.1",
			PORT: "0",
			HARVEST: "off",
			SENDERS: JSON.stringify({ [sender]: this.#secret }),
			LOOP_DELAY_FILE: `${dataDir}.delay`,
			SITE: site,
		};
		const ready = /(http:\/\/127\.0\.0\.1:\d+)/;
		const { scripts } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
		// Node's options, the program and its arguments, as `npm start` has them in that version.
		const words = scripts.start.replace(/^.*?node /, "").split(" ");
		const running = await startProgram(words, env, ready, preloads, checkout);
		return { ...running, url: running.found, dataDir, secret: this.#secret };
	}

	/** A path in the folder of the current row. */
	path(name: string): string {
		return join(this.folder, "row", name);
	}

	/** Removes a path in the folder of the current row. */
	async remove(name: string): Promise<void> {
		await rm(this.path(name), { recursive: true, force: true });
	}

	/** Runs git in a folder, with an author. */
	async git(folder: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		// Without this setting a commit may start a gc, which would run during the measurement.
		const quiet = ["-c", "gc.auto=0"];
		return run("git", [...who, ...quiet, ...args], { cwd: folder });
	}
}

/** Waits until the files of the fragments are written. */
async function untilWritten({ url }: Served): Promise<void> {
	let readyInARow = 0;
	const check = async () => {
		const { status } = await fetch(`${url}/readyz`);
		// Older versions have only /healthz, which includes the state of the files.
		const isReady = status === 404 ? (await fetch(`${url}/healthz`)).status === 200 : status === 200;
		readyInARow = isReady ? readyInARow + 1 : 0;
		return readyInARow === 2;
	};
	await until("the files", check, 500);
}
