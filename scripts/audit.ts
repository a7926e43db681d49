// npx fragments audit: who changed a layer, when and how, from git alone

import { isSenderId } from "../api/senders.ts";
import { isShallow } from "../git/commits.ts";
import { parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { type AuditOptions, auditLayer, auditSender } from "../review/audit/audit.ts";
import { findRepository } from "../service/repository.ts";
import { parseSpan, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted } from "../terminal/plain.ts";

/** Parses `7d`, or a date such as `2026-03-04`, into milliseconds since 1970. @throws {Error} */
function parseSince(text: string | undefined, now: Date): number {
	if (text === undefined) return Number.NEGATIVE_INFINITY;
	const span = parseSpan(text);
	if (span !== null) return now.getTime() - span;
	const isDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text);
	const timeMs = isDate ? Date.parse(text) : Number.NaN;
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
		const read = (options: AuditOptions) => auditSender(sender, options);
		return { name: `the sender ${sender}`, read };
	}
	const key = parseSmallkey(smallkey ?? "");
	if (key === null) throw new Error(`smallkey: ${smallkeyRule}, not ${smallkey}`);
	return { name: `the smallkey ${key}`, read: (options: AuditOptions) => auditLayer(key, options) };
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("audit", io)
		.argument("[smallkey]", "the layer")
		.option("--sender <id>", "all that a sender has done, instead of one layer")
		.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
		.option("--repo <dir>", "a git repository instead of that of DATA_DIR, or of this checkout")
		.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".')
		.parse(argv, { from: "user" });
	const { sender, since, repo } = line.opts();
	const subject = parseSubject(line.processedArgs[0], sender);
	const sinceMs = parseSince(since, io.now());
	const settings = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, settings.dataDir);
	printError(io, `Reading the history of ${subject.name} in ${name}`);
	if (await isShallow(repository))
		printError(io, "Only the end of its history is here: git fetch --unshallow");
	const entries = await subject.read({ repository, sinceMs, settings });
	for (const entry of entries) printLine(io, `${entry.lines.join("\n")}\n`);
	if (entries.length === 0) {
		printError(io, `${subject.name}: nothing${since === undefined ? "" : ` since ${since}`} in ${name}`);
		return exitCodes.wrong;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	const counts = [counted(entries.length, "change"), ...(forged > 0 ? [`${forged} forged`] : [])];
	printLine(io, counts.join(", "));
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});
