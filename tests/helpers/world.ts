import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { filesBelow } from "../../store/files/files.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { skip, suite, type Test } from "./suite.ts";

export function words(text: string) {
	return text.trim().split(/\s+/);
}

export interface Folder extends AsyncDisposable {
	path: string;
	remove: () => Promise<void>;
}

export async function temporaryFolder(): Promise<Folder> {
	const path = await mkdtemp(join(tmpdir(), "publisher-"));
	const remove = () => rm(path, { recursive: true, force: true });
	return { path, remove, [Symbol.asyncDispose]: remove };
}

export type Files = Record<string, string | null | { link: string } | { executable: string }>;

export function writeFiles(folder: string, files: Files) {
	for (const [name, content] of Object.entries(files)) {
		const path = join(folder, name);
		rmSync(path, { force: true, recursive: true });
		if (content === null) continue;
		mkdirSync(dirname(path), { recursive: true });
		if (typeof content === "string") writeFileSync(path, content);
		else if ("link" in content) symlinkSync(content.link, path);
		else writeFileSync(path, content.executable, { mode: 0o755 });
	}
}

/** Path → content as Latin-1, in the order of the paths. */
export function filesIn(folder: string): Map<string, string> {
	const paths = filesBelow(folder).sort();
	return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "latin1")]));
}

/** @returns what git prints, trimmed @throws {Error} if it fails */
export type Git = (...args: string[]) => Promise<string>;

/** Commits are Ada's. @param input for each call */
export function gitIn(folder: string, input = ""): Git {
	const who = ["-c", "user.name=Ada", "-c", "user.email=ada@tests.example", "-c", "core.fsync=none"];
	return async (...args) => (await runGit(folder, [...who, ...args], { input })).toString("utf8").trim();
}

const environment = {
	PATH: process.env.PATH,
	GIT_CONFIG_GLOBAL: "/dev/null",
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_AUTHOR_NAME: "tester",
	GIT_AUTHOR_EMAIL: "tester@tests.invalid",
	GIT_COMMITTER_NAME: "tester",
	GIT_COMMITTER_EMAIL: "tester@tests.invalid",
};

export class Repository implements Disposable {
	readonly path = mkdtempSync(join(tmpdir(), "publisher-"));

	constructor(files: Files) {
		this.git("init", "-q", "-b", "main");
		this.commit("base", files);
	}

	git(...args: string[]) {
		return execFileSync("git", args, { cwd: this.path, env: environment, encoding: "utf8" });
	}

	get head() {
		return this.git("rev-parse", "HEAD").trim();
	}

	write(files: Files) {
		writeFiles(this.path, files);
	}

	/** @param words more options of `git commit` */
	commit(subject: string, files: Files, ...words: string[]): void {
		this.write(files);
		this.git("add", "-A");
		this.git("commit", "-q", "--allow-empty", "-m", subject, ...words);
	}

	propose(files: Files) {
		this.git("checkout", "-q", "-B", "head", "main");
		this.commit("a change", files);
		this.git("checkout", "-q", "main");
	}

	[Symbol.dispose]() {
		this.remove();
	}

	remove() {
		rmSync(this.path, { recursive: true, force: true });
	}
}

export interface Answering extends AsyncDisposable {
	origin: string;
	port: number;
}

export async function answering(listener: RequestListener = () => undefined): Promise<Answering> {
	const server = createServer(listener);
	// An idle connection may be closed just when it is used again.
	server.keepAliveTimeout = 0;
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const end = async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	};
	const { port } = server.address() as AddressInfo;
	return { origin: `http://127.0.0.1:${port}`, port, [Symbol.asyncDispose]: end };
}

/** A map service with the layer Wells, of three features, at any path. */
export function wellsService(statusOf: (path: string) => number = () => 200): Promise<Answering> {
	const layer = { id: 1, type: "Feature Layer", name: "Wells", displayField: "NAME", fields: [] };
	return answering(({ url = "" }, response) => {
		response.writeHead(statusOf(url), { "Content-Type": "application/json" });
		response.end(JSON.stringify(url.includes("returnCountOnly") ? { count: 3 } : layer));
	});
}

type Ends = AsyncDisposable | Disposable | (() => unknown);

export type Use = <T extends Ends>(value: T) => T;

/** @param scene what the tests get */
// biome-ignore lint/suspicious/noConfusingVoidType: a scene may also be in variables of the test file
type Open<T> = (use: Use, scene: T) => T | void | Promise<T | void>;

function openedSuite<T extends object>(name: string, open: Open<T>, isFresh: boolean) {
	const test = suite<T>(name);
	const uses: Ends[] = [];
	const use: Use = (value) => {
		uses.push(value);
		return value;
	};
	const begin = async (scene: T) => void Object.assign(scene, await open(use, scene));
	const end = async () => {
		for (const value of uses.splice(0).reverse()) {
			if (typeof value === "function") await value();
			else if (Symbol.asyncDispose in value) await value[Symbol.asyncDispose]();
			else value[Symbol.dispose]();
		}
	};
	(isFresh ? test.before.each : test.before)(begin);
	(isFresh ? test.after.each : test.after)(end);
	return test;
}

/** A suite whose scene is opened for each test. */
export function freshSuite<T extends object>(name: string, open: Open<T>): Test<T> {
	return openedSuite(name, open, true);
}

/** A suite whose scene is opened once. */
export function sharedSuite<T extends object>(name: string, open: Open<T>): Test<T> {
	return openedSuite(name, open, false);
}

export function folderSuite(name: string): Test<{ folder: string }> {
	return freshSuite(name, async (use) => ({ folder: use(await temporaryFolder()).path }));
}

export function runUnless(missing: string | null, ...suites: Pick<Test, "run">[]) {
	if (missing !== null) skip(missing);
	else for (const tests of suites) tests.run();
}
