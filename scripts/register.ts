import { join } from "node:path";
import pMap from "p-map";
import { type Environment, type Io, WrongError } from "../api/configuration.ts";
import { putEdits } from "../api/register.ts";
import { openStore } from "../api/service/data-dir.ts";
import { readConfiguration } from "../api/service/settings.ts";
import { collectFolder } from "../publish/collect.ts";
import { judgeChange, type LayerFile, problemLine } from "../registry/judge.ts";
import type { Registration } from "../registry/registration.ts";
import { folderOf, isOtherFile } from "../registry/smallkey.ts";
import { type Problem, textsOf } from "../registry/texts.ts";
import { counted, plain } from "../registry/untrusted-text.ts";
import { type Commit, type Edit, isRefusal, type Meta, type Reader, type Store } from "../store/store.ts";
import { type Comparison, printComparison } from "./send/others.ts";
import { registerMany } from "./send/send-batch.ts";
import {
	createRun,
	exitCodes,
	parseCount,
	parseReviewName,
	parseSenderId,
	parseUrl,
} from "./terminal/command-line.ts";

const registerHelp = `
All files are checked first. With --url each layer is a signed PUT to that service, sent again for half a minute while it is not
served; the secret is found as for put. Without it all are one commit in GITHUB_REPOSITORY where that is set, else in the
repository in DATA_DIR, on which no service may run. After an interruption, run the same again.
--remove-others lists what it removes, once all files are accepted, and asks.`;

export const register = createRun("register", async ({ read, environment, io }) => {
	const [options, folder] = await read((line) =>
		line
			.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
			.option("--dry-run", "only list what would be added, changed and removed", false)
			.option("--partial", "leave wrong files out, and end with 1; nothing is removed", false)
			.option("--review-name <name>", "for a reviewer: all of this name are one review", parseReviewName)
			.option("--url <url>", "send them, signed, to the service with its base path", parseUrl)
			.option("--sender <id>", "who signs, or who the commit names as its author (operator)", parseSenderId)
			.option("--remove-others", "with --url: then remove the layers that the folder does not have", false)
			.option("--remove-at-most <n>", "instead of 10, or a tenth of those that match (or 2)", parseCount)
			.option("--owned <glob...>", "the smallkeys that --remove-others may remove, such as 'nrcan-*'")
			.option("--yes", "with --remove-others: do not ask", false)
			.option("--json", "with --url or --dry-run: print the result as JSON", false)
			.addHelpText("after", registerHelp),
	);
	const { url, partial, dryRun, removeOthers, owned = [], yes, removeAtMost: maxRemoved, json } = options;
	if (!url && (removeOthers || (json && !dryRun))) throw new Error("--remove-others, --json: are for --url");
	if (removeOthers !== owned.length > 0)
		throw new Error("--remove-others: needs --owned with globs of your smallkeys, and --owned needs it");
	const { registrations, problems } = await readBatch(folder);
	const isComplete = problems.length === 0;
	if (!isComplete && !partial) throw nothingWritten(problems, io);
	for (const problem of problems) io.warn(plain(problem));
	const others = removeOthers ? { owned, yes, maxRemoved, isComplete } : null;
	const code = url
		? await registerMany(registrations, { ...options, url }, others, environment, io)
		: await registerInStore(registrations, options, environment, io);
	return isComplete ? code : Math.max(code, exitCodes.wrong);
});

function nothingWritten(problems: readonly string[], io: Io): WrongError {
	for (const problem of problems) io.warn(plain(problem));
	return new WrongError(`${counted(problems.length, "problem")}; nothing was written`);
}

interface BatchOptions {
	sender?: string | undefined;
	reviewName?: string | undefined;
	partial?: boolean;
	dryRun?: boolean;
}

