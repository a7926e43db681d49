// node --import tsx store/hook/build.ts: builds the hook that the package and the image bring (npm pack, deploy/Dockerfile)
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { builtBundle, bundleHook } from "./install.ts";

await mkdir(dirname(builtBundle), { recursive: true });
await writeFile(builtBundle, await bundleHook());
