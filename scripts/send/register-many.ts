import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import { counted, plain } from "../../registry/untrusted-text.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { findSecret } from "./request.ts";
import { type BatchOptions, codeOf, printResult, removalsOf, sendBatch } from "./send-batch.ts";
import {
	compareWithService,
	findSurplus,
	printComparison,
	type Registrations,
	type Surplus,
} from "./service-layers.ts";

interface RegisterOptions extends BatchOptions {
	json: boolean;
	dryRun: boolean;
	yes: boolean;
	/** The globs of layers that are removed, if the folder does not have them and all were accepted. */
	owned?: readonly string[] | undefined;
	removeAtMost?: number | undefined;
}

/**
 * @param leftOut how many files of the folder are wrong: if there are any, nothing is removed
 * @returns the exit code
 * @throws {WrongError} before anything is sent, if more would be removed than is allowed
 */
export async function registerMany(
	registrations: Registrations,
	options: RegisterOptions,
	leftOut: number,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { url, json, owned } = options;
	const isComplete = leftOut === 0;
	const surplus = owned && (await findSurplus(url, registrations, owned));
	if (surplus)
		io.warn(
			plain(`What ${url} has: its catalogue at ${surplus.commit ?? "an unknown commit"}, seconds behind`),
		);
	if (options.dryRun)
		printComparison(await compareWithService(url, registrations), surplus?.keys ?? [], json, io);
	if (surplus && isComplete) checkRemoval(surplus, options);
	if (options.dryRun) return exitCodes.done;
	const key = await findSecret(options.sender, environment, io);
	const result = await sendBatch(registrations, options, key, io);
	const code = codeOf(result);
	if (!json) printResult(result, "changed", url, io, leftOut);
	// Nothing is removed after an interruption.
	const mayRemove = code === exitCodes.done && isComplete && !io.interrupted().aborted;
	if (!surplus || !mayRemove) {
		if (json) io.print(JSON.stringify(result));
		if (surplus) io.warn("nothing is removed: not all files of the folder are registered");
		return code;
	}
	if (surplus.keys.length > 0 && !options.yes) await confirm(surplus.keys, url, io);
	const removals = await sendBatch(removalsOf(surplus.keys), options, key, io);
	const { changed, unchanged: _none, ...others } = removals;
	if (json) io.print(JSON.stringify({ ...result, others: { removed: changed, ...others } }));
	else printResult(removals, "removed", url, io);
	return codeOf(removals);
}

const maxFew = 10;
const minFew = 2;
const maxShare = 0.1;

/** A folder that a script has left empty must not empty a catalogue. @throws {WrongError} */
function checkRemoval({ keys, matching }: Surplus, { owned, removeAtMost }: RegisterOptions): void {
	const max = removeAtMost ?? Math.min(maxFew, Math.max(minFew, Math.floor(matching * maxShare)));
	const { length } = keys;
	if (length <= max) return;
	throw new WrongError(
		`${length} of the ${counted(matching, "layer")} that match ${owned?.join(" ")} are not in the folder, and at most ${max} may be removed: --remove-at-most ${length} allows it. Nothing was sent`,
	);
}

async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer?.toLowerCase() === "yes") return;
	throw new WrongError(`nothing is removed${answer === null ? ": without a terminal this needs --yes" : ""}`);
}
