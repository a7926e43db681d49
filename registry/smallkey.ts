/** The viewer's bookmark pattern; safe in file names and URLs. */
const smallkeyPattern = /^[A-Za-z0-9_\-+=]{1,64}$/;

export const smallkeyRule = "must be 1 to 64 of A-Z a-z 0-9 _ - + =";

export const langs = ["en", "fr"] as const;

export type Lang = (typeof langs)[number];

export const otherLang: Readonly<Record<Lang, Lang>> = { en: "fr", fr: "en" };

export function parseSmallkey(text: string): string | null {
	return smallkeyPattern.test(text) ? text : null;
}

export function parseLang(text: string): Lang | null {
	return text === "en" || text === "fr" ? text : null;
}

/** RFC 3986, section 2.1; null if not UTF-8. A `+` stays: it means a space in form data only. */
export function decodeSegment(segment: string): string | null {
	if (!segment.includes("%")) return segment;
	try {
		return decodeURIComponent(segment);
	} catch {
		return null;
	}
}

export function folderOf(smallkey: string): string {
	return smallkey.slice(0, 2).toLowerCase();
}

/** `layers/23/23ax5t.json` */
export function layerPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.json`;
}

export function descriptionPath(smallkey: string): string {
	return `layers/${folderOf(smallkey)}/${smallkey}.service.json`;
}

export function layerPaths(smallkey: string): [registration: string, description: string] {
	return [layerPath(smallkey), descriptionPath(smallkey)];
}

export function fileName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

export interface LayerName {
	smallkey: string;
	part: "registration" | "description";
}

export function pathOf({ smallkey, part }: LayerName): string {
	return part === "description" ? descriptionPath(smallkey) : layerPath(smallkey);
}

/** In any folder; the smallkey may be impossible. */
export function parseFileName(path: string): LayerName | null {
	const [, smallkey, service] = /^(.*?)(\.service)?\.json$/s.exec(fileName(path)) ?? [];
	return smallkey === undefined ? null : { smallkey, part: service ? "description" : "registration" };
}

export function parseLayerPath(path: string): LayerName | null {
	const name = parseFileName(path);
	return name && parseSmallkey(name.smallkey) !== null && path === pathOf(name) ? name : null;
}

export const ownersPath = "layers/owners.json";

export const healthPath = "layers/health.json";

export function isOverallFile(path: string): boolean {
	return path === ownersPath || path === healthPath;
}

/** `*` is any characters, `?` is one. A regular expression could take exponential time. */
export function matchesGlob(glob: string, smallkey: string): boolean {
	/** Lengths of the beginnings of the smallkey that the glob matches so far, ascending. */
	let lengths = [0];
	for (const symbol of glob) {
		const [shortest] = lengths;
		if (shortest === undefined) return false;
		if (symbol === "*")
			lengths = Array.from({ length: smallkey.length - shortest + 1 }, (_, at) => shortest + at);
		else
			lengths = lengths.flatMap((length) =>
				[smallkey[length], "?"].includes(symbol) && length < smallkey.length ? length + 1 : [],
			);
	}
	return lengths.at(-1) === smallkey.length;
}

export function mayChange({ smallkeys }: { smallkeys: readonly string[] | null }, smallkey: string): boolean {
	return smallkeys?.some((glob) => matchesGlob(glob, smallkey)) ?? true;
}

export const keyTexts = {
	"case-twin": [
		"{0} differs only in case from {1}, which is registered, waits for review or is in the same change",
		"{0} ne diffère que par la casse de {1}, qui est inscrite, attend une révision ou est dans la même modification",
	],
	"reserved-key": [
		"{0} is a name that Windows keeps for a device: no clone there could check it out",
		"{0} est un nom que Windows réserve à un périphérique : aucun clone ne pourrait l’y extraire",
	],
} satisfies Readonly<Record<string, readonly [en: string, fr: string]>>;

/** Microsoft, "Naming Files, Paths, and Namespaces". */
const reservedNames = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

/**
 * The rules for new smallkeys. Of stored ones, only a second spelling is refused.
 * @param kept the spelling to keep
 * @param removed a stored spelling that the change removes
 */
export function judgeKey(
	smallkey: string,
	kept: string,
	isNew: boolean,
	removed?: string,
): [code: keyof typeof keyTexts, ...values: string[]] | null {
	if (kept !== smallkey) return ["case-twin", smallkey, kept];
	if (!isNew) return null;
	if (reservedNames.test(smallkey)) return ["reserved-key", smallkey];
	return removed === undefined ? null : ["case-twin", smallkey, removed];
}
