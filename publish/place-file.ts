import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFile,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import pLimit from "p-limit";
import type { Fragment, TargetName } from "../registry/targets/facts.ts";
import { targetNames, targetOf } from "../registry/targets/table.ts";
import { etagOf } from "../store/hashes.ts";
import { fragmentFolders, type RenderedLayer } from "./rendered.ts";

/** A build there removes it. */
export function servedManifestPath(out: string): string {
	return `${out}.served`;
}

export class FragmentFolder {
	readonly folders: readonly string[];

	constructor(
		readonly out: string,
		readonly targets: readonly TargetName[],
	) {
		this.folders = fragmentFolders(targets);
	}

	isMissing(): boolean {
		return this.folders.some((folder) => !existsSync(join(this.out, folder)));
	}

	makeFolders(): void {
		for (const folder of this.folders) mkdirSync(join(this.out, folder), { recursive: true });
	}

	/** Lists the names with files; removes files of other targets and of killed processes. */
	async list(): Promise<Set<string>> {
		const { out, targets } = this;
		const others = targetNames.filter((name) => !targets.includes(name));
		for (const name of others) await rm(join(out, targetOf(name).doc), { recursive: true, force: true });
		this.makeFolders();
		removeTemporaryFiles(out);
		const listed = new Set<string>();
		// A compressed copy may have lost its file.
		for (const folder of this.folders)
			for (const name of await readdir(join(out, folder)))
				listed.add(isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name);
		return listed;
	}

	/** @throws {Error} the first failure, after all files */
	place(name: string, layer: RenderedLayer | null): PlacedFile[] {
		const failures: unknown[] = [];
		const placed = this.folders.flatMap((folder, index) => {
			try {
				return placeFile(this.out, join(folder, name), layer?.fragments[index] ?? null);
			} catch (error) {
				failures.push(error);
				return [];
			}
		});
		if (failures.length > 0) throw failures[0];
		return placed;
	}

	/** For a first build, which need not compare files. */
	write(name: string, layer: RenderedLayer | null): PlacedFile[] {
		return this.folders.map((folder, index) => {
			const bytes = layer?.fragments[index];
			if (bytes) writeFileSync(join(this.out, folder, name), bytes);
			return bytes ? "written" : "same";
		});
	}

	read(folder: string, name: string): Promise<Fragment | null> {
		return readFragmentFile(join(this.out, folder, name));
	}
}

/** Takes half the time of `node:fs/promises`. */
const read = promisify(readFile);

/** A process may have 1,024 open files. */
const readLimit = pLimit(64);

/**
 * Null if missing, empty or unreadable. Asynchronous: a hanging disk stops no other request.
 * @throws {Error} if too many files are open
 */
export async function readFragmentFile(path: string): Promise<Fragment | null> {
	const body = await readLimit(() => read(path)).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "EMFILE" || error.code === "ENFILE") throw error;
		return null;
	});
	return body && body.length > 0 ? { body, etag: etagOf(body) } : null;
}

const companionEndings = [".gz", ".br"] as const;

export function isCompanion(name: string): boolean {
	return companionEndings.some((ending) => name.endsWith(ending));
}

/** Beside `out`: on the same disk, and never served. */
function temporaryPrefix(out: string, writer: string): string {
	return `.${basename(out)}${writer}.`;
}

interface PlaceOptions {
	/** Names one of two processes that write below `out`. */
	writer?: string;
	/** Compressed copies. */
	copies?: (bytes: Uint8Array) => Iterable<readonly [ending: string, copy: Uint8Array]>;
}

type PlacedFile = "same" | "written" | "removed";

/**
 * Null removes the file. Readers get the old or the new file, and no older compressed copy. The same bytes
 * are not written again. Synchronous: for small files this takes a tenth of the time.
 * @param path below `out`; its folder must exist
 * @throws {Error} the old file stays
 */
export function placeFile(
	out: string,
	path: string,
	bytes: Uint8Array | null,
	{ writer = "", copies }: PlaceOptions = {},
): PlacedFile {
	const target = join(out, path);
	const earlier = statSync(target, { throwIfNoEntry: false });
	if (bytes && earlier?.size === bytes.length && readFileSync(target).equals(bytes)) return "same";
	for (const ending of companionEndings) if (existsSync(target + ending)) rmSync(target + ending);
	if (!bytes) {
		rmSync(target, { force: true });
		return earlier ? "removed" : "same";
	}
	const prefix = join(dirname(out), `${temporaryPrefix(out, writer)}${process.pid}.`);
	replace(prefix, target, bytes);
	for (const [ending, copy] of copies?.(bytes) ?? []) replace(prefix, target + ending, copy);
	return "written";
}

let serial = 0;

function replace(prefix: string, target: string, bytes: Uint8Array): void {
	const temporary = `${prefix}${serial++}.tmp`;
	try {
		writeFileSync(temporary, bytes);
		renameSync(temporary, target);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

export function removeTemporaryFiles(out: string, writer = ""): void {
	for (const name of readdirSync(dirname(out))) {
		const isOurs = name.startsWith(temporaryPrefix(out, writer)) && name.endsWith(".tmp");
		if (isOurs) rmSync(join(dirname(out), name), { force: true });
	}
}
