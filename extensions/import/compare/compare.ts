import pMap from "p-map";
import { type Lang, langs, parseSmallkey } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf, groupBy, plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes, needed, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { FetchFailure } from "../../harvest/net/failure.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { type Json, keyOf, nodeIn, readDump } from "../dump.ts";
import { type Difference, differences } from "./differences.ts";

/** A description has at most 2 MB. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 3_000_000 });
const maxAttempts = 3;

/** A layer's node; null if the service has no such layer; a text says why it cannot be read. */
type Read = Json | null | string;

/** @throws {Error} if the service cannot be reached */
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

const maxFailuresInRow = 40;

/** Null if no address serves the target. The reader throws after too many failures in a row. */
async function openReader(service: string, target: TargetName, first: string): Promise<Reader | null> {
	const { docs: path, aliases } = targetOf(target);
	for (const place of [path, ...aliases.map((alias) => alias.docs)]) {
		const docs = `${service}/${place}`;
		if ((await readLayer(docs, "en", first)) === "answers 404") continue;
		let failures = 0;
		return async (lang, smallkey) => {
			const read = await readLayer(docs, lang, smallkey).catch(({ cause }) => String(cause.message));
			failures = typeof read === "string" ? failures + 1 : 0;
			if (failures < maxFailuresInRow) return read;
			throw new Error(`${docs}: ${failures} layers in a row cannot be read, the last one: ${read}`);
		};
	}
	return null;
}

/** The targets of the older service; each release served at most two of them. */
const comparedTargets: readonly TargetName[] = ["v0.9", "v1", "v2"];

const notServed: Reader = async () => "has no such version";

function differencesOf(before: Read, now: Read): Difference[] {
	const relevant = (kind: string) => [{ kind, isRelevant: true }];
	if (typeof before === "string") return relevant(`the older service ${before}`);
	if (typeof now === "string") return relevant(`the new service ${now}`);
	if (!before) return now ? [{ kind: "only in the new service", isRelevant: false }] : [];
	return now ? differences(before, now) : relevant("missing in the new service");
}

interface ComparedTarget {
	target: TargetName;
	readOld: Reader;
	readNew: Reader;
}

type LayerDifference = Difference & { smallkey: string };

async function compareLayer(smallkey: string, targets: readonly ComparedTarget[]) {
	const layer = { smallkey, isOld: false, isServed: false, differences: [] as LayerDifference[] };
	for (const { target, readOld, readNew } of targets)
		for (const lang of langs) {
			const [before, now] = await Promise.all([readOld(lang, smallkey), readNew(lang, smallkey)]);
			if (before) layer.isOld = true;
			if (before || now) layer.isServed = true;
			for (const difference of differencesOf(before, now))
				layer.differences.push({ ...difference, smallkey, kind: `${difference.kind} (${target})` });
		}
	return layer;
}

const maxConcurrentLayers = 16;
const maxCosmeticKeys = 3;

/** One line for each kind, with the values of its first layer. */
function linesOf(title: string, differences: readonly LayerDifference[], maxKeys: number): string[] {
	const groups = groupBy(differences, ({ kind }) => kind);
	const kinds = Array.from(groups, ([kind, group]) => {
		return { kind, smallkeys: [...new Set(group.map(({ smallkey }) => smallkey))], values: group[0]?.values };
	});
	kinds.sort((a, b) => b.smallkeys.length - a.smallkeys.length || (a.kind < b.kind ? -1 : 1));
	const lines = kinds.map(({ kind, smallkeys, values }) => {
		const count = String(smallkeys.length).padStart(8);
		return plain(`${count}  ${kind}: ${firstOf(smallkeys, maxKeys)}${values ? ` (${values})` : ""}`);
	});
	return lines.length > 0 ? ["", title, ...lines] : [];
}

const compareHelp = `
An address is the part before /docs/…, /v0.9/docs/…, /v1/docs/… or /v2/docs/…; nothing is written to either service.
Each kind of difference has the values of its first layer: older service → new service.
Ends with 1 where a viewer would draw or ask a layer otherwise, or it is missing, or the older service cannot serve it.`;

export const run = createRun(async ({ read, io }) => {
	const [{ keys: path }, old, now] = await read((line) =>
		line
			.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
			.argument("<new>", "this one, with its base path", parseUrl)
			.option("--keys <dump>", "required: the dump of the older service's layers")
			.addHelpText("after", compareHelp),
	);
	const documents = await readDump(needed("--keys", path));
	const keys = [...documents.values()].flatMap((document) => parseSmallkey(keyOf(document)) ?? []);
	const smallkeys = [...new Set(keys)];
	const [first] = smallkeys;
	if (first === undefined) throw new Error(`${path}: holds no smallkeys to compare`);
	const targets: ComparedTarget[] = [];
	for (const target of comparedTargets) {
		const readOld = await openReader(old, target, first);
		const readNew = readOld && ((await openReader(now, target, first)) ?? notServed);
		if (readNew) targets.push({ target, readOld, readNew });
	}
	if (targets.length === 0)
		throw new Error(`${old}: serves none of ${comparedTargets.join(", ")} below this address`);
	const layers = await pMap(smallkeys, (smallkey) => compareLayer(smallkey, targets), {
		concurrency: maxConcurrentLayers,
	});
	if (!layers.some(({ isOld }) => isOld))
		throw new Error(`${old}: serves none of the ${counted(smallkeys.length, "layer")} of ${path}`);
	const served = layers.filter(({ isServed }) => isServed);
	const equal = served.filter(({ differences }) => differences.length === 0).length;
	const neither = smallkeys.length - served.length;
	const others = documents.size - keys.length;
	const places = targets.map(({ target }) => target).join(", ");
	const counts = [
		`${counted(served.length, "layer")} compared at ${places}, in both languages, ${equal} without a difference`,
	];
	if (neither > 0) counts.push(`served by neither: ${neither}`);
	if (others > 0) counts.push(`not smallkeys: ${others}`);
	const all = layers.flatMap((layer) => layer.differences);
	const relevant = all.filter(({ isRelevant }) => isRelevant);
	const cosmetic = all.filter(({ isRelevant }) => !isRelevant);
	const title = "Viewer-relevant: a viewer would draw or ask these layers otherwise";
	const lines = [
		counts.join("; "),
		...linesOf(title, relevant, smallkeys.length),
		...linesOf("Cosmetic: no viewer sees the difference, or it is better", cosmetic, maxCosmeticKeys),
	];
	for (const line of lines) io.print(line);
	return relevant.length > 0 ? exitCodes.wrong : exitCodes.done;
});
