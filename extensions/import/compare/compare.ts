// npx fragment-publisher compare: shows the differences of the same layers on two services

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
		const notServed: Reader = async () => "has no such version";
		targets.push({ target, readOld, readFresh: (await openReader(now, target, first)) ?? notServed });
	}
	if (targets.length > 0) return targets;
	throw new Error(`${before}: serves none of ${comparedTargets.join(", ")} below this address`);
}

const relevant = "Viewer-relevant: a viewer would draw or ask these layers otherwise";
const cosmetic = "Cosmetic: no viewer sees the difference, or it is better";

/** Each kind of difference; a relevant one ends the command with 1. */
function findingsOf(before: Read, now: Read): ReadonlyMap<string, boolean> {
	if (typeof before === "string") return new Map([[`the older service ${before}`, true]]);
	if (typeof now === "string") return new Map([[`the new service ${now}`, true]]);
	if (!before) return new Map(now ? [["only in the new service", false]] : []);
	return now ? differences(before, now) : new Map([["missing in the new service", true]]);
}

/** Kinds of difference that are listed: their texts have names that a service chooses. */
const maxKinds = 1_000;

/** Layers that are read at the same time, one request of each. */
const maxConcurrent = 16;

/** Reads the same layers from two services, in each target and in both languages. */
async function compareLayers(targets: Awaited<ReturnType<typeof openTargets>>, smallkeys: readonly string[]) {
	type Finding = { kind: string; isRelevant: boolean; targets: Set<string>; keys: Set<string> };
	const findings = new Map<string, Finding>();
	const add = (text: string, isRelevant: boolean, target: string, smallkey: string) => {
		const isListed = findings.size < maxKinds || findings.has(`${isRelevant} ${text}`);
		const kind = isListed ? text : "another difference";
		const name = `${isRelevant} ${kind}`;
		const finding = findings.get(name) ?? { kind, isRelevant, targets: new Set(), keys: new Set() };
		findings.set(name, finding);
		finding.targets.add(target);
		finding.keys.add(smallkey);
	};
	await pMap(
		smallkeys,
		async (smallkey) => {
			for (const { target, readOld, readFresh } of targets)
				for (const lang of langs) {
					const [old, fresh] = await Promise.all([readOld(lang, smallkey), readFresh(lang, smallkey)]);
					for (const [kind, isRelevant] of findingsOf(old, fresh)) add(kind, isRelevant, target, smallkey);
				}
		},
		{ concurrency: maxConcurrent },
	);
	return [...findings.values()].sort((a, b) => b.keys.size - a.keys.size || (a.kind < b.kind ? -1 : 1));
}

/** Smallkeys that are listed for each cosmetic kind. */
const maxNamed = 3;

export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}

const compareHelp = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Ends with 1 where a viewer would draw or ask a layer otherwise, or it is missing, or the older service cannot serve it.`;

export const run = createRun("compare", async ({ read, io }) => {
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
	if (smallkeys.length === 0) throw new Error(`${path}: holds no smallkeys to compare`);
	const layers = counted(smallkeys.length, "layer");
	io.warn(`Comparing ${layers} of ${old} with ${now}`);
	const targets = await openTargets(old, now, smallkeys[0] ?? "");
	const findings = await compareLayers(targets, smallkeys);
	const different = new Set(findings.flatMap(({ keys }) => [...keys]));
	const names = targets.map(({ target }) => target).join(", ");
	io.print(
		`${layers} read at ${names}, in both languages, ${smallkeys.length - different.size} without a difference`,
	);
	for (const [title, which] of [
		[relevant, true],
		[cosmetic, false],
	] as const) {
		const ofClass = findings.filter(({ isRelevant }) => isRelevant === which);
		if (ofClass.length > 0) io.print(`\n${title}`);
		for (const { kind, keys, targets } of ofClass) {
			const listed = firstOf([...keys].sort(), which ? keys.size : maxNamed);
			io.print(plain(row(keys.size, `${kind} (${[...targets].join(", ")}): ${listed}`)));
		}
	}
	return findings.some(({ isRelevant }) => isRelevant) ? exitCodes.wrong : exitCodes.done;
});
