// What a thread of the harvester starts with. A thread does not inherit `--import tsx`: tsx leaves all but the main
// thread alone, so it is registered here.
import { register } from "tsx/esm/api";

register();
await import("./thread-main.ts");
