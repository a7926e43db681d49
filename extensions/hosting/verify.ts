import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import glob from "fast-glob";
import pMap from "p-map";
import { fragmentHeaders } from "../../api/reply.ts";
import { resolveCommit } from "../../publish/collect.ts";
import { isCompanion } from "../../publish/place-file.ts";
import { slotFolder, slotPath, slotsOf } from "../../publish/rendered.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { pageHeaders } from "../../site/http/site-headers.ts";
import { diffTree } from "../../store/git/commands/tree.ts";

/** Percent-encodes each segment of a path, so that no server reads a + as a space. */
function encodedPath(path: string): string {
	return path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Sends a request, and repeats it if the network or the server fails, or the server limits requests.
 * @param limits the longest wait for one answer, the attempts, and the pause after the first one, which doubles
 * @returns the last answer
 * @throws {Error} if the last attempt has no answer
 */
async function askAgain(
	send: (signal: AbortSignal) => Promise<Response>,
	{ timeoutMs, maxAttempts, pauseMs }: { timeoutMs: number; maxAttempts: number; pauseMs: number },
) {
	for (let attempt = 1; ; attempt += 1) {
		try {
			const answer = await send(AbortSignal.timeout(timeoutMs));
			const { status, headers } = answer;
			const body = Buffer.from(await answer.arrayBuffer());
			const isTemporary = status >= 500 || status === 429 || status === 408;
			if (!isTemporary || attempt === maxAttempts) return { status, headers, body };
		} catch (error) {
			if (attempt === maxAttempts) throw error;
		}
		await sleep(pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
	}
}

/** The message of a failed request, with its cause. */
function causeOf({ message, cause }: Error): string {
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}

/** Concurrent requests. */
const maxConcurrent = 16;

const limits = { timeoutMs: 15_000, maxAttempts: 3, pauseMs: 0 };

const slots = slotsOf({ targets: targetNames });

/** The paths, in every target, of a smallkey that is most likely not registered anywhere. */
const missingPaths = slots.filter(({ lang }) => lang === "en").map((slot) => slotPath(slot, "=verify=none="));

/** The fragments of a build, sorted: `v0.9/doc/en/23ax5t`. @throws {Error} if there are none */
export async function listBuild(dist: string): Promise<string[]> {
	const files = await glob(
		slots.map((slot) => `${slotFolder(slot)}/*`),
		{ cwd: dist },
	);
	const paths = files.filter((path) => !isCompanion(path));
	if (paths.length === 0)
		throw new Error(
			`${dist}: has no fragments; npx fragment-publisher build makes them, and --repo needs none`,
		);
	return paths.sort();
}

/** The headers of a file that is served. A fragment has no extension. */
function servedHeaders(path: string): Readonly<Record<string, string>> {
	return /\.[a-z]+$/.test(path) ? pageHeaders(path, true) : fragmentHeaders;
}

/** Start pages and lists of pieces: every build changes them, so a sample has them all. */
const leading =
	/^(?:[^/]+|(?:en|fr|guide|list|records|schemas)\/(?:fr\/)?index\.html|(?:index|changes)\/[a-z]+\.\w+)$/;

/** A deterministic, evenly spread sample of items. */
export function sample<T>(items: readonly T[], maxItems: number): T[] {
	if (items.length <= maxItems) return [...items];
	const itemAt = (index: number) => items[Math.floor((index * items.length) / maxItems)] as T;
	return Array.from({ length: maxItems }, (_, index) => itemAt(index));
}

type Questions = ReturnType<typeof chooseQuestions>;

/** Fragments of changed layers; of more a sample. */
const maxChanged = 2_000;

/**
 * Chooses the requests: all changed layers, and a sample of the rest.
 * @param all the build's fragments
 * @param changed smallkeys of changed layers; one without a fragment in the build was removed
 * @param maxSampled size of the samples of fragments and of files of the catalogue
 * @param files the catalogue's files
 * @returns the paths that must be served: fragments of `changed` layers and `sampled` of the others, and `files` of the
 * catalogue; `gone`: the paths that must be 404, of removed layers and of an unknown smallkey in every target
 */
export function chooseQuestions(
	all: readonly string[],
	changed: ReadonlySet<string>,
	maxSampled: number,
	files: readonly string[] = [],
) {
	const keyOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
	const isChanged = (path: string) => changed.has(keyOf(path));
	const isLeading = (path: string) => leading.test(path);
	const present = new Set(all.map(keyOf));
	const gone = [...changed].filter((key) => !present.has(key));
	const gonePaths = sample(
		gone.flatMap((key) => slots.map((slot) => slotPath(slot, key))),
		maxChanged,
	);
	const others = files.filter((path) => !isLeading(path));
	return {
		changed: sample(all.filter(isChanged), maxChanged),
		sampled: sample(
			all.filter((path) => !isChanged(path)),
			maxSampled,
		),
		files: [...files.filter(isLeading), ...sample(others, maxSampled)],
		gone: [...gonePaths, ...missingPaths],
	};
}

/** The number of requests if every answer is right: each file is requested again with its `ETag`. */
export function costOf({ changed, sampled, files, gone }: Questions): number {
	return 2 * (changed.length + sampled.length + files.length) + gone.length;
}

/** The smallkeys of layers whose files differ between two commits. @throws {Error} if there is no such commit */
export async function changedKeys(repository: string, from: string, to: string): Promise<Set<string>> {
	const [before, after] = [await resolveCommit(repository, from), await resolveCommit(repository, to)];
	const changes = await diffTree(repository, before, after, "layers");
	const names = changes.map(({ path }) => parseLayerPath(path));
	return new Set(names.flatMap((name) => (name ? [name.smallkey] : [])));
}

/**
 * Compares a hosting with the build: status, type and body of each fragment and each file of the catalogue, the answer
 * 304 to a conditional request with its `ETag`, and 404 for removed and unknown layers.
 * @param address with the base path, without a `/` at the end
 * @param only if given, only these paths are requested
 * @returns the differences, sorted by path
 */
export async function verifyHosting(
	address: string,
	dist: string,
	{ changed, sampled, files, gone }: Questions,
	tick: () => void,
	only?: ReadonlySet<string>,
): Promise<{ path: string; text: string }[]> {
	const absent = new Set(gone);
	const paths = [...changed, ...sampled, ...files, ...absent].filter((path) => !only || only.has(path));
	const differences: { path: string; text: string }[] = [];
	const check = async (path: string) => {
		const checking = absent.has(path) ? checkAbsent(address, path) : compare(address, path, dist);
		const text = await checking.catch(causeOf);
		if (text !== null) differences.push({ path, text });
		tick();
	};
	await pMap(paths, check, { concurrency: maxConcurrent });
	return differences.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function checkAbsent(address: string, path: string): Promise<string | null> {
	const { status } = await ask(`${address}/${encodedPath(path)}`);
	return status === 404 ? null : `answers ${status}, where 404 is right: no layer is there`;
}

const feedType = "application/atom+xml";

/** Types in which the feed may be served, too: a host may derive types from file extensions (Workers). */
const plainXml = ["application/xml", "text/xml"];

/** Compares one path with the build. @returns the difference; null if there is none */
async function compare(address: string, path: string, dist: string): Promise<string | null> {
	const built = await readFile(join(dist, path));
	// A page is requested at the address of its folder.
	const url = `${address}/${encodedPath(path.replace(/(^|\/)index\.html$/, "$1"))}`;
	const { status, headers, body } = await ask(url);
	if (status !== 200) return `answers ${status}`;
	if (!body.equals(built)) return differenceOf(body, built);
	const type = headers.get("Content-Type");
	const mediaTypeOf = (text: string | null | undefined) => text?.split(";")[0] ?? "";
	const [found, expected] = [mediaTypeOf(type), mediaTypeOf(servedHeaders(path)["Content-Type"])];
	const isExpected = found === expected || (expected === feedType && plainXml.includes(found));
	if (!isExpected) return `has the Content-Type ${type}, not ${expected}`;
	const etag = headers.get("ETag");
	if (etag === null) return "has no ETag";
	const again = await ask(url, { "If-None-Match": etag });
	if (again.status === 304) return null;
	return `its ETag ${etag} is not stable: a conditional request is answered with ${again.status}`;
}

function differenceOf(served: Buffer, built: Buffer): string {
	const lengths = served.length === built.length ? "" : ` (${served.length} bytes, not ${built.length})`;
	let offset = 0;
	while (served[offset] === built[offset]) offset += 1;
	return `is not what was built: differs from byte ${offset + 1}${lengths}`;
}

async function ask(url: string, headers: Record<string, string> = {}) {
	// Bypasses caches that obey the header (RFC 9111, section 5.2.1).
	const fresh = { "Cache-Control": "no-cache", ...headers };
	return askAgain(
		(signal) => fetch(url, { headers: fresh, signal, redirect: "manual", cache: "no-store" }),
		limits,
	);
}
