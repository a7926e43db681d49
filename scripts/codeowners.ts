// npm run codeowners [-- --check]: writes .github/CODEOWNERS from layers/owners.json
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { codeownersPath, codeownersText, ownersPath, parseOwners } from "../registry/owners.ts";
import { runCommand } from "./terminal/command-line.ts";
import { plain } from "./terminal/plain.ts";

const usage = `npm run codeowners [-- --check]

  --check   writes nothing; exit code 1 where ${codeownersPath} is not what ${ownersPath} says`;

await runCommand(async () => {
	const { values } = parseArgs({
		options: { check: { type: "boolean" }, help: { type: "boolean", short: "h" } },
	});
	if (values.help) {
		console.log(usage);
		return 0;
	}
	const { owners, problems } = parseOwners(await readFile(ownersPath));
	for (const problem of problems) console.error(plain(`${ownersPath}: ${problem}`));
	if (!owners) return 1;
	const text = codeownersText(owners);
	const before = await readFile(codeownersPath, "utf8").catch(() => null);
	if (before === text) {
		console.log(`${codeownersPath} is as ${ownersPath} says`);
		return 0;
	}
	if (values.check) {
		console.error(`${codeownersPath}: is not as ${ownersPath} says; run npm run codeowners`);
		return 1;
	}
	await mkdir(dirname(codeownersPath), { recursive: true });
	await writeFile(codeownersPath, text);
	console.log(`${codeownersPath} written`);
	return 0;
});
