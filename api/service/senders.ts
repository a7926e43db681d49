import { readFile } from "node:fs/promises";
import { mayChange } from "../../registry/owners.ts";
import { counted, firstOf } from "../../registry/untrusted-text.ts";
import { WrongError } from "../configuration.ts";
import { parseSenders, type Sender } from "../senders.ts";
import { changeSenders, randomSecret, type SenderEntry, sendersPath } from "./senders-file.ts";

/** In the order that the file has them. The file does not get a member that is undefined. */
export type SenderFields = Record<string, unknown>;

/** Only the secret if nothing else is set. */
function entryOf(fields: SenderFields): SenderEntry {
	const { key, ...rest } = fields;
	const isAlone = Object.values(rest).every((value) => value === undefined);
	return isAlone && typeof key === "string" ? key : fields;
}

/** With a random secret. @throws {WrongError} if the id exists */
export async function addSender(dataDir: string, id: string, fields: SenderFields): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		if (Object.hasOwn(entries, id)) throw senderExists(dataDir, id);
		return { ...entries, [id]: entryOf({ key: randomSecret(), ...fields }) };
	});
}

/**
 * @param change gets the sender's members, and returns the new ones; null removes the sender
 * @throws {WrongError} if there is no such sender
 */
export async function changeSender(
	dataDir: string,
	id: string,
	change: (fields: SenderFields) => SenderFields | null,
): Promise<void> {
	await changeSenders(dataDir, (entries) => {
		const { [id]: entry, ...rest } = entries;
		if (!Object.hasOwn(entries, id) || entry === undefined) throw senderMissing(dataDir, id);
		const after = change(typeof entry === "string" ? { key: entry } : entry);
		return after ? { ...entries, [id]: entryOf(after) } : rest;
	});
}

export function senderExists(dataDir: string, id: string): WrongError {
	return new WrongError(
		`${sendersPath(dataDir)}: already has a sender ${id}; npx fragment-publisher sender change ${id} changes it`,
	);
}

function senderMissing(dataDir: string, id: string): WrongError {
	return new WrongError(
		`${sendersPath(dataDir)}: has no sender ${id}; npx fragment-publisher sender list names them`,
	);
}

export async function readAllSenders(dataDir: string): Promise<ReadonlyMap<string, Sender>> {
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8").catch((error: Error) => {
		throw new Error(`${place}: cannot be read; npm start or npx fragment-publisher sender add creates it`, {
			cause: error,
		});
	});
	return parseSenders(text, place);
}

export async function readSender(dataDir: string, id: string): Promise<Sender> {
	const sender = (await readAllSenders(dataDir)).get(id);
	if (!sender) throw senderMissing(dataDir, id);
	return sender;
}

function layersOf({ smallkeys }: Sender): string {
	return smallkeys === null ? "all layers" : smallkeys.join(" ") || "no layer";
}

/** A line for each sender, without its secret. `published`: null if there is no repository. */
export function listLines(
	senders: readonly Sender[],
	published: ReadonlyMap<string, Published> | null = null,
): string[] {
	const width = Math.max(0, ...senders.map(({ id }) => id.length)) + 2;
	return senders.map((sender) => {
		const { id, review, previous, contact } = sender;
		const { layers = [], waiting = [] } = published?.get(id) ?? {};
		const counts = published && [
			`${counted(layers.length, "layer")} published`,
			...(waiting.length > 0 ? [`${counted(waiting.length, "change")} waiting`] : []),
		];
		const rights = [layersOf(sender), review && "with review", previous && "two secrets", contact];
		const parts = [...rights, ...(counts ?? [])];
		return `${id.padEnd(width)}${parts.filter(Boolean).join(", ")}`;
	});
}

const maxListed = 20;

export interface Published {
	/** Layers that the sender registered last, sorted. */
	layers: readonly string[];
	waiting: readonly string[];
}

export function removedLines({ layers, waiting }: Published, others: readonly Sender[]): string[] {
	const who = (smallkey: string) =>
		others.filter((sender) => mayChange(sender, smallkey)).map(({ id }) => id);
	const groups = new Map<string, string[]>();
	for (const smallkey of layers) {
		const ids = who(smallkey).join(", ");
		groups.set(ids, [...(groups.get(ids) ?? []), smallkey]);
	}
	return [
		`it has published ${counted(layers.length, "layer")}, which ${layers.length === 1 ? "stays" : "stay"}`,
		...[...groups].map(
			([ids, keys]) => `  ${firstOf(keys, maxListed)}: ${ids || "no sender"} may change them now`,
		),
		...waiting.map(
			(branch) => `its change on ${branch} still waits: npx fragment-publisher review show ${branch}`,
		),
	];
}

/** Without the secret. @param place where the secret is */
export function senderLines(sender: Sender, place: string): string[] {
	const { id, review, previous, name, contact } = sender;
	const until = previous?.until?.toISOString() ?? "it is removed from the file";
	return [
		`id         ${id}`,
		`layers     ${layersOf(sender)}`,
		`review     ${review ? "its changes wait for a reviewer" : "no"}`,
		`secret     in ${place}${previous ? `; the previous one is valid until ${until}` : ""}`,
		...(name ? [`name       ${typeof name === "string" ? name : `${name.en} · ${name.fr}`}`] : []),
		...(contact ? [`contact    ${contact}`] : []),
	];
}
