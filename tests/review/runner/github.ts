import type { JsonAnswer, JsonRequest } from "../../scripts/json-server.ts";
import type { World } from "./world.ts";

/** What GitHub answers to requests that the server for reviews does not know; null for those that it knows. */
export function answerMore(world: World, request: JsonRequest): JsonAnswer | null {
	const { method, path, headers, body, query } = request;
	const own = path.replace("/repos/maps/layers", "");
	// A run's own token may write issues, and nothing else.
	const mayWrite = /^(?:Bearer|token) token-of-the-app-\d+$/.test(headers.authorization ?? "");
	if (method !== "GET" && !own.startsWith("/issues") && !mayWrite)
		return { status: 403, body: { message: "Resource not accessible by integration" } };
	const labels = /^\/issues\/(\d+)\/labels$/.exec(own);
	const pull = world.pulls.find(({ number }) => number === Number(labels?.[1]));
	if (pull) {
		if (method === "POST") pull.labels.push(...(body.labels as string[]));
		return { status: 200, body: pull.labels.map((name) => ({ name })) };
	}
	if (own === "/pulls" && query.get("state") === "all")
		return { status: 200, body: world.pulls.map(shownPull(world)) };
	if (own === "/issues" && method === "GET") return { status: 200, body: world.issues };
	if (own === "/issues") {
		const { title, body: text } = body as { title: string; body: string };
		const number = 1_000 + world.issues.length;
		world.issues.push({ number, title, body: text, user: { login: "github-actions[bot]" } });
		return { status: 201, body: { number } };
	}
	const issue = /^\/issues\/(\d{4,})(\/comments)?$/.exec(own);
	if (issue) {
		const at = world.issues.findIndex(({ number }) => number === Number(issue[1]));
		if (body.state === "closed") world.issues.splice(at, 1);
		else if (!issue[2]) Object.assign(world.issues[at] ?? {}, body);
		return { status: 200, body: {} };
	}
	return null;
}

/** A pull request as GitHub lists it, whether it is open or not. */
const shownPull = (world: World) => (pull: World["pulls"][number]) => {
	const [owner = "", ref = ""] = pull.from.split(":");
	const { number, title, merged } = pull;
	const state = merged || world.closed.has(number) ? "closed" : "open";
	const head = { ref, sha: pull.sha, repo: { full_name: `${owner}/layers` } };
	const base = { ref: pull.base, repo: { full_name: "maps/layers" } };
	return { number, title, state, merged_at: merged ? "2026-01-02T00:00:00Z" : null, head, base };
};

/** What `gh` is answered: as much of it as the workflows use. @throws {Error} if GitHub would refuse it */
export function answerGh(world: World, words: readonly string[], body: string | null): unknown {
	const after = (name: string) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
	const [topic, verb, named] = words;
	const branchOf = ({ from }: { from: string }) => from.split(":")[1];
	const open = world.pulls.filter(({ merged, number }) => !merged && !world.closed.has(number));
	const of = (branch: string | undefined) => open.filter((pull) => branchOf(pull) === branch);
	if (topic === "auth") return null;
	if (topic === "run") return [{ databaseId: 1 }];
	if (topic === "pr" && verb === "list") {
		const listed = after("--head") === undefined ? open : of(after("--head"));
		return listed.map((pull) => ({ number: pull.number, headRefName: branchOf(pull) }));
	}
	world.called.push(words.join(" "));
	if (topic === "pr" && verb === "create") {
		const pull = world.open("maps-workflows[bot]", `maps:${after("--head")}`, after("--title") ?? "");
		world.texts.set(pull.number, body ?? "");
		return null;
	}
	const [pull] = of(named);
	if (topic === "pr" && pull && verb === "edit") {
		if (body !== null) world.texts.set(pull.number, body);
		pull.title = after("--title") ?? pull.title;
		return null;
	}
	if (topic === "pr" && pull && verb === "close") {
		world.closed.add(pull.number);
		return null;
	}
	throw new Error(`unknown: ${words.join(" ")}`);
}

/** What a merge is answered. @param squash makes it, and returns its commit */
export function answerMerge(
	head: string | undefined,
	{ sha, merge_method: method, commit_title: title, commit_message: message }: Record<string, unknown>,
	squash: (text: string) => string,
): JsonAnswer {
	// "405 Method Not Allowed": a repository that allows only squash, or a rule that is not met.
	if (method !== "squash") return { status: 405, body: { message: "Merge commits are not allowed" } };
	if (head !== sha) return { status: 409, body: { message: "Head branch was modified" } };
	return { status: 200, body: { merged: true, sha: squash(`${title}\n\n${message}`) } };
}
