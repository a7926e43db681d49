// npx fragments register: stores many registrations in one commit, or sends them to a running service
import pMap from "p-map";
import { isSenderId } from "../api/senders.ts";
import { readBatch, storeBatch } from "../migrate/batch.ts";
import { findSecret, sendRequest, signRequest } from "../publisher/request.ts";
import { canonicalText } from "../registry/canonical.ts";
import type { Registration } from "../registry/registration.ts";
import { openStore } from "../service/open-store.ts";
import { type Environment, readConfiguration } from "../service/settings.ts";
import { isRefusal } from "../store/store.ts";
import { createCommandLine, createRun, exitCodes, parseUrl } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

const help = `
With --url each layer is a signed PUT to that service, with a commit of its own; the secret is found as for put. Without it
all are one commit in GITHUB_REPOSITORY where that is set, else in the repository in DATA_DIR, on which no service may run.
All files are checked first. What is stored already is skipped: after a cut, run the same again.`;

/** Signed requests that wait for their answers at the same time. */
const maxRequests = 8;

/**
 * Sends each registration to a running service by a signed PUT, and prints the refusals.
 * @returns the highest exit code of a request
 */
async function sendBatch(
	registrations: ReadonlyMap<string, Registration>,
	{ url, sender: id }: { url: string; sender?: string },
	environment: Environment,
	io: Io,
): Promise<number> {
	const { sender, secret } = await findSecret(id ?? null, environment, io);
	const withSecret = { ...environment, SENDER_SECRET: secret };
	const withoutReceipts = { ...io, stdout: { write: () => true } };
	const codes = await pMap(
		registrations,
		async ([smallkey, registration]) => {
			const body = new TextEncoder().encode(canonicalText(registration));
			const request = await signRequest({ method: "PUT", smallkey, body, url, sender }, withSecret, io);
			return sendRequest(request, withoutReceipts);
		},
		{ concurrency: maxRequests },
	);
	const done = codes.filter((code) => code === exitCodes.done).length;
	printLine(io, `${done} of ${counted(codes.length, "layer")} accepted by ${url}`);
	return Math.max(exitCodes.done, ...codes);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("register", io)
		.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
		.option("--review", "leave them on a branch for a reviewer; on GitHub with a pull request", false)
		.option("--url <url>", "send them, signed, to the service with its base path", parseUrl)
		.option("--sender <id>", "who signs, or who the commit names as its author (operator)")
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const [folder] = line.processedArgs;
	const { sender = "operator", review, url } = line.opts();
	if (review && url) throw new Error("--review: with --url the service decides who needs a reviewer");
	if (!isSenderId(sender)) throw new Error(`--sender: must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	const { registrations, problems } = await readBatch(folder);
	const refuse = (texts: readonly string[]) => {
		for (const text of texts) printError(io, plain(text));
		printError(io, `${counted(texts.length, "problem")}; nothing was written`);
		return exitCodes.wrong;
	};
	if (problems.length > 0) return refuse(problems);
	if (url) return sendBatch(registrations, { ...line.opts(), url }, environment, io);
	const open = await openStore(readConfiguration(environment));
	try {
		const outcome = await storeBatch(open.store, registrations, { sender, time: io.now().getTime(), review });
		if (isRefusal(outcome)) return refuse(outcome.errors);
		const { changed, commit } = outcome;
		printLine(io, `${changed} registered, ${registrations.size - changed} stored already, in ${open.place}`);
		if (commit.changed) printLine(io, `commit ${commit.commit}`);
		if (commit.branch) printLine(io, `branch ${commit.branch}`);
		if (commit.pullRequest) printLine(io, `pull request ${commit.pullRequest}`);
		return exitCodes.done;
	} finally {
		await open.close();
	}
});
