// npx fragment-publisher compare: shows the differences of the same layers on two services
import { readFile } from "node:fs/promises";
import { FetchFailure } from "../../../api/service/net/failure.ts";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { mapWithProgress } from "../../../publish/build.ts";
import { type Lang, langs, parseSmallkey, smallkeyRule } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, needed, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { utf8Of } from "../../../store/files/files.ts";
import { type Json, keyOf, nodeIn, readDump } from "../dump.ts";
import { differences } from "./differences.ts";

/** A description has at most 2 MB. It keeps its connections. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 3_000_000 });
const maxAttempts = 3;

/** A layer's node; null if the service has no such layer; a text says why it cannot be read. */
type Read = Json | null | string;

/** Reads a list of one layer. @throws {Error} if the service cannot be reached */
async function readLayer(docs: string, lang: Lang, smallkey: string, attempt = 1): Promise<Read> {
	const address = `${docs}/${lang}/${encodeURIComponent(smallkey)}`;
	try {
		const answer = await fetchAnswer(address, { redirect: "manual" });
		if (answer.status !== 200) return `answers ${answer.status}`;
		const list = parseAnswer(new Uint8Array(await answer.arrayBuffer()));
		// v2 answers an empty list for an unknown key.
		return Array.isArray(list) && list.length <= 1 ? nodeIn(list[0]) : "answers without a list of one layer";
	} catch (cause) {
		if (cause instanceof FetchFailure && cause.reason === "size") return cause.message;
		if (attempt < maxAttempts) return readLayer(docs, lang, smallkey, attempt + 1);
		throw new Error(address, { cause });
	}
}

/** Layers in a row that cannot be read, after which a service is no longer asked. */
const maxFailures = 40;

type Reader = (lang: Lang, smallkey: string) => Promise<Read>;

/**
 * Finds the address at which a service of any release serves a target.
 * @returns a function that reads layers there, and throws after too many failures; null if the target is not served
 */
async function openReader(service: string, target: TargetName, first: string): Promise<Reader | null> {
	const { docs: path, aliases } = targetOf(target);
	const places = [path, ...aliases.map((alias) => alias.docs)].map((place) => `${service}/${place}`);
	for (const docs of places) {
		if ((await readLayer(docs, "en", first)) === "answers 404") continue;
		let failures = 0;
		return async (lang, smallkey) => {
			const read = await readLayer(docs, lang, smallkey);
			failures = typeof read === "string" ? failures + 1 : 0;
			if (failures < maxFailures) return read;
			throw new Error(`${docs}: ${failures} layers in a row cannot be read, the last one: ${read}`);
		};
	}
	return null;
}

/** The targets of the older service; each release served at most two of them. */
const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];

/** @throws {Error} if a service cannot be reached, or the older one serves none of the targets */
async function openTargets(before: string, now: string, first: string) {
	const targets: { target: TargetName; readOld: Reader; readFresh: Reader }[] = [];
	for (const target of comparedTargets) {
		const readOld = await openReader(before, target, first);
		if (!readOld) continue;
		const notServed: Reader = async () => "the version is not served";
		targets.push({ target, readOld, readFresh: (await openReader(now, target, first)) ?? notServed });
	}
	if (targets.length > 0) return targets;
	throw new Error(`${before}: serves none of ${comparedTargets.join(", ")} below this address`);
}

const titles = {
	relevant: "Viewer-relevant: layers that a viewer would draw or ask otherwise",
	missing: "Missing: layers that the new service does not have",
	cosmetic: "Cosmetic: layers in which no viewer sees a difference, or a better one",
	unreadable: "Not compared: layers that the older service cannot serve itself",
};

type Class = keyof typeof titles;

function findingsOf(before: Read, now: Read): (readonly [Class, kind: string])[] {
	if (typeof before === "string") return [["unreadable", before]];
	if (typeof now === "string") return [["relevant", now]];
	if (!before) return [];
	if (!now) return [["missing", "not there"]];
	const kinds = [...differences(before, now)];
	return kinds.map(([kind, isRelevant]) => [isRelevant ? "relevant" : "cosmetic", kind]);
}

/** Kinds of difference that are listed: their texts have names that a service chooses. */
const maxKinds = 1_000;

