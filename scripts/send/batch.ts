import { join } from "node:path";
import { putEdits } from "../../api/register.ts";
import { collectFolder } from "../../publish/collect.ts";
import { mapWithProgress } from "../../publish/progress.ts";
import { judgeChange, problemLine } from "../../registry/judge.ts";
import type { LayerFile } from "../../registry/layer-file.ts";
import { counted } from "../../registry/plain.ts";
import { textsOf } from "../../registry/problems.ts";
import type { Registration } from "../../registry/registration.ts";
import { folderOf, isOtherFile } from "../../registry/smallkey.ts";
import { type Commit, type Edit, isRefusal, type Meta, type Reader, type Store } from "../../store/store.ts";
import { type Comparison, compareBatch } from "./preview-batch.ts";

/** Layers that are compared with the store concurrently. */
export const maxConcurrent = 32;

/**
 * Reads a folder of registrations: `<smallkey>.json`, or `<ab>/<smallkey>.json` as in `layers/`.
 * @returns the registrations by their smallkey, sorted, and the problems of the files, one line each
 * @throws {Error} if there is no such folder
 */
export async function readBatch(folder: string) {
	const problems: string[] = [];
	/** Path of a layer's file in the repository → the file, with its name in the batch's folder. */
	const files = new Map<string, LayerFile & { name: string }>();
	for (const file of collectFolder(folder)) {
		// Service descriptions are harvested again. Other files (owners, health) are not a batch's to change.
		if (isOtherFile(file.path) || file.path.endsWith(".service.json")) continue;
		const below = file.path.slice("layers/".length);
		const path = below.includes("/")
			? file.path
			: `layers/${folderOf(below.replace(/\.json$/, ""))}/${below}`;
		const name = join(folder, below);
		const other = files.get(path);
		if (other) problems.push(`${name}: is the same layer as ${other.name}`);
		else files.set(path, { ...file, path, name });
	}
	const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
	const judged = judgeChange(null, sorted, "anyone");
	problems.push(
		...judged.problems.map((one) => problemLine({ ...one, file: files.get(one.file)?.name ?? one.file })),
	);
	const layers = [...judged.layers].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		registrations: new Map(layers.map(([smallkey, layer]) => [smallkey, layer.registration])),
		problems,
	};
}

/** How a batch is stored. */
interface StoreBatch {
	/** The commit's author. */
	sender: string;
	/** In milliseconds since 1970. */
	time: number;
	review: boolean;
	reviewName?: string | undefined;
	/** Whether the layers that are in order are stored if others are refused. */
	partial?: boolean;
}

/** The result of a batch: the number of changed layers, the commit, and why layers were left out. */
interface StoredBatch {
	changed: number;
	commit: Commit;
	refused: string[];
}

/**
 * Stores registrations in one commit; without `partial` all or none. It skips registrations that are stored already, so
 * that a batch can be repeated.
 * @returns the result; or why nothing was changed
 */
export async function storeBatch(
	store: Store,
	registrations: ReadonlyMap<string, Registration>,
	{ sender, time, review, reviewName, partial = false }: StoreBatch,
): Promise<StoredBatch | { errors: string[] }> {
	let changed = 0;
	let refused: string[] = [];
	const meta = batchMeta(`register a batch of ${counted(registrations.size, "layer")}`, sender, time, review);
	const outcome = await store.change(
		async (now) => {
			const decided = await mapWithProgress(
				registrations,
				"comparing",
				maxConcurrent,
				([smallkey, registration]) => putEdits(now, smallkey, registration, "text"),
			);
			const errors = decided.flatMap((edits) => (isRefusal(edits) ? edits.errors : []));
			if (errors.length > 0 && !partial) return { status: 409, errors };
			refused = textsOf(errors);
			const stored = decided.filter((edits): edits is Edit[] => !isRefusal(edits));
			changed = stored.filter((edits) => edits.length > 0).length;
			return stored.flat();
		},
		{ ...meta, ...(reviewName !== undefined && { reviewName }) },
	);
	return isRefusal(outcome) ? { errors: textsOf(outcome.errors) } : { changed, commit: outcome, refused };
}

/** Compares registrations with those of a store. @param refuse gets why a layer would be refused */
export function compareWithStore(
	store: Reader,
	registrations: ReadonlyMap<string, Registration>,
	refuse: (error: string) => void,
): Promise<Comparison> {
	return compareBatch(registrations, [], async (smallkey, registration) => {
		const edits = await putEdits(store, smallkey, registration, "text");
		if (isRefusal(edits)) {
			for (const error of textsOf(edits.errors)) refuse(error);
			return null;
		}
		if (edits.length === 0) return "unchanged";
		return (await store.ids(smallkey)) ? "changed" : "added";
	});
}

/** Author, time, subject and trailers of a commit of many layers. */
export function batchMeta(subject: string, sender: string, time: number, review = false): Meta {
	const trailers = [["Sender", sender]] as const;
	return { smallkey: null, author: sender, time, subject, trailers, request: null, review };
}
