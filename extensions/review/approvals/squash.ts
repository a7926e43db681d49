import { subjectOf } from "../../../store/git/commands/commits.ts";

/** A line of a commit's last paragraph such as `Sender: energy`. */
const trailer = /^[A-Za-z][A-Za-z-]*: \S/;

function trailersIn(message: string): string[] {
	const [, ...paragraphs] = message.trim().split(/\n[ \t]*\n/);
	const lines = (paragraphs.at(-1) ?? "").split("\n").map((line) => line.trim());
	return lines.every((line) => trailer.test(line)) ? lines : [];
}

/**
 * The text of the one commit that a merge by squash makes. The trailers of the commits stay, each once: audit and the guard
 * against replays read who has sent what.
 * @param messages of the commits, the oldest first
 */
export function squashText(
	{ number, title }: { number: number; title: string },
	messages: readonly string[],
) {
	const [first = ""] = messages;
	const subject = messages.length === 1 ? subjectOf(first) : title;
	const trailers = [...new Set(messages.flatMap(trailersIn))];
	return { commit_title: `${subject} (#${number})`, commit_message: trailers.join("\n") };
}
