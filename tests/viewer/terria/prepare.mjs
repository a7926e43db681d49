// node tests/viewer/terria/prepare.mjs, before npm run test:all -- viewers: fetches Terria, and bundles entry.mjs with its classes for Node.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

/** What is taken of Terria and of its Cesium, without their packages: they are several hundred. */
const sources = {
	terriajs: {
		version: "8.7.11",
		part: "package/lib",
		integrity:
			"sha512-dvA2UujJN616K4vBna/hl0Xr0KjllNrbk/eK4JAMLRvWXR7WXtZrZfzYwO0fwQGCJ1lDGcZ0KoMVJUnX3F4C7w==",
	},
	"terriajs-cesium": {
		version: "8.0.1",
		part: "package",
		integrity:
			"sha512-99sEp1DKC2g67QwRueE+EZxbOrI9nAw+LP5AsGBtJqr6cD+20Whkx3kMDweE4tjeBMWPjDMZbsbFbILbbSqqVw==",
	},
};
const folder = fileURLToPath(new URL(".", import.meta.url));
const packages = join(folder, "node_modules");
const runProgram = promisify(execFile);

/** Name → folder. */
const places = new Map(
	Object.entries(sources).map(([name, { version }]) => [name, join(packages, `${name}-${version}`)]),
);

/**
 * Unpacks a package's sources. @throws {Error} where it is not the one known
 * @param {[name: string, source: typeof sources.terriajs]} source
 */
async function fetchSources([name, { version, part, integrity }]) {
	const place = await mkdtemp(join(packages, "fetched-"));
	const words = ["pack", `${name}@${version}`, "--ignore-scripts", "--pack-destination", place];
	await runProgram("npm", words, { cwd: folder });
	const file = join(place, `${name}-${version}.tgz`);
	const found = `sha512-${createHash("sha512")
		.update(await readFile(file))
		.digest("base64")}`;
	if (found !== integrity) throw new Error(`${name} ${version}: integrity ${found}, expected ${integrity}`);
	await runProgram("tar", ["-xzf", file, "-C", place, part]);
	await rename(join(place, "package"), places.get(name) ?? "");
	await rm(place, { recursive: true });
}

/** For a package or a file that the tests do not use: any member of it is such a value, too. */
const anything = `
	const make = (parent) => new Proxy(function () {}, {
		get: (target, name) => name === "__esModule" ? false : name === Symbol.toPrimitive ? () => ""
			: name === "prototype" ? target.prototype : any,
		apply: () => any,
		construct: () => ({}),
		getPrototypeOf: parent,
	});
	const any = make(() => Function.prototype);
	module.exports = make(() => any);`;

/** Finds Terria's sources, and replaces what is not installed here. @type {import("esbuild").Plugin} */
const withoutBrowser = {
	name: "without-browser",
	setup({ onResolve, onLoad, resolve }) {
		const namespace = "anything";
		// With `!` in front: a loader of webpack.
		onResolve({ filter: /\.(?:s?css|svg|png|json|wasm|xml|html|gltf|DAC)$|!/ }, ({ path }) => ({
			path,
			namespace,
		}));
		onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
			const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
			const resolveDir = places.get(name);
			if (resolveDir) return resolve(path.replace(name, "."), { resolveDir, kind });
			if (kind === "entry-point" || name.startsWith("node:")) return undefined;
			return existsSync(join(packages, name)) ? undefined : { path: name, namespace };
		});
		onLoad({ filter: /.*/, namespace }, () => ({ contents: anything, loader: "js" }));
	},
};

if (![...places.values()].every((place) => existsSync(place))) {
	await runProgram("npm", ["ci", "--ignore-scripts"], { cwd: folder });
	for (const source of Object.entries(sources)) await fetchSources(source);
}
await build({
	entryPoints: [join(folder, "entry.mjs")],
	outfile: join(packages, ".cache/terria.mjs"),
	bundle: true,
	platform: "node",
	format: "esm",
	mainFields: ["module", "main"],
	// Modules register themselves although Terria's package says that they have no side effects.
	ignoreAnnotations: true,
	tsconfigRaw: {
		compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false, jsx: "react" },
	},
	define: { "process.env.NODE_ENV": '"production"' },
	banner: {
		js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
	},
	logLevel: "error",
	plugins: [withoutBrowser],
});
