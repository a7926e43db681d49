import type { Lang } from "../../registry/smallkey.ts";
import type { PublicName } from "../../registry/timestamp.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import type { Entry } from "./entries.ts";

/** The catalogue's file with the last changes of layers and what they changed, for its pages and feeds. */
export const recentPath = "changes/recent.json";

const recentVersion = 2;

/** Number of changes in the file. */
export const maxRecent = 300;

/** What became of a layer in one commit. */
export type ChangeKind = "added" | "changed" | "removed";

/** A member of a registration, or of what was read from a service, that differs. */
export interface FieldChange {
	/** JSON pointer (RFC 6901). */
	field: string;
	/** Whether the member was read from the service; otherwise it is of the registration. */
	isRead?: true;
	/** The values as text, cut; left out if the member was missing, or if its value is long. */
	from?: string;
	to?: string;
}

/** What is known of a change of a layer beside its kind. */
export interface ChangeDetail {
	fields?: FieldChange[];
	/** A removed layer, as it was registered. */
	was?: { title: Record<Lang, string>; address: Entry["address"]; sender?: PublicName };
}

/** A change of one layer, or the number of layers that one commit changed, if they are too many for a list. */
export interface RecentChange {
	commit: string;
	/** When it was committed: ISO 8601 in UTC, whole seconds. */
	date: string;
	what: ({ smallkey: string; kind: ChangeKind | "repair" } & ChangeDetail) | { many: number };
}

/** The text of the file. @param changes newest first */
export function recentText(changes: readonly RecentChange[]): string {
	const lines = changes.slice(0, maxRecent).map((one) => JSON.stringify(one));
	return `{"version":${recentVersion},"changes":[\n${lines.join(",\n")}\n]}\n`;
}

/** The changes in the file, newest first; null if it is missing or of another version. */
export function parseRecent(text: string | null): RecentChange[] | null {
	const value = tryJson(text ?? "") as { version?: number; changes?: RecentChange[] } | null;
	return value?.version === recentVersion && Array.isArray(value.changes) ? value.changes : null;
}
