import { test } from "uvu";
import * as assert from "uvu/assert";
import { lockFolder } from "../../service/data-dir.ts";
import { temporaryFolder } from "../local.ts";
import { eventually } from "../wait.ts";

test("a second one says at once what it waits for, and takes over when the first one ends", async () => {
	const folder = await temporaryFolder();
	const first = await lockFolder(folder.path);
	const said: string[] = [];
	const second = lockFolder(folder.path, { waiting: (line) => said.push(line), maxWaitMs: 60_000 });
	await eventually(() => said.length > 0);
	assert.equal(said, [`DATA_DIR: another process works in ${folder.path}; waiting 60 s for its end`]);
	await first.release();
	await (await second).release();
	assert.is(said.length, 1);
	await folder.remove();
});

test("a folder that stays in use is an error with the way out, and stays the first one's", async () => {
	const folder = await temporaryFolder();
	const first = await lockFolder(folder.path);
	for (let attempt = 0; attempt < 2; attempt += 1) {
		const error = await lockFolder(folder.path, { maxWaitMs: 0 }).catch((reason: Error) => reason);
		assert.match(
			String(error),
			`DATA_DIR: another process works in ${folder.path}; end it first, or choose another folder`,
		);
	}
	await first.release();
	await folder.remove();
});

(process.getuid?.() === 0 ? test.skip : test)(
	"a folder of another user is named with the way out",
	async () => {
		const error = await lockFolder("/", { maxWaitMs: 0 }).catch((one) => one);
		assert.is(
			error.message,
			"DATA_DIR: this user may not write in /: run this as the user of the service, who owns it",
		);
	},
);

test.run();
