import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { fragmentHeaders } from "../api/reply.ts";
import { pageHeaders } from "../api/site-headers.ts";
import { progress } from "../terminal/progress.ts";
import type { Bucket } from "./bucket.ts";
import { listServed } from "./verify.ts";

/** Most concurrent requests to the bucket. */
const atOnce = 32;

/** Headers that are stored with an object, for direct readers of the bucket. */
function objectHeaders(name: string): Record<string, string> {
	const { "Content-Type": type = "", "Cache-Control": caching = "" } = /\.[a-z]+$/.test(name)
		? pageHeaders(name, true)
		: fragmentHeaders;
	return { "Content-Type": type, "Cache-Control": caching };
}

function sha256(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** Object name → SHA-256 in hex; null where an interrupted publication may or may not have written the object. */
type Inventory = ReadonlyMap<string, string | null>;

/** The manifest's name in the bucket, which no fragment has. */
const manifestName = "manifest.json";

/** Parses a manifest. @throws {Error} where the text is not one */
function parseManifest(text: string): Inventory {
	try {
		const { version, objects } = JSON.parse(text) as {
			version: unknown;
			objects: Record<string, string | null>;
		};
		const entries = Object.entries(objects);
		const fits = entries.every(([, hash]) => hash === null || typeof hash === "string");
		if (version === 1 && fits) return new Map(entries);
	} catch {
		// Refused below.
	}
	throw new Error(
		`${manifestName} in the bucket: is no manifest; once it is removed, everything is uploaded again`,
	);
}

/** The text of a manifest, sorted by name. */
function manifestText(manifest: Inventory): string {
	const entries = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1));
	return `${JSON.stringify({ version: 1, objects: Object.fromEntries(entries) }, null, 1)}\n`;
}

/** The changes of a bucket; both lists are sorted. */
interface Plan {
	upload: string[];
	remove: string[];
	unchanged: number;
}

/** Compares a build with a bucket's objects. @param all uploads everything, even if unchanged */
function planUpload(built: ReadonlyMap<string, string>, present: Inventory, all: boolean): Plan {
	const upload = [...built].filter(([name, hash]) => all || present.get(name) !== hash).map(([name]) => name);
	const remove = [...present.keys()].filter((name) => !built.has(name));
	return { upload: upload.sort(), remove: remove.sort(), unchanged: built.size - upload.length };
}

/** A build, and the plan that synchronizes the bucket with it. */
export interface PreparedUpload {
	dist: string;
	/** SHA-256 of each file by its path. */
	built: ReadonlyMap<string, string>;
	present: Inventory;
	plan: Plan;
}

/** Compares a build with a bucket's manifest. Changes nothing. */
export async function prepareUpload(bucket: Bucket, dist: string, all: boolean): Promise<PreparedUpload> {
	const paths = await listServed(dist);
	const hashes = await pMap(paths, async (path) => sha256(await readFile(join(dist, path))), {
		concurrency: atOnce,
	});
	const built = new Map(paths.map((path, index) => [path, hashes[index] as string]));
	const text = await bucket.get(manifestName);
	const present = text === null ? new Map<string, string | null>() : parseManifest(text.toString("utf8"));
	return { dist, built, present, plan: planUpload(built, present, all) };
}

/**
 * Synchronizes the bucket: uploads, then removals, then the manifest. Readers always get the old object or the new one.
 * The same command continues after an interruption: objects that were in progress are in the manifest without a hash, so
 * that they are uploaded again, or removed if the build no longer has them.
 * @throws {Error} that names the first object that failed
 */
export async function publish(bucket: Bucket, prepared: PreparedUpload): Promise<void> {
	const { dist, built, plan } = prepared;
	if (plan.upload.length === 0 && plan.remove.length === 0) return;
	const manifest = new Map(prepared.present);
	for (const name of plan.upload) manifest.set(name, null);
	await writeManifest(bucket, manifest);
	const bar = progress(plan.upload.length + plan.remove.length, "publishing");
	try {
		await untilFailure(plan.upload, async (name) => {
			await upload(bucket, dist, name, built.get(name) as string);
			manifest.set(name, built.get(name) as string);
			bar.tick();
		});
		await untilFailure(plan.remove, async (name) => {
			await bucket.remove(name);
			manifest.delete(name);
			bar.tick();
		});
	} catch (error) {
		// Records what was uploaded. An error here must not hide the failure itself.
		await writeManifest(bucket, manifest).catch(() => undefined);
		throw error;
	} finally {
		bar.stop();
	}
	await writeManifest(bucket, manifest);
}

async function upload(bucket: Bucket, dist: string, name: string, hash: string): Promise<void> {
	const bytes = await readFile(join(dist, name));
	if (sha256(bytes) !== hash) throw new Error(`${join(dist, name)}: has changed during the publication`);
	await bucket.put(name, bytes, hash, objectHeaders(name));
}

/** Runs a task for each name, some concurrently. After a failure no task is started, and running ones are awaited. */
async function untilFailure(names: readonly string[], apply: (name: string) => Promise<void>): Promise<void> {
	const failures: unknown[] = [];
	await pMap(
		names,
		async (name) => {
			if (failures.length > 0) return;
			await apply(name).catch((error: unknown) => failures.push(error));
		},
		{ concurrency: atOnce },
	);
	if (failures.length > 0) throw failures[0];
}

async function writeManifest(bucket: Bucket, manifest: Inventory): Promise<void> {
	const bytes = Buffer.from(manifestText(manifest));
	await bucket.put(manifestName, bytes, sha256(bytes), {
		"Content-Type": "application/json; charset=utf-8",
		"Cache-Control": "no-store",
	});
}
