// node --import tsx pack-writer.ts REPOSITORY: writes a pack of half a megabyte that cannot be made smaller, and prints
// what came of it.
import { randomBytes } from "node:crypto";
import { Pack } from "../../git/pack.ts";
import { syncPath } from "../../git/sync.ts";
import { writePack } from "../../git/write-pack.ts";

const pack = new Pack("sha1");
pack.add("blob", randomBytes(1 << 19));
const written = writePack(process.argv[2] ?? "", pack.files(), syncPath, 60_000);
console.log(
	await written.then(
		() => "written",
		(error: NodeJS.ErrnoException) => error.code,
	),
);
