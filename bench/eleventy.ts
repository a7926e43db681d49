import { access, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { fullBuild, removeOutput } from "./builds.ts";
import { root, run } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Eleventy and its lock file are here, and not among the project's own packages. */
const home = join(root, "bench/eleventy");
const program = join(home, "node_modules/@11ty/eleventy/cmd.js");

/** Most layers: Eleventy keeps a page object for each fragment. */
const maxLayers = 10_000;

async function install(): Promise<void> {
	const isThere = await access(program).then(
		() => true,
		() => false,
	);
	if (!isThere) await run("npm", ["ci", "--ignore-scripts"], { cwd: home });
}

/** The project's own renderer as a module that Eleventy's templates can require: both sides render the same way. */
async function bundleRenderer(path: string): Promise<void> {
	await build({
		stdin: {
			contents:
				'export { parseRegistration } from "./registry/registration.ts"; export { renderLayer } from "./registry/targets/render.ts";',
			resolveDir: root,
		},
		bundle: true,
		format: "cjs",
		platform: "node",
		outfile: path,
	});
}

async function prepare(world: World): Promise<Pair> {
	await install();
	const layers = join(await world.checkout(Math.min(maxLayers, world.layers)), "layers");
	const renderer = world.path("renderer.cjs");
	await bundleRenderer(renderer);
	const out = world.path("ten-thousand");
	const theirs = world.path("eleventy");
	const render = async () => {
		await removeOutput(theirs);
		await mkdir(theirs);
		const start = performance.now();
		const env = { LAYERS: layers, RENDERER: renderer };
		await run(process.execPath, [program, "--quiet", "--input=pages", `--output=${theirs}`], {
			cwd: home,
			env,
		});
		return (performance.now() - start) / 1000;
	};
	await fullBuild(layers, out);
	await render();
	// Not a measurement of something else: the same files, with the same bytes.
	await run("diff", ["-r", "-q", join(out, "v0.9"), join(theirs, "v0.9")]);
	return {
		ours: () => fullBuild(layers, out),
		reference: render,
		close: async () => {
			await removeOutput(out);
			await rm(theirs, { recursive: true, force: true });
		},
	};
}

/** The row that compares with a static site generator. */
export const eleventyRows: Row[] = [
	{
		name: "eleventy",
		ours: "full build, at most 10,000 layers",
		reference: "Eleventy 2, the same data to the same files",
		unit: "s",
		reach: { of: "ratio", most: 0.25 },
		prepare,
	},
];
