// npx fragment-publisher verify: checks that a hosting serves the build (docs/hosting.md)

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import glob from "fast-glob";
import type { Io } from "../../../api/configuration.ts";
import { fragmentHeaders } from "../../../api/reply.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { build, mapWithProgress } from "../../../publish/build.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { isCompanion } from "../../../publish/place-file.ts";
import { fragmentFolders } from "../../../publish/rendered.ts";
import { parseLayerPath } from "../../../registry/smallkey.ts";
import { targetNames } from "../../../registry/targets/table.ts";
import { firstOf, groupBy, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, parseCount, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { nameSource, refOption, repoOption } from "../../../scripts/validate.ts";
import { presentFiles } from "../../../site/data/output.ts";
import { pageHeaders } from "../../../site/http/site-headers.ts";
import { withTemporaryFolder } from "../../../store/files/files.ts";
import { diffTree } from "../../../store/git/commands/tree.ts";

const folders = fragmentFolders(targetNames);

const pathsOf = (smallkey: string) => folders.map((folder) => `${folder}/${smallkey}`);

/** Start pages and lists of pieces: every build changes them, so a sample has them all. */
const leading =
	/^(?:[^/]+|(?:en|fr|guide|list|records|schemas)\/(?:fr\/)?index\.html|(?:index|changes)\/[a-z]+\.\w+)$/;

/** A deterministic, evenly spread sample. */
function sample<T>(items: readonly T[], maxItems: number): T[] {
	if (items.length <= maxItems) return [...items];
	const itemAt = (index: number) => items[Math.floor((index * items.length) / maxItems)] as T;
	return Array.from({ length: maxItems }, (_, index) => itemAt(index));
}

const maxChanged = 2_000;

/** @throws {Error} if there is no such commit */
async function changedKeys(repository: string, from: string, to: string): Promise<Set<string>> {
	const [before, after] = [await resolveCommit(repository, from), await resolveCommit(repository, to)];
	const changes = await diffTree(repository, before, after, "layers");
	return new Set(changes.flatMap(({ path }) => parseLayerPath(path)?.smallkey ?? []));
}

const maxConcurrent = 16;
const timeoutMs = 15_000;

async function ask(address: string, path: string, condition: Record<string, string> = {}) {
	// Percent-encoded, so that no server reads a + as a space.
	const url = `${address}/${path.split("/").map(encodeURIComponent).join("/")}`;
	// Bypasses caches that obey the header (RFC 9111, section 5.2.1).
	const headers = { "Cache-Control": "no-cache", ...condition };
	const signal = AbortSignal.timeout(timeoutMs);
	const answer = await fetch(url, { headers, signal, redirect: "manual", cache: "no-store" });
	return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

/** The feed's own type, and those that a host may derive from its file extension (Workers). */
const feedTypes = ["application/atom+xml", "application/xml", "text/xml"];

/**
 * Compares one path with the build.
 * @param isGone whether it has to be 404
 * @returns the difference; null if there is none
 */
async function compare(address: string, path: string, dist: string, isGone: boolean): Promise<string | null> {
	// A page is requested at the address of its folder.
	const page = path.replace(/(^|\/)index\.html$/, "$1");
	const { status, headers, body } = await ask(address, page);
	if (isGone) return status === 404 ? null : `answers ${status}, where 404 is right: no layer is there`;
	if (status !== 200) return `answers ${status}`;
	const built = await readFile(join(dist, path));
	if (!body.equals(built)) return differenceOf(body, built);
	const type = headers.get("Content-Type");
	// A fragment has no extension.
	const expected = /\.[a-z]+$/.test(path) ? pageHeaders(path, true) : fragmentHeaders;
	const [media = "", expectedMedia = ""] = [type, expected["Content-Type"]].map(
		(text) => text?.split(";")[0],
	);
	const isFeed = [media, expectedMedia].every((text) => feedTypes.includes(text));
	if (media !== expectedMedia && !isFeed) return `has the Content-Type ${type}, not ${expectedMedia}`;
	const etag = headers.get("ETag");
	if (etag === null) return "has no ETag";
	const again = await ask(address, page, { "If-None-Match": etag });
	if (again.status === 304) return null;
	return `its ETag ${etag} is not stable: a conditional request is answered with ${again.status}`;
}

function differenceOf(served: Buffer, built: Buffer): string {
	const lengths = served.length === built.length ? "" : ` (${served.length} bytes, not ${built.length})`;
	let offset = 0;
	while (served[offset] === built[offset]) offset += 1;
	return `is not what was built: differs from byte ${offset + 1}${lengths}`;
}

/** A sample that has all the first ones, but at most `maxFirst`. */
function choose(paths: readonly string[], isFirst: (path: string) => boolean, maxFirst: number, max: number) {
	const [first, rest] = [true, false].map((which) => paths.filter((path) => isFirst(path) === which));
	return [...sample(first ?? [], maxFirst), ...sample(rest ?? [], max)];
}

/**
 * Chooses what is compared, and what has to be 404: removed layers, and a smallkey that is most likely not registered.
 * @param changed smallkeys that have changed between two commits; without a fragment in the build: removed
 * @param files of the catalogue
 * @param maxSampled most fragments of unchanged layers, and most files
 */
async function choosePaths(
	dist: string,
	changed: ReadonlySet<string>,
	files: readonly string[],
	maxSampled: number,
) {
	const patterns = folders.map((folder) => `${folder}/*`);
	const fragments = (await glob(patterns, { cwd: dist })).filter((path) => !isCompanion(path)).sort();
	if (fragments.length === 0)
		throw new Error(
			`${dist}: has no fragments; npx fragment-publisher build makes them, and --repo needs none`,
		);
	const keyOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
	const keys = new Set(fragments.map(keyOf));
	const removed = [...changed].filter((key) => !keys.has(key));
	const gone = new Set([...sample(removed.flatMap(pathsOf), maxChanged), ...pathsOf("=verify=none=")]);
	const chosen = choose(fragments, (path) => changed.has(keyOf(path)), maxChanged, maxSampled);
	const chosenFiles = choose(files, (path) => leading.test(path), files.length, maxSampled);
	const ofFiles =
		files.length > 0 ? ` and ${chosenFiles.length} of ${files.length} files of the catalogue` : "";
	const text = `${chosen.length} of ${fragments.length} fragments${ofFiles}`;
	return { gone, paths: [...chosen, ...chosenFiles, ...gone], text };
}

const pauseMs = 1_000;

/** Twice more in any case: a server can fail for a moment. A CDN updates late. */
const minRounds = 3;

/** Paths that are named of those with the same difference. */
const maxNamed = 3;

/** Compares status, type and body of each path, and asks for 304 with its `ETag`. */
async function verify(
	address: string,
	dist: string,
	{ gone, paths, text }: Awaited<ReturnType<typeof choosePaths>>,
	waitMs: number,
	io: Io,
): Promise<number> {
	const check = async (path: string) => {
		const checking = compare(address, path, dist, gone.has(path));
		const difference = await checking.catch(({ message, cause }: Error) =>
			cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message,
		);
		return difference === null ? [] : { path, difference };
	};
	const checkAll = async (all: readonly string[]) =>
		(await mapWithProgress(all, "verifying", maxConcurrent, check)).flat();
	const untilMs = Date.now() + waitMs;
	let differences = await checkAll(paths);
	for (let round = 2; differences.length > 0 && (round <= minRounds || Date.now() < untilMs); round += 1) {
		await sleep(pauseMs);
		differences = await checkAll(differences.map(({ path }) => path));
	}
	const sorted = differences.sort((a, b) => (a.path < b.path ? -1 : 1));
	for (const [difference, all] of groupBy(sorted, (item) => item.difference)) {
		const names = all.map(({ path }) => path);
		io.warn(plain(`${firstOf(names, maxNamed)}: ${difference}`));
	}
	const count = differences.length;
	io.print(`${text} checked: ${count === 0 ? "all as built" : `${count} differ`}`);
	return count === 0 ? exitCodes.done : exitCodes.wrong;
}

const defaultSample = 500;

export const run = createRun("verify", async ({ read, environment, io }) => {
	const [
		{ repo, ref, sample: maxSampled = defaultSample, all = false, since, wait = 0, dist: built },
		address,
	] = await read((line) =>
		line
			.argument("<url>", "the service with its base path, such as https://fragments.example", parseUrl)
			.option(
				"--sample <n>",
				`how many fragments are checked beside the changed ones, and files of the catalogue, spread over all (${defaultSample})`,
				parseCount,
			)
			.addOption(
				new Option("--all", "check every fragment, and every file of the catalogue").conflicts("sample"),
			)
			.option(
				"--since <commit>",
				"also check every layer that has changed since then, and that removed ones are gone",
			)
			.option("--wait <seconds>", "how long differences are checked again, until there are none", parseCount)
			.addOption(new Option("--dist <dir>", "the build to compare with").default("dist").conflicts("repo"))
			.addOption(repoOption)
			.addOption(refOption),
	);
	const verifyBuild = async (dist: string, repository: string, commit: string, files: readonly string[]) => {
		const changed = since ? await changedKeys(repository, since, commit) : new Set<string>();
		const chosen = await choosePaths(dist, changed, files, all ? Number.POSITIVE_INFINITY : maxSampled);
		const ofChanged = since ? ` (${changed.size} changed layers)` : "";
		io.warn(plain(`Asking for ${chosen.text}${ofChanged}`));
		return verify(address, dist, chosen, wait * 1_000, io);
	};
	if (repo === undefined) {
		if (ref !== undefined) throw new Error("--ref: is for --repo");
		const dist = resolve(built);
		io.warn(`Comparing ${address} with the build in ${dist}`);
		// A build without --repo is a build of this checkout.
		return verifyBuild(dist, ".", "HEAD", presentFiles(dist).sort());
	}
	const { source, name } = nameSource({ repo, ref });
	io.warn(`Comparing ${address} with a build of ${name}`);
	const configuration = readConfiguration(withoutStore(environment));
	return withTemporaryFolder("verify-", async (temporary) => {
		const dist = join(temporary, "dist");
		const { problems, written } = await build(source, dist, configuration);
		if (!written) throw new Error(problems.map(plain).join("\n"));
		// The catalogue is not compared: it depends on more than the commit, such as the senders' names and the page's address.
		return verifyBuild(dist, repo, ref ?? "refs/heads/main", []);
	});
});
