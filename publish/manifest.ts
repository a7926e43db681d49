import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { codeStamp } from "../files/code-stamp.ts";
import { ifThereSync } from "../files/if-there.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { tryJson } from "../registry/try-json.ts";
import { fragmentSettings } from "./slots.ts";

/** What an output folder was built from. Stored beside the folder, as `<out>.manifest`, and never served. */
export interface Manifest {
	renderer: string;
	commit: string;
	fragments: number;
	/** Paths of the source's wrong files, which the output has in an earlier form or not at all. */
	wrong?: readonly string[];
}

/** A hash of everything that decides how a registration is rendered: the code and the settings. */
export function rendererStamp(settings: FragmentSettings): string {
	const text = codeStamp() + JSON.stringify(fragmentSettings(settings));
	return createHash("sha256").update(text).digest("hex");
}

function manifestPath(out: string): string {
	return `${out}.manifest`;
}

/**
 * Reads the manifest of an output folder; null if the folder or the manifest does not exist, or it is not valid JSON.
 * @throws {Error} with the path if the manifest exists and cannot be read: a build from nothing would hide the fault
 */
export function readManifest(out: string): Manifest | null {
	const path = manifestPath(out);
	const text = existsSync(out) ? ifThereSync(path, () => readFileSync(path, "utf8")) : null;
	return tryJson(text ?? "") as Manifest | null;
}

/** Removes the manifest. To be called before the output is changed. */
export function removeManifest(out: string): void {
	rmSync(manifestPath(out), { force: true });
}

/** Writes the manifest. To be called once the output is complete. */
export function writeManifest(out: string, manifest: Manifest): void {
	writeFileSync(manifestPath(out), `${JSON.stringify(manifest, null, "\t")}\n`);
}
