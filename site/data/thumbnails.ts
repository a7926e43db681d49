import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryJson } from "../../registry/try-json.ts";
import { ifThereSync } from "../../store/files/files.ts";
import type { Entry } from "./entries.ts";

/** The file in a folder of pictures that lists them; `npx fragment-publisher prove` writes it. */
export const proofsFile = "proofs.json";

/** The folder of pictures of waiting repairs, in the folder of all pictures. */
export const proposedFolder = "proposed";

/** Smallkey → the layer's picture: its file, and its path below the site. */
export type Thumbnails = ReadonlyMap<string, { file: string; path: string }>;

/** The folder of thumbnails below the site. Their names are hashes of their content, as for all files in `assets/`. */
const thumbnailFolder = "assets/pictures";

/** A text that differs when the content of a folder of pictures has changed; empty if it has no `proofs.json`. */
export function picturesStamp(folder: string): string {
	const found = ifThereSync(folder, () => statSync(join(folder, proofsFile)));
	return found ? `${found.mtimeMs} ${found.size}` : "";
}

/** Accepts the path of a picture below its folder: `<ab>/<smallkey>.<hash>.webp`. */
const pictureFile = /^[^/\\]{1,2}\/[A-Za-z0-9_+=-]{1,64}\.([0-9a-f]{2})([0-9a-f]{10})\.webp$/;

/** The pictures of layers whose files exist; empty if `proofs.json` cannot be parsed. */
export function readThumbnails(folder: string): Thumbnails {
	const text = ifThereSync(folder, () => readFileSync(join(folder, proofsFile), "utf8"));
	const proofs = tryJson(text ?? "") as { layers?: Record<string, { picture?: string } | null> } | null;
	const found = Object.entries(proofs?.layers ?? {}).flatMap(([smallkey, proof]) => {
		const [name, start, rest] = pictureFile.exec(proof?.picture ?? "") ?? [];
		const file = join(folder, name ?? "");
		if (name === undefined || !existsSync(file)) return [];
		return [[smallkey, { file, path: `${thumbnailFolder}/${start}/${rest}.webp` }] as const];
	});
	return new Map(found);
}

/** Copies the thumbnails of layers into an output, and removes all others. */
export function placeThumbnails(out: string, thumbnails: Thumbnails, entries: readonly Entry[]) {
	const paths = new Set(entries.flatMap(({ thumbnail }) => thumbnail ?? []));
	for (const { file, path } of thumbnails.values()) {
		const place = join(out, path);
		if (!paths.has(path) || existsSync(place)) continue;
		mkdirSync(dirname(place), { recursive: true });
		copyFileSync(file, place);
	}
	for (const path of thumbnailsIn(out)) if (!paths.has(path)) rmSync(join(out, path), { force: true });
}

/** Paths of the thumbnails in an output. */
export function thumbnailsIn(out: string): string[] {
	const names = ifThereSync(out, () => readdirSync(join(out, thumbnailFolder), { recursive: true })) ?? [];
	const pictures = names.map(String).filter((name) => name.endsWith(".webp"));
	return pictures.map((name) => `${thumbnailFolder}/${name.replaceAll("\\", "/")}`);
}
