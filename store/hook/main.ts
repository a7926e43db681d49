// The program of the repository's pre-receive hook, as a bundle. Exit code 1 refuses a push.
import { text } from "node:stream/consumers";
import { visible } from "../../registry/untrusted.ts";
import { judgePush } from "./push.ts";
import { parseUpdates } from "./updates.ts";

const { GIT_QUARANTINE_PATH, GIT_OBJECT_DIRECTORY = "", GIT_ALTERNATE_OBJECT_DIRECTORIES = "" } = process.env;
const quarantine =
	GIT_QUARANTINE_PATH === undefined
		? null
		: { GIT_QUARANTINE_PATH, GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES };
// Git starts a hook in the folder of the repository (githooks(5)).
const updates = parseUpdates(await text(process.stdin));
const { isAccepted, lines } = await judgePush(process.cwd(), quarantine, updates).catch(
	({ message }: Error) => {
		const line = `refused, because it could not be checked: ${message}. Try again, or ask the operator of the service`;
		return { isAccepted: false, lines: [visible(line)] };
	},
);
for (const line of lines) console.error(line);
process.exitCode = isAccepted ? 0 : 1;
