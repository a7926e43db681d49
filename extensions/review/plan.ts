import { writeFile } from "node:fs/promises";
import type { Environment } from "../../api/configuration.ts";
import { connectToGithub, fetchFromGithub } from "../../api/service/github.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import type { Github } from "../../store/github/client.ts";

/** What `.github/send-plan.sh` sends. */
export interface PlannedRequest {
	method: string;
	/** Below the repository: `issues/7/comments`. */
	path: string;
	body: unknown;
}

export const planOption = [
	"--plan <file>",
	"send nothing: write there what .github/send-plan.sh sends",
] as const;

/**
 * Runs a task with a connection to GitHub and the base branch. With the file `plan` it sends only what reads, and answers
 * what writes to the repository as if it had been done, which it writes to the file also after an error: so a job whose
 * packages could do anything needs no key.
 */
export async function withGithub<Result>(
	plan: string | undefined,
	environment: Environment,
	startedAt: Date,
	task: (github: Github, base: string) => Promise<Result>,
): Promise<Result> {
	const configuration = readConfiguration(environment);
	const { github: settings } = configuration;
	const base = settings?.branch ?? "main";
	if (plan === undefined || !settings) return task(connectToGithub(configuration), base);
	const requests: PlannedRequest[] = [];
	const send = fetchFromGithub(configuration);
	const root = `${settings.apiUrl.replace(/\/$/, "")}/repos/${settings.repository}/`;
	const github = connectToGithub(configuration, async (input, init) => {
		const { method = "GET", body = "{}" } = init ?? {};
		if (method === "GET") return send(input, init);
		const address = String(input);
		if (!address.startsWith(root)) throw new Error(`${method} ${address}: is not below ${root}`);
		const path = address.slice(root.length);
		// The time before anything was read: a check that was judged later is not replaced.
		const time = path === "check-runs" ? { started_at: startedAt.toISOString() } : {};
		requests.push({ method, path, body: { ...JSON.parse(String(body)), ...time } });
		return Response.json({});
	});
	return task(github, base).finally(() => writeFile(plan, JSON.stringify(requests)));
}
