/** 1 to 64 of A-Z a-z 0-9 _ - + = : what the viewer's bookmark pattern accepts, safe in file names and URL paths. */
const smallkeyPattern = /^[A-Za-z0-9_\-+=]{1,64}$/;

/** The rule, in the words of an error. */
export const smallkeyRule = "must be 1 to 64 of A-Z a-z 0-9 _ - + =";

/** The two languages of a registration (specification, "Resources and their fields"). */
export const langs = ["en", "fr"] as const;

/** `en` or `fr`. */
export type Lang = (typeof langs)[number];

/** `text` as a smallkey, or null when it cannot be one. */
export function parseSmallkey(text: string): string | null {
	return smallkeyPattern.test(text) ? text : null;
}

/** `text` as a lang, or null. Case-sensitive. */
export function parseLang(text: string): Lang | null {
	return text === "en" || text === "fr" ? text : null;
}

/**
 * One path segment with its percent-encoding undone, or null where that is not UTF-8 (RFC 3986, section 2.1).
 * `+` stays `+`: it means a space in form data only.
 */
export function decodeSegment(segment: string): string | null {
	if (!segment.includes("%")) return segment;
	try {
		return decodeURIComponent(segment);
	} catch {
		return null;
	}
}

/** The folder under `layers/` of a smallkey: its first two characters, lower case; `a` for the key `A`. */
export function folderOf(smallkey: string): string {
	return smallkey.slice(0, 2).toLowerCase();
}

/** Where a registration is kept in the repository: `layers/23/23ax5t.json`. */
export function layerPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.json`;
}

/** Where the service description of a feature layer is kept: `layers/23/23ax5t.service.json`. */
export function descriptionPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.service.json`;
}
