// npx fragment-publisher backup: copies the layers and the senders of DATA_DIR to another disk
import { resolve } from "node:path";
import { readConfiguration } from "../../../api/service/settings.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { backUp, backupLines } from "../backup.ts";

const help = `
The service may run meanwhile. The first backup copies everything, later ones what is new. The branch main of the backup only
moves forward: it ends with 1, and the backup is as before, if DATA_DIR lacks commits that the backup has, or is damaged.
docs/operate.md says how to restore it.`;

export const run = createRun("backup", async ({ read, environment, io }) => {
	const [, named] = await read((line) =>
		line.argument("<dir>", "the folder of the backup, on another disk").addHelpText("after", help),
	);
	const { dataDir } = readConfiguration({ DATA_DIR: environment.DATA_DIR });
	const folder = resolve(named);
	for (const line of backupLines(folder, await backUp(dataDir, folder, io.now()))) io.print(line);
});
