import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import type { Io } from "../../api/configuration.ts";
import { putEdits } from "../../api/register.ts";
import { mapWithProgress } from "../../publish/build.ts";
import { collectFolder } from "../../publish/collect.ts";
import { judgeChange, type LayerFile, problemLine } from "../../registry/judge.ts";
import type { Registration } from "../../registry/registration.ts";
import { folderOf, isOtherFile } from "../../registry/smallkey.ts";
import { textsOf } from "../../registry/texts.ts";
import { counted, plain } from "../../registry/untrusted-text.ts";
import { type Commit, type Edit, isRefusal, type Meta, type Reader, type Store } from "../../store/store.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { type Comparison, compareBatch } from "./preview-batch.ts";
import { createSend, type SenderKey, type SendResult } from "./request.ts";

export const maxConcurrent = 32;

/**
 * `<smallkey>.json`, or `<ab>/<smallkey>.json` as in `layers/`; sorted, with one line for each problem.
 * @throws {Error} if there is no such folder
 */
export async function readBatch(folder: string) {
	const problems: string[] = [];
	/** By the path of a layer's file in the repository; with its name in the batch's folder. */
	const files = new Map<string, LayerFile & { name: string }>();
	for (const file of collectFolder(folder)) {
		// Service descriptions are harvested again. A batch does not change owners and health.
		if (isOtherFile(file.path) || file.path.endsWith(".service.json")) continue;
		const below = file.path.slice("layers/".length);
		const path = below.includes("/")
			? file.path
			: `layers/${folderOf(below.replace(/\.json$/, ""))}/${below}`;
		const name = join(folder, below);
		const duplicate = files.get(path);
		if (duplicate) problems.push(`${name}: is the same layer as ${duplicate.name}`);
		else files.set(path, { ...file, path, name });
	}
	const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
	const result = judgeChange(null, sorted, "anyone");
	problems.push(
		...result.problems.map((problem) =>
			problemLine({ ...problem, file: files.get(problem.file)?.name ?? problem.file }),
		),
	);
	const layers = [...result.layers].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		registrations: new Map(layers.map(([smallkey, layer]) => [smallkey, layer.registration])),
		problems,
	};
}

interface StoreBatch {
	sender: string;
	time: number;
	review: boolean;
	reviewName?: string | undefined;
	partial?: boolean;
}

interface StoredBatch {
	changed: number;
	commit: Commit;
	refused: string[];
}

/**
 * In one commit; without `partial` all or none. Registrations that are stored already are skipped, so that a
 * batch can be repeated. The errors: why nothing was changed.
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

export function batchMeta(subject: string, sender: string, time: number, review = false): Meta {
	const trailers = [["Sender", sender]] as const;
	return { smallkey: null, author: sender, time, subject, trailers, request: null, review };
}

const maxRequests = 8;

const defaultTimes = {
	/** Before an unserved request is sent again: a service may be restarting. */
	pausesMs: [1_000, 2_000, 4_000, 8_000, 16_000] as readonly number[],
	noteMs: 5_000,
};

export interface BatchTarget {
	url: string;
	/** The name under which the changes wait for a reviewer together. */
	reviewName?: string | undefined;
}

export interface BatchResult {
	changed: string[];
	unchanged: string[];
	/** On a branch for a reviewer, now or before. */
	waiting: string[];
	refused: string[];
	unsent: string[];
}

/**
 * Prints refusals and progress, and at the end why changes were not sent. At Ctrl-C, or if a request is not
 * served for half a minute, it sends no others.
 */
export async function sendBatch(
	changes: ReadonlyMap<string, Uint8Array | null>,
	{ url, reviewName }: BatchTarget,
	key: SenderKey,
	io: Io,
	times: Partial<typeof defaultTimes> = {},
): Promise<BatchResult> {
	const { pausesMs, noteMs } = { ...defaultTimes, ...times };
	const sendSigned = createSend(key, io);
	const result: BatchResult = { changed: [], unchanged: [], waiting: [], refused: [], unsent: [] };
	const interrupted = io.interrupted();
	const stop = new AbortController();
	const ended = AbortSignal.any([interrupted, stop.signal]);

	async function sendOnce(smallkey: string, body: Uint8Array | null): Promise<SendResult> {
		const method = body ? "PUT" : "DELETE";
		const change = { method, smallkey, body: body ?? new Uint8Array(0), url, reviewName };
		try {
			return await sendSigned(change);
		} catch (error) {
			const { message, cause } = error as Error;
			const reason = cause instanceof Error ? `: ${cause.message}` : "";
			const lines = [plain(`${message}${reason}`)];
			return { code: exitCodes.unable, receipt: null, lines, serviceTime: null };
		}
	}

	async function send([smallkey, body]: [string, Uint8Array | null]): Promise<void> {
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) return void result.unsent.push(smallkey);
			const { code, receipt, lines } = await sendOnce(smallkey, body);
			if (code === exitCodes.done) return void result[listOf(receipt)].push(smallkey);
			const isLast = code === exitCodes.wrong || pauseMs === null;
			if (isLast && !stop.signal.aborted) for (const line of lines) io.warn(line);
			if (code === exitCodes.wrong) return void result.refused.push(smallkey);
			if (pauseMs !== null) await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined);
		}
		stop.abort();
		result.unsent.push(smallkey);
	}

	const note = setInterval(() => io.warn(progressText(result, changes.size)), noteMs);
	await pMap(changes, send, { concurrency: maxRequests }).finally(() => clearInterval(note));
	if (result.unsent.length > 0) {
		const why = interrupted.aborted ? "interrupted" : "the service does not answer, or cannot serve now";
		io.warn(`${why}: ${counted(result.unsent.length, "layer")} not sent. ${again}`);
	}
	return result;
}

const again = "Run it again: what is done already is skipped";

/** A service of an earlier version does not say whether the layer has changed. */
function listOf(receipt: unknown): "changed" | "unchanged" | "waiting" {
	const { branch, changed } = (receipt ?? {}) as { branch?: unknown; changed?: unknown };
	if (branch !== undefined) return "waiting";
	return changed === false ? "unchanged" : "changed";
}

export function codeOf({ refused, unsent }: BatchResult): number {
	if (unsent.length > 0) return exitCodes.unable;
	return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
}

function progressText({ unsent, refused, ...done }: BatchResult, all: number): string {
	const count = refused.length + Object.values(done).flat().length;
	return `${count} of ${all} sent${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
}
