import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import glob from "fast-glob";
import pMap from "p-map";
import { fragmentHeaders } from "../../../api/reply.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { fragmentFolders } from "../../../publish/rendered.ts";
import { parseLayerPath } from "../../../registry/smallkey.ts";
import { targetNames } from "../../../registry/targets/table.ts";
import { firstOf, groupBy, plain } from "../../../registry/untrusted.ts";
import {
	createRun,
	exitCodes,
	messageOf,
	parseCount,
	parseUrl,
} from "../../../scripts/terminal/command-line.ts";
import { pageHeaders } from "../../../site/http/pages.ts";
import { readIfThere } from "../../../store/files/files.ts";
import { diffTree } from "../../../store/git/commands/tree.ts";

/** Accepts start pages and lists of pieces: every build changes them. */
const startPages = /^(?:(?:index|changes)\/)?[^/]+$|\/index\.html$/;

/** Paths at even distances. */
function samplePaths(paths: readonly string[], maxPaths: number) {
	const step = Math.ceil(paths.length / maxPaths);
	return paths.filter((_, index) => index % step === 0);
}

/** Files of these layers and of a key that is not registered, start pages, and a sample of all. */
async function choosePaths(dist: string, changed: readonly string[]) {
	const all = (await glob(["**", "!_headers", "!**/*.{gz,br}"], { cwd: dist })).sort();
	if (all.length === 0) throw new Error(`${dist}: has no build; npx fragment-publisher build makes it`);
	const keys = ["=verify=none=", ...changed];
	const ofKeys = fragmentFolders(targetNames).flatMap((folder) => keys.map((key) => `${folder}/${key}`));
	const paths = [
		...samplePaths(ofKeys, 2_000),
		...all.filter((path) => startPages.test(path)),
		...samplePaths(all, 500),
	];
	return [...new Set(paths)];
}

const mediaTypeOf = (type: string | null | undefined) =>
	// The feed's own type, and those that a host may derive from its file extension (Workers).
	type?.split(";")[0]?.replace(/^(?:application|text)\/xml$/, "application/atom+xml");

/** @param built the right bytes; null: 404 is right @returns what is wrong with the answer; null: nothing */
async function differenceOf(address: string, path: string, built: Buffer | null) {
	// A page is requested at the address of its folder. Percent-encoded, so that no server reads a + as a space.
	const names = path.replace(/(^|\/)index\.html$/, "$1").split("/");
	const ask = (condition: Record<string, string> = {}) =>
		fetch(`${address}/${names.map(encodeURIComponent).join("/")}`, {
			// Bypasses caches that obey the header (RFC 9111, section 5.2.1).
			headers: { "Cache-Control": "no-cache", ...condition },
			signal: AbortSignal.timeout(15_000),
			redirect: "manual",
		});
	const answer = await ask();
	const body = Buffer.from(await answer.arrayBuffer());
	if (!built) return answer.status === 404 ? null : `answers ${answer.status}, where 404 is right`;
	if (answer.status !== 200) return `answers ${answer.status}`;
	if (!body.equals(built)) return `is not what was built (${body.length} bytes, and ${built.length} there)`;
	// A fragment has no extension.
	const isFragment = !path.includes(".", path.lastIndexOf("/"));
	const expected: Record<string, string> = isFragment ? fragmentHeaders : pageHeaders(path);
	const [type, cors] = ["Content-Type", "Access-Control-Allow-Origin"];
	if (mediaTypeOf(answer.headers.get(type)) !== mediaTypeOf(expected[type]))
		return `has the ${type} ${answer.headers.get(type)}`;
	if (expected[cors] && answer.headers.get(cors) !== expected[cors])
		return `has no ${cors}: ${expected[cors]}`;
	const again = await ask({ "If-None-Match": answer.headers.get("ETag") ?? "" });
	return again.status === 304 ? null : `answers ${again.status} to a request with its ETag`;
}

/** Layers of this checkout. @throws {Error} if there is no such commit */
async function changedSince(commit: string) {
	const changes = await diffTree(".", await resolveCommit(".", commit), "HEAD", "layers");
	return changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []);
}

/** Paths with the same difference. */
const maxNamed = 20;

export const run = createRun(async ({ read, io }) => {
	const [{ since, wait = 0, dist }, address] = await read((line) =>
		line
			.argument("<url>", "the service with its base path, such as https://fragments.example", parseUrl)
			.option("--since <commit>", "also check every layer that has changed since then, removed ones too")
			.option("--wait <seconds>", "how long differences are checked again, until there are none", parseCount)
			.option("--dist <dir>", "the build to compare with", "dist"),
	);
	const paths = await choosePaths(dist, since ? await changedSince(since) : []);
	io.warn(`Comparing ${paths.length} paths of ${address} with the build in ${dist}`);
	const check = async ({ path }: { path: string }) => {
		const built = await readIfThere(join(dist, path));
		const difference = await differenceOf(address, path, built).catch(messageOf);
		return difference === null ? [] : [{ path, difference }];
	};
	const checkAll = async (left: { path: string }[]) => (await pMap(left, check, { concurrency: 16 })).flat();
	const untilMs = Date.now() + wait * 1_000;
	let left = await checkAll(paths.map((path) => ({ path })));
	// A CDN updates late.
	while (left.length > 0 && Date.now() < untilMs) {
		await sleep(1_000);
		left = await checkAll(left);
	}
	const differences = groupBy(left, ({ difference }) => difference);
	const [failure] = differences.size === 1 && left.length === paths.length ? differences.keys() : [];
	if (failure !== undefined) throw new Error(`${address}: nothing was compared: ${failure}`);
	for (const [difference, same] of differences) {
		const names = same.map(({ path }) => path);
		io.warn(plain(`${firstOf(names, maxNamed, ", ")}: ${difference}`));
	}
	io.print(`${paths.length} paths checked: ${left.length === 0 ? "all as built" : `${left.length} differ`}`);
	return left.length === 0 ? exitCodes.done : exitCodes.wrong;
});
