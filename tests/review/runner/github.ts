import type { JsonAnswer, JsonRequest } from "../../scripts/json-server.ts";
import type { World } from "./world.ts";

/** What GitHub answers to requests that the server for reviews does not know; null for those that it knows. */
export function answerMore(world: World, { method, path, body }: JsonRequest): JsonAnswer | null {
	const own = path.replace("/repos/maps/layers", "");
	if (own === "/gh") return answerGh(world, body as unknown as GhCall);
	const labels = /^\/issues\/(\d+)\/labels$/.exec(own);
	const pull = world.pulls.find(({ number }) => number === Number(labels?.[1]));
	if (pull) {
		if (method === "POST") pull.labels.push(...(body.labels as string[]));
		return { status: 200, body: pull.labels.map((name) => ({ name })) };
	}
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

interface GhCall {
	words: string[];
	token?: string;
	body: string | null;
}

/** What `gh` is answered: as much of it as the workflows use. */
function answerGh(world: World, { words, body }: GhCall): JsonAnswer {
	const after = (name: string) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
	const [topic, verb, named] = words;
	const branchOf = ({ from }: { from: string }) => from.split(":")[1];
	const open = world.pulls.filter(({ merged, number }) => !merged && !world.closed.has(number));
	const of = (branch: string | undefined) => open.filter((pull) => branchOf(pull) === branch);
	if (topic === "auth") return { status: 200, body: null };
	if (topic === "run") return { status: 200, body: [{ databaseId: 1 }] };
	if (topic === "pr" && verb === "list") {
		const listed = after("--head") === undefined ? open : of(after("--head"));
		const shown = listed.map((pull) => ({ number: pull.number, headRefName: branchOf(pull) }));
		return { status: 200, body: shown };
	}
	world.called.push(words.join(" "));
	if (topic === "pr" && verb === "create") {
		const pull = world.open("maps-workflows[bot]", `maps:${after("--head")}`, after("--title") ?? "");
		world.texts.set(pull.number, body ?? "");
		return { status: 200, body: null };
	}
	const [pull] = of(named);
	if (topic === "pr" && pull && verb === "edit") {
		if (body !== null) world.texts.set(pull.number, body);
		pull.title = after("--title") ?? pull.title;
		return { status: 200, body: null };
	}
	if (topic === "pr" && pull && verb === "close") {
		world.closed.add(pull.number);
		return { status: 200, body: null };
	}
	return { status: 422, body: `unknown: ${words.join(" ")}` };
}
