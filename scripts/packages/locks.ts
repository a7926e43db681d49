import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The folders of the project that have packages of their own. */
export const packageFolders = [".", "deploy/workers", "tests/hosting/s3", "bench/eleventy"];

/** A package that a lock file names. */
export interface LockedPackage {
	name: string;
	version: string;
	/** An SPDX expression; null where its package.json has none. */
	licence: string | null;
	/** Its hash, such as `sha512-…`; null where the lock file has none. */
	integrity: string | null;
}

/** What one folder says of its packages. */
export interface Lock {
	folder: string;
	/** Name → version, of all that its package.json asks for. */
	wanted: ReadonlyMap<string, string>;
	packages: readonly LockedPackage[];
}

interface Described {
	version?: string;
	license?: string;
	integrity?: string;
	link?: boolean;
}

/** Fields of a package.json that ask for packages. */
const wantingFields = ["dependencies", "devDependencies", "optionalDependencies", "overrides"];

/** Reads the package.json and the lock file of a folder. @throws {Error} where there is none */
export async function readLock(project: string, folder: string): Promise<Lock> {
	const read = async (name: string) => JSON.parse(await readFile(join(project, folder, name), "utf8"));
	const [own, lock] = await Promise.all([read("package.json"), read("package-lock.json")]);
	const wanted = wantingFields.flatMap((field) => Object.entries<unknown>(own[field] ?? {}));
	const entries = Object.entries<Described>(lock.packages).filter(([path, { link }]) => path !== "" && !link);
	const packages = entries.map(([path, { version = "", license = null, integrity = null }]) => {
		const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
		return { name, version, licence: license, integrity };
	});
	return { folder, wanted: new Map(wanted.map(([name, version]) => [name, String(version)])), packages };
}
