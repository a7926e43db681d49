import { randomBytes } from "node:crypto";
import { once } from "node:events";
import files, { access, constants, mkdir, stat, statfs } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Creates the data folder if it does not exist.
 * @throws {Error} that names the setting, if the folder cannot be created
 */
export async function makeDataDir(folder: string): Promise<void> {
	try {
		await makeFolder(folder);
	} catch (error) {
		throw new Error(`DATA_DIR: must be a folder that this user may write, and ${folder} is not`, {
			cause: error,
		});
	}
}

/** Does the same as `mkdir -p`. Node's `recursive` never returns below /proc, where no folder can be created. */
async function makeFolder(folder: string): Promise<void> {
	const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
	if (found && !found.isDirectory()) throw new Error("it is a file");
	if (found) return;
	await makeFolder(dirname(folder));
	await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
		// Another process has created the folder meanwhile.
		if (error.code !== "EEXIST") throw error;
	});
}

/** Path of the local repository in a data folder. */
export function repositoryPath(dataDir: string): string {
	return join(dataDir, "repository.git");
}

/** Time between two attempts to get a held lock, in milliseconds. */
const attemptEveryMs = 100;

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
		if (await isHeld(path).catch(() => false)) return null;
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
	return path !== null && (await isHeld(path));
}

/** The path of a lock, relative if that is shorter; null if it is too long for a socket. */
function socketPath(folder: string, name: string): string | null {
	const path = join(folder, name);
	const near = relative(process.cwd(), path);
	const shorter = near.length < path.length ? near : path;
	return Buffer.byteLength(shorter) <= maxPathBytes ? shorter : null;
}

/** Takes the lock at `path`; null if another process holds it. */
async function tryLock(path: string): Promise<Lock | null> {
	// The socket listens under a name of its own first, and is then linked to the lock's: a socket there always answers.
	const own = `${path}.new${randomBytes(4).toString("hex")}`;
	const server = createServer((socket) => socket.end()).listen(own);
	await once(server, "listening");
	const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
	let isTaken = false;
	try {
		isTaken = await takeOver(path, own);
	} finally {
		if (!isTaken) await close();
		await files.rm(own, { force: true });
	}
	if (!isTaken) return null;
	server.unref();
	return { release: close };
}

/**
 * Links this process's socket to the number after the newest one, whose process has ended. Of many processes that try,
 * the file system lets one link a number. The newest number is never removed: a process that read an older list finds a
 * newer number than its own, and gives up.
 * @returns whether this process has the lock
 */
async function takeOver(path: string, own: string): Promise<boolean> {
	const newest = await newestOf(path);
	if (await isAlive(path, newest)) return false;
	const mine = newest + 1;
	const isLinked = await files.link(own, numbered(path, mine)).then(
		() => true,
		(error: NodeJS.ErrnoException) => {
			if (error.code === "EEXIST") return false;
			throw error;
		},
	);
	if (!isLinked) return false;
	const numbers = await numbersOf(path);
	const isNewest = Math.max(...numbers) === mine;
	const ended = isNewest ? numbers.filter((number) => number < mine) : [mine];
	for (const number of ended) await files.rm(numbered(path, number), { force: true });
	return isNewest;
}

/** Whether a process holds the lock at `path`. */
async function isHeld(path: string): Promise<boolean> {
	return isAlive(path, await newestOf(path));
}

/** Whether a process answers at the newest number of a lock, or at 0, the only one that releases before 0.2.0 know. */
async function isAlive(path: string, newest: number): Promise<boolean> {
	const states = await Promise.all([newest, 0].map((number) => tryConnect(numbered(path, number))));
	return states.includes("alive");
}

function numbered(path: string, number: number): string {
	return number === 0 ? path : `${path}.${number}`;
}

/** The numbers of a lock's sockets. */
async function numbersOf(path: string): Promise<number[]> {
	const name = basename(path);
	const names = (await files.readdir(dirname(path))).filter((file) => file.startsWith(name));
	const endings = names.map((file) => file.slice(name.length));
	return endings.filter((ending) => /^(?:\.\d+)?$/.test(ending)).map((ending) => Number(ending.slice(1)));
}

async function newestOf(path: string): Promise<number> {
	return Math.max(0, ...(await numbersOf(path)));
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
			else if (error.code === "ECONNREFUSED") resolve("dead");
			else reject(new Error(`DATA_DIR: cannot lock it with ${path}: ${error.message}`));
		});
	});
}

/** Below this many free bytes a disk is reported as full. A checkpoint, its files and a repack still fit into them. */
const minFreeBytes = 64 << 20;
const mebibyte = 1 << 20;
/** How often a disk is checked, in milliseconds. */
const checkEveryMs = 10_000;

/** Reads the free bytes of a folder's disk. @throws {Error} if that is not possible */
async function statFreeBytes(folder: string): Promise<number> {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize;
}

/**
 * Checks periodically whether a folder can be written and its disk has space. `/readyz` reads only the last result, so
 * that a hanging disk does not block it.
 */
export function createDisk(
	folder: string,
	freeBytes = statFreeBytes,
	checkWritable = (path: string) => access(path, constants.W_OK),
) {
	let problem: string | null = null;
	let timer: NodeJS.Timeout | undefined;

	async function check(): Promise<void> {
		const orProblem = (what: string) => (error: NodeJS.ErrnoException) =>
			`DATA_DIR cannot be ${what}: ${error.code ?? "the disk fails"}`;
		const fullness = (free: number) =>
			free < minFreeBytes
				? `only ${Math.floor(free / mebibyte)} MB are left on the disk of DATA_DIR, and ${minFreeBytes / mebibyte} MB should be`
				: null;
		problem =
			(await checkWritable(folder).then(() => null, orProblem("written"))) ??
			(await freeBytes(folder).then(fullness, orProblem("checked")));
	}

	/** Checks now, and then every ten seconds. */
	async function start(): Promise<void> {
		timer = setInterval(() => void check(), checkEveryMs).unref();
		await check();
	}

	/** `state`: the problem in one line, or null. */
	return { check, start, state: () => problem, stop: () => clearInterval(timer) };
}
