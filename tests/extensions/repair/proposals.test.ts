import * as assert from "uvu/assert";
import { declinedEvidence } from "../../../extensions/repair/proposal-branches.ts";
import { limitRequests, type RepairRun, runRepair } from "../../../extensions/repair/run.ts";
import { readRepair } from "../../../extensions/repair/start.ts";
import { declineReview } from "../../../extensions/review/decide.ts";
import { findWaiting } from "../../../extensions/review/waiting.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { canonicalText, type Registration } from "../../../registry/registration.ts";
import { descriptionPath, layerPath } from "../../../registry/smallkey.ts";
import { parseHealth } from "../../../site/data/health.ts";
import { suite } from "../../helpers/suite.ts";
import type { Repository } from "../../helpers/world.ts";
import { together } from "./move.ts";
import { always, MemoryWorld, type World } from "./world.ts";

type Scene = { server: MemoryWorld; repository: Repository };
const test = suite<Scene>("proposals of repairs");

test.before(async (scene) => {
	scene.server = new MemoryWorld();
});
test.after.each(({ repository }) => repository?.remove());

const { smallkeys, layers: services } = together;
async function register(scene: Scene, count = 5) {
	const { layers, repository } = await scene.server.register(
		together.before(services),
		together.registrations.slice(0, count),
	);
	scene.repository = repository;
	return layers;
}

function run(
	{ server, repository }: Scene,
	layers: readonly CheckedLayer[],
	world: World,
	more: Partial<RepairRun> = {},
) {
	server.enter(world);
	const sick = Object.fromEntries(
		layers.map(({ smallkey }) => [smallkey, { state: "down", since: "2026-W09" }]),
	);
	const health = parseHealth(JSON.stringify({ sick }));
	return runRepair({
		connect: server.connect,
		repository: repository.path,
		base: repository.git("rev-parse", "main").trim(),
		mapWkid: 3978,
		layers,
		maxOpen: 20,
		health,
		now: new Date("2026-03-04T12:00:00Z"),
		...more,
	});
}

async function proposedIn(...args: Parameters<typeof run>) {
	return (await run(...args)).proposed.map(({ branch, sure }) => `${branch} ${sure}`);
}

const branches = (repository: Repository) =>
	repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/").trim().split("\n");

async function decline({ path }: Repository) {
	const reviewer = { name: "Ann", mail: "ann@example.org" };
	await declineReview(path, await findWaiting(path, "repair/five1"), reviewer, "No.");
}

test("five layers that move together are one proposal, and main stays as it is", async (scene) => {
	const layers = await register(scene);
	const { repository } = scene;
	const before = repository.git("rev-parse", "main");
	const { checked, proposed } = await run(scene, layers, together.after(services));
	assert.equal([checked, proposed.length, proposed[0]?.smallkeys], [5, 1, smallkeys]);
	assert.is(repository.git("rev-parse", "main"), before);
	const changed = repository.git("diff", "--name-only", "main", "repair/five1").trim().split("\n");
	assert.equal(changed, smallkeys.flatMap((key) => [layerPath(key), descriptionPath(key)]).sort());
	const file = JSON.parse(repository.git("show", `repair/five1:${layerPath("five3")}`));
	assert.is(file.fr.service_url, `${together.to}/2`);
	const message = repository.git("log", "-1", "--format=%an <%ae>%n%B", "repair/five1");
	assert.match(
		message,
		/^fragment-publisher <fragment-publisher@sender\.invalid>\nrepair five1 and 4 other layers: the same layer at another place\n/,
	);
	assert.is(message.match(/^Repairs: five\d$/gm)?.length, 5);
	assert.is(message.match(/^Evidence: [0-9a-f]{16}$/gm)?.length, 5);
	await decline(repository);
	assert.is((await declinedEvidence(repository.path)).size, 5);
});

test("a repair that waits has its places and its evidence, in both languages", async (scene) => {
	const layers = await register(scene, 1);
	await run(scene, layers, together.after(services.map((layer) => ({ ...layer, colour: 7 }))));
	const { sure, from, to, rows = [] } = (await readRepair(scene.repository.path, "five1")) ?? {};
	const placeIn = (service: string) => ({ en: `${service}/0`, fr: `${service}/0` });
	assert.equal([sure, from, to], ["perhaps", placeIn(together.from), placeIn(together.to)]);
	const [row, ...others] = rows.filter(({ agrees }) => !agrees);
	assert.equal(row, {
		langs: ["en", "fr"],
		code: "symbols",
		text: { en: "symbols", fr: "symboles" },
		before: "symbol 200",
		after: "symbol 7",
		agrees: false,
	});
	assert.ok(others.length === 0 && rows.length > 1);
	scene.repository.git("branch", "-D", "repair/five1");
	assert.is(await readRepair(scene.repository.path, "five1"), null, "after a decision");
});

