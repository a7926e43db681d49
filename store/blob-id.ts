import { hexOf, webHashes } from "./hashes.ts";

const encoder = new TextEncoder();

/**
 * The id that git gives a file: SHA-1 in hex of `blob <bytes>\0` and the text in UTF-8 (Pro Git, "Git Objects").
 */
export async function blobId(text: string, hashes = webHashes): Promise<string> {
	const bytes = encoder.encode(text);
	const header = encoder.encode(`blob ${bytes.length}\0`);
	const whole = new Uint8Array(header.length + bytes.length);
	whole.set(header);
	whole.set(bytes, header.length);
	return hexOf(await hashes.sha1(whole));
}
