// Brings many rendered files in step, in a process of its own.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isCompanion, isSame, removeFile, removeTemporary, writeWhole } from "./output.ts";

/** What the process is told, one after the other. */
export type FilesOrder =
	| {
			kind: "begin";
			out: string;
			/** The folder below `out` of each slot. */
			folders: string[];
			/** Folders below it that go. */
			others: string[];
	  }
	| {
			kind: "write";
			/** Each smallkey with its fragments in the order of the folders; null where there is none. */
			layers: [smallkey: string, bodies: (Uint8Array | null)[]][];
	  }
	| {
			kind: "remove-others";
			/** Smallkeys whose files stay as they are, beside those that were written. */
			except: string[];
	  };

/** What the process answers to each order. */
export interface FilesReport {
	/** Smallkeys whose files could not be written. */
	failed: string[];
	/** Why, of the first one; null where all went well. */
	reason: string | null;
	/** How many layers had files that were gone or others. */
	written?: number;
}

let out = "";
let folders: string[] = [];
/** Names that were written, in each folder. */
let written: Set<string>[] = [];
/** Whether a folder had files before: readers may be at work in it. */
let inUse: boolean[] = [];

process.on("message", (order: FilesOrder) => process.send?.(carryOut(order)));
process.on("disconnect", () => process.exit(1));

function carryOut(order: FilesOrder): FilesReport {
	if (order.kind === "begin") return begin(order);
	if (order.kind === "remove-others") return removeOthers(order.except);
	const report = { failed: [] as string[], reason: null as string | null, written: 0 };
	for (const [smallkey, bodies] of order.layers) {
		try {
			let isWritten = false;
			for (const [folder, body] of bodies.entries()) {
				if (writeFragment(folder, smallkey, body)) isWritten = true;
			}
			if (isWritten) report.written += 1;
		} catch (error) {
			report.failed.push(smallkey);
			report.reason ??= (error as Error).message;
		}
	}
	return report;
}

/** A folder that cannot be made fails again with the first file of it. */
function begin({ out: into, folders: names, others }: FilesOrder & { kind: "begin" }): FilesReport {
	out = into;
	folders = names;
	written = names.map(() => new Set());
	try {
		for (const name of others) rmSync(join(out, name), { recursive: true, force: true });
		for (const name of names) mkdirSync(join(out, name), { recursive: true });
		removeTemporary(out);
		inUse = names.map((name) => readdirSync(join(out, name)).length > 0);
		return { failed: [], reason: null };
	} catch (error) {
		inUse = names.map(() => true);
		return { failed: [], reason: (error as Error).message };
	}
}

/** @returns whether the file had to be written */
function writeFragment(folder: number, smallkey: string, body: Uint8Array | null): boolean {
	const path = join(folders[folder] ?? "", smallkey);
	if (!body) {
		removeFile(out, path);
		return false;
	}
	written[folder]?.add(smallkey);
	if (inUse[folder] && isSame(join(out, path), body)) return false;
	writeWhole(out, path, body, inUse[folder] ?? true);
	return true;
}

function removeOthers(except: string[]): FilesReport {
	const kept = new Set(except);
	try {
		folders.forEach((folder, position) => {
			for (const name of readdirSync(join(out, folder))) {
				const stem = isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name;
				if (!written[position]?.has(stem) && !kept.has(stem)) removeFile(out, join(folder, stem));
			}
		});
		return { failed: [], reason: null };
	} catch (error) {
		return { failed: [], reason: (error as Error).message };
	}
}
