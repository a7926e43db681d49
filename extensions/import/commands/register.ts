import { join } from "node:path";
import { type Environment, type Io, WrongError } from "../../../api/configuration.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { collectFolder } from "../../../publish/collect.ts";
import { judgeChange, type LayerFile, problemLine } from "../../../registry/judge.ts";
import { isReviewName } from "../../../registry/sender.ts";
import { folderOf, isOverallFile } from "../../../registry/smallkey.ts";
import { textsOf } from "../../../registry/texts.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { printLists } from "../../../scripts/send/send-batch.ts";
import {
	createRun,
	exitCodes,
	matching,
	parseCount,
	parseSenderId,
	parseUrl,
} from "../../../scripts/terminal/command-line.ts";
import { isRefusal } from "../../../store/decide.ts";
import { openStore } from "../open-store.ts";
import { type Registrations, registerMany } from "../register-many.ts";
import { printCommit, type StoreBatchOptions, storeBatch } from "../store-batch.ts";

const parseReviewName = matching(
	isReviewName,
	"1 to 64 of A-Z a-z 0-9 . _ - that can be part of a branch's name.",
);

const registerHelp = `
All files are checked first. With --url each layer is a signed PUT to that service, sent again for half a minute while it
is not served, or for as long as the service asks; the secret is found as for put. Without it all are one commit in
GITHUB_REPOSITORY where that is set, else in the repository in DATA_DIR, on which no service may run. After an
interruption, run the same again. --remove-others lists what it removes, once all files are accepted, and asks.`;

export const register = createRun(async ({ read, environment, io }) => {
	const [options, folder] = await read((line) =>
		line
			.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
			.option("--dry-run", "only list what would be added, changed and removed", false)
			.option("--partial", "leave wrong files out, and end with 1; nothing is removed", false)
			.option("--review-name <name>", "for a reviewer: all of this name are one review", parseReviewName)
			.option("--url <url>", "send them, signed, to the service with its base path", parseUrl)
			.option("--sender <id>", "who signs, or who the commit names as its author (operator)", parseSenderId)
			.option("--remove-others", "with --url: then remove the layers that the folder does not have", false)
			.option(
				"--remove-at-most <n>",
				"the most to remove (10, or a tenth of those that match, at least 2)",
				parseCount,
			)
			.option("--owned <glob...>", "the smallkeys that --remove-others may remove, such as 'nrcan-*'")
			.option("--yes", "with --remove-others: do not ask", false)
			.addHelpText("after", registerHelp),
	);
	const { url, removeOthers, owned } = options;
	if (!url && removeOthers) throw new Error("--remove-others: needs --url");
	if (removeOthers !== (owned !== undefined))
		throw new Error("--remove-others: needs --owned with globs of your smallkeys, and --owned needs it");
	const { registrations, problems, leftOut } = readBatch(folder);
	for (const problem of problems) io.warn(plain(problem));
	if (registrations.size + problems.length === 0) io.warn(`${folder}: has no registrations`);
	if (problems.length > 0 && !options.partial) {
		const what = `${counted(problems.length, "problem")}; nothing was ${url ? "sent" : "written"}`;
		throw new WrongError(`${what} (--partial leaves them out)`);
	}
	const code = url
		? await registerMany(registrations, { ...options, url }, leftOut, environment, io)
		: await registerInStore(registrations, options, environment, io);
	return leftOut === 0 ? code : Math.max(code, exitCodes.wrong);
});

async function registerInStore(
	registrations: Registrations,
	options: StoreBatchOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { store, place, close } = await openStore(readConfiguration(environment));
	const batch = storeBatch(store, registrations, { ...options, time: io.now().getTime() });
	const { comparison, refused, outcome } = await batch.finally(close);
	const errors = isRefusal(outcome) ? outcome.errors : refused.flatMap(([, problems]) => problems);
	for (const text of textsOf(errors)) io.warn(plain(text));
	if (isRefusal(outcome)) throw new WrongError(`${counted(errors.length, "problem")}; nothing was written`);
	printLists({ ...comparison }, io);
	io.print(`in ${place}`);
	printCommit(outcome, io);
	return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
}

/**
 * `<smallkey>.json`, or `<ab>/<smallkey>.json`; sorted. `leftOut`: number of wrong files.
 * @throws {Error} if there is no such folder
 */
export function readBatch(folder: string) {
	const problems: string[] = [];
	let count = 0;
	const files = new Map<string, LayerFile & { name: string }>();
	for (const file of collectFolder(folder)) {
		// Service descriptions are harvested again.
		if (isOverallFile(file.path) || file.path.endsWith(".service.json")) continue;
		count += 1;
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
	const { layers, problems: wrong } = judgeChange(null, sorted, "anyone");
	for (const problem of wrong)
		problems.push(problemLine({ ...problem, file: files.get(problem.file)?.name ?? problem.file }));
	const sortedLayers = [...layers].sort(([a], [b]) => (a < b ? -1 : 1));
	const registrations = new Map(sortedLayers.map(([smallkey, { registration }]) => [smallkey, registration]));
	return { registrations, problems, leftOut: count - registrations.size };
}
