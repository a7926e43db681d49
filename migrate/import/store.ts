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
import { atOnce, batchMeta } from "../batch.ts";
import type { NotMoved } from "./document.ts";
import type { Move } from "./moves.ts";

/** The result of an import. */
export interface Stored {
	/** New layers, changed ones, and unchanged ones. */
	added: number;
	changed: number;
	same: number;
	/** Layers that differ only in case from a stored one, and are skipped. */
	notMoved: NotMoved[];
	/** null if nothing was to be written. */
	commit: Commit | null;
}

/**
 * Stores layers in one commit. Unchanged layers and harvested descriptions are kept.
 * @param sender the commit's author; `time` in milliseconds since 1970
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

/** Plans what storing layers changes. */
export async function tryMoves(reader: Reader, layers: ReadonlyMap<string, Move>): Promise<Stored> {
	const stored = nothingStored();
	await decideMoves(reader, layers, stored);
	return stored;
}

function nothingStored(): Stored {
	return { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
}

async function decideMoves(now: Reader, layers: ReadonlyMap<string, Move>, stored: Stored): Promise<Edit[]> {
	const decided = await mapWithProgress(layers, "comparing", atOnce, ([smallkey, move]) => {
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

/** Merges an imported description into the stored one; a language that was harvested from the same service is kept. */
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
