import { sign } from "../../api/senders.ts";

/** A request that is signed now, for `fetch`. @param more who signs it, and its method */
export async function signed(
	path: string,
	text: string,
	more: { sender?: string; secret?: string; method?: string } = {},
) {
	const { sender = "jstest", secret = "test_-k", method = "PUT" } = more;
	const timestamp = new Date().toISOString();
	const body = new TextEncoder().encode(text);
	const Authorization = await sign(secret, { path, sender, timestamp, body });
	return {
		...{ method, body: text === "" ? null : text },
		headers: { Authorization, TimeStamp: timestamp, Sender: sender },
	};
}
