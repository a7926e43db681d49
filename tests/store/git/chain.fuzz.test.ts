import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CatFile } from "../../../git/cat-file.ts";
import { runGit } from "../../../git/run.ts";
import { syncPath } from "../../../git/sync.ts";
import { Trees } from "../../../git/trees.ts";
import { writePack } from "../../../git/write-pack.ts";
import { WrittenBlobs } from "../../../git/written-blobs.ts";
import { Chain } from "../../../store/git/chain.ts";
import { serviceIdentity } from "../../../store/git/new-commit.ts";
import { authorMail, commitMessage, type Edit } from "../../../store/store.ts";
import { fuzzRuns } from "../../fuzz.ts";
import { temporaryFolder } from "../../local.ts";

const chains = suite("commits made here");

/** Names that git sorts in its own way: a folder as if a slash ended its name, bytes and not letters. */
const names = ["a", "a.b", "a-b", "a0", "ab", "Z", "é", "日本", "b", "0", "~"];

const path = fc
	.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
	.map((parts) => parts.map((part, at) => (at === parts.length - 1 ? `${part}.json` : part)).join("/"));
const edit = fc.record({ path, text: fc.option(fc.string({ unit: "binary", maxLength: 400 }), { freq: 3 }) });
const history = fc.array(fc.array(edit, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 90 });

function commitOf(edits: Edit[], at: number) {
	const meta = {
		smallkey: null,
		author: "jstest",
		time: 1_700_000_000_000 + at * 1000,
		subject: `commit ${at}`,
		trailers: [["Sender", "jstest"]] as [string, string][],
		request: null,
		review: false,
	};
	return { edits, meta, committed: meta.time };
}

/** The same commits as git itself makes them. */
function fastImport(repository: string, commits: readonly ReturnType<typeof commitOf>[]): string {
	const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
	const stream = commits.map(({ edits, meta }) => {
		const seconds = Math.floor(meta.time / 1000);
		const lines = edits.map(({ path, text }) =>
			text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
		);
		const author = `author ${meta.author} <${authorMail(meta.author)}> ${seconds} +0000\n`;
		const committer = `committer ${serviceIdentity} ${seconds} +0000\n`;
		return `commit refs/heads/main\n${author}${committer}${data(commitMessage(meta))}${lines.join("")}\n`;
	});
	execFileSync("git", ["-C", repository, "fast-import", "--quiet"], { input: stream.join("") });
	return execFileSync("git", ["-C", repository, "rev-parse", "refs/heads/main"], { encoding: "utf8" }).trim();
}

/** The last of an order of edits to one path counts; a path is a file or a folder, not both. */
function settled(edits: Edit[]): Edit[] {
	return [...new Map(edits.map((one) => [one.path, one])).values()];
}

for (const format of ["sha1", "sha256"] as const) {
	chains(`have the ids that git gives them, and git finds nothing wrong with them (${format})`, async () => {
		const folder = await temporaryFolder();
		let runs = 0;
		await fc.assert(
			// Each case starts git several times: it is tried with one in five hundred of the others' number.
			fc.asyncProperty(history, fc.integer({ min: 1, max: 60 }), async (all, perPack) => {
				runs += 1;
				const commits = all.map((edits, at) => commitOf(settled(edits), at));
				const theirs = join(folder.path, `theirs-${runs}`);
				const ours = join(folder.path, `ours-${runs}`);
				for (const repository of [theirs, ours]) {
					mkdirSync(repository);
					await runGit(repository, ["init", "-q", "--bare", `--object-format=${format}`, "."]);
				}
				const catFile = new CatFile(ours);
				const written = new WrittenBlobs();
				let chain = new Chain({ trees: new Trees(catFile, 2_000), written }, format, null);
				let tip = "";
				for (let at = 0; at < commits.length; at += perPack) {
					const made = commits.slice(at, at + perPack).map((commit) => chain.commit(commit));
					const link = await chain.take();
					tip = (await Promise.all(made)).at(-1) ?? "";
					assert.is(link?.tip, tip);
					if (link) await writePack(ours, link.pack.files(), syncPath, 60_000);
					link?.stored();
					// Every other pack goes on from what is read back.
					if ((at / perPack) % 2 === 0)
						chain = new Chain({ trees: new Trees(catFile), written }, format, tip);
				}
				assert.is(tip, fastImport(theirs, commits));
				await runGit(ours, ["update-ref", "refs/heads/main", tip]);
				const output = await runGit(ours, ["fsck", "--strict", "--full", "--no-dangling", "--no-progress"]);
				assert.is(output.toString(), "");
				await catFile.close();
			}),
			{ numRuns: Math.ceil(fuzzRuns / 500) },
		);
		await folder.remove();
	});
}

chains.run();
