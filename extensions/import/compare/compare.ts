// npx fragment-publisher compare: shows the differences of the same layers on two services
import { readFile } from "node:fs/promises";
import { FetchFailure } from "../../../api/service/net/failure.ts";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { mapWithProgress } from "../../../publish/build.ts";
import { type Lang, langs, parseSmallkey } from "../../../registry/smallkey.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { readKeys } from "../../../scripts/put.ts";
import { createRun, exitCodes, needed, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { utf8Of } from "../../../store/files/files.ts";
import { keyOf, nodeIn, readDump } from "../dump.ts";
import { type ComparedTarget, Comparison, comparedTargets, type Finding, type Read } from "./differences.ts";

/** A description has at most 2 MB; the layers of a larger answer are read one by one. It keeps its connections. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 3_000_000 });
const maxAttempts = 3;

interface Answer {
	status: number;
	value?: unknown;
	/** Why the value is not a list of the layers that were asked for. */
	failure: string;
}

/** @throws {Error} if the service cannot be reached */
async function ask(address: string, attempt = 1): Promise<Answer> {
	try {
		const answer = await fetchAnswer(address, { redirect: "manual" });
		const { status } = answer;
		if (status !== 200) return { status, failure: `answers ${status}` };
		const value = parseAnswer(new Uint8Array(await answer.arrayBuffer()));
		return { status, value, failure: "answers without a list of one layer" };
	} catch (cause) {
		if (cause instanceof FetchFailure && cause.reason === "size")
			return { status: 200, failure: cause.message };
		if (attempt < maxAttempts) return ask(address, attempt + 1);
		throw new Error(address, { cause });
	}
}

/** The address at which a service of any release serves several layers of a target; null if it does not serve the target. */
async function docsOf(service: string, target: ComparedTarget, smallkey: string): Promise<string | null> {
	const { docs, aliases } = targetOf(target);
	for (const path of [docs, ...aliases.map((alias) => alias.docs)]) {
		const address = `${service}/${path}`;
		if ((await ask(`${address}/en/${encodeURIComponent(smallkey)}`)).status !== 404) return address;
	}
	return null;
}

/** Layers in a row that cannot be read, after which a service is no longer asked: each one is a request of its own. */
const maxFailures = 40;

/** Returns a function that reads layers of one service and target. It throws after too many failures. */
function createReader(docs: string) {
	let failures = 0;
	return async function read(lang: Lang, smallkeys: readonly string[]): Promise<Read[]> {
		const { value, failure } = await ask(`${docs}/${lang}/${smallkeys.map(encodeURIComponent).join(",")}`);
		const nodes = Array.isArray(value) ? value.map(nodeIn) : [];
		// v2 answers an empty list for a single unknown key.
		if (Array.isArray(value) && smallkeys.length === 1 && nodes.length === 0) nodes.push(null);
		if (nodes.length === smallkeys.length) {
			failures = 0;
			return nodes.map((node) => ({ node }));
		}
		if (smallkeys.length > 1) {
			// One failing layer must not hide the others.
			const all: Read[] = [];
			for (const smallkey of smallkeys) all.push(...(await read(lang, [smallkey])));
			return all;
		}
		failures += 1;
		if (failures < maxFailures) return [{ failure }];
		throw new Error(`${docs}: ${failures} layers in a row cannot be read, the last one: ${failure}`);
	};
}

/** Layers of one request: their list fits into an address, and few requests find a layer that fails. */
const batchSize = 20;

/** Concurrent requests to each service; the older one is a single process. */
const maxConcurrent = 4;

/**
 * Reads the same layers from two services, in each target that the older one serves and in both languages.
 * @param before address of the older service, without a slash at its end; `now` likewise
 * @throws {Error} if a service cannot be reached or read, or the older one serves none of the targets
 */
