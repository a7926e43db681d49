import { type Hashes, hashes } from "../../store/hashes.ts";

export async function notingHashes<T>(
	note: (name: keyof Hashes, bytes: Uint8Array, key?: Uint8Array) => void,
	run: () => Promise<T>,
): Promise<T> {
	const original = { ...hashes };
	const noted: Hashes = {
		sha1: (bytes) => {
			note("sha1", bytes);
			return original.sha1(bytes);
		},
		sha256: (bytes) => {
			note("sha256", bytes);
			return original.sha256(bytes);
		},
		hmacSha256: (key, bytes) => {
			note("hmacSha256", bytes, key);
			return original.hmacSha256(key, bytes);
		},
	};
	Object.assign(hashes, noted);
	try {
		return await run();
	} finally {
		Object.assign(hashes, original);
	}
}
