import { resolve } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { WrongError } from "../api/configuration.ts";
import type { Source } from "../publish/collect.ts";
import { counted, plain } from "../registry/untrusted.ts";
import { buildOutput, checkOutput } from "../site/build/output.ts";
import { createRun } from "./terminal/command-line.ts";

export function addSourceOptions<Args extends unknown[], Options extends OptionValues>(
	line: Command<Args, Options>,
) {
	return line
		.addOption(new Option("--layers <dir>", "a folder of layers (layers of this checkout)").conflicts("repo"))
		.option("--repo <dir>", "a git repository instead, such as DATA_DIR/repository.git of a running service")
		.option("--ref <ref>", "its commit (the branch main)");
}

type SourceOptions = Partial<Record<"layers" | "repo" | "ref", string | undefined>>;

export function sourceOf({ layers, repo, ref }: SourceOptions): { source: Source; name: string } {
	if (repo !== undefined) {
		const name = `${ref ?? "the branch main"} of the repository ${repo}`;
		return { source: { repository: repo, ref: ref ?? "refs/heads/main" }, name };
	}
	if (ref !== undefined) throw new Error("--ref: is for --repo");
	return { source: { folder: layers ?? "layers" }, name: layers ?? "layers/ of this checkout" };
}

const buildHelp = `
A wrong file of a folder prevents the whole build. With --repo everything else is built, and a wrong file in its last
valid form; the exit code is 1 in both cases.`;

export const build = createRun(async ({ read, environment, io, extensions }) => {
	const [options] = await read((line) =>
		addSourceOptions(line)
			.option("--out <dir>", "output folder; the files of removed layers are removed from it", "dist")
			.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
			.addHelpText("after", buildHelp),
	);
	const { source, name } = sourceOf(options);
	const out = resolve(options.out);
	io.warn(`Building ${name} into ${out}`);
	await checkOutput(out);
	const { problems, written, catalogue } = await buildOutput(source, out, environment, {
		...options,
		extensions,
	});
	for (const problem of problems) io.warn(plain(problem));
	const count = counted(problems.length, "problem");
	if (!written) throw new WrongError(`${count}; nothing was written`);
	io.print(`${written.written} written, ${written.removed} removed`);
	if (catalogue) {
		const files = counted(catalogue.written, "file");
		io.print(
			`${counted(catalogue.layers, "layer")} in the catalogue: ${files} written, ${catalogue.removed} removed`,
		);
	}
	if (problems.length > 0)
		throw new WrongError(`${count}; those files are served in their last valid form, or not at all`);
});
