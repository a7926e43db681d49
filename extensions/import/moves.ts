import { descriptionText } from "../../registry/description.ts";
import { judgeChange } from "../../registry/judge.ts";
import { textsOf } from "../../registry/problems.ts";
import type { Registration } from "../../registry/registration.ts";
import { fileName, layerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import type { Problem } from "../../registry/texts.ts";
import { type Moved, moveDocument } from "./document.ts";
import type { DumpRecord, NotMoved } from "./dump.ts";

/** A layer to store. */
export interface Move {
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
export function reasonOf(errors: readonly Problem[]): string {
	return textsOf(errors)
		.join("; ")
		.replace(/^smallkey: \S+ /, "");
}
