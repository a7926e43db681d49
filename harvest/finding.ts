import type { Lang } from "../registry/smallkey.ts";

/**
 * Whose fault it is. `registration`: no such layer, a group layer, not a map service: its publisher has to act.
 * `server`: the service is down, slow or odd; nothing is blocked by that.
 */
export type Fault = "registration" | "server";

/** Something that a map service's answer says of a registration. */
export interface Finding {
	kind: Fault;
	lang: Lang;
	/** JSON pointer into the registration: `/en/service_url`. */
	pointer: string;
	/** What is wrong, one line of plain text; it may quote the service, and is not safe as markup. */
	text: string;
}

/** What an outside text becomes inside a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
	return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
