import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ifThereSync } from "../files/if-there.ts";
import type { Entry } from "../registry/entries.ts";
import { tryJson } from "../registry/try-json.ts";

/** The file in a folder of pictures that lists them; `npx fragments prove` writes it. */
export const proofsFile = "proofs.json";

/** A folder of pictures of layers; `stamp` differs when its content has changed. */
export interface Pictures {
	folder: string;
	stamp: string;
}

/** Smallkey → the path of its picture below the site. */
export type Thumbnails = ReadonlyMap<string, string>;

/** The folder of thumbnails below the site. Their names are hashes of their content, as for all files in `assets/`. */
const thumbnailFolder = "assets/pictures";

/** A folder of pictures with its stamp; null if it has no `proofs.json`. */
export function picturesIn(folder: string): Pictures | null {
	const found = ifThereSync(folder, () => statSync(join(folder, proofsFile)));
	return found && { folder, stamp: `${found.mtimeMs} ${found.size}` };
}

/** Accepts the path of a picture below its folder: `<ab>/<smallkey>.<hash>.webp`. */
const pictureFile = /^[^/\\]{1,2}\/[A-Za-z0-9_+=-]{1,64}\.([0-9a-f]{2})([0-9a-f]{10})\.webp$/;

/** The pictures of layers: smallkey → the file, and its path below the site; empty if `proofs.json` cannot be parsed. */
function readPictures({ folder }: Pictures): Map<string, { file: string; path: string }> {
	const proofs = ifThereSync(folder, () => readFileSync(join(folder, proofsFile), "utf8"));
	const { layers } = (tryJson(proofs ?? "") ?? {}) as {
		layers?: Record<string, { picture?: string } | null>;
	};
	const found = Object.entries(layers ?? {}).flatMap(([smallkey, proof]) => {
		const [file, start, rest] = pictureFile.exec(proof?.picture ?? "") ?? [];
		if (file === undefined) return [];
		return [[smallkey, { file, path: `${thumbnailFolder}/${start}/${rest}.webp` }] as const];
	});
	return new Map(found);
}

/** The thumbnails of the layers whose picture files exist. */
export function readThumbnails(pictures: Pictures | null): Thumbnails {
	if (!pictures) return new Map();
	const all = [...readPictures(pictures)].filter(([, { file }]) => existsSync(join(pictures.folder, file)));
	return new Map(all.map(([smallkey, { path }]) => [smallkey, path]));
}

/** Copies the thumbnails of layers into an output, and removes all others. */
export function placeThumbnails(
	out: string,
	pictures: Pictures | null,
	layers: Iterable<Pick<Entry, "thumbnail"> | null>,
): void {
	const paths = new Set([...layers].flatMap((entry) => entry?.thumbnail ?? []));
	const files = pictures && paths.size > 0 ? [...readPictures(pictures).values()] : [];
	for (const { file, path } of files) {
		const place = join(out, path);
		if (!paths.has(path) || existsSync(place)) continue;
		mkdirSync(dirname(place), { recursive: true });
		copyFileSync(join(pictures?.folder ?? "", file), place);
	}
	const present = ifThereSync(out, () => readdirSync(join(out, thumbnailFolder), { recursive: true })) ?? [];
	for (const name of present.map(String).filter((one) => one.endsWith(".webp")))
		if (!paths.has(`${thumbnailFolder}/${name.replaceAll("\\", "/")}`))
			rmSync(join(out, thumbnailFolder, name), { force: true });
}
