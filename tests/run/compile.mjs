import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

/** Replaces `import.meta.url` in a compiled module. */
const urlName = "sourceUrl";

/** The command that tests start in processes. */
const program = resolve("scripts/fragments.ts");

/** Files that the service starts as a process or a thread → the module that is compiled and started in their place. */
const workers = {
	"service/catalogue-worker.ts": "service/catalogue-worker.ts",
	"service/harvester/thread-entry.mjs": "service/harvester/thread-main.ts",
};

/** How the service starts a process with tsx, which what is compiled does not need. */
const withTsx = ', "--import", import.meta.resolve("tsx")';

/**
 * Source → calls, and what is called in their place: each takes a tenth of a second or more of the processor, and its result
 * is kept for a run.
 * @type {Record<string, [call: string, kept: string][]>}
 */
const keptCalls = {
	"catalogue/site.ts": [
		["= bundlePage()", "= kept(FOLDER, bundlePage)"],
		[
			"renderGuide(readGuidePages(), pages)",
			"(await kept(FOLDER, async function guide() { return renderGuide(readGuidePages(), pages); }, pages))",
		],
	],
	"scripts/host/bundle.ts": [
		[
			'await bundle("api/worker/worker.ts")',
			'await kept(FOLDER, async function worker() { return bundle("api/worker/worker.ts"); })',
		],
	],
	"store/hook/install.ts": [["await bundleHook()", "await kept(FOLDER, bundleHook)"]],
};

/** A source in which only the first process of a run makes these calls. @throws {Error} if the source has no such call */
function withKept(
	/** @type {string} */ text,
	/** @type {[string, string][]} */ calls,
	/** @type {string} */ folder,
) {
	for (const [call, kept] of calls) {
		if (!text.includes(call)) throw new Error(`no ${call}`);
		text = text.replace(call, () => kept.replace("FOLDER", JSON.stringify(folder)));
	}
	return `import { kept } from ${JSON.stringify(resolve("tests/run/kept.mjs"))}; ${text}`;
}

/**
 * Keeps the source's `import.meta.url`, since modules read and start files beside their sources. Only a worker that the
 * service's own code starts is started as it was compiled.
 * @param {string} folder of the compiled files
 * @returns {import("esbuild").Plugin}
 */
function sourceUrls(folder) {
	return {
		name: "source-urls",
		setup(setup) {
			setup.initialOptions.define = { "import.meta.url": urlName };
			setup.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
				let text = await readFile(path, "utf8");
				for (const [started, source] of Object.entries(workers)) {
					const own = `new URL("./${relative(dirname(path), resolve(started))}", import.meta.url)`;
					if (!text.includes(own)) continue;
					const compiled = pathToFileURL(join(folder, source.replace(/\.ts$/, ".js")));
					text = text.replace(own, `new URL(${JSON.stringify(compiled.href)})`).replace(withTsx, "");
				}
				for (const [source, calls] of Object.entries(keptCalls))
					if (path === resolve(source)) text = withKept(text, calls, folder);
				const url = JSON.stringify(pathToFileURL(path).href);
				// In the first line, which keeps the line numbers.
				return { contents: `const ${urlName} = ${url}; ${text}`, loader: "ts" };
			});
		},
	};
}

/** Packages that start a program or read files of their own. */
const unbundled = ["esbuild", "ol", "playwright-core", "tsx"];

/**
 * Packages that are not compiled with the tests: those, and those of tests. Loading the many files of the others takes a
 * tenth of a second of each process.
 */
async function externalPackages() {
	const { devDependencies } = JSON.parse(await readFile("package.json", "utf8"));
	return [...unbundled, ...Object.keys(devDependencies)];
}

/** CommonJS packages call `require` for modules of Node. */
const requireLine =
	'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);';

/** Starts the browser of a run, and what its page tests import. */
const sharedBrowser = resolve("tests/site/shared-browser.ts");
const browserUser = "tests/site/browser.ts";

/**
 * Compiles test files once for a run. With tsx each process loads several hundred modules through a second thread, which
 * takes longer than most tests. Shared modules are not duplicated, so that tests can compare their classes.
 * @param {readonly string[]} files absolute paths; JavaScript files are not in the result
 * @returns the compiled file of each test file, that of `scripts/fragments.ts`, that of the browser's start where a test
 * needs one, and a function that removes them
 * @throws {Error} with esbuild's messages where one cannot be read
 */
export async function compileTests(files) {
	// Within the project, so that packages are found.
	const cache = resolve("node_modules/.cache");
	await mkdir(cache, { recursive: true });
	const folder = await mkdtemp(join(cache, "tests-"));
	const remove = () => rm(folder, { recursive: true, force: true });
	const sources = files.filter((file) => file.endsWith(".ts"));
	try {
		const { metafile } = await build({
			entryPoints: [program, sharedBrowser, ...Object.values(workers), ...sources],
			bundle: true,
			splitting: true,
			external: await externalPackages(),
			mainFields: ["module", "main"],
			banner: { js: requireLine },
			// As tsx: keeps imports for side effects, and names.
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
			plugins: [sourceUrls(folder)],
		});
		/** @type {Map<string, string>} */
		const compiled = new Map();
		for (const [output, { entryPoint }] of Object.entries(metafile.outputs))
			if (entryPoint) compiled.set(resolve(entryPoint), resolve(output));
		const start = join(folder, "start.mjs");
		await writeFile(start, `import { main } from ${JSON.stringify(compiled.get(program))};\nawait main();\n`);
		const browser = browserUser in metafile.inputs ? (compiled.get(sharedBrowser) ?? null) : null;
		return { files: compiled, start, browser, remove };
	} catch (error) {
		await remove();
		throw error;
	}
}
