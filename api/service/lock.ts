import { randomBytes } from "node:crypto";
import { once } from "node:events";
import files from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Every system allows sockets 103 bytes, with the ending. */
const maxPathBytes = 88;

interface Lock {
	release(): Promise<unknown>;
}

/**
 * A listening Unix socket: a killed process blocks no start, not even in another container.
 * @param waiting gets a line before a wait, and where the disk cannot be written
 */
export async function lockFolder(
	folder: string,
	{ name = "publisher.lock", activity = "works", maxWaitMs = 10_000, waiting = (_line: string) => {} } = {},
): Promise<Lock> {
	const path = socketPath(folder, name);
	const holder = `DATA_DIR: another process ${activity} in ${folder}`;
	const endMs = performance.now() + maxWaitMs;
	for (let isFirst = true; ; isFirst = false) {
		const lock = await tryLock(path).catch((error: NodeJS.ErrnoException) => {
			waiting(`DATA_DIR: ${path} cannot be made: ${whyUnwritable(error, folder)}`);
			return lockLater(path);
		});
		if (lock) return lock;
		if (performance.now() >= endMs) throw new Error(`${holder}; end it first, or choose another folder`);
		if (isFirst) waiting(`${holder}; waiting ${maxWaitMs / 1000} s for its end`);
		await sleep(100);
	}
}

/** Where nothing can be written, two services do no damage. @throws {Error} for another reason */
function whyUnwritable(error: NodeJS.ErrnoException, folder: string): string {
	const { code = "" } = error;
	if (code === "EACCES" || code === "EPERM")
		throw new Error(
			`DATA_DIR: this user may not write in ${folder}: run this as the user of the service, who owns it`,
		);
	if (!["EROFS", "ENOSPC", "EDQUOT"].includes(code)) throw error;
	return `${code}. Layers are read, and not changed; once the disk can be written, start only one service`;
}

function lockLater(path: string): Lock {
	let lock: Lock | null = null;
	const timer = setInterval(async () => {
		lock ??= await tryLock(path).catch(() => null);
	}, 2_000).unref();
	return {
		async release() {
			clearInterval(timer);
			await lock?.release();
		},
	};
}

export async function isFolderLocked(folder: string): Promise<boolean> {
	const path = socketPath(folder, "publisher.lock");
	return isHeld(path, await numbersOf(path).catch(() => []));
}

function socketPath(folder: string, name: string): string {
	const paths = [join(folder, name), relative(process.cwd(), join(folder, name))];
	const path = paths.find((candidate) => Buffer.byteLength(candidate) <= maxPathBytes);
	if (path === undefined) throw new Error(`DATA_DIR: ${folder} is too long a path`);
	return path;
}

/**
 * Listens at `<path>.<number>`; null if another process does. link(2) replaces no file: of two processes that
 * find a dead lock, one gets the next number.
 */
async function tryLock(path: string): Promise<Lock | null> {
	const numbers = await numbersOf(path);
	if (await isHeld(path, numbers)) return null;
	const temporary = `${path}.new${randomBytes(4).toString("hex")}`;
	const server = createServer((socket) => socket.end()).listen(temporary);
	await once(server.unref(), "listening");
	const release = () => new Promise((resolve) => server.close(resolve));
	let isTaken = false;
	try {
		isTaken = await takeNumber(path, temporary, numbers);
	} finally {
		await files.rm(temporary, { force: true });
		if (!isTaken) await release();
	}
	return isTaken ? { release } : null;
}

async function takeNumber(path: string, temporary: string, numbers: readonly number[]): Promise<boolean> {
	const number = (numbers.at(-1) ?? 0) + 1;
	try {
		await files.link(temporary, `${path}.${number}`);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
	const isTaken = (await numbersOf(path)).at(-1) === number;
	for (const old of isTaken ? numbers : [number]) {
		// The highest number decides.
		await files.rm(`${path}.${old}`, { force: true }).catch(() => undefined);
	}
	return isTaken;
}

async function numbersOf(path: string): Promise<number[]> {
	const start = `${basename(path)}.`;
	const names = (await files.readdir(dirname(path))).filter((name) => name.startsWith(start));
	const numbers = names.map((name) => Number(name.slice(start.length)));
	return numbers.filter((number) => number > 0).sort((a, b) => a - b);
}

async function isHeld(path: string, numbers: readonly number[]): Promise<boolean> {
	for (const number of numbers) {
		const socket = connect(`${path}.${number}`);
		try {
			await once(socket, "connect");
			return true;
		} catch (error) {
			const { code = "", message } = error as NodeJS.ErrnoException;
			if (!["ENOENT", "ECONNREFUSED", "ECONNRESET"].includes(code))
				throw new Error(`DATA_DIR: cannot lock it with ${path}: ${message}`);
		} finally {
			socket.destroy();
		}
	}
	return false;
}
