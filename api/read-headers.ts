import { exposedHeaders } from "./reply.ts";

/** Cached a minute everywhere, and longer while it is fetched again or the origin is away (RFC 5861). */
export const readCaching = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400";

/** Headers of every fragment, however it is served; its `ETag` stands beside them. */
export const fragmentHeaders = {
	"Content-Type": "application/json; charset=utf-8",
	"Access-Control-Allow-Origin": "*",
	"Access-Control-Expose-Headers": exposedHeaders,
	"Cache-Control": readCaching,
	"X-Content-Type-Options": "nosniff",
} as const;
