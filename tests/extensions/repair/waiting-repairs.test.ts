import * as assert from "uvu/assert";
import { findWaiting } from "../../../api/service/repository.ts";
import { proposalsOf } from "../../../extensions/repair/proposal.ts";
import { createRepairSearch } from "../../../extensions/repair/repair.ts";
import { createReadRepairs } from "../../../extensions/repair/waiting-repairs.ts";
import { declineReview } from "../../../extensions/review/decide.ts";
import { declinedEvidence, readOpen, writeProposal } from "../../../store/git/review-branches.ts";
import { suite } from "../../helpers/suite.ts";
import type { Repository } from "../../helpers/world.ts";
import { stations, together } from "./move.ts";
import { MemoryWorld, type World } from "./world.ts";

const test = suite<{ server: MemoryWorld; repository: Repository }>("waiting repairs");
test.before(async (scene) => {
	scene.server = new MemoryWorld();
});
test.after.each(({ repository }) => repository?.remove());

const now = new Date("2026-03-04T12:00:00Z");

/** Stores layers as they were before a move, and proposes what is found after it. */
async function propose(
	{ server }: { server: MemoryWorld },
	count: number,
	before: World,
	after: World,
): Promise<Repository> {
	const { layers, repository } = await server.register(before, together.registrations.slice(0, count));
	server.enter(after);
	const find = createRepairSearch(server.clients(), layers);
	const found = [];
	for (const layer of layers) found.push((await find(layer)).repair ?? []);
	const base = repository.git("rev-parse", "main").trim();
	for (const proposal of proposalsOf(found.flat(), new Set()))
		await writeProposal(repository.path, base, proposal, undefined, now);
	return repository;
}

test("a repair has its places and its evidence, in both languages", async (scene) => {
	const before = together.before([{ ...stations, id: 0 }]);
	const after = together.after([{ ...stations, id: 0, colour: 7 }]);
	scene.repository = await propose(scene, 1, before, after);
	const read = createReadRepairs(scene.repository.path);
	const { sure, from, to, rows = [] } = (await read("five1")) ?? {};
	assert.equal(
		{ sure, from, to },
		{
			sure: "perhaps",
			from: { en: `${together.from}/0`, fr: `${together.from}/0` },
			to: { en: `${together.to}/0`, fr: `${together.to}/0` },
		},
	);
	const symbols = rows.find(({ code }) => code === "symbols");
	assert.equal(symbols, {
		langs: ["en", "fr"],
		code: "symbols",
		text: { en: "symbols", fr: "symboles" },
		before: "symbol 200",
		after: "symbol 7",
		agrees: false,
	});
	assert.ok(rows.filter(({ code }) => code !== "symbols").every(({ agrees }) => agrees));
	scene.repository.git("branch", "-D", "repair/five1");
	assert.is(await read("five1"), null, "after a decision");
});

test("a declined repair no longer waits, and the evidence for each of its layers is kept", async (scene) => {
	const { layers } = together;
	scene.repository = await propose(scene, 5, together.before(layers), together.after(layers));
	const { path } = scene.repository;
	const [{ evidence } = { evidence: [] }] = await readOpen(path, "main");
	const reviewer = { name: "Ann", mail: "ann@example.org" };
	const branch = await declineReview(path, await findWaiting(path, "repair/five1"), reviewer, "No.");
	assert.match(branch, /^declined\/repair\/five1\//);
	assert.equal(await readOpen(path, "main"), []);
	assert.equal([(await declinedEvidence(path)).size, [...(await declinedEvidence(path))]], [5, evidence]);
});

test.run();
