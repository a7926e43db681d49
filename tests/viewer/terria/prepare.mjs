// node tests/viewer/terria/prepare.mjs, before npm run test:all -- viewers: fetches Terria, and bundles entry.mjs with its classes for Node.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const version = "8.7.11";
const integrity =
	"sha512-dvA2UujJN616K4vBna/hl0Xr0KjllNrbk/eK4JAMLRvWXR7WXtZrZfzYwO0fwQGCJ1lDGcZ0KoMVJUnX3F4C7w==";
const folder = fileURLToPath(new URL(".", import.meta.url));
const packages = join(folder, "node_modules");
const terria = join(packages, `terriajs-${version}`);
const runProgram = promisify(execFile);

/** Unpacks Terria's sources, without its packages: they are several hundred. @throws {Error} where it is not the one known */
async function fetchTerria() {
	const place = await mkdtemp(join(packages, "fetched-"));
	const words = ["pack", `terriajs@${version}`, "--ignore-scripts", "--pack-destination", place];
	await runProgram("npm", words, { cwd: folder });
	const file = join(place, `terriajs-${version}.tgz`);
	const found = `sha512-${createHash("sha512")
		.update(await readFile(file))
		.digest("base64")}`;
	if (found !== integrity) throw new Error(`terriajs ${version}: integrity ${found}, expected ${integrity}`);
	await runProgram("tar", ["-xzf", file, "-C", place, "package/lib"]);
	await rename(join(place, "package"), terria);
	await rm(place, { recursive: true });
}

/** Stands for a package or a file that the classes import and the tests do not use: any member of it is such a value, too. */
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
		onResolve({ filter: /^terriajs\// }, ({ path, kind }) =>
			resolve(path.replace("terriajs", "."), { resolveDir: terria, kind }),
		);
		// With `!` in front: a loader of webpack.
		onResolve({ filter: /\.(?:s?css|svg|png|json|wasm|xml|html|gltf|DAC)$|!/ }, ({ path }) => ({
			path,
			namespace,
		}));
		onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
			const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
			if (kind === "entry-point" || name.startsWith("node:")) return undefined;
			// A worker of a browser starts where zip.js is loaded.
			const isInstalled = existsSync(join(packages, name)) && !name.startsWith("@zip.js/");
			return isInstalled ? undefined : { path: name, namespace };
		});
		onLoad({ filter: /.*/, namespace }, () => ({ contents: anything, loader: "js" }));
	},
};

if (!existsSync(terria)) {
	await runProgram("npm", ["ci", "--ignore-scripts"], { cwd: folder });
	await mkdir(packages, { recursive: true });
	await fetchTerria();
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
