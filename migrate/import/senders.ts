import { isSenderId } from "../../api/senders.ts";
import { isObject, textOf } from "../compare/json.ts";
import { type NotMoved, shortened } from "./document.ts";
import type { Entry } from "./dump.ts";

/** The result of merging an older service's senders. */
export interface MovedSenders {
	/** New text of the senders file. */
	text: string;
	added: number;
	/** Senders that the file already has, with the same secret. */
	same: number;
	notMoved: NotMoved[];
}

/**
 * Adds the senders of a dump (`{_id, key}`) to the text of a senders file. Existing senders keep their secrets. A reason
 * never contains a secret.
 * @param text text of the senders file; null if there is none yet
 */
export function moveSenders(entries: Iterable<Entry>, text: string | null): MovedSenders {
	const senders = new Map<string, unknown>(text === null ? [] : Object.entries(JSON.parse(text)));
	const owners = new Map([...senders].map(([id, value]) => [secretOf(value), id]));
	const moved: MovedSenders = { text: "", added: 0, same: 0, notMoved: [] };
	for (const entry of entries) {
		const { offset } = entry;
		const refuse = (key: string, reason: string) => moved.notMoved.push({ key, reason, offset });
		if (!("document" in entry)) {
			moved.notMoved.push(entry);
			continue;
		}
		const id = textOf(entry.document._id);
		const secret = textOf(entry.document.key);
		const owner = owners.get(secret);
		if (!isSenderId(id)) refuse(shortened(id), "a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -");
		else if (secret === "") refuse(id, "has no key");
		else if (owner === id) moved.same += 1;
		else if (senders.has(id)) refuse(id, "is a sender here, with another secret: left as it is");
		else if (owner !== undefined) refuse(id, `has the same secret as ${owner}`);
		else {
			senders.set(id, secret);
			owners.set(secret, id);
			moved.added += 1;
		}
	}
	moved.text = `${JSON.stringify(Object.fromEntries(senders), null, 2)}\n`;
	return moved;
}

function secretOf(value: unknown): string {
	return isObject(value) ? textOf(value.key) : textOf(value);
}