async function compareServices(before: string, now: string, smallkeys: readonly string[]) {
	const targets: ComparedTarget[] = [];
	const comparison = new Comparison();
	const [first = "-"] = smallkeys;
	const starts = [...smallkeys.keys()].filter((index) => index % batchSize === 0);
	const batches = langs.flatMap((lang) =>
		starts.map((start) => ({ lang, keys: smallkeys.slice(start, start + batchSize) })),
	);
	for (const target of comparedTargets) {
		const docs = await docsOf(before, target, first);
		if (docs === null) continue;
		targets.push(target);
		const docsNow = await docsOf(now, target, first);
		if (docsNow === null) {
			for (const key of smallkeys) comparison.add("relevant", "the version is not served", target, key);
			continue;
		}
		const [readOld, readFresh] = [createReader(docs), createReader(docsNow)];
		await mapWithProgress(batches, `comparing ${target}`, maxConcurrent, async ({ lang, keys }) => {
			const [old, fresh] = await Promise.all([readOld(lang, keys), readFresh(lang, keys)]);
			for (const [index, smallkey] of keys.entries())
				comparison.compare(target, smallkey, old[index] as Read, fresh[index] as Read);
		});
	}
	if (targets.length === 0)
		throw new Error(`${before}: serves none of ${comparedTargets.join(", ")} below this address`);
	return { targets, comparison };
}

/** Smallkeys that are listed for each kind, unless all are requested. */
const maxNamed = 3;

const titles: Readonly<Record<Finding["class"], string>> = {
	relevant: "Viewer-relevant: layers that a viewer would draw or ask otherwise",
	missing: "Missing: layers that the new service does not have",
	cosmetic: "Cosmetic: layers in which no viewer sees a difference, or a better one",
	unreadable: "Not compared: layers that the older service cannot serve itself",
};

function reportLines(
	{ findings, old, fresh }: Comparison,
	smallkeys: readonly string[],
	maxKeys: number,
): string[] {
	const lineOf = (keys: readonly string[], kind: string) =>
		row(keys.length, `${kind}: ${firstOf([...keys].sort(), maxKeys)}`);
	const sorted = [...findings.values()].sort(
		(a, b) => b.smallkeys.size - a.smallkeys.size || (a.kind < b.kind ? -1 : 1),
	);
	const lines = Object.entries(titles).flatMap(([name, title]) => {
		const ofClass = sorted.filter((finding) => finding.class === name);
		const rows = ofClass.map(({ kind, targets, smallkeys: keys }) =>
			lineOf([...keys], `${kind} (${[...targets].join(", ")})`),
		);
		return rows.length > 0 ? ["", title, ...rows] : [];
	});
	const listed = new Set(sorted.flatMap((finding) => [...finding.smallkeys]));
	const others = smallkeys.filter((key) => !old.has(key) && !listed.has(key));
	const onlyNow = others.filter((key) => fresh.has(key));
	const unknown = others.filter((key) => !fresh.has(key));
	lines.push("", row(smallkeys.length - others.length - listed.size, "the same in both"));
	if (onlyNow.length > 0) lines.push(lineOf(onlyNow, "only in the new service"));
	if (unknown.length > 0) lines.push(lineOf(unknown, "in neither"));
	return lines;
}

export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}

/** From a list, or a dump of the older service's database. @throws {Error} as `readKeys` and `readDump` do */
async function readSmallkeys(path: string, warn: (line: string) => void): Promise<string[]> {
	if (!/^\ufeff?\s*[[{]/.test(utf8Of(await readFile(path)).toString("utf8", 0, 64)))
		return readKeys(path, warn);
	const keys = [...(await readDump(path)).values()].map((document) => parseSmallkey(keyOf(document)));
	return [...new Set(keys.filter((key) => key !== null))];
}

const compareHelp = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Ends with 1 where a viewer would draw or ask a layer otherwise, or it is missing, or the older service cannot serve it.`;

export const run = createRun("compare", async ({ read, io }) => {
	const [{ keys: path, all }, old, now] = await read((line) =>
		line
			.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
			.argument("<new>", "this one, with its base path", parseUrl)
			.option("--keys <file>", "the dump, or a file of smallkeys with spaces, commas or lines between them")
			.option("--all", "name all smallkeys of each kind, not three of them", false)
			.addHelpText("after", compareHelp),
	);
	const smallkeys = await readSmallkeys(needed("--keys", path), io.warn);
	if (smallkeys.length === 0) throw new Error(`${path}: holds no smallkeys to compare`);
	const layers = counted(smallkeys.length, "layer");
	io.warn(`Comparing ${layers} of ${old} with ${now}`);
	const { targets, comparison } = await compareServices(old, now, smallkeys);
	io.print(`${layers} read at ${targets.join(", ")}, in both languages`);
	const maxKeys = all ? Number.POSITIVE_INFINITY : maxNamed;
	for (const text of reportLines(comparison, smallkeys, maxKeys)) io.print(plain(text));
	const findings = [...comparison.findings.values()];
	return findings.every((finding) => finding.class === "cosmetic") ? exitCodes.done : exitCodes.wrong;
});
