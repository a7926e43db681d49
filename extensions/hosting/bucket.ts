// What puts a build into a bucket, of Node's own modules and two packages alone: it is run beside the bucket's key.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import pMap from "p-map";
import type { Environment } from "../../registry/environment.ts";
import { askAgain, causeOf, encodedPath } from "./ask.ts";

const limits = { timeoutMs: 30_000, maxAttempts: 5, pauseMs: 200 };

type Bucket = ReturnType<typeof openBucket>;

/**
 * Opens the bucket of an S3-compatible store (Amazon S3, "REST API"; Cloudflare R2, "S3 API compatibility") that the
 * environment names.
 * @throws {Error} with a line for each missing variable
 */
export function openBucket(env: Environment) {
	const problems: string[] = [];
	const text = (variable: string, what: string) => {
		if (!env[variable]) problems.push(`${variable}: is needed: ${what}`);
		return env[variable] ?? "";
	};
	const endpoint = text("OBJECTS_ENDPOINT", "the address of the S3 service, without the bucket");
	const bucketName = text("OBJECTS_BUCKET", "the bucket's name");
	const accessKeyId = text("AWS_ACCESS_KEY_ID", "a key that may read and write the bucket");
	const secretAccessKey = text("AWS_SECRET_ACCESS_KEY", "the key's secret");
	if (endpoint !== "" && !(/^https?:\/\//.test(endpoint) && URL.canParse(endpoint)))
		problems.push("OBJECTS_ENDPOINT: must be an http or https address");
	if (problems.length > 0) throw new Error(problems.join("\n"));
	const address = `${endpoint.replace(/(?<!\/)\/+$/, "")}/${encodeURIComponent(bucketName)}`;
	const client = new AwsClient({
		accessKeyId,
		secretAccessKey,
		...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
		region: env.OBJECTS_REGION || "auto",
		service: "s3",
		retries: 0,
	});

	/** @returns the answer's body; null where there is no such object */
	async function send(
		method: string,
		name: string,
		init: { body?: Uint8Array<ArrayBuffer>; headers?: HeadersInit } = {},
	) {
		const ask = (signal: AbortSignal) =>
			client.fetch(`${address}/${encodedPath(name)}`, { method, ...init, signal });
		const { status, body } = await askAgain(ask, limits).catch((error: Error) => {
			throw new Error(`${method} ${name}: ${causeOf(error)}`);
		});
		if (status === 200 || status === 204) return body;
		const code = codeOf(body);
		// 404 with another code: the bucket itself is missing.
		const isAbsent = method === "DELETE" || (method === "GET" && code === "NoSuchKey");
		if (status === 404 && isAbsent) return null;
		const where = `${method} ${name} in the bucket ${bucketName}`;
		throw new Error(`${where}: the store answers ${status}${code ? ` ${code}` : ""}`);
	}

	return {
		/** Reads an object; null if it does not exist. */
		get: (name: string) => send("GET", name),
		/** Stores an object atomically. @param sha256 SHA-256 of the bytes in hex, which the store checks */
		put: (name: string, bytes: Buffer, sha256: string, headers: Record<string, string>) =>
			send("PUT", name, {
				body: new Uint8Array(bytes),
				headers: { ...headers, "X-Amz-Content-Sha256": sha256 },
			}),
		/** Removes an object, if it exists. */
		remove: (name: string) => send("DELETE", name),
	};
}

/** The code in the store's description of an error (Amazon S3, "Error responses"). */
function codeOf(body: Buffer): string {
	return /<Code>(\w+)<\/Code>/.exec(body.toString("utf8"))?.[1] ?? "";
}

/** Concurrent requests to the bucket. */
const maxConcurrent = 32;

/** SHA-256 in hex. */
export function sha256(bytes: Buffer): string {
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

/** The files of a build by name: the SHA-256 in hex, and the headers for direct readers of the bucket. */
export type Listing = Readonly<Record<string, { sha256: string; headers: Record<string, string> }>>;

/**
 * Compares a build with a bucket's manifest. Changes nothing.
 * @param dist folder of the build
 * @param all whether to upload unchanged files too
 * @returns the names to upload and remove, sorted, so that the bucket equals the build
 */
export async function prepareUpload(bucket: Bucket, dist: string, built: Listing, all: boolean) {
	const text = await bucket.get(manifestName);
	const present: Inventory = text === null ? new Map() : parseManifest(text.toString("utf8"));
	const names = Object.keys(built);
	const upload = names.filter((name) => all || present.get(name) !== built[name]?.sha256).sort();
	const remove = [...present.keys()].filter((name) => !Object.hasOwn(built, name)).sort();
	return { dist, built, present, upload, remove, unchanged: names.length - upload.length };
}

/**
 * Synchronizes the bucket: uploads, then removals, then the manifest. Readers always get the old object or the new one. The
 * manifest that is written first has no hash for the objects to upload. After an interruption the next run uploads these
 * again, or removes them if the build no longer has them.
 * @param tick called after each object
 * @throws {Error} that names the first object that failed
 */
export async function publish(
	bucket: Bucket,
	{ dist, built, present, upload, remove }: Awaited<ReturnType<typeof prepareUpload>>,
	tick: () => void = () => undefined,
): Promise<void> {
	if (upload.length === 0 && remove.length === 0) return;
	const manifest = new Map([...present, ...upload.map((name) => [name, null] as const)]);
	await writeManifest(bucket, manifest);
	try {
		await untilFailure(upload, async (name) => {
			const { sha256: hash, headers } = built[name] as Listing[string];
			const bytes = await readFile(join(dist, name));
			if (sha256(bytes) !== hash) throw new Error(`${join(dist, name)}: has changed during the publication`);
			await bucket.put(name, bytes, hash, headers);
			manifest.set(name, hash);
			tick();
		});
		await untilFailure(remove, async (name) => {
			await bucket.remove(name);
			manifest.delete(name);
			tick();
		});
	} catch (error) {
		// Records the uploaded objects. An error here must not hide the first failure.
		await writeManifest(bucket, manifest).catch(() => undefined);
		throw error;
	}
	await writeManifest(bucket, manifest);
}

/** Runs a task for each name, some concurrently. After a failure it starts no task, and waits for the running ones. */
async function untilFailure(names: readonly string[], apply: (name: string) => Promise<void>): Promise<void> {
	const failures: unknown[] = [];
	const attempt = async (name: string) => {
		if (failures.length === 0) await apply(name).catch((error: unknown) => failures.push(error));
	};
	await pMap(names, attempt, { concurrency: maxConcurrent });
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
