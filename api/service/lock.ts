import { randomBytes } from "node:crypto";
import { once } from "node:events";
import files from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const attemptEveryMs = 100;
const lockAgainMs = 2_000;

/** In bytes. With its ending, a path is within the socket limit of every system, 103. */
const maxPathBytes = 88;

type Lock = { release: () => Promise<void> };

/** On these disks no lock can be made, and a service still reads. */
const noLockReasons: Readonly<Record<string, string>> = {
	EROFS: "is read-only",
	ENOSPC: "is full, or has no inode left",
	EDQUOT: "is full, or has no inode left",
};

/**
 * A listening Unix socket, which the system closes when the process ends: a killed process never blocks the
 * next start, not even in another container.
 * @param options the lock's name in the folder; what the holder does, for messages; the longest wait; and a
 * function that gets a line before the wait
 * @throws {Error} if another process holds the lock for longer than `maxWaitMs`
 */
export async function lockFolder(
	folder: string,
	options: { name?: string; activity?: string; maxWaitMs?: number; waiting?: (line: string) => void } = {},
): Promise<Lock> {
	const { name, activity = "works", maxWaitMs = 10_000, waiting } = options;
	const path = socketPath(folder, name);
	const holder = `DATA_DIR: another process ${activity} in ${folder}`;
	const deadline = performance.now() + maxWaitMs;
	const withoutRights = (error: NodeJS.ErrnoException): Lock => {
		const { code = "" } = error;
		if (code === "EACCES" || code === "EPERM") {
			const advice = "run this as the user of the service, who owns it";
			throw new Error(`DATA_DIR: this user may not write in ${folder}: ${advice}`);
		}
		if (!noLockReasons[code]) throw error;
		// On a disk that cannot be written two processes cannot damage anything.
		const rule =
			"layers are read from there, and not changed; once it can be written, start only one service";
		waiting?.(`DATA_DIR: ${path} cannot be made, since the disk ${noLockReasons[code]}: ${rule}`);
		return lockLater(path);
	};
	for (let first = true; ; first = false) {
		const lock = await tryLock(path).catch(withoutRights);
		if (lock) return lock;
		if (performance.now() >= deadline) throw new Error(`${holder}; end it first, or choose another folder`);
		if (first) waiting?.(`${holder}; waiting ${maxWaitMs / 1000} s for its end`);
		await sleep(attemptEveryMs);
	}
}

function lockLater(path: string): Lock {
	let lock: Lock | null = null;
	const timer = setInterval(async () => {
		lock ??= await tryLock(path).catch(() => null);
		if (lock) clearInterval(timer);
	}, lockAgainMs).unref();
	const release = async () => {
		clearInterval(timer);
		await lock?.release();
	};
	return { release };
}

export async function isFolderLocked(folder: string): Promise<boolean> {
	const path = socketPath(folder);
	return isHeld(path, await numbersOf(path).catch(() => []));
}

/** Relative if that is shorter. @throws {Error} if it is too long for a socket */
function socketPath(folder: string, name = "publisher.lock"): string {
	const path = join(folder, name);
	const near = relative(process.cwd(), path);
	const shorter = near.length < path.length ? near : path;
	if (Buffer.byteLength(shorter) <= maxPathBytes) return shorter;
	const maxBytes = maxPathBytes - name.length - 1;
	throw new Error(`DATA_DIR: ${folder} is too long a path; it may have ${maxBytes} bytes`);
}

/**
 * Listens at `<path>.<number>`; null if another process does. A number is taken while all lower ones are
 * dead, and only once: link(2) replaces no file, and that of the highest number stays. So of two processes
 * that find a dead lock, one gets the next number, and the other one finds it alive.
 */
async function tryLock(path: string): Promise<Lock | null> {
	const numbers = await numbersOf(path);
	if (await isHeld(path, numbers)) return null;
	const number = (numbers.at(-1) ?? 0) + 1;
	const numbered = `${path}.${number}`;
	const temporary = `${path}.new${randomBytes(4).toString("hex")}`;
	const server = createServer((socket) => socket.end()).listen(temporary);
	await once(server, "listening");
	const release = async () => void (await new Promise((resolve) => server.close(resolve)));
	let isTaken = false;
	try {
		await files.link(temporary, numbered);
		// A number that was taken and removed since the first look has a higher one after it.
		isTaken = (await numbersOf(path)).at(-1) === number;
		for (const old of isTaken ? numbers : [number]) await files.rm(`${path}.${old}`, { force: true });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	} finally {
		await files.rm(temporary, { force: true });
		if (!isTaken) await release();
	}
	server.unref();
	return isTaken ? { release } : null;
}

async function numbersOf(path: string): Promise<number[]> {
	const names = (await files.readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.`));
	const numbers = names.map((name) => Number(name.slice(basename(path).length + 1)));
	return numbers.filter((number) => number > 0).sort((a, b) => a - b);
}

/** At one of the numbers, or, of an earlier version, at the path itself. */
async function isHeld(path: string, numbers: readonly number[]): Promise<boolean> {
	const sockets = [path, ...numbers.map((number) => `${path}.${number}`)];
	return (await Promise.all(sockets.map(isAlive))).includes(true);
}

/** @throws {Error} if the path is not a socket, or cannot be reached */
function isAlive(path: string): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const socket = connect(path, () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", ({ code = "", message }: NodeJS.ErrnoException) => {
			// There is none, or it was closed before or while this process connected.
			if (["ENOENT", "ECONNREFUSED", "ECONNRESET"].includes(code)) resolve(false);
			else reject(new Error(`DATA_DIR: cannot lock it with ${path}: ${message}`));
		});
	});
}
