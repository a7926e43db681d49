import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, ServerProcess } from "../../helpers/process.ts";
import { generateLayers, writeLayers } from "../layers.ts";
import { environment, run, until } from "./process.ts";

/** Id of the only sender of every measured service. */
export const sender = "bench";

/** How a service is started. */
interface ServeOptions {
	/** Path of the checkout whose service is started. */
	checkout?: string;
	/** Modules that are loaded into its process, to measure there. */
	preloads?: string[];
}

/** A running service. */
export type Served = Awaited<ReturnType<World["start"]>>;

export type World = Awaited<ReturnType<typeof openWorld>>;

/**
 * Opens the layers, repositories and services for the rows, in one temporary folder that is removed at the end. The rows
 * share what takes long to make.
 * @param layers number of layers
 * @param beside checkout of another version, with its packages, with which rows are compared; null without one
 */
export async function openWorld(layers: number, beside: string | null) {
	const folder = await mkdtemp(join(tmpdir(), "bench-"));
	const secret = randomBytes(24).toString("base64url");
	const ends: (() => unknown)[] = [];
	const made = new Map<string, Promise<unknown>>();

	/** Makes something at the first call, and gives it to all rows. */
	function shared<T>(name: string, make: () => Promise<T>): Promise<T> {
		const found = made.get(name) ?? make();
		made.set(name, found);
		return found as Promise<T>;
	}

	/** Ends everything that was started, and removes everything that was made. */
	async function close(): Promise<void> {
		await Promise.all(ends.splice(0).map((end) => end()));
		await rm(folder, { recursive: true, force: true });
	}

	/** A path in the folder of this world. */
	function path(name: string): string {
		return join(folder, name);
	}

	/** Runs git in a folder, with an author. */
	function git(cwd: string, ...args: string[]): Promise<string> {
		const who = ["-c", "user.name=bench", "-c", "user.email=bench@sender.invalid"];
		// Without this setting a commit may start a gc, which would run during the measurement.
		return run("git", [...who, "-c", "gc.auto=0", ...args], { cwd });
	}

	/** A checkout with all layers, committed on main after an empty commit. The rows must not change it. */
	const checkout = () => shared("checkout", () => makeCheckout(join(folder, "checkout")));

	async function makeCheckout(made: string): Promise<string> {
		writeLayers(made, layers);
		await git(made, "init", "-q", "-b", "main");
		await git(made, "commit", "-q", "--allow-empty", "-m", "first");
		await git(made, "add", "layers");
		await git(made, "commit", "-q", "-m", "layers");
		await git(made, "gc", "-q");
		return made;
	}

	/** A clone of that checkout, which one row may change. */
	async function clone(name: string, ...words: string[]): Promise<string> {
		await run("git", ["clone", "-q", "--no-hardlinks", ...words, await checkout(), path(name)]);
		return path(name);
	}

	/** A data folder whose repository has all layers, without any file that a service derives from them. */
	async function dataFolder(name: string): Promise<string> {
		await clone(join(name, "repository.git"), "--bare");
		return path(name);
	}

	/** A data folder whose repository has only that empty commit. */
	async function emptyDataFolder(name: string): Promise<string> {
		const repository = join(path(name), "repository.git");
		await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
		await git(await checkout(), "push", "-q", repository, "HEAD~1:refs/heads/main");
		return path(name);
	}

	/** Starts a service on all layers, with its own data folder, and waits until all derived files are written. */
	async function serve(name: string, options: ServeOptions = {}) {
		const service = await start(await dataFolder(name), options);
		await untilWritten(service);
		// A process beside the service builds the first catalogue. The first release has none, and answers 404.
		await until("the catalogue", async () => (await fetch(`${service.url}/`)).status !== 503);
		return service;
	}

	/** Starts a service on a data folder, and waits until it has printed its address. */
	async function start(dataDir: string, { checkout = root, preloads = [] }: ServeOptions = {}) {
		const env = {
			...environment,
			// The default, which the tests' processes do not have.
			SITE: "on",
			DATA_DIR: dataDir,
			SENDERS: JSON.stringify({ [sender]: secret }),
			LOOP_DELAY_FILE: `${dataDir}.delay`,
		};
		const { scripts } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
		// Node's options, the program and its arguments, as `npm start` has them in that version.
		const words = scripts.start.replace(/^.*?node /, "").split(" ");
		const imports = ["tsx", ...preloads].flatMap((module) => ["--import", module]);
		const server = await ServerProcess.start(env, checkout, [...imports, ...words]);
		const stop = () => server.stop();
		ends.push(stop);
		return { url: server.url, pid: server.pid, stop, dataDir, secret };
	}

	return {
		layers,
		beside,
		/** The smallkeys of all layers. */
		smallkeys: () => [...generateLayers(layers)].map(({ smallkey }) => smallkey),
		/** Registers what has to end at the end. */
		endLater: (end: () => unknown) => ends.push(end),
		...{ shared, close, path, git, checkout, clone, dataFolder, emptyDataFolder, serve, start },
	};
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
