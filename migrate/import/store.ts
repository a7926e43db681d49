import { putEdits } from "../../api/register.ts";
import { canonicalText } from "../../registry/canonical.ts";
import { type Description, descriptionText, parseDescription } from "../../registry/description.ts";
import { descriptionPath, langs } from "../../registry/smallkey.ts";
import {
	type Commit,
	type Edit,
	isRefusal,
	type Reader,
	type Refusal,
	type Store,
} from "../../store/store.ts";
import { counted } from "../../terminal/plain.ts";
import { mapWithProgress } from "../../terminal/progress.ts";
import { batchMeta, maxConcurrent } from "../batch.ts";
import type { NotMoved } from "./document.ts";
import type { Move } from "./moves.ts";

/** The result of an import. */
export interface Stored {
	/** Numbers of new, changed and unchanged layers. */
	added: number;
	changed: number;
	same: number;
	/** Layers that the store refuses, such as a smallkey that differs only in case from a stored one. */
	notMoved: NotMoved[];
	/** null if there was nothing to write. */
	commit: Commit | null;
}

/**
 * Stores layers in one commit. Unchanged layers and harvested descriptions stay as they are.
 * @param sender the commit's author; `time` is in milliseconds since 1970
 */
export async function storeMoves(
	store: Store,
	layers: ReadonlyMap<string, Move>,
	{ sender, time }: { sender: string; time: number },
): Promise<Stored | Refusal> {
	let stored = nothingStored();
	const decide = async (now: Reader) => {
		stored = nothingStored();
		return decideMoves(now, layers, stored);
	};
	const commit = await store.change(
		decide,
		batchMeta(`import ${counted(layers.size, "layer")}`, sender, time),
	);
	return isRefusal(commit) ? commit : { ...stored, commit };
}

/** Counts what storing layers would change, without storing them. */
export async function tryMoves(reader: Reader, layers: ReadonlyMap<string, Move>): Promise<Stored> {
	const stored = nothingStored();
	await decideMoves(reader, layers, stored);
	return stored;
}

function nothingStored(): Stored {
	return { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
}

async function decideMoves(now: Reader, layers: ReadonlyMap<string, Move>, stored: Stored): Promise<Edit[]> {
	const decided = await mapWithProgress(layers, "comparing", maxConcurrent, ([smallkey, move]) => {
		return editsOf(now, smallkey, move, stored);
	});
	return decided.flat();
}

async function editsOf(now: Reader, smallkey: string, move: Move, stored: Stored): Promise<Edit[]> {
	const layer = await now.read(smallkey);
	const isSame = layer?.registration === canonicalText(move.registration);
	const edits = isSame ? [] : await putEdits(now, smallkey, move.registration);
	if (isRefusal(edits)) {
		const reason = edits.errors.join("; ").replace(/^smallkey: \S+ /, "");
		stored.notMoved.push({ key: smallkey, reason, offset: move.offset });
		return [];
	}
	const description = mergeImported(layer?.description ?? null, move.description);
	if (description !== null && description !== layer?.description) {
		edits.push({ path: descriptionPath(smallkey), text: description });
	}
	if (!layer) stored.added += 1;
	else if (edits.length > 0) stored.changed += 1;
	else stored.same += 1;
	return edits;
}

/** Merges an imported description into the stored one. A language that was harvested from the same service stays. */
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
