import { existsSync } from "node:fs";
import { putEdits } from "../../api/register.ts";
import { openStore, repositoryPath } from "../../api/service/data-dir.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { mapWithProgress } from "../../publish/build.ts";
import { type Description, descriptionText, parseDescription } from "../../registry/description.ts";
import { judgeChange } from "../../registry/judge.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { descriptionPath, fileName, langs, layerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { type Problem, textsOf } from "../../registry/texts.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { batchMeta, maxConcurrent } from "../../scripts/send/send-batch.ts";
import { type Commit, type Edit, isRefusal, type Reader, type Refusal } from "../../store/store.ts";
import { type DumpRecord, type Moved, moveDocument, type NotMoved } from "./document.ts";

/** A layer to store. */
interface Move {
	registration: Registration;
	/** Text of its service description; null if it has none. */
	description: string | null;
	/** Which document of the dump it is, from 1. */
	place: number;
}

/** The layers of a dump. */
export interface Moves {
	/** Smallkey → layer, in the order of the dump. */
	layers: Map<string, Move>;
	notMoved: NotMoved[];
	documents: number;
}

/**
 * Converts every document to a layer, or to the reason why that is not possible.
 */
export function collectMoves(entries: readonly DumpRecord[], settings: FragmentSettings): Moves {
	const moves: Moves = { layers: new Map(), notMoved: [], documents: 0 };
	/** Lower-case smallkey → the file names of the documents so far; of one spelling. */
	const seen = new Map<string, string[]>();
	const refuse = (key: string, reason: string, place: number) => moves.notMoved.push({ key, reason, place });

	function add(moved: Moved, place: number): void {
		const { smallkey, registration, description } = moved;
		const path = layerPath(smallkey);
		const before = seen.get(smallkey.toLowerCase());
		// The older service has it: here only another spelling is judged, and later the store judges the rest.
		const [problem] = judgeChange(
			before ? () => before : null,
			[{ path, kind: "written" }],
			"anyone",
		).problems;
		if (problem) refuse(smallkey, reasonOf([problem]), place);
		else if (before === undefined) {
			seen.set(smallkey.toLowerCase(), [fileName(path)]);
			moves.layers.set(smallkey, {
				registration,
				description: description && descriptionText(description),
				place,
			});
		} else {
			// It is not known which of the documents was served, so none is imported.
			const reason = "has more than one document";
			const other = moves.layers.get(smallkey);
			if (other) refuse(smallkey, reason, other.place);
			moves.layers.delete(smallkey);
			refuse(smallkey, reason, place);
		}
	}

	for (const { document, place } of entries) {
		moves.documents += 1;
		const outcome = moveDocument(document, settings);
		if ("registration" in outcome) add(outcome, place);
		else moves.notMoved.push({ ...outcome, place });
	}
	return moves;
}

/** Why a layer is not moved, of errors that begin with its smallkey. */
function reasonOf(errors: readonly Problem[]): string {
	return textsOf(errors)
		.join("; ")
		.replace(/^smallkey: \S+ /, "");
}

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

const emptyReader: Reader = { read: async () => null, ids: async () => null, keys: async () => [] };

/**
 * Stores the layers of a dump in the configured store, in one commit. Unchanged layers and harvested descriptions stay as
 * they are.
 * @param author author of the commit, and its time in milliseconds since 1970; null for a dry run, which stores nothing
 */
export async function storeLayers(
	layers: ReadonlyMap<string, Move>,
	configuration: Configuration,
	author: { sender: string; time: number } | null,
): Promise<Stored | Refusal> {
	let stored: Stored = { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
	const decide = async (now: Reader): Promise<Edit[]> => {
		stored = { added: 0, changed: 0, same: 0, notMoved: [], commit: null };
		const decided = await mapWithProgress(layers, "comparing", maxConcurrent, ([smallkey, move]) =>
			editsOf(now, smallkey, move, stored),
		);
		return decided.flat();
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

async function editsOf(now: Reader, smallkey: string, move: Move, stored: Stored): Promise<Edit[]> {
	const layer = await now.read(smallkey);
	const isSame = layer?.registration === canonicalText(move.registration);
	const edits = isSame ? [] : await putEdits(now, smallkey, move.registration);
	if (isRefusal(edits)) {
		stored.notMoved.push({ key: smallkey, reason: reasonOf(edits.errors), place: move.place });
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
