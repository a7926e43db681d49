import { sign } from "../../api/signature.ts";

interface Signer {
	sender?: string | undefined;
	secret?: string | undefined;
	timestamp?: string | undefined;
}

/** The headers of a request, signed now; by default by jstest. */
export async function signedHeaders(path: string, text: string | Uint8Array, signer: Signer = {}) {
	const { sender = "jstest", secret = "test_-k", timestamp = new Date().toISOString() } = signer;
	const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
	const Authorization = await sign(secret, { path, sender, timestamp, body });
	return { Authorization, TimeStamp: timestamp, Sender: sender };
}

export async function signed(path: string, text: string, more: Signer & { method?: string } = {}) {
	const { method = "PUT", ...signer } = more;
	const headers = await signedHeaders(path, text, signer);
	return { method, body: text === "" ? null : text, headers };
}
