import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { proofsFile } from "../catalogue/thumbnails.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { placeFile } from "../publish/place-file.mjs";
import { folderOf, type Lang, parseSmallkey } from "../registry/smallkey.ts";
import type { Drawn } from "./draw.ts";

/** The result of drawing a layer in one language, without its picture. */
export type LangProof = Omit<Drawn, "picture">;

/** The result of drawing a layer the last time. */
export interface Proof {
	/** The day: `2026-03-04`. */
	day: string;
	/** The first day on which it did not draw; absent if it draws. */
	since?: string;
	langs: Partial<Record<Lang, LangProof>>;
	/** Path of its last picture in the folder of proofs. It may be older than `day` if the layer no longer draws. */
	picture?: string;
}

/** Smallkey → proof. */
export type Proofs = Map<string, Proof>;

/** Version of the file's format. */
const version = 1;

/** Reads the proofs in a folder; empty if there are none, or they cannot be read. */
export async function readProofs(folder: string): Promise<Proofs> {
	try {
		const value = JSON.parse((await readTextIfThere(join(folder, proofsFile))) ?? "{}");
		const layers = value.version === version ? (value.layers as Record<string, Proof>) : {};
		return new Map(Object.entries(layers).filter(([smallkey]) => parseSmallkey(smallkey) !== null));
	} catch {
		return new Map();
	}
}

/** Writes all proofs, sorted by smallkey. */
export function writeProofs(folder: string, proofs: Proofs): void {
	const lines = [...proofs]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([smallkey, proof]) => `${JSON.stringify(smallkey)}: ${JSON.stringify(proof)}`);
	placeFile(folder, proofsFile, Buffer.from(`{"version":${version},"layers":{\n${lines.join(",\n")}\n}}\n`));
}

/** Where a run's pictures are stored, and under which names. */
export interface PictureOptions {
	/** The folder of proofs and pictures. */
	folder: string;
	/** Whether a layer's picture always has the same name, for texts that link to it. If not, the name has a hash. */
	hasFixedNames?: boolean;
}

/** Records the result of drawing a layer, and writes its picture into the folder. @param day the day of this run */
export async function addProof(
	{ folder, hasFixedNames = false }: PictureOptions,
	proofs: Proofs,
	smallkey: string,
	drawn: Partial<Record<Lang, Drawn>>,
	day: string,
): Promise<void> {
	const before = proofs.get(smallkey);
	const all = Object.entries(drawn);
	const langs = Object.fromEntries(all.map(([lang, { picture: _, ...rest }]) => [lang, rest]));
	const isDrawn = all.every(([, one]) => one.isDrawn);
	const bytes = all.map(([, { picture }]) => picture).find((one) => one !== null);
	const hash = bytes && createHash("sha256").update(bytes).digest("hex").slice(0, 12);
	const name = pictureName(smallkey, hasFixedNames ? undefined : hash);
	const picture = bytes ? name : before?.picture;
	if (bytes) {
		await mkdir(join(folder, folderOf(smallkey)), { recursive: true });
		placeFile(folder, name, Buffer.from(bytes));
	}
	if (before?.picture !== undefined && before.picture !== picture)
		await rm(join(folder, before.picture), { force: true });
	proofs.set(smallkey, {
		day,
		...(!isDrawn && { since: before?.since ?? day }),
		langs,
		...(picture !== undefined && { picture }),
	});
}

/** Path of a picture in the folder of proofs. @param hash of its content; absent if the name is fixed */
export function pictureName(smallkey: string, hash?: string | null): string {
	return `${folderOf(smallkey)}/${smallkey}${hash ? `.${hash}` : ""}.webp`;
}
