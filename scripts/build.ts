// npm run build [-- --layers DIR | --repo DIR [--ref REF]] [--out DIR] [--compress] [--fresh]: every fragment as a static file
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build/build.ts";
import { writeHostingFiles } from "./hosting/files.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";
import { plain } from "./terminal/plain.ts";

const usage = `npm run build [-- --layers DIR | --repo DIR [--ref REF]] [--out DIR] [--compress] [--fresh]

  --layers DIR   a folder of layers (layers)
  --repo DIR     a git repository instead, and --ref REF its commit (main)
  --out DIR      where the files go (dist); what is there of removed layers goes
  --compress     a .gz and a .br beside each file, for a web server that looks for them
  --fresh        look at every file again, also at those that the last build left in step`;

const options = {
	layers: { type: "string" },
	repo: { type: "string" },
	ref: { type: "string" },
	out: { type: "string" },
	compress: { type: "boolean" },
	fresh: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const;

await runCommand(async () => {
	const { values } = parseArgs({ options });
	if (values.help) {
		console.log(usage);
		return 0;
	}
	if (values.layers !== undefined && values.repo !== undefined) throw new Error(`usage: ${usage}`);
	if (values.ref !== undefined && values.repo === undefined) throw new Error(`usage: ${usage}`);
	const source =
		values.repo === undefined
			? { folder: values.layers ?? "layers" }
			: { repository: values.repo, ref: values.ref ?? "main" };
	const out = resolve(values.out ?? "dist");
	const { problems, written } = await build(
		source,
		out,
		readConfiguration(withoutStore(process.env)),
		values.fresh,
	);
	for (const problem of problems) console.error(plain(problem));
	if (!written) {
		console.error(`${problems.length} problems; nothing was written`);
		return 1;
	}
	await writeHostingFiles(out, values.compress ?? false);
	console.log(`${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`);
	return 0;
});
