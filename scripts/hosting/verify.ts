import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { targetNames } from "../../registry/targets/names.ts";
import { isCompanion } from "../build/output.ts";
import { slotFolder, slotPath, slotsOf } from "../build/slots.ts";

/** Most requests that are under way at once. */
const atOnce = 16;

/** Longest wait for one answer, in milliseconds, and how often one is asked for. */
const patience = 15_000;
const mostTries = 3;

/** A smallkey that nobody has registered, as far as can be. */
const nobodysKey = "=verify=nobody=";

/** The fragments of a build, sorted: `v0.9/doc/en/23ax5t`. @throws {Error} where there are none */
export async function listBuild(dist: string): Promise<string[]> {
	const paths: string[] = [];
	for (const slot of slotsOf({ targets: targetNames })) {
		const names = await readdir(join(dist, slotFolder(slot))).catch(() => []);
		for (const name of names) if (!isCompanion(name)) paths.push(slotPath(slot, name));
	}
	if (paths.length === 0) throw new Error(`${dist}: has no fragments; npm run build makes them`);
	return paths.sort();
}

/** At most `most` of some items, evenly spread, and the same ones each time. */
export function sample<T>(items: readonly T[], most: number): T[] {
	if (items.length <= most) return [...items];
	return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)] as T);
}

/** Where a hosting differs from the build. */
export interface Difference {
	/** `v0.9/doc/en/23ax5t` */
	path: string;
	text: string;
}

/** The paths of a smallkey that is in no build, in every target: each has to be answered with 404. */
export const missingPaths: readonly string[] = slotsOf({ targets: targetNames })
	.filter(({ lang }) => lang === "en")
	.map((slot) => slotPath(slot, nobodysKey));

/**
 * Compares what a hosting serves with what was built: status, type and body of each fragment, and that its `ETag`
 * stands for it (a conditional request is answered with 304); of `missingPaths`, that they are not found.
 * @param address with the base path, without a `/` at the end
 * @returns the differences, sorted by path
 */
export async function verifyHosting(
	address: string,
	dist: string,
	paths: readonly string[],
	tick: () => void,
): Promise<Difference[]> {
	const texts = await pMap(
		paths,
		async (path) => {
			const look = missingPaths.includes(path) ? lookForNothing(address, path) : compare(address, path, dist);
			const text = await look.catch(causeOf);
			tick();
			return text;
		},
		{ concurrency: atOnce },
	);
	const differences = texts.flatMap((text, index) =>
		text === null ? [] : [{ path: paths[index] as string, text }],
	);
	return differences.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function lookForNothing(address: string, path: string): Promise<string | null> {
	const { status } = await ask(`${address}/${encodedPath(path)}`);
	return status === 404 ? null : `answers ${status}, where 404 is right: nobody has registered it`;
}

/** What is different at one path, or null. */
async function compare(address: string, path: string, dist: string): Promise<string | null> {
	const built = await readFile(join(dist, path));
	const url = `${address}/${encodedPath(path)}`;
	const { status, headers, body } = await ask(url);
	if (status !== 200) return `answers ${status}`;
	if (!body.equals(built)) return differenceOf(body, built);
	const type = headers.get("Content-Type");
	if (!/^application\/json\b/.test(type ?? "")) return `has the Content-Type ${type}, not application/json`;
	const etag = headers.get("ETag");
	if (etag === null) return "has no ETag";
	const again = await ask(url, { "If-None-Match": etag });
	if (again.status !== 304)
		return `its ETag ${etag} is not stable: a conditional request is answered with ${again.status}`;
	return null;
}

/** The path with each segment percent-encoded: no server takes a + for a space then. */
function encodedPath(path: string): string {
	return path.split("/").map(encodeURIComponent).join("/");
}

function differenceOf(served: Buffer, built: Buffer): string {
	const lengths = served.length === built.length ? "" : ` (${served.length} bytes, not ${built.length})`;
	let offset = 0;
	while (served[offset] === built[offset]) offset += 1;
	return `is not what was built: differs from byte ${offset + 1}${lengths}`;
}

interface Answer {
	status: number;
	headers: Headers;
	body: Buffer;
}

/** Asks once, and again where the network or the server fails. */
async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
	for (let tries = 1; ; tries += 1) {
		try {
			const signal = AbortSignal.timeout(patience);
			// Past the caches on the way, as far as they listen (RFC 9111, section 5.2.1).
			const fresh = { "Cache-Control": "no-cache", ...headers };
			const answer = await fetch(url, { headers: fresh, signal, redirect: "manual", cache: "no-store" });
			const body = Buffer.from(await answer.arrayBuffer());
			if (answer.status < 500 || tries === mostTries)
				return { status: answer.status, headers: answer.headers, body };
		} catch (error) {
			if (tries === mostTries) throw error;
		}
	}
}

function causeOf(error: Error): string {
	const { message, cause } = error;
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
