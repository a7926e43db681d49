import { randomBytes } from "node:crypto";
import { once } from "node:events";
import files from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Time between two attempts to get a held lock, in milliseconds. */
const attemptEveryMs = 100;

/** How often a process looks whether the others that want a lock have given up, and the time between, in milliseconds. */
const maxTurns = 2_000;
const turnMs = 5;

/** Longest path of a lock, in bytes. With the endings of `tryLock` it is within the socket limit of every system, 103. */
const maxPathBytes = 88;

/** Name of the lock of a whole folder. */
const folderLock = "publisher.lock";

/** A lock that this process holds on a data folder. */
type Lock = { release: () => Promise<void> };

/**
 * Locks a data folder for this process. The lock is a listening Unix socket. The system closes it when the process ends,
 * so a killed process never blocks the next start, not even in another container.
 * @param options the lock's name in the folder; the activity of the holder, as a verb with its object, for messages; the
 * longest wait for another process; and a function that is called once, before the wait, with a line that explains it
 * @throws {Error} if another process holds the lock for longer than `maxWaitMs`
 */
export async function lockFolder(
	folder: string,
	options: { name?: string; activity?: string; maxWaitMs?: number; waiting?: (line: string) => void } = {},
): Promise<Lock> {
	const { name = folderLock, activity = "works", maxWaitMs = 10_000, waiting } = options;
	const path = socketPath(folder, name);
	if (path === null) {
		const maxBytes = maxPathBytes - name.length - 1;
		throw new Error(`DATA_DIR: ${folder} is too long a path; it may have ${maxBytes} bytes`);
	}
	const holder = `DATA_DIR: another process ${activity} in ${folder}`;
	const deadline = performance.now() + maxWaitMs;
	const withoutRights = async (error: NodeJS.ErrnoException): Promise<Lock | null> => {
		const { code } = error;
		if (code === "EACCES" || code === "EPERM") {
			const advice = "run this as the user of the service, who owns it";
			throw new Error(`DATA_DIR: this user may not write in ${folder}: ${advice}`);
		}
		const reason = noLockReasons[code ?? ""];
		if (reason === undefined) throw error;
		if ((await tryConnect(path).catch(() => null)) === "alive") return null;
		// On a disk that cannot be written two processes cannot damage anything.
		waiting?.(
			`DATA_DIR: ${path} cannot be made, since the disk ${reason}: layers are read from there, and not changed; once it can be written, start only one service`,
		);
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

/** Codes of the disks on which a lock cannot be made, and a service still reads. */
const noLockReasons: Readonly<Record<string, string>> = {
	EROFS: "is read-only",
	ENOSPC: "is full, or has no inode left",
	EDQUOT: "is full, or has no inode left",
};

/** How often a lock is tried again that could not be made, in milliseconds. */
const lockAgainMs = 2_000;

/** A lock that is made as soon as the disk allows it. */
function lockLater(path: string): Lock {
	let lock: Lock | null = null;
	let trying: Promise<void> | null = null;
	const attempt = async () => {
		lock = await tryLock(path).catch(() => null);
		if (lock) clearInterval(timer);
		trying = null;
	};
	const timer = setInterval(() => {
		trying ??= attempt();
	}, lockAgainMs).unref();
	const release = async () => {
		clearInterval(timer);
		await trying;
		await lock?.release();
	};
	return { release };
}

/** Whether a process holds the lock of a folder. */
export async function isFolderLocked(folder: string): Promise<boolean> {
	const path = socketPath(folder, folderLock);
	return path !== null && (await tryConnect(path)) === "alive";
}

/** The path of a lock, relative if that is shorter; null if it is too long for a socket. */
function socketPath(folder: string, name: string): string | null {
	const path = join(folder, name);
	const near = relative(process.cwd(), path);
	const shorter = near.length < path.length ? near : path;
	return Buffer.byteLength(shorter) <= maxPathBytes ? shorter : null;
}

/** Listens at `path`; null if another process does, or is about to. */
async function tryLock(path: string): Promise<Lock | null> {
	const own = randomBytes(4).toString("hex");
	const announced = `${path}.try${own}`;
	// The socket listens under another name first: an announced one answers, or its process has ended.
	const server = createServer((socket) => socket.end()).listen(`${path}.new${own}`);
	await once(server, "listening");
	const close = () => new Promise((resolve) => server.close(resolve));
	let isTaken = false;
	try {
		await files.rename(`${path}.new${own}`, announced);
		if (await isFirst(path, announced)) {
			await files.rm(path, { force: true });
			await files.link(announced, path);
			isTaken = true;
		}
	} finally {
		if (!isTaken) await close();
		for (const name of [announced, `${path}.new${own}`]) await files.rm(name, { force: true });
	}
	if (!isTaken) return null;
	server.unref();
	const release = async () => {
		// The path is removed while the socket still answers: other processes see a live lock or none.
		await files.rm(path, { force: true });
		await close();
	};
	return { release };
}

/** Whether the lock is free, and this process alone may take it: all others that announced themselves have given up. */
async function isFirst(path: string, announced: string): Promise<boolean> {
	for (let turn = 0; turn < maxTurns; turn += 1) {
		const rivals = await rivalsOf(path, announced);
		// Read after the rivals: one that is no rival any more has the lock by now, or has given up.
		if ((await tryConnect(path)) === "alive" || rivals.some((rival) => rival < announced)) return false;
		if (rivals.length === 0) return true;
		// A rival that announced itself before this process takes the lock; one that came later gives up.
		await sleep(turnMs);
	}
	return false;
}

/** The sockets of other processes that want the lock. Those of killed processes are removed: no name is used twice. */
async function rivalsOf(path: string, announced: string): Promise<string[]> {
	const [folder, prefix] = [dirname(path), `${basename(path)}.try`];
	const names = (await files.readdir(folder)).filter((name) => name.startsWith(prefix));
	const rivals: string[] = [];
	for (const rival of names.map((name) => join(folder, name)).filter((name) => name !== announced)) {
		const state = await tryConnect(rival);
		if (state === "alive") rivals.push(rival);
		if (state === "dead") await files.rm(rival, { force: true });
	}
	return rivals;
}

/** @throws {Error} if the path is not a socket, or cannot be reached */
function tryConnect(path: string): Promise<"alive" | "dead" | "absent"> {
	return new Promise((resolve, reject) => {
		const socket = connect(path);
		socket.once("connect", () => {
			socket.destroy();
			resolve("alive");
		});
		socket.once("error", (error: NodeJS.ErrnoException) => {
			if (error.code === "ENOENT") resolve("absent");
			// It was closed before or while this process connected.
			else if (error.code === "ECONNREFUSED" || error.code === "ECONNRESET") resolve("dead");
			else reject(new Error(`DATA_DIR: cannot lock it with ${path}: ${error.message}`));
		});
	});
}