async function registerInStore(
	registrations: ReadonlyMap<string, Registration>,
	options: BatchOptions & { json: boolean },
	environment: Environment,
	io: Io,
): Promise<number> {
	const { store, place, close } = await openStore(readConfiguration(environment));
	try {
		const outcome = await storeBatch(store, registrations, { ...options, time: io.now().getTime() });
		if (isRefusal(outcome)) throw nothingWritten(outcome.errors, io);
		const { comparison, refused, commit } = outcome;
		for (const text of refused) io.warn(plain(text));
		const code = refused.length > 0 ? exitCodes.wrong : exitCodes.done;
		if (options.dryRun) {
			printComparison(comparison, [], { ...options, io });
			return code;
		}
		const { added, changed, unchanged } = comparison;
		io.print(`${added.length + changed.length} registered, ${unchanged.length} stored already, in ${place}`);
		if (commit.changed) io.print(`commit ${commit.commit}`);
		if (commit.branch) io.print(`branch ${commit.branch}`);
		if (commit.pullRequest) io.print(`pull request ${commit.pullRequest}`);
		return code;
	} finally {
		await close();
	}
}

export const maxConcurrent = 32;

/**
 * `<smallkey>.json`, or `<ab>/<smallkey>.json`; sorted, with one line for each problem.
 * @throws {Error} if there is no such folder
 */
export async function readBatch(folder: string) {
	const problems: string[] = [];
	const files = new Map<string, LayerFile & { name: string }>();
	for (const file of collectFolder(folder)) {
		// Service descriptions are harvested again.
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
	const judged = judgeChange(null, sorted, "anyone");
	for (const problem of judged.problems)
		problems.push(problemLine({ ...problem, file: files.get(problem.file)?.name ?? problem.file }));
	const layers = [...judged.layers.values()].sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	return {
		registrations: new Map(layers.map(({ smallkey, registration }) => [smallkey, registration])),
		problems,
	};
}

async function decideBatch(now: Reader, registrations: ReadonlyMap<string, Registration>) {
	const decided = await pMap(
		registrations,
		async ([smallkey, registration]) => ({
			smallkey,
			isStored: (await now.ids(smallkey)) !== null,
			outcome: await putEdits(now, smallkey, registration, "text"),
		}),
		{ concurrency: maxConcurrent },
	);
	const comparison: Comparison = { added: [], changed: [], unchanged: [] };
	const edits: Edit[] = [];
	const errors: Problem[] = [];
	for (const { smallkey, isStored, outcome } of decided) {
		if (isRefusal(outcome)) errors.push(...outcome.errors);
		else {
			comparison[outcome.length === 0 ? "unchanged" : isStored ? "changed" : "added"].push(smallkey);
			edits.push(...outcome);
		}
	}
	return { comparison, edits, errors };
}

/**
 * In one commit; without `partial` all or none. What is stored already is skipped.
 * @param dryRun decides on the served branch, and stores nothing
 */
export async function storeBatch(
	store: Store,
	registrations: ReadonlyMap<string, Registration>,
	options: BatchOptions & { time: number },
): Promise<{ comparison: Comparison; refused: string[]; commit: Commit } | { errors: string[] }> {
	const { sender = "operator", time, reviewName, partial, dryRun } = options;
	let comparison: Comparison = { added: [], changed: [], unchanged: [] };
	let refused: string[] = [];
	const subject = `register a batch of ${counted(registrations.size, "layer")}`;
	const review = reviewName === undefined || dryRun ? {} : { review: true, reviewName };
	const outcome = await store.change(
		async (now) => {
			const { edits, errors, ...decided } = await decideBatch(now, registrations);
			if (errors.length > 0 && !partial && !dryRun) return { status: 409, errors };
			refused = textsOf(errors);
			comparison = decided.comparison;
			return dryRun ? [] : edits;
		},
		{ ...batchMeta(subject, sender, time), ...review },
	);
	return isRefusal(outcome) ? { errors: textsOf(outcome.errors) } : { comparison, refused, commit: outcome };
}

export function batchMeta(subject: string, sender: string, time: number): Meta {
	const trailers = [["Sender", sender]] as const;
	return { smallkey: null, author: sender, time, subject, trailers, request: null, review: false };
}
