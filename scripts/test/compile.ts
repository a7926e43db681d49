import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** Test files as JavaScript, in a folder of their own. */
export interface CompiledTests {
	/** Test file → what Node runs in its place. */
	files: ReadonlyMap<string, string>;
	/** What Node runs in place of `scripts/fragments.cjs`. */
	start: string;
	remove: () => Promise<void>;
}

/** What stands for `import.meta.url` in a compiled module. */
const urlName = "sourceUrl";

/** What a module reads or starts lies beside its source: `import.meta.url` stays the source's. */
const sourceUrls: Plugin = {
	name: "source-urls",
	setup(setup) {
		setup.initialOptions.define = { "import.meta.url": urlName };
		setup.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
			const text = await readFile(path, "utf8");
			const url = JSON.stringify(pathToFileURL(path).href);
			// In the first line, so that all keep their numbers.
			return { contents: `const ${urlName} = ${url}; ${text}`, loader: "ts" };
		});
	},
};

/** The command that tests start in processes of their own. */
const program = resolve("scripts/fragments.ts");

/**
 * Compiles test files once for a run. Through tsx each process would load several hundred modules by way of a second
 * thread, which takes longer than most tests. A module that several files import stays one module: tests may compare
 * its classes, and each process loads no more than it imports.
 * @param files - absolute paths; those that are JavaScript already are not in the result
 * @throws {Error} with esbuild's messages where one cannot be read
 */
export async function compileTests(files: readonly string[]): Promise<CompiledTests> {
	// Packages are looked for upwards from here.
	const cache = resolve("node_modules/.cache");
	await mkdir(cache, { recursive: true });
	const folder = await mkdtemp(join(cache, "tests-"));
	const remove = () => rm(folder, { recursive: true, force: true });
	try {
		const { metafile } = await build({
			entryPoints: [program, ...files.filter((file) => file.endsWith(".ts"))],
			bundle: true,
			splitting: true,
			packages: "external",
			// As tsx has it: a module that is only imported for what it does is kept, and so are names.
			ignoreAnnotations: true,
			keepNames: true,
			format: "esm",
			platform: "node",
			target: "node20",
			sourcemap: true,
			sourcesContent: false,
			outdir: folder,
			outbase: ".",
			metafile: true,
			logLevel: "silent",
			plugins: [sourceUrls],
		});
		const outputs = Object.entries(metafile.outputs);
		const compiled = new Map(
			outputs.flatMap(([output, { entryPoint }]) =>
				entryPoint ? [[resolve(entryPoint), resolve(output)] as const] : [],
			),
		);
		const start = join(folder, "start.mjs");
		await writeFile(start, `import { main } from ${JSON.stringify(compiled.get(program))};\nawait main();\n`);
		return { files: compiled, start, remove };
	} catch (error) {
		await remove();
		throw error;
	}
}
