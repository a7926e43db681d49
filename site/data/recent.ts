import type { PublicName } from "../../registry/sender.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import type { Entry } from "./entries.ts";

/** The last changes of layers, for the catalogue's pages and feeds. */
export const recentPath = "changes/recent.json";

const recentVersion = 2;

export const maxRecent = 300;

export type ChangeKind = "added" | "changed" | "removed";

/** A member of a registration, or of what was read from a service, that differs. */
export interface FieldChange {
	/** JSON pointer (RFC 6901). */
	field: string;
	/** Whether it was read from the service; otherwise it is of the registration. */
	isRead?: true;
	/** The values as text, cut; left out if the member was missing, or if its value is long. */
	from?: string;
	to?: string;
}

export interface ChangeDetail {
	fields?: FieldChange[];
	/** A removed layer. */
	was?: { title: Record<Lang, string>; address: Entry["address"]; sender?: PublicName };
}

/** Of a commit with too many changes for a list, only the number. */
export interface RecentChange {
	commit: string;
	/** ISO 8601 in UTC, whole seconds. */
	date: string;
	what: ({ smallkey: string; kind: ChangeKind | "repair" } & ChangeDetail) | { many: number };
}

export function recentText(changes: readonly RecentChange[]): string {
	const lines = changes.slice(0, maxRecent).map((one) => JSON.stringify(one));
	return `{"version":${recentVersion},"changes":[\n${lines.join(",\n")}\n]}\n`;
}

/** Null if the text is of no or another version. */
export function parseRecent(text: string | null): RecentChange[] | null {
	const value = tryJson(text ?? "") as { version?: number; changes?: RecentChange[] } | null;
	return value?.version === recentVersion && Array.isArray(value.changes) ? value.changes : null;
}
