import { GitFailure, killGroup, outputOf, startGit } from "./run.ts";

/** How the records of a command are read. */
export interface RecordOptions {
	/** What ends each of them; a NUL character without it. */
	separator?: "\0" | "\n";
	/** Variables beside those of every git process here. */
	environment?: Readonly<Record<string, string>>;
}

/**
 * The records that git prints, in portions as they come. The process ends with the loop over them.
 * @throws {GitFailure} with git's own words where it exits with another code than 0
 */
export async function* readRecords(
	repository: string,
	args: string[],
	{ separator = "\0", environment = {} }: RecordOptions = {},
): AsyncGenerator<string[]> {
	const child = startGit(repository, args, environment);
	let complaint = "";
	child.stderr.on("data", (data: Buffer) => {
		complaint += data;
	});
	child.stdin.on("error", () => undefined);
	child.stdin.end();
	const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
	let rest: Buffer = Buffer.alloc(0);
	try {
		for await (const chunk of outputOf(child, args[0] ?? "")) {
			const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
			const end = data.lastIndexOf(separator) + 1;
			rest = data.subarray(end);
			if (end > 0) yield data.toString("utf8", 0, end - 1).split(separator);
		}
		const code = await closed;
		if (code !== 0) throw new GitFailure(`git ${args[0]}: ${complaint.trim() || `ended with ${code}`}`);
	} finally {
		killGroup(child);
	}
}
