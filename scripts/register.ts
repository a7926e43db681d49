import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { type Environment, type Io, WrongError } from "../api/configuration.ts";
import { putEdits } from "../api/register.ts";
import { openStore } from "../api/service/data-dir.ts";
import { readConfiguration } from "../api/service/settings.ts";
import { mapWithProgress } from "../publish/build.ts";
import { collectFolder } from "../publish/collect.ts";
import { judgeChange, type LayerFile, problemLine } from "../registry/judge.ts";
import type { Registration } from "../registry/registration.ts";
import { folderOf, isOtherFile } from "../registry/smallkey.ts";
import { textsOf } from "../registry/texts.ts";
import { counted, plain } from "../registry/untrusted-text.ts";
import { type Commit, isRefusal, type Meta, type Reader, type Store } from "../store/store.ts";
import { comparisonOf, printComparison } from "./send/comparison.ts";
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
With --url each layer is a signed PUT to that service, with a commit of its own; the secret is found as for put. Without it
all are one commit in GITHUB_REPOSITORY where that is set, else in the repository in DATA_DIR, on which no service may run.
All files are checked first. With --url a request that is not served is sent again for half a minute.
What is stored already is skipped: after an interruption, run the same again. --remove-others removes from the service, once all
files are accepted, the layers of --owned that the folder does not have. It lists them, and asks. Without --remove-at-most it
removes at most 10, and at most a tenth of those that match (or 2).`;

const declare = (line: Command) =>
	line
		.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
		.option("--dry-run", "only list what would be added, changed and removed", false)
		.option("--partial", "leave wrong files out, and end with 1; nothing is removed", false)
		.option("--review", "leave them on a branch for a reviewer; on GitHub with a pull request", false)
		.option("--review-name <name>", "for a reviewer: all of this name are one review", parseReviewName)
		.option("--url <url>", "send them, signed, to the service with its base path", parseUrl)
		.option("--sender <id>", "who signs, or who the commit names as its author (operator)", parseSenderId)
		.option("--remove-others", "with --url: then remove the layers that the folder does not have", false)
		.option("--remove-at-most <n>", "the most layers that --remove-others may remove", parseCount)
		.option("--owned <glob...>", "the smallkeys that --remove-others may remove, such as 'nrcan-*'")
		.option("--yes", "with --remove-others: do not ask", false)
		.option("--json", "with --url or --dry-run: print the result as JSON", false)
		.addHelpText("after", registerHelp);

type RegisterOptions = ReturnType<ReturnType<typeof declare>["opts"]>;

export const register = createRun("register", async ({ read, environment, io }) => {
	const [options, folder] = await read(declare);
	checkOptions(options);
	const { url, partial, owned = [], yes, removeAtMost: maxRemoved } = options;
	const { registrations, problems } = await readBatch(folder);
	for (const problem of problems) io.warn(plain(problem));
	const isComplete = problems.length === 0;
	if (!isComplete && !partial) throw nothingWritten(problems);
	const removal = options.removeOthers ? { owned, yes, maxRemoved, isComplete } : null;
	const code = url
		? await registerMany(registrations, { ...options, url }, removal, environment, io)
		: await registerInStore(registrations, options, environment, io);
	return isComplete ? code : Math.max(code, exitCodes.wrong);
});

function checkOptions(options: RegisterOptions): void {
	const { url, dryRun, review, json, removeOthers, owned = [], removeAtMost } = options;
	if (review && url)
		throw new Error(
			"--review: with --url the service decides who needs a reviewer; --review-name groups them",
		);
	if (!url && (removeOthers || (json && !dryRun))) throw new Error("--remove-others, --json: are for --url");
	if (removeOthers !== owned.length > 0)
		throw new Error("--remove-others: needs --owned with globs of your smallkeys, and --owned needs it");
	if (removeAtMost !== undefined && !removeOthers)
		throw new Error("--remove-at-most: is for --remove-others");
}

function nothingWritten(problems: readonly string[]): WrongError {
	return new WrongError(`${counted(problems.length, "problem")}; nothing was written`);
}

async function registerInStore(
	registrations: ReadonlyMap<string, Registration>,
	{ sender = "operator", review, reviewName, partial, dryRun, json }: RegisterOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { store, place, close } = await openStore(readConfiguration(environment));
	try {
		if (dryRun) {
			const { verbs, errors } = await decideBatch(store, registrations);
			printComparison(comparisonOf(verbs), json, io);
			for (const error of textsOf(errors)) io.warn(plain(error));
			return errors.length > 0 ? exitCodes.wrong : exitCodes.done;
		}
		const isReview = review || reviewName !== undefined;
		const how = { sender, time: io.now().getTime(), review: isReview, reviewName, partial };
		const outcome = await storeBatch(store, registrations, how);
		for (const text of isRefusal(outcome) ? outcome.errors : outcome.refused) io.warn(plain(text));
		if (isRefusal(outcome)) throw nothingWritten(outcome.errors);
		const { changed, commit, refused } = outcome;
		const unchanged = registrations.size - changed - refused.length;
		io.print(`${changed} registered, ${unchanged} stored already, in ${place}`);
		if (commit.changed) io.print(`commit ${commit.commit}`);
		if (commit.branch) io.print(`branch ${commit.branch}`);
		if (commit.pullRequest) io.print(`pull request ${commit.pullRequest}`);
		return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
	} finally {
		await close();
	}
}

export const maxConcurrent = 32;

async function decideBatch(now: Reader, registrations: ReadonlyMap<string, Registration>) {
	const decide = async ([smallkey, registration]: [string, Registration]) => {
		const edits = await putEdits(now, smallkey, registration, "text");
		const verb = isRefusal(edits)
			? null
			: edits.length === 0
				? "unchanged"
				: (await now.ids(smallkey))
					? "changed"
					: "added";
		return { smallkey, verb, edits } as const;
	};
	const decided = await mapWithProgress(registrations, "comparing", maxConcurrent, decide);
	return {
		verbs: decided.map(({ smallkey, verb }) => [smallkey, verb] as const),
		edits: decided.flatMap(({ edits }) => (isRefusal(edits) ? [] : edits)),
		errors: decided.flatMap(({ edits }) => (isRefusal(edits) ? edits.errors : [])),
	};
}

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

/** In one commit; without `partial` all or none. What is stored already is skipped. */
export async function storeBatch(
	store: Store,
	registrations: ReadonlyMap<string, Registration>,
	how: { sender: string; time: number; review: boolean; reviewName?: string | undefined; partial?: boolean },
): Promise<{ changed: number; commit: Commit; refused: string[] } | { errors: string[] }> {
	const { sender, time, review, reviewName, partial = false } = how;
	let changed = 0;
	let refused: string[] = [];
	const meta = batchMeta(`register a batch of ${counted(registrations.size, "layer")}`, sender, time, review);
	const outcome = await store.change(
		async (now) => {
			const { verbs, edits, errors } = await decideBatch(now, registrations);
			if (errors.length > 0 && !partial) return { status: 409, errors };
			refused = textsOf(errors);
			changed = verbs.filter(([, verb]) => verb !== null && verb !== "unchanged").length;
			return edits;
		},
		{ ...meta, ...(reviewName !== undefined && { reviewName }) },
	);
	return isRefusal(outcome) ? { errors: textsOf(outcome.errors) } : { changed, commit: outcome, refused };
}

export function batchMeta(subject: string, sender: string, time: number, review = false): Meta {
	const trailers = [["Sender", sender]] as const;
	return { smallkey: null, author: sender, time, subject, trailers, request: null, review };
}
