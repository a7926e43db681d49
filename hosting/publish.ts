import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { pageHeaders } from "../api/pages.ts";
import { fragmentHeaders } from "../api/read.ts";
import { progress } from "../terminal/progress.ts";
import type { Bucket } from "./bucket.ts";
import {
	type Inventory,
	manifestName,
	manifestText,
	type Plan,
	parseManifest,
	planUpload,
} from "./inventory.ts";
import { listServed } from "./verify.ts";

/** Most requests to the bucket that are under way at once. */
const atOnce = 32;

/** Uploads after which the manifest is written again: what a cut costs at most. */
const checkpointEvery = 2_000;

/** Headers that an object is kept with, for readers that ask the bucket itself. */
function objectHeaders(name: string): Record<string, string> {
	const { "Content-Type": type = "", "Cache-Control": caching = "" } = /\.[a-z]+$/.test(name)
		? pageHeaders(name, true)
		: fragmentHeaders;
	return { "Content-Type": type, "Cache-Control": caching };
}

function sha256(bytes: Buffer): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** A build, and what has to be done so that the bucket holds just that. */
export interface PreparedUpload {
	dist: string;
	/** SHA-256 of each file by its path. */
	built: ReadonlyMap<string, string>;
	present: Inventory;
	plan: Plan;
}

/** Compares a build with a bucket's manifest; nothing is changed. */
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
 * Brings the bucket in step: uploads, then removals, then the manifest. Readers meet the old object or the new one
 * throughout, and no path that is in both builds is ever gone. After a cut the same command goes on: what was under
 * way stands in the manifest without a hash, so that it is uploaded again, or removed when it is built no more.
 * @throws {Error} that names the first object that failed
 */
export async function publish(bucket: Bucket, prepared: PreparedUpload): Promise<void> {
	const { dist, built, plan } = prepared;
	if (plan.upload.length === 0 && plan.remove.length === 0) return;
	const manifest = new Map(prepared.present);
	for (const name of plan.upload) manifest.set(name, null);
	await writeManifest(bucket, manifest);
	const bar = progress(plan.upload.length + plan.remove.length, "publishing");
	let done = 0;
	let saving = Promise.resolve();
	/** Counts, and writes the manifest from time to time: one after the other, with what is known at that moment. */
	const count = async () => {
		bar.tick();
		done += 1;
		if (done % checkpointEvery !== 0) return;
		saving = saving.then(() => writeManifest(bucket, manifest));
		await saving;
	};
	try {
		await untilFailure(plan.upload, async (name) => {
			await upload(bucket, dist, name, built.get(name) as string);
			manifest.set(name, built.get(name) as string);
			await count();
		});
		await untilFailure(plan.remove, async (name) => {
			await bucket.remove(name);
			manifest.delete(name);
			await count();
		});
	} catch (error) {
		// What is there already need not be uploaded again. The failure itself is what has to be told.
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

/** Does the same to each name, some at a time; after a failure nothing new is begun, and what is under way ends. */
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
