import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { progress } from "../terminal/progress.ts";
import type { Bucket } from "./bucket.ts";
import { listServed, servedHeaders } from "./verify.ts";

/** Concurrent requests to the bucket. */
const maxConcurrent = 32;

function sha256(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** Object name → SHA-256 in hex; null if an interrupted publication may or may not have written the object. */
type Inventory = ReadonlyMap<string, string | null>;

/** The manifest's name in the bucket. No fragment has this name. */
const manifestName = "manifest.json";

/** Parses a manifest. @throws {Error} if the text is not one */
function parseManifest(text: string): Inventory {
	try {
		const { version, objects } = JSON.parse(text) as { version: unknown; objects: object };
		const entries = Object.entries(objects);
		const isInventory = entries.every(([, hash]) => hash === null || typeof hash === "string");
		if (version === 1 && isInventory) return new Map(entries);
	} catch {
		// Text that is no JSON is refused below.
	}
	throw new Error(
		`${manifestName} in the bucket: is no manifest; once it is removed, everything is uploaded again`,
	);
}

/** A build, and the objects to upload and remove so that the bucket equals it; both lists are sorted. */
interface PreparedUpload {
	dist: string;
	/** SHA-256 of each file by its path. */
	built: ReadonlyMap<string, string>;
	present: Inventory;
	upload: string[];
	remove: string[];
	unchanged: number;
}

/** Compares a build with a bucket's manifest. Changes nothing. @param all whether to upload unchanged files too */
export async function prepareUpload(bucket: Bucket, dist: string, all: boolean): Promise<PreparedUpload> {
	const hashOf = async (path: string) => [path, sha256(await readFile(join(dist, path)))] as const;
	const built = new Map(await pMap(await listServed(dist), hashOf, { concurrency: maxConcurrent }));
	const text = await bucket.get(manifestName);
	const present: Inventory = text === null ? new Map() : parseManifest(text.toString("utf8"));
	const upload = [...built.keys()].filter((name) => all || present.get(name) !== built.get(name)).sort();
	const remove = [...present.keys()].filter((name) => !built.has(name)).sort();
	return { dist, built, present, upload, remove, unchanged: built.size - upload.length };
}

/**
 * Synchronizes the bucket: uploads, then removals, then the manifest. Readers always get the old object or the new one. The
 * manifest that is written first has no hash for the objects to upload. After an interruption the next run uploads these
 * again, or removes them if the build no longer has them.
 * @throws {Error} that names the first object that failed
 */
export async function publish(bucket: Bucket, prepared: PreparedUpload): Promise<void> {
	const { dist, built, present, upload, remove } = prepared;
	if (upload.length === 0 && remove.length === 0) return;
	const manifest = new Map([...present, ...upload.map((name) => [name, null] as const)]);
	await writeManifest(bucket, manifest);
	const bar = progress(upload.length + remove.length, "publishing");
	try {
		await untilFailure(upload, async (name) => {
			const hash = built.get(name) as string;
			const bytes = await readFile(join(dist, name));
			if (sha256(bytes) !== hash) throw new Error(`${join(dist, name)}: has changed during the publication`);
			// For direct readers of the bucket.
			const { "Content-Type": type = "", "Cache-Control": caching = "" } = servedHeaders(name);
			await bucket.put(name, bytes, hash, { "Content-Type": type, "Cache-Control": caching });
			manifest.set(name, hash);
			bar.tick();
		});
		await untilFailure(remove, async (name) => {
			await bucket.remove(name);
			manifest.delete(name);
			bar.tick();
		});
	} catch (error) {
		// Records the uploaded objects. An error here must not hide the first failure.
		await writeManifest(bucket, manifest).catch(() => undefined);
		throw error;
	} finally {
		bar.stop();
	}
	await writeManifest(bucket, manifest);
}

/** Runs a task for each name, some concurrently. After a failure it starts no task, and waits for the running ones. */
async function untilFailure(names: readonly string[], apply: (name: string) => Promise<void>): Promise<void> {
	const failures: unknown[] = [];
	await pMap(
		names,
		async (name) => {
			if (failures.length > 0) return;
			await apply(name).catch((error: unknown) => failures.push(error));
		},
		{ concurrency: maxConcurrent },
	);
	if (failures.length > 0) throw failures[0];
}

/** Writes the manifest, sorted by name. */
async function writeManifest(bucket: Bucket, manifest: Inventory): Promise<void> {
	const entries = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1));
	const text = `${JSON.stringify({ version: 1, objects: Object.fromEntries(entries) }, null, 1)}\n`;
	const bytes = Buffer.from(text);
	await bucket.put(manifestName, bytes, sha256(bytes), {
		"Content-Type": "application/json; charset=utf-8",
		"Cache-Control": "no-store",
	});
}
