import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted.ts";
import { filesBelow, ifThereSync, readTextIfThere } from "../../store/files/files.ts";
import type { Entry } from "./entries.ts";
import type { Cause } from "./health.ts";

/** `npx fragment-publisher prove` writes it. */
export const proofsFile = "proofs.json";

/** Smallkey → the picture's file, and its path below the site. */
export type Thumbnails = ReadonlyMap<string, { file: string; path: string }>;

const thumbnailFolder = "assets/pictures";

export function picturesStamp(folder: string): string {
	const file = ifThereSync(folder, () => statSync(join(folder, proofsFile)));
	return file ? `${file.mtimeMs} ${file.size}` : "";
}

/** Accepts `<ab>/<smallkey>.<hash>.webp`. */
const pictureFile = /^[^/\\]{1,2}\/[A-Za-z0-9_+=-]{1,64}\.([0-9a-f]{2})([0-9a-f]{10})\.webp$/;

export async function readThumbnails(folder: string): Promise<Thumbnails> {
	const thumbnails = [...(await readProofs(folder))].flatMap(([smallkey, { picture = "" }]) => {
		const [name = "", start, rest] = pictureFile.exec(picture) ?? [];
		const file = join(folder, name);
		if (name === "" || !existsSync(file)) return [];
		return [[smallkey, { file, path: `${thumbnailFolder}/${start}/${rest}.webp` }] as const];
	});
	return new Map(thumbnails);
}

export function placeThumbnails(out: string, thumbnails: Thumbnails, entries: readonly Entry[]) {
	const paths = new Set(entries.flatMap(({ thumbnail }) => thumbnail ?? []));
	for (const { file, path } of thumbnails.values()) {
		const place = join(out, path);
		if (!paths.has(path) || existsSync(place)) continue;
		mkdirSync(dirname(place), { recursive: true });
		copyFileSync(file, place);
	}
	for (const name of ifThereSync(out, () => filesBelow(join(out, thumbnailFolder))) ?? []) {
		const path = `${thumbnailFolder}/${name}`;
		if (!paths.has(path)) rmSync(join(out, path), { force: true });
	}
}

interface Proof {
	day: string;
	/** The first day on which it did not draw; absent if it draws. */
	since?: string;
	cause?: Cause;
	picture?: string;
}

export type Proofs = Map<string, Proof>;

export const proofsVersion = 1;

/** Empty if there are none, or they cannot be read. */
export async function readProofs(folder: string): Promise<Proofs> {
	const text = await readTextIfThere(join(folder, proofsFile)).catch(() => null);
	const value = tryJson(text ?? "") as { version: number; layers: Record<string, Proof> } | null;
	const layers = value?.version === proofsVersion ? Object.entries(value.layers ?? {}) : [];
	return new Map(layers.filter(([smallkey, proof]) => parseSmallkey(smallkey) !== null && proof));
}