/** Layers that are read at the same time, one request of each. */
const maxConcurrent = 16;

/** Reads the same layers from two services, in each target and in both languages. */
async function compareLayers(targets: Awaited<ReturnType<typeof openTargets>>, smallkeys: readonly string[]) {
	const findings = new Map<string, { name: Class; kind: string; targets: Set<string>; keys: Set<string> }>();
	const others = { same: [] as string[], onlyNow: [] as string[], unknown: [] as string[] };
	const add = (name: Class, text: string, target: string, smallkey: string) => {
		const isListed = findings.size < maxKinds || findings.has(`${name} ${text}`);
		const kind = isListed ? text : "another difference";
		const finding = findings.get(`${name} ${kind}`) ?? { name, kind, targets: new Set(), keys: new Set() };
		findings.set(`${name} ${kind}`, finding);
		finding.targets.add(target);
		finding.keys.add(smallkey);
	};
	await mapWithProgress(smallkeys, "comparing", maxConcurrent, async (smallkey) => {
		let [isSame, wasThere, isThere] = [true, false, false];
		for (const { target, readOld, readFresh } of targets)
			for (const lang of langs) {
				const [old, fresh] = await Promise.all([readOld(lang, smallkey), readFresh(lang, smallkey)]);
				for (const [name, kind] of findingsOf(old, fresh)) {
					isSame = false;
					add(name, kind, target, smallkey);
				}
				wasThere ||= old !== null;
				isThere ||= fresh !== null;
			}
		if (isSame) others[wasThere ? "same" : isThere ? "onlyNow" : "unknown"].push(smallkey);
	});
	return { findings: [...findings.values()], ...others };
}

/** Smallkeys that are listed for each kind, unless all are requested. */
const maxNamed = 3;

function reportLines(
	{ findings, same, onlyNow, unknown }: Awaited<ReturnType<typeof compareLayers>>,
	maxKeys: number,
): string[] {
	const lineOf = (keys: Iterable<string>, kind: string) => {
		const sorted = [...keys].sort();
		return row(sorted.length, `${kind}: ${firstOf(sorted, maxKeys)}`);
	};
	findings.sort((a, b) => b.keys.size - a.keys.size || (a.kind < b.kind ? -1 : 1));
	const lines = Object.entries(titles).flatMap(([name, title]) => {
		const ofClass = findings.filter((finding) => finding.name === name);
		const rows = ofClass.map(({ keys, kind, targets }) =>
			lineOf(keys, `${kind} (${[...targets].join(", ")})`),
		);
		return rows.length > 0 ? ["", title, ...rows] : [];
	});
	lines.push("", row(same.length, "the same in both"));
	if (onlyNow.length > 0) lines.push(lineOf(onlyNow, "only in the new service"));
	if (unknown.length > 0) lines.push(lineOf(unknown, "in neither"));
	return lines;
}

export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}

/**
 * With white space or commas between them.
 * @throws {Error} that names the first invalid smallkey
 */
function parseKeys(path: string, text: string): string[] {
	const items = text.match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}

/** From a list, or a dump of the older service's database. @throws {Error} as `parseKeys` and `readDump` do */
async function readSmallkeys(path: string): Promise<string[]> {
	const bytes = utf8Of(await readFile(path));
	if (!/^\ufeff?\s*[[{]/.test(bytes.toString("utf8", 0, 64))) return parseKeys(path, bytes.toString());
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
	const smallkeys = await readSmallkeys(needed("--keys", path));
	if (smallkeys.length === 0) throw new Error(`${path}: holds no smallkeys to compare`);
	const layers = counted(smallkeys.length, "layer");
	io.warn(`Comparing ${layers} of ${old} with ${now}`);
	const targets = await openTargets(old, now, smallkeys[0] ?? "");
	const result = await compareLayers(targets, smallkeys);
	io.print(`${layers} read at ${targets.map(({ target }) => target).join(", ")}, in both languages`);
	const maxKeys = all ? Number.POSITIVE_INFINITY : maxNamed;
	for (const text of reportLines(result, maxKeys)) io.print(plain(text));
	return result.findings.every(({ name }) => name === "cosmetic") ? exitCodes.done : exitCodes.wrong;
});
