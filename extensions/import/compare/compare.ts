import pMap from "p-map";
import { FetchFailure } from "../../../api/service/net/failure.ts";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { type Lang, langs, parseSmallkey } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, needed, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { type Json, keyOf, nodeIn, readDump } from "../dump.ts";
import { type Difference, differences } from "./differences.ts";

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

type Reader = (lang: Lang, smallkey: string) => Promise<Read>;

/** Layers in a row that cannot be read, after which a service is no longer asked. */
const maxFailures = 40;

/**
 * Finds the address at which a service of any release serves a target.
 * @returns a function that reads layers there, and throws after too many failures; null if the target is not served
 */
async function openReader(service: string, target: TargetName, first: string): Promise<Reader | null> {
	const { docs: path, aliases } = targetOf(target);
	for (const place of [path, ...aliases.map((alias) => alias.docs)]) {
		const docs = `${service}/${place}`;
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

const notServed: Reader = async () => "has no such version";

/** Each kind of difference; a relevant one ends the command with 1. */
function findingsOf(before: Read, now: Read): Iterable<Difference> {
	if (typeof before === "string") return [[`the older service ${before}`, true]];
	if (typeof now === "string") return [[`the new service ${now}`, true]];
	if (!before) return now ? [["only in the new service", false]] : [];
	return now ? differences(before, now) : [["missing in the new service", true]];
}

/** Layers that are read at the same time, one request of each. */
const maxConcurrent = 16;

/** Smallkeys that are listed for each cosmetic kind. */
const maxNamed = 3;

/** A class of differences: the layers by their kind. */
type Kinds = Map<string, Set<string>>;

/** @param named number of smallkeys that are listed for each kind */
function linesOf(title: string, kinds: Kinds, named: number): string[] {
	const rows = [...kinds].sort(([a, { size }], [b, other]) => other.size - size || (a < b ? -1 : 1));
	const lines = rows.map(([kind, keys]) =>
		plain(`${String(keys.size).padStart(8)}  ${kind}: ${firstOf([...keys].sort(), named)}`),
	);
	return lines.length > 0 ? ["", title, ...lines] : [];
}

const compareHelp = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Ends with 1 where a viewer would draw or ask a layer otherwise, or it is missing, or the older service cannot serve it.`;

export const run = createRun(async ({ read, io }) => {
	const [{ keys: path }, old, now] = await read((line) =>
		line
			.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
			.argument("<new>", "this one, with its base path", parseUrl)
			.option("--keys <dump>", "the dump of the older service's layers")
			.addHelpText("after", compareHelp),
	);
	const documents = await readDump(needed("--keys", path));
	const keys = [...documents.values()].flatMap((document) => parseSmallkey(keyOf(document)) ?? []);
	const smallkeys = [...new Set(keys)];
	const [first] = smallkeys;
	if (first === undefined) throw new Error(`${path}: holds no smallkeys to compare`);
	const targets: [target: TargetName, readOld: Reader, readFresh: Reader][] = [];
	for (const target of comparedTargets) {
		const readOld = await openReader(old, target, first);
		if (readOld) targets.push([target, readOld, (await openReader(now, target, first)) ?? notServed]);
	}
	if (targets.length === 0)
		throw new Error(`${old}: serves none of ${comparedTargets.join(", ")} below this address`);
	const [relevant, cosmetic]: [Kinds, Kinds] = [new Map(), new Map()];
	const add = (kinds: Kinds, kind: string, smallkey: string) =>
		kinds.set(kind, (kinds.get(kind) ?? new Set()).add(smallkey));
	const compareLayer = async (smallkey: string) => {
		for (const [target, readOld, readFresh] of targets)
			for (const lang of langs) {
				const reads = await Promise.all([readOld(lang, smallkey), readFresh(lang, smallkey)]);
				for (const [kind, isRelevant] of findingsOf(...reads))
					add(isRelevant ? relevant : cosmetic, `${kind} (${target})`, smallkey);
			}
	};
	await pMap(smallkeys, compareLayer, { concurrency: maxConcurrent });
	const different = new Set([...relevant.values(), ...cosmetic.values()].flatMap((keys) => [...keys]));
	const places = targets.map(([target]) => target).join(", ");
	const equal = smallkeys.length - different.size;
	const lines = [
		`${counted(smallkeys.length, "layer")} read at ${places}, in both languages, ${equal} without a difference`,
		...linesOf(
			"Viewer-relevant: a viewer would draw or ask these layers otherwise",
			relevant,
			smallkeys.length,
		),
		...linesOf("Cosmetic: no viewer sees the difference, or it is better", cosmetic, maxNamed),
	];
	for (const line of lines) io.print(line);
	return relevant.size > 0 ? exitCodes.wrong : exitCodes.done;
});
