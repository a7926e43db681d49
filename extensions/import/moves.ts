import { descriptionText } from "../../registry/description.ts";
import { judgeChange } from "../../registry/judge.ts";
import { textsOf } from "../../registry/problems.ts";
import type { Registration } from "../../registry/registration.ts";
import { fileName, langs, layerPath } from "../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import type { Problem } from "../../registry/texts.ts";
import { differences } from "./compare/differences.ts";
import { type Json, listOf, nodeIn, objectOf } from "./compare/json.ts";
import type { Notes } from "./description.ts";
import { type Moved, moveDocument } from "./document.ts";
import { DumpError, type DumpRecord, type NotMoved } from "./dump.ts";

/** A layer to store. */
export interface Move {
	registration: Registration;
	/** Text of its service description; null if it has none. */
	description: string | null;
	/** Byte of the dump at which its document starts. */
	offset: number;
}

/** The layers of a dump. */
export interface Moves {
	/** Smallkey → layer, in the order of the dump. */
	layers: Map<string, Move>;
	notMoved: NotMoved[];
	/** Difference for viewers → smallkeys of the layers that have it. */
	notes: Map<string, string[]>;
	documents: number;
}

/** Characters of all layers, which stay in memory until they are stored. */
const maxTotalCharacters = 1_000_000_000;

/**
 * Converts every document to a layer, or to the reason why that is not possible.
 * @throws {DumpError} if the layers together are too large for the memory
 */
export async function collectMoves(
	entries: Iterable<DumpRecord> | AsyncIterable<DumpRecord>,
	settings: FragmentSettings,
	maxCharacters = maxTotalCharacters,
): Promise<Moves> {
	const moves: Moves = { layers: new Map(), notMoved: [], notes: new Map(), documents: 0 };
	let characters = 0;
	/** Lower-case smallkey → the file names of the documents so far; of one spelling. */
	const seen = new Map<string, string[]>();
	const refuse = (key: string, reason: string, offset: number) =>
		moves.notMoved.push({ key, reason, offset });

	function add(moved: Moved, notes: Notes, offset: number): void {
		const { smallkey, registration, description } = moved;
		const path = layerPath(smallkey);
		const before = seen.get(smallkey.toLowerCase());
		// The older service has it: here only another spelling is judged, and later the store judges the rest.
		const [problem] = judgeChange(
			before ? () => before : null,
			[{ path, kind: "written" }],
			"anyone",
		).problems;
		if (problem) refuse(smallkey, reasonOf([problem]), offset);
		else if (before === undefined) {
			seen.set(smallkey.toLowerCase(), [fileName(path)]);
			const text = description && descriptionText(description);
			moves.layers.set(smallkey, { registration, description: text, offset });
			characters += JSON.stringify(registration).length + (text?.length ?? 0);
			noteDifferences(moved, settings, notes);
			for (const kind of notes) {
				if (!moves.notes.has(kind)) moves.notes.set(kind, []);
				moves.notes.get(kind)?.push(smallkey);
			}
		} else {
			// It is not known which of the documents was served, so none is imported.
			const reason = "has more than one document";
			const other = moves.layers.get(smallkey);
			if (other) refuse(smallkey, reason, other.offset);
			moves.layers.delete(smallkey);
			refuse(smallkey, reason, offset);
		}
	}

	for await (const entry of entries) {
		moves.documents += 1;
		const notes: Notes = new Set();
		const outcome = "document" in entry ? moveDocument(entry.document, settings, notes) : entry;
		if ("registration" in outcome) add(outcome, notes, entry.offset);
		else moves.notMoved.push({ ...outcome, offset: entry.offset });
		if (characters > maxCharacters)
			throw new DumpError(`has over ${maxCharacters} characters of layers: import it in parts`);
	}
	return moves;
}

/** Why a layer is not moved, of errors that begin with its smallkey. */
export function reasonOf(errors: readonly Problem[]): string {
	return textsOf(errors)
		.join("; ")
		.replace(/^smallkey: \S+ /, "");
}

/** Adds the differences for viewers of v0.9 and v1 to the notes. */
function noteDifferences(
	{ smallkey, registration, description, nodes }: Moved,
	settings: FragmentSettings,
	notes: Notes,
): void {
	for (const lang of langs) {
		const before = nodes[lang];
		if (!before) continue;
		const target = isSpelledAsV1(before) ? "v1" : "v0.9";
		const text = renderAt(target, layerFacts(lang, smallkey, registration, description, settings));
		const now = text === null ? null : nodeIn(JSON.parse(text));
		if (!now) notes.add("not to be had at v0.9 and v1");
		else for (const kind of differences(before, now).keys()) notes.add(kind);
	}
}

/** Releases from 1.6 on stored the grid's columns with the member names of v1. */
function isSpelledAsV1(node: Json): boolean {
	return listOf(objectOf(node.datagrid).gridColumns).some((column) => "orderable" in objectOf(column));
}