test("a repair is proposed once for the same evidence, after a decline too", async (scene) => {
	const layers = await register(scene, 1);
	const { repository } = scene;
	const moved = together.after(services);
	await run(scene, layers, moved);
	const first = repository.git("rev-parse", "repair/five1");
	assert.equal(await proposedIn(scene, layers, moved), []);
	assert.is(repository.git("rev-parse", "repair/five1"), first);
	repository.git("branch", "-m", "repair/five1", "declined/repair/five1/7");
	assert.equal(await proposedIn(scene, layers, moved), [], "a pull request that was closed");
	repository.git("branch", "-m", "declined/repair/five1/7", "repair/five1");
	await decline(repository);
	assert.equal(await proposedIn(scene, layers, moved), [], "declined");
	assert.not(branches(repository).includes("repair/five1"));
	const grown = together.after(services.map((layer) => ({ ...layer, features: 5_000 })));
	assert.equal(await proposedIn(scene, layers, grown), [], "a number of features is nothing new");
	const other = together.after(services.slice(0, 1).map((layer) => ({ ...layer, id: 9 })));
	assert.equal(await proposedIn(scene, layers, other), ["repair/five1 same"], "another place is");
});

test("at most so many wait at once, and those that are of no use are withdrawn", async (scene) => {
	const layers = await register(scene);
	const { repository } = scene;
	// Other symbols: each is perhaps the same layer, so that each is a proposal of its own.
	const moved = together.after(services.map((service) => ({ ...service, colour: 7 })));
	const first = await proposedIn(scene, layers, moved, { maxOpen: 2 });
	assert.equal(first, ["repair/five1 perhaps", "repair/five2 perhaps"]);
	assert.equal(branches(repository), ["main", "repair/five1", "repair/five2"]);
	const down = await run(scene, layers, {}, { maxOpen: 2 });
	assert.equal([down.proposed, down.withdrawn], [[], []], "the new place does not answer today");
	const back = await run(scene, layers, together.before(services), { maxOpen: 2 });
	assert.equal(back.withdrawn, ["repair/five1", "repair/five2"]);
	assert.equal(branches(repository), ["main"]);
});

test("a repair is proposed again when its layer has changed, after a decline too", async (scene) => {
	const layers = await register(scene, 1);
	const { repository } = scene;
	const moved = together.after(services);
	await run(scene, layers, moved);
	const edit = (title: string) => {
		const [layer] = layers as [CheckedLayer];
		const en = { ...layer.registration.en, service_name: title };
		const registration = { ...layer.registration, en } as Registration;
		repository.commit(`rename to ${title}`, { [layerPath("five1")]: canonicalText(registration) });
		return [{ ...layer, registration }];
	};
	const renamed = edit("Ozone");
	assert.is((await proposedIn(scene, renamed, moved)).length, 1);
	const file = () => JSON.parse(repository.git("show", `repair/five1:${layerPath("five1")}`)).en;
	assert.equal(file(), { service_url: `${together.to}/0`, service_name: "Ozone" }, "the new title is in it");
	const twice = edit("Ozone of today");
	await decline(repository);
	assert.is((await proposedIn(scene, twice, moved)).length, 1, "a decline of a stale one");
	assert.is(file().service_name, "Ozone of today");
	await decline(repository);
	assert.equal(await proposedIn(scene, twice, moved), [], "a decline of what can be accepted");
});

test("layers share the answers of a service, which is asked 200 times at most", async ({ server }) => {
	const often = "could not be checked completely";
	server.enter({ "http://a.example": always({ body: "a" }), "http://b.example": always({ body: "b" }) });
	const limited = limitRequests(server.connect);
	for (let count = 0; count < 197; count += 1) await limited.ask(`http://a.example/before-${count}`);
	server.asked.length = 0;
	const first = await limited.ask("http://a.example/1");
	assert.is(await limited.ask("http://a.example/1"), first);
	assert.equal(server.asked, ["http://a.example/1"]);
	await limited.ask("http://a.example/2");
	assert.ok((await limited.fetch("http://a.example/redirect")).ok);
	const refused = await limited.ask("http://a.example/200");
	assert.is(refused.ok || refused.message, often);
	assert.is(server.asked.length, 3);
	const failure = await limited.fetch("http://a.example/redirect").catch(({ message }) => message);
	assert.is(failure, often);
	assert.ok((await limited.ask("http://b.example/")).ok);
});

test.run();
