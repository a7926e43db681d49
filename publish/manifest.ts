import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { codeStamp } from "../files/code-stamp.ts";
import { ifThereSync } from "../files/if-there.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { tryJson } from "../registry/try-json.ts";
import { fragmentSettings } from "./slots.ts";

/** What an output folder was built from: kept beside it, as `<out>.manifest`, never served. */
export interface Manifest {
	renderer: string;
	commit: string;
	fragments: number;
	/** Paths of the source's wrong files, which are there in earlier forms or not at all; none where all is in order. */
	wrong?: readonly string[];
}

/** A stamp of everything that decides how a registration is rendered: the code and the settings. */
export function rendererStamp(settings: FragmentSettings): string {
	const text = codeStamp() + JSON.stringify(fragmentSettings(settings));
	return createHash("sha256").update(text).digest("hex");
}

function manifestPath(out: string): string {
	return `${out}.manifest`;
}

/**
 * The manifest of an output folder; null where there is none that is whole, or the folder is gone.
 * @throws {Error} with the path where it is there and cannot be read: a build from nothing would hide the fault
 */
export function readManifest(out: string): Manifest | null {
	const path = manifestPath(out);
	const text = existsSync(out) ? ifThereSync(path, () => readFileSync(path, "utf8")) : null;
	return tryJson(text ?? "") as Manifest | null;
}

/** Forgets what an output was built from, before it is changed. */
export function removeManifest(out: string): void {
	rmSync(manifestPath(out), { force: true });
}

/** Keeps what an output was built from, once it is whole. */
export function writeManifest(out: string, manifest: Manifest): void {
	writeFileSync(manifestPath(out), `${JSON.stringify(manifest, null, "\t")}\n`);
}
