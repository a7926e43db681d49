import type { changeSenders } from "../../api/service/senders-file.ts";
import { isSenderId } from "../../registry/sender.ts";
import { objectOf } from "../../site/service/decode.ts";
import { type Dump, textOf } from "./dump.ts";
import type { Refuse } from "./store-layers.ts";

export type SenderEntries = Parameters<Parameters<typeof changeSenders>[1]>[0];

/** Adds the senders of a dump (`{_id, key}`) to the entries of the senders file. A reason never contains a secret. */
export function addSenders(dump: Dump, entries: SenderEntries, refuse: Refuse): SenderEntries {
	const all = new Map(Object.entries(entries));
	const secretOf = (entry: unknown) => textOf(objectOf(entry).key ?? entry);
	const owners = new Map(Array.from(all, ([id, entry]) => [secretOf(entry), id]));
	for (const [place, { _id, key }] of dump) {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		if (!isSenderId(id)) refuse(id, "a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -", place);
		else if (secret === "") refuse(id, "has no key", place);
		else if (owner === id) continue;
		else if (all.has(id)) refuse(id, "is a sender here, with another secret: left as it is", place);
		else if (owner !== undefined) refuse(id, `has the same secret as ${owner}`, place);
		else {
			all.set(id, secret);
			owners.set(secret, id);
		}
	}
	return Object.fromEntries(all);
}
