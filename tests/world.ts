import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type Test } from "uvu";
import { runGit } from "../system/git/run.ts";

/** What tests set up. `await using` ends each of them with its block, however the block ends. */

/** A new folder; its end removes it. */
export interface Folder extends AsyncDisposable {
	path: string;
	remove: () => Promise<void>;
}

export async function temporaryFolder(): Promise<Folder> {
	const path = await mkdtemp(join(tmpdir(), "publisher-"));
	const remove = () => rm(path, { recursive: true, force: true });
	return { path, remove, [Symbol.asyncDispose]: remove };
}

/** Runs git; resolves with what it prints, without the space around it. @throws {Error} if it fails */
export type Git = (...args: string[]) => Promise<string>;

/** Git in one folder: a repository, or a folder to make one in. Commits are Ada's. @param input for each call */
export function gitIn(folder: string, input = ""): Git {
	const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
	return async (...args) => (await runGit(folder, [...who, ...args], { input })).toString("utf8").trim();
}

/** A server of this process, such as a fake map service. */
export interface Answering extends AsyncDisposable {
	/** Its address, without a slash at the end. */
	origin: string;
	port: number;
}

/** Answers requests at a port of 127.0.0.1. Its end closes the connections, too. */
export async function answering(listener: RequestListener = () => undefined): Promise<Answering> {
	const server = createServer(listener);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const end = async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	};
	const { port } = server.address() as AddressInfo;
	return { origin: `http://127.0.0.1:${port}`, port, [Symbol.asyncDispose]: end };
}

/** What ends: a disposable value, or a function that ends it. */
type Ends = AsyncDisposable | (() => unknown);

/** Has a value of a suite's scene end with the scene. @returns the value */
export type Use = <T extends Ends>(value: T) => T;

function createUses(): { use: Use; end: () => Promise<void> } {
	const uses: Ends[] = [];
	const use: Use = (value) => {
		uses.push(value);
		return value;
	};
	const end = async () => {
		for (const value of uses.splice(0).reverse())
			await (typeof value === "function" ? value() : value[Symbol.asyncDispose]());
	};
	return { use, end };
}

/** A suite of which each test gets a scene of its own. What the scene uses ends after the test, last first. */
export function freshSuite<T extends object>(name: string, open: (use: Use) => T | Promise<T>): Test<T> {
	const test = suite<T>(name);
	const { use, end } = createUses();
	test.before.each(async (scene) => {
		Object.assign(scene, await open(use));
	});
	test.after.each(end);
	return test;
}

/** A suite whose tests share one scene. What the scene uses ends after the last test, last first. */
export function sharedSuite<T extends object>(name: string, open: (use: Use) => T | Promise<T>): Test<T> {
	const test = suite<T>(name);
	const { use, end } = createUses();
	test.before(async (scene) => {
		Object.assign(scene, await open(use));
	});
	test.after(end);
	return test;
}
