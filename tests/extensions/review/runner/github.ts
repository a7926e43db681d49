import type { JsonAnswer, JsonRequest } from "../../../scripts/json-server.ts";
import type { World } from "./world.ts";

/** The token of a job, which has the permissions that the workflow gives it. */
export function tokenWith(permissions: Record<string, string>): string {
	return ["token-of-a-run", ...Object.keys(permissions)].join(".");
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

/** GitHub's refusal of a request by its token; null where the server for reviews answers. */
export function refusal({ method, path, headers }: JsonRequest): JsonAnswer | null {
	const below = path.replace("/repos/maps/layers", "");
	const token = headers.authorization?.split(" ")[1] ?? "";
	if (/^token-of-the-app-\d+$/.test(token)) return null;
	const [, ...names] = needed.find(([pattern]) => pattern.test(below)) ?? [];
	// A run's own token may write issues, and nothing else.
	const mayAsk = method === "GET" || below.startsWith("/issues");
	const isGranted = names.length === 0 || names.some((name) => token.split(".").includes(name));
	if (mayAsk && isGranted) return null;
	return { status: 403, body: { message: "Resource not accessible by integration" } };
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
		return listed.map((pull) => ({
			number: pull.number,
			headRefName: branchOf(pull),
			headRefOid: pull.sha,
			statusCheckRollup: world.peer.checks
				.filter(({ head_sha }) => head_sha === pull.sha)
				.map(({ name, conclusion }) => ({ name, conclusion: conclusion.toUpperCase() })),
		}));
	}
	world.called.push(words.join(" "));
	const isNew = topic === "pr" && verb === "create";
	const pull = isNew ? world.open("maps-workflows[bot]", `maps:${after("--head")}`, "") : of(named)[0];
	if (topic !== "pr" || !pull) throw new Error(`unknown: ${words.join(" ")}`);
	if (verb === "close") pull.isClosed = true;
	if (words.includes("--delete-branch")) world.git("branch", "-q", "-D", named ?? "");
	pull.title = after("--title") ?? pull.title;
	if (body !== null) world.texts.set(pull.number, body);
	return null;
}
