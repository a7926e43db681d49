import type { JsonAnswer, JsonRequest } from "../../../scripts/json-server.ts";
import type { World } from "./world.ts";

/** The token of a job, which has the permissions that the workflow gives it. */
export function tokenWith(token: string, permissions: Record<string, string>): string {
	return [token, ...Object.keys(permissions)].join(".");
}

/** The permissions of a job, of which a request needs one ("Permissions required for GitHub Apps"). */
const needed: readonly (readonly [RegExp, ...string[]])[] = [
	[/^\/pulls/, "pull-requests"],
	[/^\/issues\/\d+\//, "issues", "pull-requests"],
	[/^\/issues/, "issues"],
	[/^\/(?:commits\/[^/]+\/)?check-runs/, "checks"],
	[/^\/commits\/[^/]+\/status/, "statuses"],
	[/^\/(?:git|activity|compare|contents|commits)/, "contents"],
];

/** Why GitHub refuses a request of a job's own token; null if it does not. */
function refusalOf(path: string, authorization = ""): string | null {
	const [, permissions] = /^(?:Bearer|token) token-of-a-run(?:\.(.*))?$/.exec(authorization) ?? [];
	const isOfJob = authorization.includes("token-of-a-run");
	const [, ...names] = needed.find(([pattern]) => pattern.test(path)) ?? [];
	const given = (permissions ?? "").split(".");
	const isGranted = !isOfJob || names.length === 0 || names.some((name) => given.includes(name));
	return isGranted ? null : "Resource not accessible by integration";
}

/** What GitHub answers to requests that the server for reviews does not judge; null for all others. */
export function answerMore({ method, path, headers }: JsonRequest): JsonAnswer | null {
	const below = path.replace("/repos/maps/layers", "");
	// A run's own token may write issues, and nothing else.
	const mayWrite = /^(?:Bearer|token) token-of-the-app-\d+$/.test(headers.authorization ?? "");
	if (method !== "GET" && !below.startsWith("/issues") && !mayWrite)
		return { status: 403, body: { message: "Resource not accessible by integration" } };
	const refusal = refusalOf(below, headers.authorization);
	if (refusal !== null) return { status: 403, body: { message: refusal } };
	return null;
}

/** What `gh` is answered: as much of it as the workflows use. @throws {Error} if GitHub would refuse it */
export function answerGh(world: World, words: readonly string[], body: string | null): unknown {
	const after = (name: string) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
	const [topic, verb, named] = words;
	const branchOf = ({ from }: { from: string }) => from.split(":")[1];
	const open = world.pulls.filter(({ merged, isClosed }) => !merged && !isClosed);
	const of = (branch: string | undefined) => open.filter((pull) => branchOf(pull) === branch);
	if (topic === "auth") return null;
	if (topic === "pr" && verb === "list") {
		const listed = after("--head") === undefined ? open : of(after("--head"));
		return listed.map((pull) => ({ number: pull.number, headRefName: branchOf(pull) }));
	}
	world.called.push(words.join(" "));
	const isNew = topic === "pr" && verb === "create";
	const pull = isNew ? world.open("maps-workflows[bot]", `maps:${after("--head")}`, "") : of(named)[0];
	if (topic !== "pr" || !pull) throw new Error(`unknown: ${words.join(" ")}`);
	if (verb === "close") pull.isClosed = true;
	pull.title = after("--title") ?? pull.title;
	if (body !== null) world.texts.set(pull.number, body);
	return null;
}
