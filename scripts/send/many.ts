import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { counted, firstOf } from "../../registry/untrusted-text.ts";
import { exitCodes } from "../terminal/command-line.ts";
import {
	checkRemoval,
	compareWithService,
	printComparison,
	type RemoveOthers,
	readOthers,
} from "./preview-batch.ts";
import { findSecret } from "./request.ts";
import { type BatchResult, type BatchTarget, codeOf, sendBatch } from "./send-batch.ts";

interface ManyOptions extends BatchTarget {
	/** By default the first sender of the senders file. */
	sender?: string | undefined;
	json?: boolean | undefined;
	dryRun?: boolean;
}

const maxKeys = 100;

/**
 * If all were accepted, it then removes what `others` selects.
 * @param isComplete false if the folder has wrong files: then nothing is removed
 * @returns exit code: 1 if the service refused a layer, 2 if not all were sent
 * @throws {WrongError} before anything is sent, if more layers would be removed than `others` allows
 */
export async function registerMany(
	registrations: ReadonlyMap<string, Registration>,
	options: ManyOptions,
	others: (RemoveOthers & { isComplete: boolean }) | null,
	environment: Environment,
	io: Io,
): Promise<number> {
	const removal = others && (await readOthers(options.url, new Set(registrations.keys()), others.owned));
	if (options.dryRun) {
		const comparison = await compareWithService(registrations, options.url, removal?.keys ?? [], io);
		printComparison(comparison, options.json === true, io);
	}
	if (removal && others?.isComplete) checkRemoval(removal, others);
	if (options.dryRun) return exitCodes.done;
	const key = await findSecret(options.sender ?? null, environment, io);
	// One signal for both batches: nothing is removed after an interruption.
	const interrupted = io.interrupted();
	const sameIo = { ...io, interrupted: () => interrupted };
	const encoder = new TextEncoder();
	const bodies = [...registrations].map(
		([key, layer]) => [key, encoder.encode(canonicalText(layer))] as const,
	);
	const result = await sendBatch(new Map(bodies), options, key, sameIo);
	const code = codeOf(result);
	if (!options.json) printRegistered(result, options.url, io);
	const mayRemove = code === exitCodes.done && others?.isComplete === true && !interrupted.aborted;
	if (!removal || !others || !mayRemove) {
		if (options.json) io.print(JSON.stringify(registrationLists(result)));
		if (removal) io.warn("nothing is removed: not all files of the folder are registered");
		return code;
	}
	const { keys } = removal;
	if (keys.length > 0 && !others.yes) await confirm(keys, options.url, io);
	const removals = await sendBatch(new Map(keys.map((name) => [name, null])), options, key, sameIo);
	if (options.json)
		io.print(JSON.stringify({ ...registrationLists(result), others: removalLists(removals) }));
	else printRemoved(removals, options.url, io);
	return codeOf(removals);
}

/** @returns exit code, as `registerMany` */
export async function removeMany(
	smallkeys: readonly string[],
	options: ManyOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const key = await findSecret(options.sender ?? null, environment, io);
	const result = await sendBatch(new Map(smallkeys.map((name) => [name, null])), options, key, io);
	if (options.json) io.print(JSON.stringify(removalLists(result)));
	else printRemoved(result, options.url, io);
	return codeOf(result);
}

function registrationLists({ changed, unchanged, waiting, refused, unsent }: BatchResult) {
	return sortedLists({ changed, unchanged, waiting, refused, unsent });
}

function removalLists({ changed, waiting, refused, unsent }: BatchResult) {
	return sortedLists({ removed: changed, waiting, refused, unsent });
}

function sortedLists<T extends Record<string, string[]>>(lists: T): T {
	return Object.fromEntries(Object.entries(lists).map(([name, keys]) => [name, keys.sort()])) as T;
}

function printRegistered(result: BatchResult, url: string, io: Io): void {
	const lists = registrationLists(result);
	const all = Object.values(lists).flat().length;
	const { changed, unchanged } = lists;
	io.print(
		`${changed.length} changed, ${unchanged.length} as they were${restOf(result)}, of ${counted(all, "layer")} for ${url}`,
	);
	printKeys("changed", changed, io);
	printKeys("waiting for a reviewer", lists.waiting, io);
}

function printRemoved(result: BatchResult, url: string, io: Io): void {
	const lists = removalLists(result);
	io.print(`${counted(lists.removed.length, "layer")} removed from ${url}${restOf(result)}`);
	printKeys("removed", lists.removed, io);
	printKeys("waiting for a reviewer", lists.waiting, io);
}

function restOf({ waiting, refused }: BatchResult): string {
	const waits = waiting.length > 0 ? `, ${waiting.length} waiting for a reviewer` : "";
	return `${waits}${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
}

function printKeys(label: string, keys: readonly string[], io: Io): void {
	if (keys.length > 0) io.print(`${label}: ${firstOf(keys, maxKeys)}`);
}

async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer === null) throw new WrongError("nothing is removed: without a terminal this needs --yes");
	if (answer.toLowerCase() !== "yes") throw new WrongError("nothing is removed");
}
