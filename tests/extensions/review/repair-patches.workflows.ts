import * as assert from "uvu/assert";
import { type Files, Repository, sharedSuite, wellsService, writeFiles } from "../../helpers/world.ts";
import { featureFile, ownersFile } from "./repository.ts";
import { World } from "./runner/world.ts";

let world: World;
const [moved, other] = ["layers/mo/moved.json", "layers/ot/other.json"];
/** The files of the branch main, and what a layer of them becomes. */
let main: Record<string, string>;
let after: string;

const test = sharedSuite("repairs that a search hands over, as GitHub runs it", async (use) => {
	const { origin } = use(await wellsService());
	const layerAt = (id: number) => featureFile(`${origin}/MapServer/${id}`);
	main = {
		"README.md": "read me\n",
		"layers/owners.json": ownersFile,
		[moved]: layerAt(1),
		[other]: layerAt(2),
	};
	after = layerAt(3);
	world = await World.open(main);
	use(() => world.close());
	delete world.variables.REPAIR;
});

/** What a search hands over as the repair of a layer: its patch, with names of files that were renamed. */
function repairOf(key: string, change: Files): Files {
	using repository = new Repository(main);
	repository.write(change);
	repository.git("add", "-A");
	const trailers = `Repairs: ${key}\nEvidence: 0123456789abcdef`;
	return {
		[`repair/${key}/repair.patch`]: repository.git("diff", "--cached", "--binary", "-M100%"),
		[`repair/${key}/message.txt`]: `repair ${key}\n\n${trailers}\nSender: jstest\n`,
		[`repair/${key}/text.md`]: "The table\n",
	};
}

/** Plays a refresh whose search hands over files. @returns what `gh` was called with for repairs */
async function refreshWith(...files: Files[]): Promise<string[]> {
	world.host.afterJob = (id, { artifacts }) => {
		if (id !== "harvest") return;
		writeFiles(artifacts.get("found") as string, Object.assign({}, ...files));
	};
	world.called.length = 0;
	world.begin("refresh");
	await world.settle();
	const { propose } = world.last("refresh").jobs;
	assert.is(propose?.result, "success", propose?.log);
	return world.called.filter((call) => call.includes("repair/"));
}

const branches = () => world.git("for-each-ref", "refs/heads/repair");
const textOf = (key: string) => `--title repair ${key} --body-file found/repair/${key}/text.md`;
const created = (key: string) => `pr create --head repair/${key} --base main ${textOf(key)}`;
test("a repair that renames a file, or that the review refuses, is neither pushed nor proposed", async () => {
	const renamed = ["README.md", "layers/owners.json", other].map((path): Files => {
		return { [path]: null, "layers/mo/renamed.json": main[path] as string };
	});
	for (const change of [...renamed, { [moved]: '{"version":"1.1.0"}\n' }]) {
		assert.equal(await refreshWith(repairOf("moved", change)), [], JSON.stringify(change));
		assert.is(branches(), "");
	}
});

test("a repair is a commit on its own branch and a pull request; only layers and two trailers come with it", async () => {
	const tip = world.git("rev-parse", "refs/heads/main");
	const change = { [moved]: after, "layers/health.json": "{}", "README.md": "mine\n" };
	assert.equal(await refreshWith(repairOf("moved", change)), [created("moved")]);
	assert.is(world.git("rev-parse", "refs/heads/main"), tip, "main is not written");
	assert.is(world.git("rev-parse", "repair/moved~1"), tip);
	assert.is(world.git("diff", "--name-only", "main", "repair/moved"), moved);
	assert.match(world.file(moved, "repair/moved") ?? "", "MapServer/3");
	const message = "repair moved\n\nRepairs: moved\nEvidence: 0123456789abcdef";
	assert.is(world.git("log", "-1", "--format=%B", "repair/moved"), message);
});

test("an outdated repair is closed under another title, so that it does not count as declined", async () => {
	const withdrawn = { "withdrawn.txt": "repair/moved\nmain\nrepair/a b; rm -rf x\n" };
	assert.equal(await refreshWith(withdrawn), [
		"pr edit repair/moved --title withdrawn: repair/moved",
		"pr close repair/moved --delete-branch --comment The layer is well again. · La couche fonctionne de nouveau.",
	]);
	assert.equal(await refreshWith(withdrawn), [], "it was closed meanwhile");
});

test("of what was drawn only pictures and their list are stored, in one commit", async () => {
	const pictures = { "mo/moved.webp": "RIFF", "proofs.json": "{}" };
	const all = { ...pictures, "mo/large.webp": "x".repeat(20_000), "mo/page.html": "<script>" };
	await refreshWith(
		Object.fromEntries(Object.entries(all).map(([name, text]) => [`proposed/${name}`, text])),
	);
	const listed = world.git("ls-tree", "-r", "--name-only", "pictures").split("\n");
	assert.equal(
		listed,
		Object.keys(pictures).map((name) => `proposed/${name}`),
	);
	assert.is(world.git("rev-list", "--count", "pictures"), "1");
	assert.is(world.git("show", "-s", "--format=%an", "pictures"), "fragment-publisher");
});

test.run();
