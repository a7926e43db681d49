/** A request that a job with a key sends later (`.github/send-plan.sh`). */
export interface PlannedRequest {
	method: string;
	/** Below the repository: `issues/7/comments`. */
	path: string;
	body: unknown;
}

/**
 * A fetch that sends what reads, and notes what writes to the repository, which it answers as if it had been done. So a job
 * whose packages could do anything needs no key.
 * @param root address of the repository in GitHub's API
 * @param startedAt time before anything was read, which checks get: one that was judged later is not replaced
 */
export function planWrites(
	send: typeof fetch,
	root: string,
	startedAt: Date,
): { fetch: typeof fetch; plan: PlannedRequest[] } {
	const plan: PlannedRequest[] = [];
	const noting: typeof fetch = async (input, init) => {
		const { method = "GET", body } = init ?? {};
		if (method === "GET") return send(input, init);
		const address = String(input);
		if (!address.startsWith(`${root}/`)) throw new Error(`${method} ${address}: is not below ${root}`);
		const text = typeof body === "string" ? body : "{}";
		const path = address.slice(root.length + 1);
		const time = path === "check-runs" ? { started_at: startedAt.toISOString() } : {};
		plan.push({ method, path, body: { ...JSON.parse(text), ...time } });
		return Response.json({});
	};
	return { fetch: noting, plan };
}
