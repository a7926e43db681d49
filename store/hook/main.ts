// The program of the repository's pre-receive hook, as a bundle. Exit code 1 refuses a push.
import { text } from "node:stream/consumers";
import { visible } from "../../registry/untrusted-text.ts";
import { judgePush, type Verdict } from "./push.ts";
import { parseUpdates } from "./updates.ts";

function failureVerdict(error: unknown): Verdict {
	const reason = error instanceof Error ? error.message : String(error);
	const line = `refused, because it could not be checked: ${reason}. Try again, or ask the operator of the service`;
	return { isAccepted: false, lines: [visible(line)] };
}

const { GIT_QUARANTINE_PATH, GIT_OBJECT_DIRECTORY = "", GIT_ALTERNATE_OBJECT_DIRECTORIES = "" } = process.env;
const quarantine =
	GIT_QUARANTINE_PATH === undefined
		? null
		: { GIT_QUARANTINE_PATH, GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES };
// Git starts a hook in the folder of the repository (githooks(5)).
const updates = parseUpdates(await text(process.stdin));
const verdict = await judgePush(process.cwd(), quarantine, updates).catch(failureVerdict);
for (const line of verdict.lines) console.error(line);
process.exitCode = verdict.isAccepted ? 0 : 1;
