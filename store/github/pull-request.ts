import { code, linesWithin } from "../../registry/markdown.ts";
import { pointerSegment } from "../../registry/problems.ts";
import { tryJson } from "../../registry/try-json.ts";
import type { Edit, Meta } from "../store.ts";

/** GitHub accepts a body of at most 65,536 characters. */
const maxBodyLength = 60_000;

/**
 * The text of a pull request for one layer: a table of what changes, member by member.
 * @param before the registration's text on the base branch; null if there is none
 * @param after the registration's text after the merge; null if there is none
 */
export function layerBody(meta: Meta, smallkey: string, before: string | null, after: string | null): string {
	const verb = after === null ? "removes" : before === null ? "registers" : "changes";
	const intro = `The sender ${code(meta.author)} ${verb} the layer ${code(smallkey)}.`;
	const old = members(before);
	const fresh = members(after);
	const pointers = [...new Set([...fresh.keys(), ...old.keys()])];
	const changed = pointers.filter((pointer) => old.get(pointer) !== fresh.get(pointer));
	const rows = changed.map((pointer) => {
		return `| ${[pointer, old.get(pointer), fresh.get(pointer)].map((text) => (text === undefined ? "" : code(text))).join(" | ")} |`;
	});
	const head = ["| member | now | after the merge |", "|---|---|---|"];
	return bounded([intro, "", ...head], rows.length > 0 ? rows : ["| | no difference | |"]);
}

/** The text of a pull request for many layers: the files that it writes and removes. */
export function batchBody(meta: Meta, edits: readonly Edit[]): string {
	const intro = `The sender ${code(meta.author)} changes these files:`;
	const rows = edits.map(({ path, text }) => `- ${text === null ? "removed: " : ""}${code(path)}`);
	return bounded([intro, ""], rows);
}

/** The JSON pointer of each value of a registration → the value; `""` → the whole text where it is not JSON. */
function members(text: string | null): Map<string, string> {
	return new Map(text === null ? [] : valuesOf(tryJson(text) ?? text, ""));
}

function valuesOf(value: unknown, pointer: string): [pointer: string, text: string][] {
	if (typeof value === "string") return [[pointer, value]];
	if (typeof value !== "object" || value === null) return [[pointer, JSON.stringify(value)]];
	return Object.entries(value).flatMap(([name, member]) =>
		valuesOf(member, `${pointer}/${pointerSegment(name)}`),
	);
}

/** The lines that GitHub has room for. */
function bounded(head: string[], rows: string[]): string {
	const room = maxBodyLength - head.join("\n").length;
	const shown = linesWithin(rows, room);
	const hidden = rows.length - shown.length;
	return [...head, ...shown, ...(hidden > 0 ? ["", `And ${hidden} more: see the changed files.`] : [])].join(
		"\n",
	);
}
