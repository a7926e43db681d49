// The entry of a harvester thread. `--import tsx` has an effect only in the main thread, so this registers tsx for the
// thread.
import { register } from "tsx/esm/api";

register();
await import("./thread-main.ts");
