/**
 * What a bucket holds: the SHA-256 of each object in hex, by its name; null for one that a publication was about to
 * write when it was cut, so that nobody knows what is there.
 */
export type Inventory = ReadonlyMap<string, string | null>;

/** The manifest's own name in the bucket; no fragment is called so. */
export const manifestName = "manifest.json";

/** Reads a manifest. @throws {Error} where the text is none */
export function parseManifest(text: string): Inventory {
	try {
		const { version, objects } = JSON.parse(text) as {
			version: unknown;
			objects: Record<string, string | null>;
		};
		const entries = Object.entries(objects);
		const fits = entries.every(([, hash]) => hash === null || typeof hash === "string");
		if (version === 1 && fits) return new Map(entries);
	} catch {
		// Below: whatever it is, it is no manifest.
	}
	throw new Error(
		`${manifestName} in the bucket: is no manifest; once it is removed, everything is uploaded again`,
	);
}

/** The one text of a manifest: sorted by name. */
export function manifestText(manifest: Inventory): string {
	const entries = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1));
	return `${JSON.stringify({ version: 1, objects: Object.fromEntries(entries) }, null, 1)}\n`;
}

/** What has to be done to a bucket; both lists are sorted. */
export interface Plan {
	upload: string[];
	remove: string[];
	unchanged: number;
}

/** Compares what is built with what the bucket holds. @param all uploads everything, whatever the manifest says */
export function planUpload(built: ReadonlyMap<string, string>, present: Inventory, all: boolean): Plan {
	const upload = [...built].filter(([name, hash]) => all || present.get(name) !== hash).map(([name]) => name);
	const remove = [...present.keys()].filter((name) => !built.has(name));
	return { upload: upload.sort(), remove: remove.sort(), unchanged: built.size - upload.length };
}
