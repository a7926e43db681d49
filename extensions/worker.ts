import { olderWrites } from "./import/older-writes.ts";

/** What extensions add to the Cloudflare Worker, which does not harvest. */
export const workerWrites = olderWrites(null);
