import { createHash } from "node:crypto";
import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeStamp } from "../files/code-stamp.ts";
import { ifThereSync } from "../files/if-there.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { targetNames } from "../registry/targets/table.ts";
import type { FoundFile } from "./collect.ts";
import { fragmentSettings, slotFolder, slotsOf } from "./slots.ts";

/** What an output folder was built from: kept beside it, as `<out>.manifest`, never served. */
export interface Manifest {
	/** Stamp of the renderer and its settings. */
	renderer: string;
	/** Stamp of the folder of layers, or `commit <id>`. */
	source: string;
	/** Stamp of the output's folders: it changes when a file comes or goes. */
	output: string;
	/** Number of fragments. */
	fragments: number;
	/** Paths of the source's wrong files, which are there in earlier forms or not at all; none where all is in order. */
	wrong?: readonly string[];
}

/** Files this young may still change within the step of the file system's clock, in milliseconds. */
const clockStep = 50;

/** A stamp of everything that decides how a registration is rendered: the code and the settings. */
export function rendererStamp(settings: FragmentSettings): string {
	const text = codeStamp() + JSON.stringify(fragmentSettings(settings));
	return createHash("sha256").update(text).digest("hex");
}

/**
 * A stamp of a folder of layers: names, sizes and times. Null where a file is so young that it could change again
 * without its time showing it.
 */
export function folderStamp(folder: string, found: readonly FoundFile[]): string | null {
	const hash = createHash("sha256");
	const youngest = Date.now() - clockStep;
	let lines: string[] = [];
	for (const { path } of found) {
		const { size, mtimeMs, ctimeMs, ino } = lstatSync(join(folder, path.slice("layers/".length)));
		if (mtimeMs > youngest || ctimeMs > youngest) return null;
		lines.push(`${path} ${size} ${mtimeMs} ${ctimeMs} ${ino}`);
		if (lines.length < 1000) continue;
		hash.update(lines.join("\n"));
		lines = [];
	}
	return `folder ${hash.update(lines.join("\n")).digest("hex")}`;
}

/** Folders in which fragments of any target stand, below an output folder. */
const everyFolder = slotsOf({ targets: targetNames }).map(slotFolder);

/** A stamp of an output's folders. */
export function outputStamp(out: string): string {
	return everyFolder
		.map((folder) => {
			const path = join(out, folder);
			const found = ifThereSync(path, () => statSync(path));
			return found ? `${found.ino} ${found.mtimeMs}` : "none";
		})
		.join(", ");
}

function manifestPath(out: string): string {
	return `${out}.manifest`;
}

/**
 * The manifest of an output folder; null where there is none that is whole and still describes the folder.
 * @throws {Error} with the path where it is there and cannot be read: a build from nothing would hide the fault
 */
export function readManifest(out: string): Manifest | null {
	const path = manifestPath(out);
	const text = ifThereSync(path, () => readFileSync(path, "utf8"));
	const manifest = text === null ? null : parseManifest(text);
	return manifest && manifest.output === outputStamp(out) ? manifest : null;
}

/** Null for what was cut off. */
function parseManifest(text: string): Manifest | null {
	try {
		return JSON.parse(text) as Manifest | null;
	} catch {
		return null;
	}
}

/** Forgets what an output was built from, before it is changed. */
export function removeManifest(out: string): void {
	rmSync(manifestPath(out), { force: true });
}

/** Keeps what an output was built from, once it is whole. */
export function writeManifest(out: string, manifest: Omit<Manifest, "output">): void {
	const complete: Manifest = { ...manifest, output: outputStamp(out) };
	writeFileSync(manifestPath(out), `${JSON.stringify(complete, null, "\t")}\n`);
}
