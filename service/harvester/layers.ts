import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { readTextIfThere } from "../../files/if-there.ts";
import type { Finding } from "../../harvest/finding.ts";
import type { Source } from "../../publish/build.ts";
import { writeWhole } from "../../publish/output.ts";
import { collectSource } from "../../publish/source.ts";
import { type CheckedLayer, judgeFiles, problemLine } from "../../registry/judge.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type Io, printError, printLine } from "../../terminal/io.ts";
import { plain } from "../../terminal/plain.ts";

/** Layers that are worked on at once; how many requests are under way is bounded by `createAsk`. */
export const layersAtOnce = 64;

/**
 * Reads the layers that a command names, or all. Files that are wrong are named on standard error, and left out.
 * @throws {Error} where a named layer is not there
 */
export async function readLayers(source: Source, smallkeys: string[], io: Io): Promise<CheckedLayer[]> {
	const layers = new Map<string, CheckedLayer>();
	const problems = judgeFiles(await collectSource(source), (layer) => layers.set(layer.smallkey, layer));
	for (const problem of problems) printError(io, plain(problemLine(problem)));
	if (smallkeys.length === 0) return [...layers.values()];
	return smallkeys.map((smallkey) => {
		const layer = layers.get(smallkey);
		if (!layer) throw new Error(`${smallkey}: there is no such layer, or its file is wrong`);
		return layer;
	});
}

/** Text of a file in the folder of layers; null where there is none. */
export async function readStored(folder: string, path: string): Promise<string | null> {
	return readTextIfThere(fileIn(folder, path));
}

/** Writes a file in the folder of layers, whole; an unchanged one only gets a new time, which tells its age. */
export async function writeStored(folder: string, path: string, text: string, before: string | null) {
	const now = new Date();
	if (text === before) await utimes(fileIn(folder, path), now, now);
	else await writeWhole(folder, path.replace(/^layers\//, ""), Buffer.from(text), true);
}

/** Where a repository's path lies, for a folder of layers of any name. */
export function fileIn(folder: string, path: string): string {
	return join(folder, path.replace(/^layers\//, ""));
}

/** What was found of one layer. */
export interface Found {
	smallkey: string;
	findings: Finding[];
}

const titles = [
	["registration", "Wrong registrations, for their publishers to correct:"],
	["server", "Services that are down or odd; what was known of them stays:"],
] as const;

/** Prints the findings of all layers in two groups, each in the order of the layers; the exit code. */
export function printFindings(found: Found[], io: Io): number {
	for (const [kind, title] of titles) {
		const lines = found.flatMap(({ smallkey, findings }) =>
			findings
				.filter((finding) => finding.kind === kind)
				.map((finding) => plain(`  ${layerPath(smallkey)}: ${finding.pointer}: ${finding.text}`)),
		);
		if (lines.length > 0) printLine(io, [`\n${title}`, ...lines].join("\n"));
	}
	return found.some(({ findings }) => findings.some(({ kind }) => kind === "registration")) ? 1 : 0;
}
