import { existsSync } from "node:fs";
import { putEdits } from "../../api/register.ts";
import { openStore, repositoryPath } from "../../api/service/data-dir.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { mapWithProgress } from "../../publish/build.ts";
import { type Description, descriptionText, parseDescription } from "../../registry/description.ts";
import { canonicalText } from "../../registry/registration.ts";
import { descriptionPath, langs } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { textsOf } from "../../registry/texts.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { batchMeta, maxConcurrent } from "../../scripts/register.ts";
import { type Commit, type Edit, isRefusal, type Reader, type Refusal } from "../../store/store.ts";
import { type DumpRecord, type Moved, moveDocument, type NotMoved } from "./document.ts";

type Move = Moved & { place: number };

export interface Moves {
	/** By smallkey, in the order of the dump. */
	layers: Map<string, Move>;
	notMoved: NotMoved[];
	documents: number;
}

export function collectMoves(records: readonly DumpRecord[], settings: FragmentSettings): Moves {
	const moves: Moves = { layers: new Map(), notMoved: [], documents: records.length };
	const { layers, notMoved } = moves;
	const spellings = new Map<string, string>();
	for (const { document, place } of records) {
		const moved = moveDocument(document, settings);
		if ("reason" in moved) {
			notMoved.push({ ...moved, place });
			continue;
		}
		const { smallkey: key } = moved;
		const spelling = spellings.get(key.toLowerCase());
		if (spelling === undefined) {
			spellings.set(key.toLowerCase(), key);
			layers.set(key, { ...moved, place });
		} else if (spelling !== key) {
			notMoved.push({ key, reason: `differs only in case from ${spelling}`, place });
		} else {
			// It is not known which of the documents was served, so none is imported.
			const reason = "has more than one document";
			const other = layers.get(key);
			if (other) notMoved.push({ key, reason, place: other.place });
			layers.delete(key);
			notMoved.push({ key, reason, place });
		}
	}
	return moves;
}

export interface Stored {
	added: number;
	changed: number;
	same: number;
	/** Layers that the store refuses, such as a smallkey that differs only in case from a stored one. */
	notMoved: NotMoved[];
	commit: Commit | null;
}

const emptyReader: Reader = { read: async () => null, ids: async () => null, keys: async () => [] };

/**
 * Stores the layers of a dump in the configured store, in one commit. Unchanged layers and harvested descriptions stay as
 * they are.
 * @param author of the commit, and its time in milliseconds since 1970; null for a dry run, which stores nothing
 */
export async function storeLayers(
	layers: ReadonlyMap<string, Move>,
	configuration: Configuration,
	author: { sender: string; time: number } | null,
): Promise<Stored | Refusal> {
	let stored: Stored = { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
	const decide = async (now: Reader): Promise<Edit[]> => {
		stored = { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
		const edits = await mapWithProgress([...layers.values()], "comparing", maxConcurrent, (move) =>
			editsOf(now, move, stored),
		);
		return edits.flat();
	};
	// A dry run creates no repository.
	const isNew = !configuration.github && !existsSync(repositoryPath(configuration.dataDir));
	const open = author || !isNew ? await openStore(configuration) : null;
	try {
		if (!author || !open) {
			await decide(open?.store ?? emptyReader);
			return stored;
		}
		const meta = batchMeta(`import ${counted(layers.size, "layer")}`, author.sender, author.time);
		const commit = await open.store.change(decide, meta);
		return isRefusal(commit) ? commit : { ...stored, commit };
	} finally {
		await open?.close();
	}
}

async function editsOf(
	now: Reader,
	{ smallkey, registration, description, place }: Move,
	stored: Stored,
): Promise<Edit[]> {
	const layer = await now.read(smallkey);
	const isSame = layer?.registration === canonicalText(registration);
	const edits = isSame ? [] : await putEdits(now, smallkey, registration);
	if (isRefusal(edits)) {
		const texts = textsOf(edits.errors).join("; ");
		stored.notMoved.push({ key: smallkey, reason: texts.replace(/^smallkey: \S+ /, ""), place });
		return [];
	}
	const text = mergeImported(layer?.description ?? null, description && descriptionText(description));
	if (text !== null && text !== layer?.description) edits.push({ path: descriptionPath(smallkey), text });
	if (!layer) stored.added += 1;
	else if (edits.length > 0) stored.changed += 1;
	else stored.same += 1;
	return edits;
}

/** A language that was harvested from the same service stays. */
function mergeImported(stored: string | null, imported: string | null): string | null {
	if (stored === null || imported === null || stored === imported) return imported ?? stored;
	const before = parseDescription(stored) ?? {};
	const now = parseDescription(imported) ?? {};
	const merged: Description = {};
	for (const lang of langs) {
		const [old, fresh] = [before[lang], now[lang]];
		const isHarvested = old !== undefined && old.from === undefined;
		const keeps = isHarvested && (!fresh || old.service_url === fresh.service_url);
		const best = keeps ? old : (fresh ?? old);
		if (best) merged[lang] = best;
	}
	return descriptionText(merged);
}
