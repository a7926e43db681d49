import { createHash, createHmac } from "node:crypto";
import type { Hashes } from "../../store/hashes.ts";

/** Node's own, at once: each of crypto.subtle's is a job for another thread, and took a quarter of a write's time. */
export const nodeHashes: Hashes = {
	sha1: (bytes) => createHash("sha1").update(bytes).digest(),
	sha256: (bytes) => createHash("sha256").update(bytes).digest(),
	hmacSha256: (key, bytes) => createHmac("sha256", key).update(bytes).digest(),
};
