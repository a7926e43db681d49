// npx fragment-publisher audit
import { parseSpan, WrongError } from "../../../api/configuration.ts";
import { parseSmallkey, smallkeyRule } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { createRun, exitCodes, parseSenderId } from "../../../scripts/terminal/command-line.ts";
import { findRepositoryOf } from "../../harvest/repository.ts";
import { readEntries, type Subject, timeText } from "../history.ts";
import { indent } from "../terminal.ts";
import { readReviews } from "../waiting.ts";

/** Parses `7d`, or a date such as `2026-03-04`, into milliseconds since 1970. @throws {Error} */
function parseSince(text: string, nowMs: number) {
	const span = parseSpan(text);
	if (span !== null) return nowMs - span;
	const timeMs = Date.parse(text);
	if (/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) && !Number.isNaN(timeMs)) return timeMs;
	throw new Error(`--since: must be a time such as 7d or 2026-03-04, not ${text}`);
}

async function waitingBranches(repository: string, { smallkey, sender }: Subject): Promise<string[]> {
	const waiting = await readReviews(repository, "waiting", smallkey);
	const reviews = waiting.filter(({ author }) => sender === undefined || author === sender);
	return reviews.map(({ branch }) => branch);
}

export const run = createRun(async ({ read, environment, io }) => {
	const [{ sender, since }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "the layer")
			.option("--sender <id>", "all that a sender has done, instead of one layer", parseSenderId)
			.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
			.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".'),
	);
	if ((smallkey === undefined) === (sender === undefined))
		throw new Error("a smallkey, or --sender <id>: one of them is needed");
	if (smallkey !== undefined && !parseSmallkey(smallkey))
		throw new Error(`smallkey: ${smallkeyRule}, not ${smallkey}`);
	const nowMs = io.now().getTime();
	const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : parseSince(since, nowMs);
	const { repository, name } = await findRepositoryOf(environment);
	const who = sender === undefined ? `the smallkey ${smallkey}` : `the sender ${sender}`;
	const subject = { smallkey, sender };
	const all = await readEntries(repository, nowMs, subject);
	const entries = all.filter(({ dateMs }) => dateMs >= sinceMs);
	for (const { id, dateMs, what, lines } of entries) {
		const head = `${timeText(dateMs)}  ${id.slice(0, 12)}  ${what}`;
		io.print(`${[head, ...indent(lines)].map(plain).join("\n")}\n`);
	}
	if (entries.length === 0) {
		const waiting = await waitingBranches(repository, subject);
		const none = `nothing${since === undefined ? "" : ` since ${since}`} in ${name}`;
		if (waiting.length === 0) throw new WrongError(`${who}: ${none}`);
		io.print(plain(`${who}: ${none}; waits on ${waiting.join(" ")}`));
		return exitCodes.done;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	io.print(`${counted(entries.length, "change")}${forged > 0 ? `, ${forged} forged` : ""}`);
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});
