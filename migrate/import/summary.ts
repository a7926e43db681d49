import type { Commit } from "../../store/store.ts";
import { firstOf } from "../../terminal/plain.ts";
import { row } from "../compare/report.ts";
import type { Moves } from "./moves.ts";
import type { Stored } from "./store.ts";

/** Layers that are named of one kind. */
const maxNamed = 5;

/** The result of an import, as lines of a table. */
export function summaryLines(moves: Moves, stored: Stored, isTrial: boolean): string[] {
	const types = new Map<string, number>();
	for (const { registration } of moves.layers.values()) {
		const type = "payload_type" in registration ? registration.payload_type : "of version 2.0";
		types.set(type, (types.get(type) ?? 0) + 1);
	}
	const described = [...moves.layers.values()].filter(({ description }) => description !== null).length;
	const notes = [...moves.notes].sort(
		([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1),
	);
	return [
		row(moves.documents, "documents read"),
		row(moves.layers.size - stored.notMoved.length, `layers: ${countsOf(types)}`),
		row(described, "of them with what the older service knew of their services"),
		row(moves.notMoved.length + stored.notMoved.length, "not moved"),
		"",
		row(stored.added, isTrial ? "would be registered" : "registered"),
		row(stored.changed, isTrial ? "would be changed" : "changed"),
		row(stored.same, "stored already"),
		...(notes.length > 0 ? ["", "Layers that are served otherwise than before, by kind:"] : []),
		...notes.map(([kind, smallkeys]) => row(smallkeys.length, `${kind} (${firstOf(smallkeys, maxNamed)})`)),
		...commitLines(stored.commit),
	];
}

function countsOf(types: ReadonlyMap<string, number>): string {
	const parts = [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`);
	return parts.join(", ") || "none";
}

function commitLines(commit: Commit | null): string[] {
	if (!commit?.changed) return [];
	return [
		"",
		`commit ${commit.commit}`,
		...(commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}
