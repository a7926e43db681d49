import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, ServerProcess } from "../../tests/process.ts";
import { generateLayers, writeLayers } from "../layers.ts";
import { environment, run, until } from "./process.ts";

/** Id of the only sender of every measured service. */
export const sender = "bench";

/** How a service is started. */
interface ServeOptions {
	/** Whether it has a catalogue, which affects writes. */
	site?: "on" | "off";
	/** Path of the checkout whose service is started. */
	checkout?: string;
	/** Modules that are loaded into its process, to measure there. */
	preloads?: string[];
}

/** A running service. */
export type Served = Awaited<ReturnType<World["start"]>>;

/**
 * Layers, repositories and services for the rows, in one temporary folder that is removed at the end. The rows share the
 * checkout. Everything else that a row makes or starts is removed after the row.
 */
export class World {
	readonly #secret = randomBytes(24).toString("base64url");
	#checkout: Promise<string> | null = null;
	/** Ends what the current row has started. */
	readonly #ends: (() => Promise<unknown>)[] = [];

	private constructor(
		readonly folder: string,
		/** Number of layers. */
		readonly layers: number,
		/** Checkout of another version, with its packages, with which rows are compared; null without one. */
		readonly beside: string | null,
	) {}

	static async open(layers: number, beside: string | null = null): Promise<World> {
		const world = new World(await mkdtemp(join(tmpdir(), "bench-")), layers, beside);
		await world.clear();
		return world;
	}

	/** Registers what has to end after the current row. */
	endLater(end: () => Promise<unknown>): void {
		this.#ends.push(end);
	}

	/** Ends everything that a row has started, and removes everything that it has made. */
	async clear(): Promise<void> {
		await Promise.all(this.#ends.splice(0).map((end) => end()));
		await rm(this.path(""), { recursive: true, force: true });
		await mkdir(this.path(""));
	}

	async close(): Promise<void> {
		await this.clear();
		await rm(this.folder, { recursive: true, force: true });
	}

	/** The smallkeys of all layers. */
	smallkeys(): string[] {
		return [...generateLayers(this.layers)].map(({ smallkey }) => smallkey);
	}

	/** A checkout with all layers, committed on main after an empty commit. The rows share it and must not change it. */
	checkout(): Promise<string> {
		this.#checkout ??= this.#makeCheckout();
		return this.#checkout;
	}

	async #makeCheckout(): Promise<string> {
		const folder = join(this.folder, "checkout");
		writeLayers(folder, this.layers);
		await this.git(folder, "init", "-q", "-b", "main");
		await this.git(folder, "commit", "-q", "--allow-empty", "-m", "first");
		await this.git(folder, "add", "layers");
		await this.git(folder, "commit", "-q", "-m", "layers");
		await this.git(folder, "gc", "-q");
		return folder;
	}

	/** A clone of that checkout, which one row may change. */
	async clone(name: string, ...words: string[]): Promise<string> {
		const clone = this.path(name);
		await run("git", ["clone", "-q", "--no-hardlinks", ...words, await this.checkout(), clone]);
		return clone;
	}

	/** A data folder whose repository has all layers, without any file that a service derives from them. */
	async dataFolder(name: string): Promise<string> {
		await this.clone(join(name, "repository.git"), "--bare");
		return this.path(name);
	}

	/** A data folder whose repository has only that empty commit. */
	async emptyDataFolder(name: string): Promise<string> {
		const repository = join(this.path(name), "repository.git");
		await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
		await this.git(await this.checkout(), "push", "-q", repository, "HEAD~1:refs/heads/main");
		return this.path(name);
	}

	/** Starts a service on all layers, with its own data folder, and waits until all derived files are written. */
	async serve(name: string, options: ServeOptions = {}): Promise<Served> {
		const service = await this.start(await this.dataFolder(name), { site: "off", ...options });
		await untilWritten(service);
		// A process beside the service builds the first catalogue.
		const index = `${service.url}/index/index.json`;
		if (options.site === "on") await until("the catalogue", async () => (await fetch(index)).status === 200);
		return service;
	}

	/** Starts a service on a data folder, and waits until it has printed its address. */
	async start(dataDir: string, { site = "on", checkout = root, preloads = [] }: ServeOptions = {}) {
		const secret = this.#secret;
		const env = {
			...environment,
			DATA_DIR: dataDir,
			SENDERS: JSON.stringify({ [sender]: secret }),
			LOOP_DELAY_FILE: `${dataDir}.delay`,
			SITE: site,
		};
		const { scripts } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
		// Node's options, the program and its arguments, as `npm start` has them in that version.
		const words = scripts.start.replace(/^.*?node /, "").split(" ");
		const imports = ["tsx", ...preloads].flatMap((module) => ["--import", module]);
		const server = await ServerProcess.start(env, checkout, [...imports, ...words]);
		const { url, pid } = server;
		const stop = () => server.stop();
		this.endLater(stop);
		return { url, pid, stop, dataDir, secret };
	}

	/** A path in the folder of the current row. */
	path(name: string): string {
		return join(this.folder, "row", name);
	}

	/** Runs git in a folder, with an author. */
	git(folder: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		// Without this setting a commit may start a gc, which would run during the measurement.
		return run("git", [...who, "-c", "gc.auto=0", ...args], { cwd: folder });
	}
}

/** Waits until the files of the fragments are written. */
async function untilWritten({ url }: { url: string }): Promise<void> {
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
