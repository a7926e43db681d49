import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "../files/below.ts";
import { ifThereSync } from "../files/if-there.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { fragmentSettings } from "./slots.ts";

/** What an output folder was built from: kept beside it, as `<out>.manifest`, never served. */
export interface Manifest {
	/** Stamp of the renderer and its settings. */
	renderer: string;
	/** Id of the commit that was built. */
	commit: string;
	/** Number of fragments. */
	fragments: number;
	/** Paths of the source's wrong files, which are there in earlier forms or not at all; none where all is in order. */
	wrong?: readonly string[];
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** Rooms of the project that decide how a registration is rendered, with all that is below them. */
const rendererRooms = ["registry", "schemas"];

/**
 * A stamp of everything that decides how a registration is rendered: every module that the renderer reaches, the
 * versions of what it uses, and the settings.
 * @param project folder of the project
 */
export function rendererStamp(given: FragmentSettings, project = root): string {
	const settings = fragmentSettings(given);
	if (project !== root) return makeStamp(settings, project);
	const key = JSON.stringify(settings);
	const stamp = stamps.get(key) ?? makeStamp(settings, project);
	stamps.set(key, stamp);
	return stamp;
}

/** The modules of a running process do not change: their stamp is made once for each set of settings. */
const stamps = new Map<string, string>();

function makeStamp(settings: Required<FragmentSettings>, project: string): string {
	const hash = createHash("sha256");
	for (const path of [...rendererRooms.flatMap((room) => listModules(project, room)), "package.json"]) {
		hash.update(`${path}\n`).update(readFileSync(join(project, path)));
	}
	return hash.update(JSON.stringify(settings)).digest("hex");
}

function listModules(project: string, room: string): string[] {
	return filesBelow(join(project, room))
		.filter((name) => /\.(?:ts|json)$/.test(name))
		.map((name) => `${room}/${name}`)
		.sort();
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
	try {
		return text === null ? null : (JSON.parse(text) as Manifest | null);
	} catch {
		return null;
	}
}

/** Forgets what an output was built from, before it is changed. */
export function removeManifest(out: string): void {
	rmSync(manifestPath(out), { force: true });
}

/** Keeps what an output was built from, once it is whole. */
export function writeManifest(out: string, manifest: Manifest): void {
	writeFileSync(manifestPath(out), `${JSON.stringify(manifest, null, "\t")}\n`);
}
