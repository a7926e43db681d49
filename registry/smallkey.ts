/** What the viewer's bookmark pattern accepts; safe in file names and URLs. */
const smallkeyPattern = /^[A-Za-z0-9_\-+=]{1,64}$/;

export const smallkeyRule = "must be 1 to 64 of A-Z a-z 0-9 _ - + =";

/** Specification, "Resources and their fields". */
export const langs = ["en", "fr"] as const;

export type Lang = (typeof langs)[number];

export function parseSmallkey(text: string): string | null {
	return smallkeyPattern.test(text) ? text : null;
}

/** Case-sensitive. */
export function parseLang(text: string): Lang | null {
	return text === "en" || text === "fr" ? text : null;
}

/**
 * Percent-decodes one path segment (RFC 3986, section 2.1); null where the result is not UTF-8. A `+` stays:
 * it means a space in form data only.
 */
export function decodeSegment(segment: string): string | null {
	if (!segment.includes("%")) return segment;
	try {
		return decodeURIComponent(segment);
	} catch {
		return null;
	}
}

/** `23` for `23ax5t`, `a` for `A`. */
export function folderOf(smallkey: string): string {
	return smallkey.slice(0, 2).toLowerCase();
}

/** `layers/23/23ax5t.json` */
export function layerPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.json`;
}

/** `layers/23/23ax5t.service.json` */
export function descriptionPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.service.json`;
}

export function fileName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** Null for any other path, and for a wrong folder. */
export function parseLayerPath(
	path: string,
): { smallkey: string; kind: "registration" | "description" } | null {
	const [, name = "", service] = /^(.*?)(\.service)?\.json$/s.exec(fileName(path)) ?? [];
	const smallkey = parseSmallkey(name);
	if (smallkey === null) return null;
	const kind = service ? "description" : "registration";
	const expected = service ? descriptionPath(smallkey) : layerPath(smallkey);
	return path === expected ? { smallkey, kind } : null;
}

/** The files under `layers/` that belong to no layer. */
export function isOtherFile(path: string): boolean {
	return path === "layers/owners.json" || path === "layers/health.json";
}
