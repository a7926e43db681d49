// npx fragment-publisher status and audit: how the layers of a repository are, and who changed them, from git alone
import { dirname } from "node:path";
import { isFolderLocked } from "../../../api/service/lock.ts";
import { findRepository } from "../../../api/service/repository.ts";
import { parseSpan, readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { isSenderId } from "../../../registry/sender.ts";
import { parseSmallkey, smallkeyRule } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { printStatus } from "../../../scripts/put.ts";
import { createRun, exitCodes, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { isShallow } from "../../../store/git/commands/commits.ts";
import { type AuditOptions, auditLayer, auditSender } from "../audit.ts";
import { overviewLines } from "../status.ts";

const repoWords = [
	"--repo <dir>",
	"a git repository instead of that of DATA_DIR, or of this checkout",
] as const;

const status = createRun("status", async ({ read, environment, io }) => {
	const [{ repo, url }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "how this layer is, as the service at --url says; without it, how all are")
			.option(
				"--url <url>",
				"with a smallkey: the service with its base path (http://127.0.0.1:8080)",
				parseUrl,
			)
			.option(...repoWords),
	);
	if (smallkey !== undefined) {
		if (repo !== undefined) throw new Error("--repo: is for all layers; a service knows how one is");
		return printStatus({ url: url ?? "http://127.0.0.1:8080", smallkey }, io);
	}
	if (url !== undefined)
		throw new Error("--url: is for one layer: npx fragment-publisher status <smallkey> --url <url>");
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path, name } = await findRepository(repo, dataDir);
	io.warn(`Looking at the branch main of ${name}`);
	for (const text of await overviewLines(path, await isFolderLocked(dirname(path)))) io.print(plain(text));
});

/** Parses `7d`, or a date such as `2026-03-04`, into milliseconds since 1970. @throws {Error} */
function parseSince(text: string, now: Date): number {
	const span = parseSpan(text);
	if (span !== null) return now.getTime() - span;
	const timeMs = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
	if (Number.isNaN(timeMs)) throw new Error(`--since: must be a time such as 7d or 2026-03-04, not ${text}`);
	return timeMs;
}

/** Parses the subject: a layer or a sender. @throws {Error} unless exactly one of them is given, and valid */
function parseSubject(smallkey: string | undefined, sender: string | undefined) {
	if ((smallkey === undefined) === (sender === undefined)) {
		throw new Error("a smallkey, or --sender <id>: one of them is needed");
	}
	if (sender !== undefined) {
		if (!isSenderId(sender))
			throw new Error(`--sender: an id must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
		return { name: `the sender ${sender}`, read: (options: AuditOptions) => auditSender(sender, options) };
	}
	const key = parseSmallkey(smallkey ?? "");
	if (key === null) throw new Error(`smallkey: ${smallkeyRule}, not ${smallkey}`);
	return { name: `the smallkey ${key}`, read: (options: AuditOptions) => auditLayer(key, options) };
}

const audit = createRun("audit", async ({ read, environment, io }) => {
	const [{ sender, since, repo }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "the layer")
			.option("--sender <id>", "all that a sender has done, instead of one layer")
			.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
			.option(...repoWords)
			.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".'),
	);
	const subject = parseSubject(smallkey, sender);
	const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : parseSince(since, io.now());
	const nowMs = io.now().getTime();
	const settings = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, settings.dataDir);
	io.warn(`Reading the history of ${subject.name} in ${name}`);
	if (await isShallow(repository)) io.warn("Only the end of its history is here: git fetch --unshallow");
	const entries = await subject.read({ repository, sinceMs, nowMs });
	for (const entry of entries) io.print(`${entry.lines.join("\n")}\n`);
	if (entries.length === 0) {
		io.warn(`${subject.name}: nothing${since === undefined ? "" : ` since ${since}`} in ${name}`);
		return exitCodes.wrong;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	const counts = [counted(entries.length, "change"), ...(forged > 0 ? [`${forged} forged`] : [])];
	io.print(counts.join(", "));
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});

export const runs = { status, audit };
